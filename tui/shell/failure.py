"""Reports a crash of the screen: the traceback goes to the log, a sentence to the user."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_log = logging.getLogger(__name__)


def log(error: Exception | None, data: Path | None) -> "Text | None":
    """Log the error below `data`; return a message for the user, or `None` without a log."""
    if error is None or data is None or not logging.root.hasHandlers():
        return None
    from rich.text import Text
    from textual.worker import WorkerFailed

    # What failed in a worker is raised as this, without where it was.
    cause = error.error if isinstance(error, WorkerFailed) else error
    _log.critical("the screen failed", exc_info=cause)
    name = type(cause).__name__
    return Text(f"Spinney's screen failed ({name}). For details see {data / 'spinney.log'}")
