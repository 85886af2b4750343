"""Delivery of a user's answer to an agent; an answer counts once the agent has accepted it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.chat.requests import RequestQueue
from model.domain.requests import Request


class AnswerDelivery:
    """Answers that are being delivered to one agent.

    Events that arrive meanwhile are the agent's reply. They are deferred until the answer is in the
    conversation. A request whose answer was rejected is put back.
    """

    def __init__(
        self, requests: RequestQueue, handle: Callable[[agent_events.AgentEvent], None]
    ) -> None:
        self._requests = requests
        self._handle = handle
        self._in_flight: dict[str, Request] = {}
        self._deferred: list[agent_events.AgentEvent] = []

    @property
    def first(self) -> Request | None:
        """The oldest request whose answer is being delivered."""
        return next(iter(self._in_flight.values()), None)

    def defer(self, event: agent_events.AgentEvent) -> bool:
        """Defer the event if an answer is being delivered; return whether it was deferred."""
        if self._in_flight:
            self._deferred.append(event)
        return bool(self._in_flight)

    def release(self) -> None:
        """Handle the deferred events."""
        deferred, self._deferred = self._deferred, []
        for event in deferred:
            self._handle(event)

    def clear(self) -> None:
        """Discard requests and deferred events at the end of a turn; both are obsolete by then."""
        self._in_flight.clear()
        self._deferred.clear()

    @asynccontextmanager
    async def deliver(self, request: Request) -> AsyncIterator[None]:
        """Deliver the answer to this request, already removed from the queue, in a `with` block."""
        self._in_flight[request.id] = request
        try:
            yield
        except SpinneyError as error:
            # A conflict means that the agent itself no longer waits for the answer.
            if request.id in self._in_flight and error.error_type != "conflict":
                self._requests.put_back(request)
            raise
        finally:
            self._in_flight.pop(request.id, None)
            if not self._in_flight:
                self.release()
