"""The connection on whose behalf a command runs, for the few commands that concern it alone."""

from contextvars import ContextVar
from typing import Final

CALLER: Final[ContextVar[str]] = ContextVar("caller", default="")
"""The id of the client's connection; empty for one request over HTTP."""
