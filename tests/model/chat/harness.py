"""A harness for tests of conversations: a store with sessions, and puppets as their agents."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from model.agents.catalog import Catalog
from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.chat.chats import Chats
from model.chat.conversations import Conversations
from model.chat.decisions import Decisions
from model.chat.handover import HandoverWriter
from model.chat.queues import Queues
from model.chat.tool_outputs import ToolOutputs
from model.domain.events.messages import RunNoticed
from model.domain.events.sessions import SessionCreated
from model.domain.messages import Message
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.domain.worktrees import Worktree
from model.limits.budgets import Budgets
from model.preferences.schema import Preferences
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.rows import Statement
from model.store.store import Store
from model.turns.recorder import TurnRecorder
from model.usage.meter import UsageMeter
from model.usage.prices import Price
from model.writing.writer import Writer
from tests.patience import PATIENCE
from tests.puppet import Puppet, PuppetBackend

DONE = agent_events.TurnFinished("end_turn", Usage(input_tokens=2, output_tokens=3))


T = TypeVar("T")


class FakeWriter:
    """Returns `text` for each field, or raises `error`; `material` is the newest input."""

    def __init__(self) -> None:
        self.text = "They want looms."
        self.error: SpinneyError | None = None
        self.material: Mapping[str, str] = {}

    async def write(
        self, key: str, worktree: Worktree, material: Mapping[str, str], wanted: Sequence[str]
    ) -> dict[str, str]:
        self.material = material
        if self.error is not None:
            raise self.error
        return dict.fromkeys(wanted, self.text)


class NoRecorder:
    """Records no turns: the harness has no worktree."""

    async def begin(self, session: Session, message: Message) -> None: ...

    def begin_in_background(self, session: Session) -> None: ...

    def end(self, session: Session) -> None: ...


class Harness:
    """A store with sessions, their chats, and puppets as agents."""

    def __init__(
        self, store: Store, database: Database, backend: PuppetBackend, outputs: Path
    ) -> None:
        self.store = store
        self._database = database
        self.backend = backend
        self.outputs = ToolOutputs(outputs)
        self.writer = FakeWriter()
        handovers = HandoverWriter(store, cast(Writer, self.writer), Catalog())
        backends = {"demo": backend, "backend_b": backend}
        recorder = cast(TurnRecorder, NoRecorder())
        self.prices: dict[str, Price | None] = {}
        """Of models; those of others are unknown."""
        self._held_prices: asyncio.Future[None] | None = None
        self.meter = UsageMeter(store, self._look_up_prices, delay=0)
        self.budgets = Budgets(store, store.bus, self.meter.await_costs)
        self.conversations = Conversations(
            store, backends, self, self.outputs, handovers, recorder, self.meter, self.budgets
        )
        self.chats = Chats(store, self.conversations, backends, self.outputs)
        self.queues = Queues(store, self.conversations)
        self.decisions = Decisions(store, self.conversations)
        self.servers: list[str] = []
        self.directory = (1, 1)
        self.changed = asyncio.Event()
        store.bus.listen(self.changed.set)
        self._reader = store.bus.reader()

    def resolve_settings(self, session: Session) -> base.Settings:
        return base.Settings(session.execution_mode, session.model, session.thinking_level)

    def hold_prices(self) -> asyncio.Future[None]:
        """Let no price be found any more; return a future that is done once one is looked up."""
        self._held_prices = asyncio.get_running_loop().create_future()
        return self._held_prices

    async def _look_up_prices(self, models: Iterable[str]) -> dict[str, Price | None]:
        if self._held_prices is not None:
            self._held_prices.set_result(None)
            await asyncio.Event().wait()
        return {model: self.prices.get(model) for model in models}

    async def resolve_launch(self, session: Session) -> base.Launch:
        return base.Launch(
            session_id=session.id,
            worktree=Path("/w"),
            settings=self.resolve_settings(session),
            resume_token=session.resume_token or None,
            fork_at=session.fork_at or None,
        )

    def identify_directory(self, session: Session) -> tuple[int, int]:
        return self.directory

    def label_of(self, backend: str) -> str:
        return backend.title()

    def note_mcp_servers(self, session: Session, names: Sequence[str]) -> None:
        self.servers += names

    async def add_session(self, key: str) -> None:
        await self.store.accept(
            SessionCreated(
                session=Session(
                    id=key, worktree_id="w", name=key, created_at=1, backend="demo", model="m"
                )
            )
        )

    async def start_turn(self, text: str) -> Puppet:
        """Send a message in session "s"; return its agent once that has received the message."""
        return await self.backend.receiver_of(self.chats.send("s", text))

    async def propose_plan(self, plan: str) -> Puppet:
        """Start a turn whose agent proposes `plan` as request "r"; return the agent."""
        puppet = await self.start_turn("plan it")
        puppet.say(agent_events.PlanProposed("r", plan))
        await self.wait_until(lambda: self.session.waiting_for == "plan")
        return puppet

    def status(self, key: str) -> str:
        return self.store.state.sessions[key].status

    def take_notices(self) -> list[str]:
        """Return the notices since the last call."""
        entries = self._reader.take()[0]
        return [entry.event.text for entry in entries if isinstance(entry.event, RunNoticed)]

    async def wait_for_notice(self, text: str) -> None:
        """Wait for a notice that contains `text`."""
        await self.wait_until(lambda: any(text in notice for notice in self.take_notices()))

    @property
    def session(self) -> Session:
        return self.store.state.sessions["s"]

    async def close(self) -> None:
        await self.conversations.close()
        await self.meter.close()
        await self.outputs.close()
        await self.store.close()

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    @asynccontextmanager
    async def slow_disk(self, work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
        """Start `work`, and suspend its write to the disk until the block ends."""
        await self.store.flush()
        written, write = asyncio.Event(), self._database.write
        writing = asyncio.Event()

        async def write_slowly(statements: Sequence[Statement]) -> None:
            writing.set()
            await written.wait()
            await write(statements)

        self._database.write = write_slowly  # type: ignore[method-assign]
        task = asyncio.create_task(work)
        await writing.wait()
        yield task
        self._database.write = write  # type: ignore[method-assign]
        written.set()
        await task

    async def messages(self) -> list[Message]:
        return (await self.store.messages("s")).messages

    async def wait_for_turn(self) -> Message:
        """Wait for the turn's end and return the newest message."""
        await self.wait_until(lambda: self.session.status != "running")
        return (await self.messages())[-1]


async def open_harness(path: Path) -> Harness:
    database, _ = await Database.open(path)
    saved = await database.load()
    state = State(
        projects={p.id: p for p in saved.projects},
        worktrees={w.id: w for w in saved.worktrees},
        sessions={s.id: s for s in saved.sessions},
        streaming={m.id: m for m in saved.unfinished},
        queued={"s": tuple(saved.queued)} if saved.queued else {},
        preferences=Preferences(),
    )
    store = Store(database, EventBus(), state)
    return Harness(store, database, PuppetBackend(), path.with_name("outputs"))
