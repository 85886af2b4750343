"""The running turns of a session's thread and of its sub-agents, as the program reports them."""

import asyncio
from contextlib import suppress
from typing import Final

from model.backends.codex.stream import get_turn_field
from model.backends.json_values import Json

_START_TIMEOUT: Final = 5.0
"""Seconds between the acceptance of a turn and its start; it takes milliseconds."""


class RunningTurns:
    """The program's turns that run now. Those of sub-agents are in threads of their own."""

    def __init__(self) -> None:
        self.id = ""
        """The turn of our thread, as notifications name it; empty if none runs."""
        self.inner_id = ""
        """The turn to interrupt: a review contains an inner one; notifications name the outer."""
        self.root_id = ""
        """The turn that sub-agents name as their root."""
        self.last_id = ""
        """The last turn of our thread that has ended."""
        self.is_running = asyncio.Event()
        """Set while a turn runs in our thread."""
        self.children: dict[str, str] = {}
        """The turns of sub-agents, by thread."""
        self._ended: set[str] = set()
        """The turns of our thread that have ended."""

    def follow(self, method: str, params: Json, child: str | None) -> None:
        """Register the start or end of a turn in our thread, or in the sub-agent's `child`."""
        turn = get_turn_field(params, "id")
        match method, child:
            case "turn/started", None:
                self.inner_id = turn
                # A review's outer turn, or, if the program goes on by itself, the turn with which
                # that began: it has ended, perhaps before a restart.
                self.root_id = get_turn_field(params, "rootTurnId") or turn
                self.id = turn if self.root_id in self._ended else self.root_id
                self.is_running.set()
            case "turn/started", str() as thread:
                self.children[thread] = turn
            case "turn/completed", None:
                self.last_id, self.id = turn or self.id, ""
                self._ended.add(self.last_id)
                self.is_running.clear()
            case "turn/completed", str() as thread:
                self.children.pop(thread, None)
            case _, None if self.id and params.get("turnId") == self.inner_id:
                self.id = self.inner_id

    async def wait_for_start(self) -> None:
        """Wait, but not for long, for the id of a turn that was just accepted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_TIMEOUT):
                await self.is_running.wait()

    def is_late(self, params: Json, child: str | None) -> bool:
        """Whether it concerns a turn that has ended; its background commands may end later."""
        turn = params.get("turnId")
        if child is not None:
            running = {self.children.get(child)}
        else:
            running = {self.id, self.inner_id} if self.id else set()
        return isinstance(turn, str) and turn not in running

    def by_thread(self, thread_id: str) -> dict[str, str]:
        """The turns to interrupt, by thread; ours is `thread_id`."""
        own = {thread_id: self.inner_id} if self.id else {}
        return {**self.children, **own}
