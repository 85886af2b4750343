"""The demo agent's memory of a conversation, stored in a file outside the worktree.

Standard library only; part of the demo agent's program.
"""

import json
from pathlib import Path
from typing import Final

CONTEXT_WINDOW: Final = 20_000
"""Words of a conversation that are kept: the demo agent's context window."""


class Memory:
    """The user's messages, oldest first."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.messages: list[str] = []
        self.count = 0
        """The number of messages ever stored."""
        if file.is_file():
            lines = file.read_text(errors="replace").splitlines()
            self.messages = [json.loads(line) for line in lines]
            self.count = len(lines)
            self._truncate()

    @property
    def words(self) -> int:
        """The number of words in the context."""
        return sum(len(message.split()) for message in self.messages)

    def remember(self, message: str) -> None:
        """Store a message for this process and for those that resume the conversation."""
        self.messages.append(message)
        self.count += 1
        self._truncate()
        with self._file.open("a") as file:
            file.write(json.dumps(message) + "\n")

    def _truncate(self) -> None:
        while len(self.messages) > 1 and self.words > CONTEXT_WINDOW:
            del self.messages[0]
