"""Notices without a program around them: a store in a file, clocks that tests move, channels that
remember what they were given.
"""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.notices import Notice, NoticeChannel
from model.domain.projects import Project
from model.domain.requests import Request, WaitingFor
from model.domain.sessions import LastRun, Session
from model.domain.worktrees import Worktree
from model.hosting.details import PullRequestCache
from model.notices.dispatcher import Clock
from model.notices.links import Links
from model.notices.outgoing import DeliveryError, Outgoing
from model.notices.service import Notices
from model.preferences.schema import Preferences
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store

PROJECT = Project(id="p", name="alpha", path="/alpha", default_branch="main", added_at=1)
WORKTREE = Worktree(id="w", project_id="p", name="calm-otter", path="/w", branch="n", created_at=1)
NOON = 1_750_000_000.0 - 1_750_000_000.0 % 86400 + 12 * 3600
"""A noon in UTC."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a channel was given, and when."""

    at: float
    message: Outgoing

    @property
    def ids(self) -> list[tuple[str, str, float]]:
        """The notices that it is about."""
        return [(each.id, each.occasion, each.created_at) for each in self.message.notices]


@dataclass
class FakeChannel:
    """A channel that is set up, and fails while it has an error."""

    name: NoticeChannel = "ntfy"
    wall: Any = None
    sent: list[Sent] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    tries: int = 0
    failed_at: float | None = None
    """When it last failed: what waits for the next try is not sent yet."""
    error: DeliveryError | None = None

    is_set_up: bool = True

    def is_ready(self, preferences: Preferences) -> bool:
        return self.is_set_up

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        self.tries += 1
        self.failed_at = self.wall() if self.error is not None else None
        if self.error is not None:
            raise self.error
        self.sent.append(Sent(self.wall(), message))
        return "a phone"

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        self.withdrawn.append(key)

    @property
    def titles(self) -> list[str]:
        return [sent.message.title for sent in self.sent]


async def make_no_token(*_: object) -> str:
    """Make no token: these channels offer no buttons."""
    raise SpinneyError("This no longer needs an answer.", "conflict")


class Night:
    """Sessions, the notices about them, and a clock."""

    def __init__(self, path: Path, preferences: Preferences | None = None) -> None:
        self.now, self.monotonic = NOON, 1000.0
        self._path = path
        self._preferences = preferences or Preferences()
        self.channel = FakeChannel(wall=lambda: self.now)
        self.problems: list[str] = []
        self.store: Store
        self.notices: Notices

    async def open(self) -> "Night":
        """Start, again after `close`; sessions and notices are those of the file."""
        database, problem = await Database.open(self._path)
        assert problem is None
        saved = await database.load()
        bus = EventBus()
        state = State(
            projects={each.id: each for each in saved.projects},
            worktrees={each.id: each for each in saved.worktrees},
            sessions={each.id: each for each in saved.sessions},
            notices={each.id: each for each in saved.notices},
            preferences=self._preferences,
        )
        self.store = Store(database, bus, state)
        self._reader = bus.reader()
        if not state.projects:
            await self.store.accept(
                ProjectAdded(project=PROJECT), WorktreeCreated(worktree=WORKTREE)
            )
        self.pull_requests = PullRequestCache(self.store)
        self.notices = Notices(
            self.store,
            bus,
            links=Links(lambda: "", make_no_token),
            environment={},
            push_file=self._path.with_name("push.json"),
            pull_requests=self.pull_requests,
            clock=Clock(lambda: self.now, lambda: self.monotonic),
            channels={"ntfy": self.channel},
        )
        await self.notices.watcher.start()
        await self.settle()
        return self

    async def close(self) -> None:
        await self.settle()
        await self.store.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    async def settle(self) -> float | None:
        """Let the notices follow what has happened; return the seconds until their next look."""
        seconds: float | None = None
        for _ in range(4):
            self.store.bus.seal()
            for entry in self._reader.take()[0]:
                self.notices.watcher.note(entry.event)
                if isinstance(entry.event, TaskCompleted) and not entry.event.ok:
                    self.problems.append(entry.event.detail)
            await self.notices.watcher.update()
            seconds = self.notices.dispatcher.step()
            sending = [each for each in asyncio.all_tasks() if each.get_name() == "notice-delivery"]
            await asyncio.gather(*sending)
        return seconds

    async def advance(self, seconds: float, *, asleep: bool = False) -> None:
        """Let time pass; no timer runs while the machine is asleep."""
        self.now += seconds
        self.monotonic += 0.0 if asleep else seconds
        await self.settle()

    async def add_session(self, session_id: str) -> None:
        session = Session(id=session_id, worktree_id="w", name=session_id, created_at=1)
        await self.store.accept(SessionCreated(session=session))

    async def set_preferences(self, **changes: Any) -> None:
        self.store.record(PreferencesUpdated(changes=changes))
        self._preferences = self.store.state.preferences
        await self.settle()

    def change(self, session_id: str, **updates: Any) -> None:
        self.store.record(SessionUpdated(session_id=session_id, updates=updates))

    async def ask(self, session_id: str, kind: WaitingFor, request_id: str) -> None:
        request = Request(id=request_id, kind=kind, plan="# Do it")
        self.change(
            session_id,
            status="waiting",
            pause=None,
            waiting_for=kind,
            request=request.model_dump(mode="json"),
        )
        await self.settle()

    async def work(self, session_id: str) -> None:
        """A turn begins, by a message or an answer."""
        count = self.store.state.sessions[session_id].message_count + 1
        self.change(
            session_id,
            status="running", waiting_for=None, request=None, pause=None, message_count=count,
        )  # fmt: skip
        await self.settle()

    async def end(self, session_id: str, **run: Any) -> None:
        """A turn ends by itself."""
        last_run = LastRun(**{"status": "completed", **run})
        self.change(
            session_id,
            status="failed" if last_run.status == "failed" else "idle",
            waiting_for=None,
            request=None,
            pause=None,
            unread=True,
            last_run=last_run.model_dump(mode="json"),
        )
        await self.settle()

    async def pause(
        self, session_id: str, kind: str, attempts: int = 1, *, is_joined: bool = False
    ) -> None:
        """A turn ends at a limit, or the agent's service cannot be reached."""
        until = None if kind == "budget" else self.now + 3600
        pause = {"kind": kind, "since": self.now, "until": until, "attempts": attempts}
        pause |= {"text": "A limit.", "is_joined": is_joined}
        self.change(session_id, status="paused", unread=True, pause=pause)
        await self.settle()

    async def read(self, session_id: str) -> None:
        self.change(session_id, unread=False)
        await self.settle()

    async def look_at(self, session_id: str | None, client: str = "phone") -> None:
        self.notices.focus.set(client, session_id)
        await self.settle()

    @property
    def standing(self) -> dict[str, Notice]:
        return dict(self.store.state.notices)
