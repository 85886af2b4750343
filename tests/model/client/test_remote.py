"""The remote client against a real server: calls, mirrors, reconnections and restarts."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.api import preferences, sessions, worktrees
from model.api.scripts import ScriptTexts, get_project_scripts, save_project_scripts
from model.base.errors import SpinneyError
from model.client.base import Disconnected, EventBatch, Loaded, Update
from model.client.remote import BackOff, RemoteClient
from model.commands.sessions import update_session
from model.domain.events.base import Event
from model.domain.events.messages import RunNoticed
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectUpdated
from model.domain.sessions import Session
from model.domain.worktrees import Label, Worktree
from model.preferences.apply import redact
from model.runtime.workspace import Workspace
from model.state import State, apply
from server.app import Server
from tests.extra_command import extra_command
from tests.fakes import FakeBackend, plan, silence
from tests.nightly import examples
from tests.patience import PATIENCE
from tests.server.conftest import TOKEN, StartServer, base_url, start_server

__all__ = ["start_server"]

QUICK = BackOff(first=0.02, longest=0.1)

MakeClient = Callable[..., RemoteClient]


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return await start_server()


@pytest.fixture
async def new_client(server: Server) -> AsyncIterator[MakeClient]:
    made: list[RemoteClient] = []

    def make(token: str = TOKEN) -> RemoteClient:
        made.append(RemoteClient(base_url(server), token, back_off=QUICK))
        return made[-1]

    yield make
    for client in made:
        await client.close()


class Mirror:
    """Applies a client's updates to a state in the background."""

    def __init__(self, client: RemoteClient) -> None:
        self.state = State()
        self.updates: list[Update] = []
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow(client))

    async def _follow(self, client: RemoteClient) -> None:
        async for update in client.updates():
            self.updates.append(update)
            match update:
                case Loaded():
                    self.state = update.state
                case EventBatch():
                    for event in update.events:
                        self.state = apply(self.state, event)
            self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def until_equal(self, workspace: Workspace) -> None:
        await self.until(lambda: self.state == visible_state(workspace))

    def count(self, kind: type[Update]) -> int:
        return sum(isinstance(update, kind) for update in self.updates)

    @property
    def events(self) -> list[Event]:
        batches = (update for update in self.updates if isinstance(update, EventBatch))
        return [event for update in batches for event in update.events]

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def visible_state(workspace: Workspace) -> State:
    """The state of the store that remote clients can see."""
    state = workspace.store.state
    return State(
        state.projects,
        state.worktrees,
        state.sessions,
        state.queued,
        state.streaming,
        redact(state.preferences),
        notices=state.notices,
        program=state.program,
    )


@pytest.fixture
async def mirror(new_client: MakeClient) -> AsyncIterator[Mirror]:
    made = Mirror(new_client())
    await made.until(lambda: made.count(Loaded) == 1)
    yield made
    await made.close()


async def test_a_call_returns_the_typed_result(new_client: MakeClient, session: Session) -> None:
    client = new_client()
    renamed = await client.call(sessions.update_session, session_id=session.id, name="New")
    assert isinstance(renamed, Session)
    assert renamed.name == "New"
    found = await client.call(sessions.list_sessions, worktree_id=session.worktree_id)
    assert found == [renamed]


async def test_resources_and_null_are_passed_as_arguments(
    new_client: MakeClient, worktree: Worktree, workspace: Workspace
) -> None:
    client = new_client()
    label = Label(name="urgent", color="#ff0000")
    await client.call(worktrees.update_worktree_label, worktree_id=worktree.id, label=label)
    assert workspace.store.state.worktrees[worktree.id].label == label
    await client.call(worktrees.update_worktree_label, worktree_id=worktree.id, label=None)
    assert workspace.store.state.worktrees[worktree.id].label is None


async def test_unset_fields_of_a_resource_stay_unset(
    new_client: MakeClient, workspace: Workspace, worktree: Worktree, tmp_path: Path
) -> None:
    project = workspace.store.state.projects[worktree.project_id]
    there = project.model_copy(update={"path": str(tmp_path)})
    await workspace.store.accept(ProjectUpdated(project=there))
    client = new_client()
    for texts in (ScriptTexts(setup="one"), ScriptTexts(run="two")):
        await client.call(save_project_scripts, project_id=project.id, scripts=texts)
    saved = await client.call(get_project_scripts, project_id=project.id)
    assert {script.name: script.text for script in saved} == {"setup": "one", "run": "two"}


async def test_a_raw_call_returns_the_json(new_client: MakeClient, session: Session) -> None:
    given = {"sessionId": session.id}
    assert (await new_client().call_raw("get_session", given))["name"] == "First"


async def test_errors_of_commands_keep_message_and_type(new_client: MakeClient) -> None:
    with pytest.raises(SpinneyError, match="Session not found: nope") as raised:
        await new_client().call(sessions.get_session, session_id="nope")
    assert raised.value.error_type == "not_found"
    with pytest.raises(SpinneyError, match="Unknown command: fly"):
        await new_client().call_raw("fly", {})


async def test_concurrent_calls_get_their_own_results(
    new_client: MakeClient, worktree: Worktree
) -> None:
    client = new_client()
    names = [f"session {number}" for number in range(60)]
    made = await asyncio.gather(
        *(
            client.call(sessions.create_session, worktree_id=worktree.id, name=name)
            for name in names
        )
    )
    assert [session.name for session in made] == names


async def test_a_wrong_token_is_reported_and_never_quoted(new_client: MakeClient) -> None:
    client = new_client("wrong-secret")
    with pytest.raises(SpinneyError, match="does not accept this token") as raised:
        await client.call_raw("list_projects", {})
    assert raised.value.error_type == "authentication_error"
    assert "wrong-secret" not in str(raised.value) + repr(client)
    update = await anext(client.updates())
    assert isinstance(update, Disconnected)


async def test_every_failed_attempt_is_reported_and_lengthens_the_pause() -> None:
    counted = []

    class Counting(BackOff):
        def pause(self, failures: int) -> float:
            counted.append(failures)
            return 0.001

    client = RemoteClient("http://127.0.0.1:9", "x", back_off=Counting())
    updates = client.updates()
    for _ in range(4):
        update = await anext(updates)
        assert isinstance(update, Disconnected)
        assert "Nothing answers" in update.reason
    await client.close()
    assert counted == [0, 1, 2]


def test_pauses_double_up_to_half_a_minute() -> None:
    back_off = BackOff(jitter=0)
    assert [back_off.pause(n) for n in (0, 1, 2, 4, 5, 500)] == [1, 2, 4, 16, 30, 30]


async def test_the_mirror_follows_a_whole_conversation(
    mirror: Mirror, new_client: MakeClient, session: Session, workspace: Workspace
) -> None:
    client = new_client()
    await client.call(sessions.send_chat_message, session_id=session.id, message="hello there")
    await mirror.until_equal(workspace)
    assert mirror.count(Loaded) == 1


async def test_a_connection_that_breaks_resumes_without_loading_again(
    mirror: Mirror, server: Server, session: Session, workspace: Workspace
) -> None:
    await mirror.until_equal(workspace)
    await server._running.sockets.close(1012, "service restart")
    workspace.bus.publish(RunNoticed(session_id=session.id, text="missed while away"))
    await mirror.until(lambda: mirror.count(Disconnected) == 1)
    await mirror.until(lambda: isinstance(mirror.updates[-1], EventBatch))
    await mirror.until(lambda: any(isinstance(e, RunNoticed) for e in mirror.events))
    assert mirror.count(Loaded) == 1


async def test_the_state_is_loaded_again_after_a_long_absence(
    mirror: Mirror, server: Server, session: Session, workspace: Workspace
) -> None:
    port = server.status()["port"]
    await server.stop()
    for number in range(1500):
        workspace.bus.publish(TaskCompleted(task=str(number), ok=True, detail=""))
    await update_session(workspace, session.id, name="Changed meanwhile")
    await server.start(port, localhost_only=True, token_required=True)
    await mirror.until_equal(workspace)
    assert mirror.count(Loaded) == 2
    assert mirror.count(Disconnected) >= 1


async def test_a_restarted_server_is_detected_by_its_name_not_its_sequence_numbers(
    mirror: Mirror, server: Server, workspace: Workspace, session: Session
) -> None:
    await mirror.until_equal(workspace)
    port = server.status()["port"]
    await server.stop()
    another = Server(workspace)
    await another.start(port, localhost_only=True, token_required=True)
    await mirror.until(lambda: mirror.count(Loaded) == 2)
    await another.stop()


async def test_a_stopped_and_started_server_is_resumed(
    mirror: Mirror, server: Server, workspace: Workspace, session: Session
) -> None:
    await mirror.until_equal(workspace)
    port = server.status()["port"]
    await server.stop()
    workspace.bus.publish(RunNoticed(session_id=session.id, text="missed while away"))
    await server.start(port, localhost_only=True, token_required=True)
    await mirror.until(lambda: any(isinstance(e, RunNoticed) for e in mirror.events))
    assert mirror.count(Loaded) == 1


async def test_a_pending_call_fails_when_the_connection_is_lost(
    new_client: MakeClient, server: Server
) -> None:
    is_lost = asyncio.Event()

    async def wait_for_ever(workspace: Workspace) -> None:
        await is_lost.wait()

    with extra_command(wait_for_ever):
        client = new_client()
        waiting = asyncio.create_task(client.call_raw("wait_for_ever", {}))
        await client.call_raw("list_projects", {})
        await server.stop()
        with pytest.raises(SpinneyError, match="was lost"):
            await waiting
    is_lost.set()


@pytest.mark.parametrize(("bound", "most"), [("MAX_QUEUED", 10), ("MAX_QUEUED_SIZE", 1000)])
async def test_a_slow_reader_loads_the_state_again(
    new_client: MakeClient,
    workspace: Workspace,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    most: int,
) -> None:
    monkeypatch.setattr(f"model.client.remote.{bound}", most)
    client = new_client()
    updates = client.updates()
    assert isinstance(await anext(updates), Loaded)
    for number in range(100):
        workspace.bus.publish(TaskCompleted(task=str(number), ok=True, detail=""))
    await update_session(workspace, session.id, name="Late")
    await client.call_raw("list_projects", {})
    update = await anext(updates)
    assert isinstance(update, Loaded)
    assert update.state == visible_state(workspace)
    await updates.aclose()


async def test_raw_frames_begin_with_hello(new_client: MakeClient, workspace: Workspace) -> None:
    frames = new_client().frames()
    assert (await anext(frames))["event"] == "hello"
    workspace.bus.publish(TaskCompleted(task="x", ok=True, detail=""))
    assert (await anext(frames))["payload"]["task"] == "x"
    await frames.aclose()


async def test_closing_ends_the_updates(new_client: MakeClient) -> None:
    client = new_client()
    mirror = Mirror(client)
    await mirror.until(lambda: mirror.count(Loaded) == 1)
    await client.close()
    async with asyncio.timeout(PATIENCE):
        await mirror._task


@settings(
    max_examples=examples(3, 30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_mirrors_equal_the_store_after_any_commands(seed: int, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    asyncio.run(_run_random_commands(seed, tmp_path_factory.mktemp("any")))


async def _run_random_commands(seed: int, folder) -> None:  # type: ignore[no-untyped-def]
    from model.agents.catalog import Catalog
    from model.base.paths import Directories
    from model.domain.events.projects import ProjectAdded
    from model.domain.events.worktrees import WorktreeCreated
    from model.domain.projects import Project
    from model.preferences.apply import apply_changes

    chance = random.Random(seed)
    directories = Directories(folder / "config", folder / "data", folder)
    directories.create()
    backend = FakeBackend()
    workspace = Workspace(directories, {"backend_a": backend}, Catalog())
    await workspace.start()
    await workspace.change_preferences(
        apply_changes(workspace.store.state.preferences, {"http_server_token": TOKEN})
    )
    server = Server(workspace)
    await server.start(0, localhost_only=True, token_required=True)
    client, early = (RemoteClient(base_url(server), TOKEN, back_off=QUICK) for _ in range(2))
    mirror = Mirror(early)
    (folder / "w").mkdir()
    await workspace.store.accept(
        ProjectAdded(project=Project(id="p", name="p", path=str(folder), added_at=1)),
        WorktreeCreated(
            worktree=Worktree(
                id="w", project_id="p", name="w", path=str(folder / "w"), branch="w", created_at=1
            )
        ),
    )
    try:
        for _ in range(25):
            backend.script = chance.choice([backend.script, plan, silence, FakeBackend().script])
            try:
                await _random_command(client, workspace, chance)
            except SpinneyError:
                pass
            if chance.random() < 0.1:
                await server._running.sockets.close(1012, "service restart")
        await mirror.until_equal(workspace)
        late = Mirror(client)
        await late.until_equal(workspace)
        await late.close()
    finally:
        await mirror.close()
        await client.close()
        await early.close()
        await server.stop()
        await workspace.stop()


async def _random_command(
    client: RemoteClient, workspace: Workspace, chance: random.Random
) -> None:
    known = list(workspace.store.state.sessions) or ["none"]
    session_id = chance.choice(known)
    match chance.randrange(10):
        case 0 | 1:
            await client.call(sessions.create_session, worktree_id="w")
        case 2 | 3 | 4:
            await client.call(
                sessions.send_chat_message, session_id=session_id, message="one two three"
            )
        case 5:
            await client.call(sessions.stop_generation, session_id=session_id)
        case 6:
            await client.call(sessions.approve_plan, session_id=session_id, mode="build")
        case 7:
            await client.call(sessions.archive_session, session_id=session_id)
        case 8:
            await client.call(sessions.delete_session, session_id=session_id)
        case 9:
            theme = chance.choice(["dark", "light"])
            await client.call(preferences.update_preferences, changes={"theme": theme})


def test_importing_the_client_imports_no_server() -> None:
    code = "import sys, model.client.remote; print([m for m in sys.modules if 'aiohttp.web' in m])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
