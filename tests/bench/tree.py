"""A tree of thousands of rows: first display, filtering key by key, and updates."""

import asyncio
import gc
import statistics
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from model.api.command import Command
from model.client.base import EventBatch, Loaded, Update
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.messages import MessagePage
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State, apply
from tests.bench.tables import Table
from tui.shell.app import SpinneyApp
from tui.tree.widget import ProjectTree

SIZE = (120, 40)
TYPED = "session 41"
"""Letters typed one after another; the first ones find nearly every row."""


class StaticClient:
    """A client with a fixed state, without a model."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._updates: asyncio.Queue[Update] = asyncio.Queue()

    async def call(self, command: Command[..., Any], *args: Any, **given: Any) -> Any:
        """Return results for the commands that the screen calls at its start."""
        answers: dict[str, Any] = {
            "get_http_server_status": {},
            "get_messages": MessagePage(messages=[]),
        }
        return answers.get(command.name, [])

    async def updates(self) -> AsyncIterator[Update]:
        """Yield the updates passed to `feed`."""
        while True:
            yield await self._updates.get()

    def feed(self, update: Update) -> None:
        """Send an update to the screen."""
        self._updates.put_nowait(update)

    async def close(self) -> None:
        """Do nothing: there are no resources."""


def make_state(projects: int, worktrees: int, sessions: int) -> State:
    """Return a state with these numbers, spread evenly, in folders of twenty projects."""
    folders = [_project(f"f{n}", f"folder {n}", is_folder=True) for n in range(-(-projects // 20))]
    repositories = [
        _project(f"p{n}", f"project {n}", parent_id=f"f{n // 20}") for n in range(projects)
    ]
    trees = [
        Worktree(
            id=f"w{n}", project_id=f"p{n % projects}", name=f"tree-{n}", path=f"/t/{n}",
            branch=f"tree-{n}", created_at=n, cached_uncommitted_added=n % 7,
        )
        for n in range(worktrees)
    ]  # fmt: skip
    chats = [
        Session(id=f"s{n}", worktree_id=f"w{n % worktrees}", name=f"session {n}", created_at=n)
        for n in range(sessions)
    ]
    return State(
        projects={p.id: p for p in [*folders, *repositories]},
        worktrees={w.id: w for w in trees},
        sessions={s.id: s for s in chats},
    )


def _project(project_id: str, name: str, **fields: Any) -> Project:
    return Project(
        id=project_id, name=name, path="/code", default_branch="main", added_at=1, **fields
    )


@dataclass
class _Stopwatch:
    """Measures steps until the tree is painted, in wall time and CPU time of this thread."""

    tree: ProjectTree
    found: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    async def step(self, name: str, act: Callable[[], object], until: Callable[[], object]) -> None:
        """Act, wait until the condition holds and the tree is painted, and record the times."""
        began, used = time.perf_counter(), time.thread_time()
        act()
        while not until():
            await asyncio.sleep(0.001)
        painted = asyncio.Event()
        self.tree.call_after_refresh(painted.set)
        await painted.wait()
        took = (time.perf_counter() - began, time.thread_time() - used)
        self.found.setdefault(name, []).append(took)


async def _run(state: State) -> dict[str, list[tuple[float, float]]]:
    client = StaticClient(state)
    app = SpinneyApp(lambda: client, environ={})  # type: ignore[arg-type, return-value]
    async with app.run_test(size=SIZE) as pilot:
        while app.main.is_connected is False:
            await pilot.pause(0.01)
        gc.collect()
        tree = app.main.projects
        watch = _Stopwatch(tree)
        await watch.step("shown", lambda: client.feed(Loaded(state)), lambda: tree.labels)
        tree.focus()
        await pilot.pause(0.1)
        for end in range(1, len(TYPED) + 1):
            typed = TYPED[:end]
            await watch.step(
                "filter, a key", partial(tree.set_filter, typed), partial(_is_filtered, tree, typed)
            )
        await watch.step("filter taken back", partial(tree.set_filter, ""), lambda: not tree.filter)
        folder = next(iter(tree.root.children))
        await watch.step("a folder unfolded", folder.expand, lambda: folder.children)
        project = folder.children[0]
        await watch.step("a project unfolded", project.expand, lambda: project.children)
        for number in range(20):
            event = SessionUpdated(session_id=f"s{number * 20}", updates={"status": "running"})
            state = apply(state, event)
            await watch.step(
                "a mark changed",
                partial(client.feed, EventBatch((event,))),
                partial(_is_running, app, event.session_id),
            )
        made = Session(id="new", worktree_id="w0", name="new", created_at=1e9)
        await watch.step(
            "a session made",
            partial(client.feed, EventBatch((SessionCreated(session=made),))),
            lambda: made.id in app.main.state.sessions,
        )
    return watch.found


def _is_filtered(tree: ProjectTree, typed: str) -> bool:
    return tree.filter == typed


def _is_running(app: SpinneyApp, session_id: str) -> bool:
    return app.main.state.sessions[session_id].status == "running"


def measure(runs: int, projects: int = 200, worktrees: int = 2_000, sessions: int = 5_000) -> Table:
    """Measure `runs` times in this process; the table has the best run."""
    title = f"{projects:,} projects, {worktrees:,} worktrees, {sessions:,} sessions, 120×40"
    table = Table("tree", title)
    state = make_state(projects, worktrees, sessions)
    every = [asyncio.run(_run(state)) for _ in range(runs)]
    goals = {"shown": 500.0, "filter, a key": 50.0}
    for name in every[0]:
        walls = min(([wall * 1e3 for wall, _ in found[name]] for found in every), key=max)
        used = min(([cpu * 1e3 for _, cpu in found[name]] for found in every), key=max)
        table.add(
            name,
            times=len(walls),
            painted_ms=statistics.median(walls),
            worst_ms=max(walls),
            CPU_ms=statistics.median(used),
            worst_CPU_ms=max(used),
        )
        if name in goals:
            table.at_most(f"{name}: within {goals[name]:.0f} ms of CPU", max(used), goals[name])
    return table
