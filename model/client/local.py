"""The client for screens in this process: bridges their event loop and the core's."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from model.api.command import Command
from model.base.caller import CALLER
from model.base.errors import as_user_error
from model.client.base import EventBatch, Loaded, Update
from model.commands.dispatch import run
from model.runtime.core import Core

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from model.store.bus import Reader

P = ParamSpec("P")
R = TypeVar("R")

_SCREENS = itertools.count(1)


class LocalClient:
    """Calls commands on the core's loop and follows its bus, one batch at a time.

    A screen that does not ask for the next batch costs the core nothing: the bus's ring overruns
    its reader, and it gets the whole state when it asks again.
    """

    def __init__(self, core: Core, workspace: "Workspace") -> None:
        self._core = core
        self._workspace = workspace
        self._id = f"screen-{next(_SCREENS)}"

    async def call(self, command: Command[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a command on the core's loop. Raises `SpinneyError`, as every other client does."""
        assert not args, "commands take keyword arguments"
        try:
            return await self._core.run(self._run(command, kwargs))
        except Exception as error:
            raise as_user_error(error, command.name) from error

    async def _run(self, command: Command[..., R], arguments: dict[str, Any]) -> R:
        CALLER.set(self._id)
        return await run(self._workspace, command, arguments)

    async def updates(self) -> AsyncIterator[Update]:
        """The state and then batches of events, as fast as the caller asks for them."""
        feed = await self._core.run(self._open())
        try:
            while True:
                yield await self._core.run(feed.next())
        finally:
            self._core.call_soon(feed.close)

    async def _open(self) -> "_Feed":
        return _Feed(self._workspace)

    async def close(self) -> None:
        """Show no session any more; the model may outlive the screen."""
        self._core.call_soon(self._workspace.notices.focus.drop, self._id)


class _Feed:
    """The core's side of `updates`."""

    def __init__(self, workspace: "Workspace") -> None:
        self._store = workspace.store
        self._reader: Reader | None = None
        self._ready = asyncio.Event()
        self._stop_listening = self._store.bus.listen(self._ready.set)

    async def next(self) -> Update:
        while True:
            self._ready.clear()
            if self._reader is None:
                return self._load()
            entries, missed = self._reader.take()
            if missed is not None:
                return self._load()
            if entries:
                return EventBatch(tuple(entry.event for entry in entries))
            await self._ready.wait()

    def _load(self) -> Loaded:
        if self._reader is not None:
            self._reader.close()
        # `reader` seals the bus: the state contains exactly the events before this reader's.
        self._reader = self._store.bus.reader()
        return Loaded(self._store.state)

    def close(self) -> None:
        self._stop_listening()
        if self._reader is not None:
            self._reader.close()
