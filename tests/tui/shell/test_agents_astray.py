"""Agents that hang, ask, die or talk nonsense, as the person at the terminal meets them.

Nothing runs without a word of why, every request can be answered, and `escape` always ends a run.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from textual.widgets import Static

from model.agents.catalog import Catalog
from model.backends import base
from model.backends.claude.backend import ClaudeBackend
from model.backends.registry import create_backends
from model.base.paths import Directories
from model.chat import stall_monitor
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.events import ProjectAdded, WorktreeCreated
from model.domain.resources import Message, PlanBlock, Question, QuestionOption, Session
from model.git import run
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeAgent, FakeBackend, echo
from tests.tui.conftest import until
from tests.tui.fake_client import a_project, a_session, a_worktree
from tests.tui.whole import screen_of, terminal_on, until_shown
from tui.screens.first_run import FirstRun
from tui.widgets.status_line import StatusLine

PLAN = base.PlanProposed("plan-1", "1. look\n2. mend")
QUESTION = base.QuestionAsked(
    "question-1",
    (Question(question="Which one?", options=[QuestionOption(label="The red one")]),),
)
PERMISSION = base.PermissionRequested(
    "permission-1", "bash", {"command": "make test"}, "run the tests"
)
ASKS = {"plan": PLAN, "question": QUESTION, "permission": PERMISSION}


def asking(*asked: base.AgentEvent) -> Callable[[base.Prompt], Iterable[base.AgentEvent]]:
    return lambda prompt: [base.TextDelta("answer", "Wait. "), *asked]


# Requests over a restart --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ASKS)
async def test_what_was_asked_before_a_kill_can_be_answered_or_says_that_it_cannot(
    workspace: Workspace,
    directories: Directories,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    tmp_path: Path,
    kind: str,
) -> None:
    backend.script = asking(ASKS[kind])
    await send_chat_message(workspace, session.id, message="go")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
    await workspace.store.flush()
    # What a killed Spinney leaves on the disk.
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
            await until(pilot, lambda: now_of(again, session).status == "idle")
            await until(pilot, lambda: "waits for you" not in screen_of(app))
    finally:
        await again.stop()


def now_of(workspace: Workspace, session: Session) -> Session:
    return workspace.store.state.sessions[session.id]


async def test_of_two_terminals_the_first_answer_counts_and_the_second_is_told(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    backend.script = asking(PERMISSION)
    async with terminal_on(workspace) as (first, pilot), terminal_on(workspace) as (late, other):
        for app in (first, late):
            app.main.open_session(session.id)
        await send_chat_message(workspace, session.id, message="go")
        await until_shown(first, pilot, "Allow once", "make test")
        await until_shown(late, other, "Allow once", "make test")
        # The second one hears late of what the first one does.
        late.main.mirror.frame = 3600
        await update_session(workspace, session.id, name="Something that happens")
        await until_shown(late, other, "Something that happens")
        await pilot.press("tab", "d")
        await until(pilot, lambda: now_of(workspace, session).status == "idle")
        await other.press("tab", "a")
        await until_shown(late, other, "This permission no longer needs an answer.")
        agent = backend.agents[session.id]
        assert [call for call in agent.calls if call[0] == "permit"] == [
            ("permit", "permission-1", "deny", "")
        ]


async def test_what_a_sub_agent_asks_is_asked_like_anything_else(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    task = base.ToolUse("task", "task", {"description": "Look around"})
    step = base.ToolUse("step", "bash", {"command": "ls"}, parent_tool_use_id="task")
    backend.script = asking(task, step, PERMISSION)
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(app, pilot, "make test", "permission waits for you")
        await pilot.press("enter")
        await until(pilot, lambda: now_of(workspace, session).status == "idle")


# Plans of every kind ------------------------------------------------------------------------------

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
async def test_a_plan_of_any_kind_is_shown_with_its_keys_and_carried_out(
    workspace: Workspace, session: Session, backend: FakeBackend, plan: str, how: str
) -> None:
    backend.script = asking(base.PlanProposed("plan-1", plan))
    async with terminal_on(workspace, size=(80, 24)) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(app, pilot, "plan waits for you", "Build", "Yolo", "Edit the plan")
    # A terminal that comes later finds it as it was.
    async with terminal_on(workspace, size=(80, 24)) as (app, pilot):
        app.main.open_session(session.id)
        await until_shown(app, pilot, "plan waits for you", "Build", "Yolo", "Edit the plan")
        agent = backend.agents[session.id]
        match how:
            case "build":
                await pilot.press("enter")
                assert await agent.hears("approve") == ("approve", "plan-1", "build", None)
            case "yolo":
                await pilot.press("tab", "y", "y")
                assert await agent.hears("approve") == ("approve", "plan-1", "yolo", None)
            case "revise":
                await pilot.press(*"not so", "enter")
                assert await agent.hears("discuss") == ("discuss", "plan-1", "not so")
        await until(pilot, lambda: now_of(workspace, session).status == "idle")
        await until(pilot, lambda: "waits for you" not in screen_of(app))
        page = await workspace.store.messages(session.id)
        plans = [block for block in blocks_of(page.messages) if isinstance(block, PlanBlock)]
        assert len(plans) == 1
        assert plans[0].approved == (how if how in ("build", "yolo") else None)


def blocks_of(messages: Iterable[Message]) -> Iterable[object]:
    return (block for message in messages for block in message.content)


# Silence ------------------------------------------------------------------------------------------


class NeverOpens(FakeBackend):
    """Its program starts and never gets ready."""

    async def open(self, launch: base.Launch) -> base.Agent:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("stage", ["starting", "deaf", "stuck", "asking"])
async def test_escape_ends_a_run_at_every_stage(
    directories: Directories, tmp_path: Path, stage: str
) -> None:
    backend: FakeBackend = NeverOpens() if stage == "starting" else FakeBackend()
    backend.script = asking(PERMISSION) if stage == "asking" else asking()
    opened = backend.open

    async def open_so(launch: base.Launch) -> base.Agent:
        agent = await opened(launch)
        assert isinstance(agent, FakeAgent)
        agent.deaf, agent.stuck = stage != "asking", stage == "stuck"
        return agent

    backend.open = open_so  # type: ignore[method-assign]
    made = Workspace(directories, {backend.name: backend}, Catalog())
    await made.start()
    try:
        session = await session_in(made, tmp_path)
        async with terminal_on(made) as (app, pilot):
            app.main.open_session(session.id)
            await pilot.press(*"go", "enter")
            wanted = "waits for you" if stage == "asking" else "running"
            await until_shown(app, pilot, wanted)
            await pilot.press("escape")
            await until_shown(app, pilot, "Stopped.")
            await until(pilot, lambda: now_of(made, session).status == "idle")
    finally:
        await made.stop()


async def session_in(workspace: Workspace, tmp_path: Path) -> Session:
    """A session of a worktree in a folder of its own."""
    path = tmp_path / "tree"
    path.mkdir()
    await workspace.store.accept(
        ProjectAdded(project=a_project(path=str(path))),
        WorktreeCreated(worktree=a_worktree(path=str(path))),
    )
    return await create_session(workspace, "w1", name="It", execution_mode="build")


async def test_a_silent_agent_is_told_of_with_the_tool_that_runs(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stall_monitor, "FIRST_NOTICE", 0.05)
    backend.script = asking(base.ToolUse("t", "bash", {"command": "make world"}))
    async with terminal_on(workspace) as (app, pilot):
        app.main.open_session(session.id)
        await pilot.press(*"go", "enter")
        await until_shown(
            app, pilot, "No output for", "the command `make world` has been running for"
        )


@pytest.mark.parametrize("status", ["running", "waiting", "failed", "idle"])
@pytest.mark.parametrize("waiting_for", [None, "plan", "question", "permission"])
def test_the_status_line_always_has_a_word(status: str, waiting_for: str | None) -> None:
    line = StatusLine()
    said = line._state(a_session(status=status, waiting_for=waiting_for)).plain
    assert said.strip() and not said.startswith(" ")


async def test_twenty_sessions_started_at_once_all_answer_on_the_canvas(
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
        await until(pilot, lambda: all(now_of(workspace, s).status == "idle" for s in every))
        await until(
            pilot,
            lambda: all(app.main.state.sessions[s.id].message_count == 2 for s in every),
        )
        assert not app.main.state.streaming


# Programs that fail -------------------------------------------------------------------------------

WORDS = "cannot find module left-pad"
FAULTS = {
    "exits with words": f"echo 'warming up' >&2; echo '{WORDS}' >&2; exit 1",
    "exits without a word": "exit 3",
    "says what is no JSON": f"echo 'not {{json'; echo '{WORDS}' >&2; exit 1",
    "says NUL bytes": f"head -c 1000 /dev/zero; echo; echo '{WORDS}' >&2; exit 1",
    "says a line of ten megabytes": (
        f"head -c 10000000 /dev/zero | tr '\\0' x; echo; echo '{WORDS}' >&2; exit 1"
    ),
    "says what steers terminals": f"printf '\\033]0;x\\007{WORDS}\\n' >&2; exit 1",
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_program_that_fails_is_quoted_in_the_conversation_and_the_screen_lives(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    claude = folder / "claude"
    version = '[ "$1" = --version ] && { echo "2.1.329 (Claude Code)"; exit; }'
    claude.write_text(f"#!/bin/sh\n{version}\n{FAULTS[fault]}\n")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    await shows_the_failure(
        directories,
        tmp_path,
        *(["(exit code 3)"] if fault == "exits without a word" else [WORDS]),
    )


async def test_a_program_that_is_not_installed_is_told_with_what_installs_it(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await shows_the_failure(directories, tmp_path, "not installed", "npm install")


async def test_a_program_that_is_too_old_is_told_with_its_update(
    directories: Directories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "claude"
    complains = "echo \"error: unknown option '--thinking-display'\" >&2; exit 1"
    version = '[ "$1" = --version ] && { echo "1.0.1 (Claude Code)"; exit; }'
    claude.write_text(f"#!/bin/sh\n{version}\n{complains}\n")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    await shows_the_failure(directories, tmp_path, "Claude Code is older than", "Run: claude")


async def shows_the_failure(directories: Directories, tmp_path: Path, *words: str) -> None:
    """A message to Claude Code fails with these words, and the next one can be written."""
    made = Workspace(directories, {"backend_a": ClaudeBackend()}, Catalog())
    await made.start()
    try:
        session = await session_in(made, tmp_path)
        async with terminal_on(made) as (app, pilot):
            app.main.open_session(session.id)
            await pilot.press(*"go", "enter")
            await until(pilot, lambda: now_of(made, session).status == "failed")
            await until_shown(app, pilot, *words)
            assert "\x1b" not in screen_of(app)
            await pilot.press(*"next")
            assert app.main.chat.composer.text == "next"
    finally:
        await made.stop()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_first_screen_says_what_mends_a_machine_that_lacks_everything(
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
    made = Workspace(directories, create_backends(directories.data, catalog, demo=False), catalog)
    await made.start()
    try:
        async with terminal_on(made, size=size) as (app, pilot):
            await until(pilot, lambda: isinstance(app.screen, FirstRun))
            await until_shown(app, pilot, "git 2.25.1 is too old", "npm install -g")
            told = str(app.screen.query_one("#found", Static).render())
            assert told.count("not installed") == 3
            assert "No agent is ready to use" in told
            assert "spinney demo" in told
    finally:
        await made.stop()
