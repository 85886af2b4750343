"""How much was written to the database, noted beside it: so a loss is noticed at the next start.

The number is written after each transaction is on disk, and the database holds it too. So it is
never ahead of an honest database, whatever was killed or lost its power.
"""

import logging
import os
from pathlib import Path

from model.base.paths import PRIVATE_FILE

_log = logging.getLogger(__name__)


class Marker:
    """The number beside a database."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.written")
        self._descriptor: int | None = None
        self._has_failed = False

    def read(self) -> int:
        """What was noted last; 0 where nothing was."""
        try:
            return int(self._path.read_text())
        except (OSError, ValueError):
            return 0

    def note(self, count: int) -> None:
        """Note the number. Failing is no harm: an older one tells of no loss."""
        try:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._descriptor = os.open(self._path, flags, PRIVATE_FILE)
            os.pwrite(self._descriptor, f"{count:020}\n".encode(), 0)
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                _log.warning("%s could not be written: %s", self._path, error)

    def forget(self) -> None:
        """Expect nothing of the database: another one was put in its place on purpose."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
