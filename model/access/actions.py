"""Tokens that act once: each answers one request of a session, as a button in a notification does.

A token is worth nothing as soon as its request is answered, by whomever, or it was used, or a day
has passed.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from model.access.file import RecordFile
from model.access.tokens import ACTION, hash_token, is_token, make_token
from model.base.errors import SpinneyError
from model.domain.resource import Resource
from model.state import State

ActionDecision = Literal["allow", "deny", "approve", "answer"]
"""A permission is allowed once or denied, a plan approved in build mode, a question answered."""

LIFETIME: Final = 24 * 3600.0
"""Seconds for which a token can be used."""
MAX_KEPT: Final = 2_000
"""Tokens that can be used at the same time; the oldest are forgotten."""

_KINDS: Final = {
    "allow": "permission", "deny": "permission", "approve": "plan", "answer": "question"
}  # fmt: skip


class OneTimeAction(Resource):
    """What a token does when it is used."""

    token_hash: str
    session_id: str
    request_id: str
    decision: ActionDecision
    answer: str = ""
    """The text that answers a question."""
    expires_at: float


class OneTimeActions:
    """Makes and finds the tokens. Belongs to the core's event loop."""

    def __init__(
        self, path: Path, state: Callable[[], State], clock: Callable[[], float] = time.time
    ) -> None:
        self._file = RecordFile(path, OneTimeAction)
        self._state = state
        self._clock = clock
        self._actions: dict[str, OneTimeAction] = {}
        """By the hash of the token, oldest first."""

    async def load(self) -> None:
        """Take over what the file holds."""
        saved = await asyncio.to_thread(self._file.read)
        self._actions = {each.token_hash: each for each in saved}

    async def create(
        self, session_id: str, request_id: str, decision: ActionDecision, answer: str = ""
    ) -> str:
        """Make a token for the pending request of a session.

        Raises `conflict` if another request is pending by now, or one of another kind.
        """
        action = OneTimeAction(
            token_hash="",
            session_id=session_id,
            request_id=request_id,
            decision=decision,
            answer=answer,
            expires_at=self._clock() + LIFETIME,
        )
        if not self._is_pending(action):
            raise SpinneyError("This request is no longer pending.", "conflict")
        token = make_token(ACTION)
        action = action.model_copy(update={"token_hash": hash_token(token)})
        alive = [each for each in self._actions.values() if self._is_alive(each)]
        self._actions = {each.token_hash: each for each in [*alive, action][-MAX_KEPT:]}
        try:
            await self._save()
        except SpinneyError:
            self._actions.pop(action.token_hash, None)
            raise
        return token

    def find(self, token: str) -> OneTimeAction:
        """Look up what a token does. Raises `not_found` for one that does nothing any more."""
        action = self._actions.get(hash_token(token)) if is_token(token, ACTION) else None
        if action is None or not self._is_alive(action):
            raise SpinneyError(
                "This link does nothing any more: it was used, its request was answered, or it has"
                " expired.",
                "not_found",
            )
        return action

    async def take(self, token: str) -> OneTimeAction:
        """Use a token: of all who try at the same time, one succeeds. Raises `not_found`.

        Where its use cannot be saved, it is not used: after a restart it could be used again.
        """
        action = self.find(token)
        del self._actions[action.token_hash]
        try:
            await self._save()
        except SpinneyError:
            self._actions[action.token_hash] = action
            raise
        return action

    async def put_back(self, action: OneTimeAction) -> None:
        """Make a token usable again whose decision could not be carried out."""
        self._actions[action.token_hash] = action
        with suppress(SpinneyError):  # It then ends with this run, which is the safe side.
            await self._save()

    def _is_alive(self, action: OneTimeAction) -> bool:
        return action.expires_at > self._clock() and self._is_pending(action)

    def _is_pending(self, action: OneTimeAction) -> bool:
        session = self._state().sessions.get(action.session_id)
        request = session.request if session is not None else None
        return (
            request is not None
            and request.id == action.request_id
            and request.kind == _KINDS[action.decision]
        )

    async def _save(self) -> None:
        await self._file.write(self._actions.values())
