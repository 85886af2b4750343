"""The worlds of the guest links in use: opened by the first request, closed when they are idle.

A world ends as well when its link is revoked or expires, or when what it shares is deleted.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from aiohttp import web

from model.access.links import Guest
from model.access.policy import COMMANDS
from model.access.world import GuestWorld
from model.api.command import Command
from model.base.caller import CALLER
from model.base.errors import SpinneyError
from model.client.snapshot import build_snapshot
from model.commands.guest_calls import enter, run_for_guest

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

MAX_WORLDS: Final = 50
"""Links that are in use at the same time."""
IDLE_TIME: Final = 60.0
"""Seconds after which an unused world is closed; a client that reconnects later reloads."""
_CHECK_INTERVAL: Final = 20.0
_MAX_READS: Final = 2
"""Commands that read for guests at the same time; the others wait in order."""

_GUEST: Final = web.RequestKey("guest", object)


def set_guest(request: web.Request, guest: Guest | None) -> None:
    """Note who sends a request, `None` for the owner."""
    request[_GUEST] = guest


def guest_of(request: web.Request) -> Guest | None:
    """The guest who sends a request, `None` for the owner. Raises `KeyError` if it is not known."""
    return cast("Guest | None", request[_GUEST])


@dataclass(eq=False, slots=True)
class OpenWorld:
    """A world in use."""

    link_id: str
    world: GuestWorld
    run_id: str
    """Identifies its event numbers."""
    last_used: float = field(default_factory=time.monotonic)
    sockets: int = 0
    """Open WebSockets."""


class GuestWorlds:
    """Opens and closes the worlds. Belongs to the core's event loop."""

    def __init__(self, workspace: "Workspace", run_id: str) -> None:
        self._workspace = workspace
        self._run_id = run_id
        self._count = 0
        self._open: dict[str, OpenWorld] = {}
        """By link."""
        self._reads = asyncio.Semaphore(_MAX_READS)
        self._reading: dict[str, set[asyncio.Task[Any] | None]] = {}
        """The tasks that read, by the id of their connection."""
        self._timer: asyncio.TimerHandle | None = None
        self.on_ended: Callable[[OpenWorld, bool], None] = lambda world, is_over: None
        """Called when a world ends; `is_over` says whether its link has ended, too."""
        self._unsubscribe = workspace.bus.listen(self._end_dead)

    def close(self) -> None:
        """End all worlds because the server stops."""
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
        for link_id in tuple(self._open):
            self._end(link_id, is_over=False)

    def open(self, guest: Guest) -> OpenWorld:
        """The world of a guest. Raises `rate_limit_error` if too many links are in use.

        Raises `authentication_error` for a link that was ended since its guest was identified.
        """
        link = guest.link
        if not self._workspace.grants.links.is_alive(link.id):
            raise SpinneyError("This guest access has ended.", "authentication_error")
        found = self._open.get(link.id)
        if found is None:
            if len(self._open) >= MAX_WORLDS:
                raise SpinneyError("Too many guests at once. Try again later.", "rate_limit_error")
            self._count += 1
            world = GuestWorld(link, self._workspace.store, lambda: self._replace(link.id))
            run_id = f"{self._run_id}-{link.id[:8]}-{self._count}"
            found = self._open[link.id] = OpenWorld(link.id, world, run_id)
            self._schedule()
        found.last_used = time.monotonic()
        return found

    async def run(
        self, guest: Guest, command: Command[..., Any], arguments: Mapping[str, Any]
    ) -> Any:
        """Run a command as a guest; see `run_for_guest`."""
        opened = self.open(guest)
        rule = COMMANDS.get(command.name)
        if rule is None or rule.acts:
            return await run_for_guest(self._workspace, opened.world, guest, command, arguments)
        client, task = CALLER.get(), asyncio.current_task()
        reading = self._reading.setdefault(client, set())
        reading.add(task)
        try:
            return await self._read(opened, guest, command, arguments)
        finally:
            reading.discard(task)
            if not reading:
                self._reading.pop(client, None)

    def leave(self, client: str) -> None:
        """Cancel what a connection that has ended wanted to read."""
        for task in tuple(self._reading.get(client, ())):
            if task is not None:
                task.cancel()

    async def _read(
        self,
        opened: OpenWorld,
        guest: Guest,
        command: Command[..., Any],
        arguments: Mapping[str, Any],
    ) -> Any:
        """Run a command that reads, few at a time: the threads are those of the owner, too."""
        async with self._reads:
            work = asyncio.create_task(
                run_for_guest(self._workspace, opened.world, guest, command, arguments)
            )
            try:
                return await asyncio.shield(work)
            finally:
                # A thread ends later than the connection, and takes part until then.
                await asyncio.wait({work})

    async def build_snapshot(self, guest: Guest) -> dict[str, Any]:
        """The state of a guest's world, with what the guest may do."""
        opened = self.open(guest)
        snapshot = await build_snapshot(enter(self._workspace, opened.world))
        return {**snapshot, "run": opened.run_id, "guest": describe_guest(guest)}

    def _end_dead(self) -> None:
        for link_id in tuple(self._open):
            if not self._workspace.grants.links.is_alive(link_id):
                self._end(link_id, is_over=True)

    def _replace(self, link_id: str) -> None:
        # Not from within its own listener.
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: self._end(link_id, is_over=False))

    def _end(self, link_id: str, *, is_over: bool) -> None:
        ended = self._open.pop(link_id, None)
        if ended is not None:
            ended.world.close()
            self.on_ended(ended, is_over)

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._open:
            soonest = min(each.world.terms.expires_at for each in self._open.values())
            delay = min(_CHECK_INTERVAL, max(0.0, soonest - time.time()) + 0.01)
            self._timer = asyncio.get_running_loop().call_later(delay, self._check)

    def _check(self) -> None:
        self._timer = None
        self._end_dead()
        now = time.monotonic()
        for link_id, opened in tuple(self._open.items()):
            if not opened.sockets and now - opened.last_used > IDLE_TIME:
                self._end(link_id, is_over=False)
        self._schedule()


def describe_guest(guest: Guest) -> dict[str, Any]:
    """What a guest's client should know: the terms, and the commands that may be called."""
    link = guest.link
    return {
        "name": link.name,
        "role": link.role,
        "session_id": link.session_id,
        "project_id": link.project_id,
        "max_mode": link.max_mode,
        "expires_at": link.expires_at,
        "device": guest.device,
        "commands": [name for name, rule in COMMANDS.items() if link.includes(rule.role)],
    }
