"""Replaces files of a worktree: no process ever reads half of one."""

import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_TEMPORARY: Final = re.compile(r"\.[0-9a-f]{32}\.spinney")
_STARTED_AT: Final = time.time()
"""Temporary files older than that belong to no write of this process."""


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path beside `target`; what is written to it replaces `target` at the end.

    Raises `OSError`.
    """
    temporary = target.with_name(f".{uuid.uuid4().hex}.spinney")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def remove_temporary_files(folders: Iterable[Path]) -> None:
    """Delete the temporary files that a process left in these folders when it was killed."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if _TEMPORARY.fullmatch(entry.name) and (
                    entry.stat(follow_symlinks=False).st_mtime < _STARTED_AT
                ):
                    Path(entry.path).unlink()
