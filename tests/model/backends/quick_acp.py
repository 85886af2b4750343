"""The protocol's own package, imported in half the time: `from … import acp, say, schema`.

Each conversation with an agent that is written with it starts a process. Of the 0.77 s that the
import took, pydantic spent half on descriptions of fields, which it reads from the source and which
nobody asks for here, and a part on checks of classes that no conversation meets: those are made
when they are needed.
"""

import gc

import pydantic
from pydantic._internal import _fields

_describe = _fields._update_fields_from_docstrings
_fields._update_fields_from_docstrings = lambda *_, **__: None
pydantic.BaseModel.model_config["defer_build"] = True
gc.disable()

import acp  # noqa: E402
from acp import helpers as say  # noqa: E402
from acp import schema  # noqa: E402

gc.enable()
_fields._update_fields_from_docstrings = _describe

__all__ = ["acp", "say", "schema"]
