"""Notices that Claude Code's own screen writes in a session's conversation at the same time.

The program locks nothing: each of two processes knows only what it wrote itself, and a later start
continues what was written last (2.1.330).
"""

from pathlib import Path
from typing import Final

from model.backends.agent_events import ConversationNote
from model.backends.claude.transcripts import find_folder

NOTE: Final = ConversationNote(
    "Claude Code's own screen is writing in this conversation, too. Each of the two knows only its"
    " own part, and later only what was written last is continued. Close the other one."
)

_MAX_READ: Final = 1024 * 1024
"""Bytes of what was added that are looked at, the newest ones."""
_TYPED: Final = b'"entrypoint":"cli"'
"""In each line that the program's own screen writes; Spinney's process is `sdk-cli`."""


class SecondWriter:
    """Looks at what was added to the file of a conversation. Reads files: use it in a thread."""

    def __init__(self, config: Path, directory: Path) -> None:
        self._folder = find_folder(config, directory)
        self._looked_at: tuple[str, int] | None = None
        """The conversation, and the size of its file when it was looked at."""

    def has_written(self, conversation: str) -> bool:
        """Whether the program's own screen has added something since the last call.

        The first call for a conversation returns `False`: a copy contains lines of its source.
        """
        path = self._folder / f"{conversation}.jsonl"
        try:
            size = path.stat().st_size
            known, before = self._looked_at or ("", 0)
            self._looked_at = (conversation, size)
            if known != conversation or size <= before:
                return False
            with path.open("rb") as file:
                file.seek(max(before, size - _MAX_READ))
                return _TYPED in file.read(_MAX_READ)
        except OSError:
            return False
