"""What a person answers, on its way to the agent: it counts once the agent has taken it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from model.backends import base
from model.base.errors import SpinneyError
from model.chat.requests import Requests
from model.domain.resources import Request


class Giving:
    """Answers that are being given to one agent.

    What the agent says meanwhile is its reply, and is held back until the answer stands in the
    conversation. A request whose answer was refused is asked again.
    """

    def __init__(self, requests: Requests, hear: Callable[[base.AgentEvent], None]) -> None:
        self._requests = requests
        self._hear = hear
        self._given: dict[str, Request] = {}
        self._held: list[base.AgentEvent] = []

    @property
    def first(self) -> Request | None:
        """The oldest request whose answer is on its way."""
        return next(iter(self._given.values()), None)

    def holds(self, event: base.AgentEvent) -> bool:
        """Whether this was held back, to be heard after the answer."""
        if self._given:
            self._held.append(event)
        return bool(self._given)

    def release(self) -> None:
        """Hear what was held back."""
        held, self._held = self._held, []
        for event in held:
            self._hear(event)

    def forget_all(self) -> None:
        """The turn is over: nothing is asked again, and what was held back is too late."""
        self._given.clear()
        self._held.clear()

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[None]:
        """While the answer to this request, which does not wait any more, is given."""
        self._given[request.id] = request
        try:
            yield
        except SpinneyError as error:
            # A conflict says that the agent itself does not wait any more.
            if request.id in self._given and error.error_type != "conflict":
                self._requests.put_back(request)
            raise
        finally:
            self._given.pop(request.id, None)
            if not self._given:
                self.release()
