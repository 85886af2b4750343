"""A fault of the screen: its traceback goes to the log, and a person reads a sentence."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_log = logging.getLogger(__name__)


def log(error: Exception | None, data: Path | None) -> "Text | None":
    """Write the error to the log below `data`; what to say of it, or `None` without a log."""
    if error is None or data is None or not logging.root.hasHandlers():
        return None
    from rich.text import Text

    _log.critical("the screen failed", exc_info=error)
    name = type(error).__name__
    return Text(f"Spinney's screen failed ({name}). What happened stands in {data / 'spinney.log'}")
