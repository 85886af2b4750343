"""Messages sent into OpenCode's running turn, until the model gets them.

The program stores such a message at once, and reads it with its next request to the model: then an
answer appears whose parent it is. Of several it answers the newest, with the others in view.
"""

import secrets
import string
import time
from typing import Final

from model.backends.json_values import Json

_LETTERS: Final = string.ascii_letters + string.digits


class UnreadPrompts:
    """The messages that the program has and the model has not got, by the program's id."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._last_number = 0

    def __bool__(self) -> bool:
        return bool(self._ids)

    @property
    def program_ids(self) -> list[str]:
        """The program's ids, oldest first."""
        return list(self._ids)

    def add(self, message_id: str) -> str:
        """Add a message that is about to be sent; return its id for the program."""
        # Messages are sorted by id, which begins with the time as the program writes it.
        self._last_number = max(time.time_ns() // 1_000_000 * 4096 + 1, self._last_number + 1)
        end = "".join(secrets.choice(_LETTERS) for _ in range(14))
        program_id = f"msg_{self._last_number % 2**48:012x}{end}"
        self._ids[program_id] = message_id
        return program_id

    def discard(self, program_id: str) -> None:
        """Remove a message that was not sent, or was deleted."""
        self._ids.pop(program_id, None)

    def find_read(self, info: Json) -> list[str]:
        """Return and remove our ids of the messages that the model has got with this answer."""
        if info.get("role") != "assistant" or str(info.get("parentID")) not in self._ids:
            return []
        read = []
        for program_id in list(self._ids):
            read.append(self._ids.pop(program_id))
            if program_id == info.get("parentID"):
                break
        return read
