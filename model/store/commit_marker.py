"""The number of committed transactions, in a file beside the database, to detect a loss at startup.

The number is written after each transaction is on disk, and the database contains it too. So it is
never ahead of an intact database, even after a kill or a power failure.
"""

import logging
import os
from pathlib import Path

from model.base.paths import PRIVATE_FILE

_log = logging.getLogger(__name__)


class CommitMarker:
    """The number beside a database."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.written")
        self._descriptor: int | None = None
        self._has_failed = False

    def read(self) -> int:
        """Return the number last written; 0 if there is none."""
        try:
            return int(self._path.read_text())
        except (OSError, ValueError):
            return 0

    def write(self, count: int) -> None:
        """Write the number. A failure is harmless: an older number reports no loss."""
        try:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._descriptor = os.open(self._path, flags, PRIVATE_FILE)
            os.pwrite(self._descriptor, f"{count:020}\n".encode(), 0)
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                _log.warning("%s could not be written: %s", self._path, error)

    def remove(self) -> None:
        """Remove the number, after the database was replaced on purpose."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
