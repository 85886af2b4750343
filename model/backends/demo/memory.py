"""What the demo agent remembers of a conversation, kept in a file outside the worktree.

Standard library only; a part of the demo agent's program.
"""

import json
from pathlib import Path
from typing import Final

LIMIT: Final = 20_000
"""Words of a conversation that are remembered: the demo agent's context window."""


class Memory:
    """The user's messages, oldest first."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.messages: list[str] = []
        if file.is_file():
            lines = file.read_text(errors="replace").splitlines()
            self.messages = [json.loads(line) for line in lines]
            self._forget()

    @property
    def words(self) -> int:
        """How full it is."""
        return sum(len(message.split()) for message in self.messages)

    def remember(self, message: str) -> None:
        """Keep a message for this process and for those that resume the conversation."""
        self.messages.append(message)
        self._forget()
        with self._file.open("a") as file:
            file.write(json.dumps(message) + "\n")

    def _forget(self) -> None:
        while len(self.messages) > 1 and self.words > LIMIT:
            del self.messages[0]
