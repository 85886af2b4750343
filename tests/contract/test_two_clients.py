"""Sections 3, 6 and 7 of the interface: two clients that change one workspace concurrently."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.agents.catalog import Catalog
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.client.remote import RemoteClient
from model.domain.program import ProgramStatus
from model.preferences.apply import apply_changes
from model.projects.tree import MAX_DEPTH
from model.runtime.workspace import Workspace
from model.state import State, put
from server.app import Server
from tests.fakes import FakeBackend, echo, plan
from tests.model.client.test_remote import QUICK, Mirror
from tests.model.git.repository import Repository
from tests.nightly import examples
from tests.server.conftest import TOKEN, base_url

REPOSITORIES = 2
PREFERENCES = [
    {"theme": "dark"},
    {"theme": "light", "zoom_level": 120},
    {"theme": "pink"},
    {"removal_behavior": "archive"},
]

Step = tuple[str, int, int]
"""An action, and two numbers that select its resources."""

STEPS = st.tuples(
    st.sampled_from(
        [
            "add project", "remove project", "create folder", "create folder", "rename folder",
            "delete folder", "move", "move", "reorder", "open base", "create worktree",
            "label", "archive worktree", "unarchive worktree", "remove worktree",
            "create session", "create session", "rename session", "archive session",
            "unarchive session", "delete session", "send", "send", "stop", "approve",
            "preferences",
        ]
    ),
    st.integers(0, 7),
    st.integers(0, 7),
)  # fmt: skip
ROUNDS = st.lists(st.tuples(STEPS, STEPS), min_size=4, max_size=24)


def make_command(state: State, folder: Path, step: Step) -> tuple[str, dict[str, Any]]:
    """The command of a step; its ids may be gone when it arrives."""
    kind, first, second = step
    ids = {
        "project": pick([p.id for p in state.projects.values() if not p.is_folder], first),
        "folder": pick([p.id for p in state.projects.values() if p.is_folder], first),
        "parent": pick([None, *(p.id for p in state.projects.values() if p.is_folder)], second),
        "item": pick([*state.projects], first),
        "worktree": pick([*state.worktrees], first),
        "session": pick([*state.sessions], first),
    }
    name = f"name {second % 3}"
    match kind:
        case "add project":
            path = str(folder / f"repository-{first % REPOSITORIES}")
            return "add_project", {"path": path, "parentId": ids["parent"]}
        case "remove project":
            return "remove_project", {"projectId": ids["project"]}
        case "create folder":
            return "create_folder", {"name": f"name {first % 3}", "parentId": ids["parent"]}
        case "rename folder":
            return "rename_folder", {"folderId": ids["folder"], "name": name}
        case "delete folder":
            return "delete_folder", {"folderId": ids["folder"]}
        case "move":
            return "move_item", {"itemId": ids["item"], "newParentId": ids["parent"]}
        case "reorder":
            return "reorder_projects", {"projectIds": [ids["item"], *([*state.projects][:2])]}
        case "open base":
            return "open_base_worktree", {"projectId": ids["project"]}
        case "create worktree":
            args = {"projectId": ids["project"], "customName": f"tree-{second % 3}"}
            return "create_worktree", args
        case "label":
            label = {"name": name, "color": "#ff0000"} if second % 2 else None
            return "update_worktree_label", {"worktreeId": ids["worktree"], "label": label}
        case "remove worktree":
            return "remove_worktree", {"worktreeId": ids["worktree"], "force": bool(second % 2)}
        case "archive worktree" | "unarchive worktree":
            return kind.replace(" ", "_"), {"worktreeId": ids["worktree"]}
        case "create session":
            return "create_session", {"worktreeId": ids["worktree"], "name": name}
        case "rename session":
            return "update_session", {"sessionId": ids["session"], "name": name}
        case "archive session" | "unarchive session" | "delete session":
            return kind.replace(" ", "_"), {"sessionId": ids["session"]}
        case "send":
            return "send_chat_message", {"sessionId": ids["session"], "message": "one two three"}
        case "stop":
            return "stop_generation", {"sessionId": ids["session"]}
        case "approve":
            return "approve_plan", {"sessionId": ids["session"], "mode": "build"}
    return "update_preferences", {"changes": PREFERENCES[first % len(PREFERENCES)]}


def pick(values: Sequence[str | None], number: int) -> str | None:
    """One of the values; an unknown id if there are none."""
    return values[number % len(values)] if values else "nobody"


def check_invariants(state: State) -> None:
    """Check that every parent exists, nesting is limited, and names and paths are unique."""
    for item in state.projects.values():
        above, parent_id = 0, item.parent_id
        while parent_id is not None:
            assert state.projects[parent_id].is_folder, "only a folder holds something"
            parent_id, above = state.projects[parent_id].parent_id, above + 1
            assert above <= MAX_DEPTH, "a cycle, or too deep"
        assert above + item.is_folder <= MAX_DEPTH
    assert_unique([(p.parent_id, p.name) for p in state.projects.values() if p.is_folder])
    assert_unique([p.path for p in state.projects.values() if not p.is_folder])
    assert_unique([(w.project_id, w.name) for w in state.worktrees.values()])
    assert_unique([w.path for w in state.worktrees.values()])
    for worktree in state.worktrees.values():
        assert not state.projects[worktree.project_id].is_folder
    assert {s.worktree_id for s in state.sessions.values()} <= state.worktrees.keys()
    assert state.queued.keys() <= state.sessions.keys()
    assert {m.session_id for m in state.streaming.values()} <= state.sessions.keys()


def assert_unique(values: list[Any]) -> None:
    assert len(set(values)) == len(values), values


def as_saved(state: State) -> State:
    """The state without what belongs to a start: cached git status, and the program itself."""
    for worktree in state.worktrees.values():
        cached = dict.fromkeys(name for name in type(worktree).model_fields if "cached_" in name)
        plain = worktree.model_copy(update=cached)
        state = replace(state, worktrees=put(state.worktrees, worktree.id, plain))
    return replace(state, program=ProgramStatus())


@dataclass
class RunningWorkspace:
    """A running workspace and its server."""

    workspace: Workspace
    server: Server
    backend: FakeBackend

    @property
    def state(self) -> State:
        return self.workspace.store.state

    @asynccontextmanager
    async def client(self) -> AsyncIterator[tuple[RemoteClient, Mirror]]:
        """A client and the state that it builds from events."""
        client = RemoteClient(base_url(self.server), TOKEN, back_off=QUICK)
        mirror = Mirror(client)
        try:
            yield client, mirror
        finally:
            await mirror.close()
            await client.close()

    async def wait_until_idle(self, client: RemoteClient, mirror: Mirror) -> None:
        """Stop runs that wait for the user, and wait for the others to end."""

        def sessions_with(status: str) -> list[str]:
            return [s.id for s in self.state.sessions.values() if s.status == status]

        await mirror.until(lambda: not sessions_with("running"))
        while waiting := sessions_with("waiting"):
            for session_id in waiting:
                await client.call_raw("stop_generation", {"sessionId": session_id})
            await mirror.until(lambda: not sessions_with("running"))
        await mirror.until(
            lambda: {w.status for w in self.state.worktrees.values()} <= {"ready", "missing"}
        )


@asynccontextmanager
async def run_workspace(directories: Directories) -> AsyncIterator[RunningWorkspace]:
    backend = FakeBackend()
    workspace = Workspace(directories, {backend.name: backend}, Catalog())
    async with AsyncExitStack() as stack:
        await workspace.start()
        stack.push_async_callback(workspace.stop)
        preferences = workspace.store.state.preferences
        await workspace.change_preferences(apply_changes(preferences, {"http_server_token": TOKEN}))
        server = Server(workspace)
        await server.start(0, localhost_only=True, token_required=True)
        stack.push_async_callback(server.stop)
        yield RunningWorkspace(workspace, server, backend)


async def run_or_be_refused(call: Awaitable[Any]) -> None:
    """Wait for a command; it may be refused, but not with an internal error or timeout."""
    try:
        await call
    except SpinneyError as error:
        assert error.error_type not in ("internal_error", "timeout"), error.message


async def read_conversations(client: RemoteClient, state: State) -> dict[str, Any]:
    return {
        session_id: await client.call_raw("get_messages", {"sessionId": session_id})
        for session_id in state.sessions
    }


async def play_rounds(rounds: list[tuple[Step, Step]], folder: Path) -> None:
    directories = Directories(folder / "config", folder / "data", folder / "home")
    directories.create()
    async with (
        run_workspace(directories) as running,
        running.client() as one,
        running.client() as other,
    ):
        for number, steps in enumerate(rounds):
            running.backend.script = plan if number % 3 == 2 else echo
            commands = [make_command(running.state, folder, step) for step in steps]
            clients = (one[0], other[0])
            await asyncio.gather(
                *(
                    run_or_be_refused(client.call_raw(name, args))
                    for client, (name, args) in zip(clients, commands, strict=True)
                )
            )
            check_invariants(running.state)
        await running.wait_until_idle(*one)
        check_invariants(running.state)
        for _, mirror in (one, other):
            await mirror.until_equal(running.workspace)
        before = as_saved(running.state)
        messages = await read_conversations(one[0], before)
    async with run_workspace(directories) as again, again.client() as (client, mirror):
        assert as_saved(again.state) == before
        await mirror.until_equal(again.workspace)
        assert await read_conversations(client, before) == messages


@settings(
    max_examples=examples(4, 30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rounds=ROUNDS)
@pytest.mark.longer
def test_two_clients_stay_consistent_and_a_restart_changes_nothing(
    rounds: list[tuple[Step, Step]], own_home: Path, tmp_path_factory: Any, repository: Repository
) -> None:
    folder = tmp_path_factory.mktemp("life")
    for number in range(REPOSITORIES):
        shutil.copytree(repository.root, folder / f"repository-{number}")
    asyncio.run(play_rounds(rounds, folder))
