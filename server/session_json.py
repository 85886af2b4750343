"""JSON of lists of sessions: each is encoded once, since it never changes and is listed often."""

import weakref
from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from model.domain.sessions import Session

_ADAPTER: Final = TypeAdapter(Session)
_MAX_SESSIONS: Final = 4096
_MAX_BYTES: Final = 4096
"""Of a session whose JSON is kept; only a long plan or question has more."""


class SessionJson:
    """The JSON of the sessions that were listed last."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Session], bytes]] = {}
        """By the identity of the session, which may be that of an earlier one."""

    def dump(self, sessions: Sequence[Session]) -> bytes:
        """Return the sessions as a JSON list.

        Raises `PydanticSerializationError` and `UnicodeEncodeError` for invalid Unicode.
        """
        return b"[" + b",".join(map(self._dump_one, sessions)) + b"]"

    def _dump_one(self, session: Session) -> bytes:
        known = self._known.get(id(session))
        if known is not None and known[0]() is session:
            return known[1]
        encoded = _ADAPTER.dump_json(session)
        if len(self._known) >= _MAX_SESSIONS:
            self._known.clear()
        if len(encoded) <= _MAX_BYTES:
            self._known[id(session)] = weakref.ref(session), encoded
        return encoded
