"""The requests of a session's program that await the user's answer."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from model.backends.agent_events import AgentEvent, RequestWithdrawn
from model.base.errors import SpinneyError

_Request = TypeVar("_Request")


class PendingRequests(dict[str, _Request], Generic[_Request]):
    """What the program needs to be answered, by the id under which the engine answers it."""

    def __init__(self, name: str, emit: Callable[[AgentEvent], Awaitable[None]]) -> None:
        super().__init__()
        self._name = name
        self._emit = emit

    def take(self, request_id: str) -> _Request:
        """Remove a request to answer it; raise `SpinneyError` if it is no longer pending."""
        try:
            return self.pop(request_id)
        except KeyError:
            text = f"{self._name} is no longer waiting for this answer."
            raise SpinneyError(text, "conflict") from None

    async def withdraw(self, *request_ids: str) -> None:
        """Remove these requests, if they are pending, and notify the engine."""
        for request_id in request_ids:
            if self.pop(request_id, None) is not None:
                await self._emit(RequestWithdrawn(request_id))
