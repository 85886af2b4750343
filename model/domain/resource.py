"""The base class of everything that Spinney keeps and sends: frozen, with the wire's field names.

Unknown fields written by a newer version are kept, so that an older version never loses them.
"""

from pydantic import BaseModel, ConfigDict


class Resource(BaseModel):
    """An immutable value: `model_copy(update=…)` returns a changed copy."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
