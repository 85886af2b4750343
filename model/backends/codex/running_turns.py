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
        self.last_id = ""
        """The last turn of our thread that has ended."""
        self.is_running = asyncio.Event()
        """Set while a turn runs in our thread."""
        self.children: dict[str, str] = {}
        """The turns of sub-agents, by thread."""

    def follow(self, method: str, params: Json, child: str | None) -> None:
        """Register the start or end of a turn in our thread, or in the sub-agent's `child`."""
        turn = get_turn_field(params, "id")
        match method, child:
            case "turn/started", None:
                self.inner_id = turn
                self.id = get_turn_field(params, "rootTurnId") or turn
                self.is_running.set()
            case "turn/started", str() as thread:
                self.children[thread] = turn
            case "turn/completed", None:
                self.last_id, self.id = self.id, ""
                self.is_running.clear()
            case "turn/completed", str() as thread:
                self.children.pop(thread, None)

    async def wait_for_start(self) -> None:
        """Wait, but not for long, for the id of a turn that was just accepted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_TIMEOUT):
                await self.is_running.wait()

    def is_late(self, params: Json, child: str | None) -> bool:
        """Whether it concerns a turn that has ended; its background commands may end later."""
        turn = params.get("turnId")
        running = self.id if child is None else self.children.get(child)
        return isinstance(turn, str) and turn != running

    def by_thread(self, thread_id: str) -> dict[str, str]:
        """The turns to interrupt, by thread; ours is `thread_id`."""
        own = {thread_id: self.inner_id} if self.id else {}
        return {**self.children, **own}
