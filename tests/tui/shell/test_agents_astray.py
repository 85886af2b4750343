"""Agents that hang, ask, crash or send invalid output, as the terminal shows them.

Every run has a status text, every request can be answered, and `escape` always ends a run.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from textual.widgets import Static

from model.agents.catalog import Catalog
from model.backends import agent_events, base
from model.backends.claude.backend import ClaudeBackend
from model.backends.registry import create_backends
from model.base.paths import Directories
from model.chat import stall_monitor
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.events.projects import ProjectAdded
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import Message, PlanBlock
from model.domain.requests import Question, QuestionOption
from model.domain.sessions import Session
from model.git import run
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeAgent, FakeBackend, echo
from tests.patience import PATIENCE
from tests.tui.builders import a_project, a_session, a_worktree
from tests.tui.reading import screen_text
from tests.tui.waiting import until, until_shown
from tests.tui.workspace_app import terminal_on
from tui.screens.first_run import FirstRun
from tui.widgets.status_line import StatusLine

PLAN = agent_events.PlanProposed("plan-1", "1. look\n2. mend")
QUESTION = agent_events.QuestionAsked(
    "question-1",
    (Question(question="Which one?", options=[QuestionOption(label="The red one")]),),
)
PERMISSION = agent_events.PermissionRequested(
    "permission-1", "bash", {"command": "make test"}, "run the tests"
)
ASKS = {"plan": PLAN, "question": QUESTION, "permission": PERMISSION}


def script_asking(
    *asked: agent_events.AgentEvent,
) -> Callable[[base.Prompt], Iterable[agent_events.AgentEvent]]:
    return lambda prompt: [agent_events.TextDelta("answer", "Wait. "), *asked]


# Requests after a restart -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ASKS)
async def test_a_request_from_before_a_kill_can_be_answered_or_is_marked_interrupted(
    workspace: Workspace,
    directories: Directories,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    tmp_path: Path,
    kind: str,
) -> None:
    backend.script = script_asking(ASKS[kind])
    await send_chat_message(workspace, session.id, message="go")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
    await workspace.store.flush()
    # The files that a killed Spinney leaves behind.
    data = shutil.copytree(directories.data, tmp_path / "left")
    places = Directories(config=directories.config, data=data, home=directories.home)
    after = FakeBackend()
    again = Workspace(places, {after.name: after}, Catalog())
    await again.start()
    try:
        async with terminal_on(again) as (app, pilot):
            app.main.open_session(session.id)
            now = again.store.state.sessions
            if kind == "permission":
                await until_shown(app, pilot, "interrupted", "Send a message to continue")
                assert now[session.id].request is None
                await pilot.press(*"on", "enter")
            else:
                await until_shown(app, pilot, f"{kind} waits for you")
                await pilot.press("tab", "b" if kind == "plan" else "1")
            await until(pilot, lambda: session.id in after.agents)
            await until(pilot, lambda: current_session(again, session).status == "idle")
            await until(pilot, lambda: "waits for you" not in screen_text(app))
    finally:
        await again.stop()


def current_session(workspace: Workspace, session: Session) -> Session:
    return workspace.store.state.sessions[session.id]


async def test_of_two_terminals_the_first_answer_counts_and_the_second_gets_an_error(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    backend.script = script_asking(PERMISSION)
    async with terminal_on(workspace) as (first, pilot), terminal_on(workspace) as (late, other):
        for app in (first, late):
            app.main.open_session(session.id)
        await send_chat_message(workspace, session.id, message="go")
        await until_shown(first, pilot, "Allow once", "make test")
        await until_shown(late, other, "Allow once", "make test")
        # After the next change the second terminal gets events late.
        late.main.mirror.frame = 3600
        has_changed = asyncio.Event()
        late.main.mirror.followers.append(lambda _: has_changed.set())
        await update_session(workspace, session.id, name="Something that happens")
        await asyncio.wait_for(has_changed.wait(), PATIENCE)
        await pilot.press("tab", "d")
        await until(pilot, lambda: current_session(workspace, session).status == "idle")
        await other.press("tab", "a")
        await until_shown(late, other, "This permission no longer needs an answer.")
        agent = backend.agents[session.id]
        assert [call for call in agent.calls if call[0] == "permit"] == [
            ("permit", "permission-1", "deny", "")
        ]


async def test_a_request_of_a_sub_agent_is_shown_like_any_other(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    task = agent_events.ToolUse("task", "task", {"description": "Look around"})
    step = agent_events.ToolUse("step", "bash", {"command": "ls"}, parent_tool_use_id="task")
    backend.script = script_asking(task, step, PERMISSION)
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(app, pilot, "make test", "permission waits for you")
        await pilot.press("enter")
        await until(pilot, lambda: current_session(workspace, session).status == "idle")


# Plans --------------------------------------------------------------------------------------------

LONG = "\n\n".join(f"## Step {n}\n\nChange `file_{n}.py`, then test it." for n in range(4_500))
assert len(LONG) > 200_000


@pytest.mark.parametrize(
    ("plan", "how"),
    [
        ("", "build"),
        (" \n", "yolo"),
        ("1. look\n2. mend", "revise"),
        (LONG, "build"),
        ("x" * 200_000, "build"),
        ("```python\nnever closed\n| a | b\n|--\n[/] **", "yolo"),
        ("\x1b]0;title\x07\x00\ud800 nul and worse", "build"),
    ],
    ids=["empty", "blank", "short", "long", "one line", "malformed", "hostile"],
)
async def test_a_plan_with_any_text_is_shown_with_its_keys_and_can_be_answered(
    workspace: Workspace, session: Session, backend: FakeBackend, plan: str, how: str
) -> None:
    backend.script = script_asking(agent_events.PlanProposed("plan-1", plan))
    async with terminal_on(workspace, size=(80, 24)) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(app, pilot, "plan waits for you", "Build", "Yolo", "Edit the plan")
    # A terminal that is opened later shows the same.
    async with terminal_on(workspace, size=(80, 24)) as (app, pilot):
        app.main.open_session(session.id)
        await until_shown(app, pilot, "plan waits for you", "Build", "Yolo", "Edit the plan")
        agent = backend.agents[session.id]
        match how:
            case "build":
                await pilot.press("enter")
                assert await agent.wait_for_call("approve") == ("approve", "plan-1", "build", None)
            case "yolo":
                await pilot.press("tab", "y", "y")
                assert await agent.wait_for_call("approve") == ("approve", "plan-1", "yolo", None)
            case "revise":
                await pilot.press(*"not so", "enter")
                assert await agent.wait_for_call("discuss") == ("discuss", "plan-1", "not so")
        await until(pilot, lambda: current_session(workspace, session).status == "idle")
        await until(pilot, lambda: "waits for you" not in screen_text(app))
        page = await workspace.store.messages(session.id)
        plans = [block for block in blocks_of(page.messages) if isinstance(block, PlanBlock)]
        assert len(plans) == 1
        assert plans[0].approved == (how if how in ("build", "yolo") else None)


def blocks_of(messages: Iterable[Message]) -> Iterable[object]:
    return (block for message in messages for block in message.content)


# Silence ------------------------------------------------------------------------------------------


class NeverOpens(FakeBackend):
    """A backend whose program starts and never becomes ready."""

    async def open(self, launch: base.Launch) -> base.Agent:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("stage", ["starting", "deaf", "stuck", "asking"])
async def test_escape_ends_a_run_at_every_stage(
    directories: Directories, tmp_path: Path, stage: str
) -> None:
    backend: FakeBackend = NeverOpens() if stage == "starting" else FakeBackend()
    backend.script = script_asking(PERMISSION) if stage == "asking" else script_asking()
    opened = backend.open

    async def open_unresponsive(launch: base.Launch) -> base.Agent:
        agent = await opened(launch)
        assert isinstance(agent, FakeAgent)
        agent.ignores_stop, agent.blocks_send = stage != "asking", stage == "stuck"
        return agent

    backend.open = open_unresponsive  # type: ignore[method-assign]
    own_workspace = Workspace(directories, {backend.name: backend}, Catalog())
    await own_workspace.start()
    try:
        session = await create_session_in(own_workspace, tmp_path)
        async with terminal_on(own_workspace) as (app, pilot):
            app.main.open_session(session.id)
            await pilot.press(*"go", "enter")
            wanted = "waits for you" if stage == "asking" else "running"
            await until_shown(app, pilot, wanted)
            await pilot.press("escape")
            await until_shown(app, pilot, "Stopped.")
            await until(pilot, lambda: current_session(own_workspace, session).status == "idle")
    finally:
        await own_workspace.stop()


async def create_session_in(workspace: Workspace, tmp_path: Path) -> Session:
    """Create a session in a worktree in a new directory."""
    path = tmp_path / "tree"
    path.mkdir()
    await workspace.store.accept(
        ProjectAdded(project=a_project(path=str(path))),
        WorktreeCreated(worktree=a_worktree(path=str(path))),
    )
    return await create_session(workspace, "w1", name="It", execution_mode="build")


async def test_a_silent_agent_is_reported_with_its_running_tool(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stall_monitor, "FIRST_NOTICE", 0.05)
    backend.script = script_asking(agent_events.ToolUse("t", "bash", {"command": "make world"}))
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(
            app, pilot, "No output for", "the command `make world` has been running for"
        )


@pytest.mark.parametrize("status", ["running", "waiting", "failed", "idle"])
@pytest.mark.parametrize("waiting_for", [None, "plan", "question", "permission"])
def test_the_status_line_is_never_empty(status: str, waiting_for: str | None) -> None:
    line = StatusLine()
    said = line._state(a_session(status=status, waiting_for=waiting_for)).plain
    assert said.strip() and not said.startswith(" ")


async def test_twenty_sessions_started_at_once_all_answer(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    others = [
        await create_session(workspace, session.worktree_id, name=f"Number {n}") for n in range(19)
    ]
    every = [session, *others]
    backend.script = echo
    async with terminal_on(workspace) as (app, pilot):
        await asyncio.gather(
            *(send_chat_message(workspace, s.id, message="hello there") for s in every)
        )
        await until(
            pilot, lambda: all(current_session(workspace, s).status == "idle" for s in every)
        )
        await until(
            pilot,
            lambda: all(app.main.state.sessions[s.id].message_count == 2 for s in every),
        )
        assert not app.main.state.streaming


# Programs that fail -------------------------------------------------------------------------------

WORDS = "cannot find module left-pad"
FAULTS = {
    "exits with output": f"echo 'warming up' >&2; echo '{WORDS}' >&2; exit 1",
    "exits without output": "exit 3",
    "prints invalid JSON": f"echo 'not {{json'; echo '{WORDS}' >&2; exit 1",
    "prints NUL bytes": f"head -c 1000 /dev/zero; echo; echo '{WORDS}' >&2; exit 1",
    "prints a line of ten megabytes": (
        f"head -c 10000000 /dev/zero | tr '\\0' x; echo; echo '{WORDS}' >&2; exit 1"
    ),
    "prints escape sequences": f"printf '\\033]0;x\\007{WORDS}\\n' >&2; exit 1",
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_output_of_a_failed_program_is_shown_and_the_terminal_keeps_working(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    claude = folder / "claude"
    version = '[ "$1" = --version ] && { echo "2.1.329 (Claude Code)"; exit; }'
    claude.write_text(f"#!/bin/sh\n{version}\n{FAULTS[fault]}\n")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    await assert_failure_is_shown(
        directories,
        tmp_path,
        *(["(exit code 3)"] if fault == "exits without output" else [WORDS]),
    )


async def test_a_missing_program_is_reported_with_its_install_command(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await assert_failure_is_shown(directories, tmp_path, "not installed", "npm install")


async def test_an_outdated_program_is_reported_with_its_update_command(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "claude"
    complains = "echo \"error: unknown option '--thinking-display'\" >&2; exit 1"
    version = '[ "$1" = --version ] && { echo "1.0.1 (Claude Code)"; exit; }'
    claude.write_text(f"#!/bin/sh\n{version}\n{complains}\n")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    await assert_failure_is_shown(directories, tmp_path, "Claude Code is older than", "Run: claude")


async def assert_failure_is_shown(directories: Directories, tmp_path: Path, *words: str) -> None:
    """Send a message to Claude Code: it fails with these words, and the next one can be typed."""
    own_workspace = Workspace(directories, {"backend_a": ClaudeBackend()}, Catalog())
    await own_workspace.start()
    try:
        session = await create_session_in(own_workspace, tmp_path)
        async with terminal_on(own_workspace) as (app, pilot):
            app.main.open_session(session.id)
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: current_session(own_workspace, session).status == "failed")
            await until_shown(app, pilot, *words)
            assert "\x1b" not in screen_text(app)
            await pilot.press(*"next")
            assert app.main.chat.composer.text == "next"
    finally:
        await own_workspace.stop()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_first_run_screen_says_how_to_set_up_a_machine_without_git_and_agents(
    directories: Directories,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\necho git version 2.25.1\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(run, "_versions", {})
    catalog = Catalog()
    own_workspace = Workspace(
        directories, create_backends(directories.data, catalog, demo=False), catalog
    )
    await own_workspace.start()
    try:
        async with terminal_on(own_workspace, size=size) as (app, pilot):
            await until(pilot, lambda: isinstance(app.screen, FirstRun))
            await until_shown(app, pilot, "git 2.25.1 is too old", "npm install -g")
            text = str(app.screen.query_one("#found", Static).render())
            assert text.count("not installed") == 3
            assert "No agent is ready to use" in text
            assert "The demo needs none of these: press d." in text
    finally:
        await own_workspace.stop()
