"""The most frequent jobs take no more keys than they may, beside the text that is typed.

Each job is driven from the message box of an open session to its effect.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from model.api.git import CommitResult, ExchangeResult
from model.domain.branches import Remote
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import Message
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from tests.tui.builders import a_message, a_session, a_worktree, make_changes
from tests.tui.conftest import Start
from tests.tui.every_screen import a_busy_state
from tests.tui.fake_client import FakeClient
from tests.tui.reading import is_conversation_shown
from tests.tui.waiting import until
from tui.diff.screen import Diff
from tui.shell.app import SpinneyApp
from tui.store.task_choices import TaskChoices
from tui.widgets.request_panel import RequestPanel


@dataclass(frozen=True)
class Text:
    """A text to type, which counts as no key."""

    text: str


Ready = Callable[[SpinneyApp, FakeClient], object]


def always(_app: SpinneyApp, _client: FakeClient) -> bool:
    """Nothing has to happen before the next key."""
    return True


@dataclass(frozen=True)
class Step:
    """A key or a text, and what must be true before it, such as that a dialog is open."""

    what: str | Text
    ready: Ready = always


@dataclass(frozen=True)
class Job:
    """A job: the most keys that it may take, its steps, and its effect."""

    name: str
    most: int
    steps: tuple[Step, ...]
    done: Ready
    on: str = "s1"
    """The session that is open."""
    prepare: Callable[[SpinneyApp, FakeClient], None] = lambda app, client: None
    answers: dict[str, Any] = field(default_factory=dict)


def called(name: str, **expected: Any) -> Ready:
    """Whether a command was called with these arguments."""

    def check(_app: SpinneyApp, client: FakeClient) -> bool:
        return any(expected.items() <= given.items() for given in client.called(name))

    return check


def opened(session_id: str) -> Ready:
    """Whether a session is open."""
    return lambda app, client: app.main.session is not None and app.main.session.id == session_id


def in_front(kind: str) -> Ready:
    """Whether a screen of this class is shown."""
    return lambda app, client: type(app.screen).__name__ == kind


def diff_is_read(app: SpinneyApp, _client: FakeClient) -> bool:
    """Whether the diff screen shows a file."""
    return isinstance(app.screen, Diff) and app.screen.file_diff is not None


def create_worktree(client: FakeClient) -> Callable[[dict[str, Any]], Worktree]:
    def create(_given: dict[str, Any]) -> Worktree:
        worktree = a_worktree(id="new", name="fox")
        client.feed(WorktreeCreated(worktree=worktree))
        return worktree

    return create


def create_session(client: FakeClient) -> Callable[[dict[str, Any]], Session]:
    def create(_given: dict[str, Any]) -> Session:
        session = a_session(id="s9", worktree_id="new")
        client.feed(SessionCreated(session=session))
        return session

    return create


def remember_build(app: SpinneyApp, _client: FakeClient) -> None:
    app.main.task_choices["p1"] = TaskChoices(mode="build")


def visit_another(app: SpinneyApp, _client: FakeClient) -> None:
    app.main.recent_sessions = ["s1", "s6"]


def run(_app: SpinneyApp, client: FakeClient) -> None:
    client.feed(SessionUpdated(session_id="s1", updates={"status": "running"}))


def queue(app: SpinneyApp, client: FakeClient) -> None:
    run(app, client)
    queued: Message = a_message("later", id="q1", session_id="s1")
    client.feed(MessageQueued(session_id="s1", message=queued, status="sent"))


JOBS = (
    Job(
        "a new task in the mode I want",
        2,
        (Step("ctrl+n"), Step(Text("Mend it"), in_front("NewWorktree")), Step("enter")),
        called("create_session", execution_mode="build"),
        prepare=remember_build,
    ),
    Job("the next session that waits", 1, (Step("ctrl+space"),), opened("s3")),
    Job("the next session", 1, (Step("alt+right"),), opened("s2")),
    Job("the last session", 1, (Step("ctrl+circumflex_accent"),), opened("s6"),
        prepare=visit_another),
    Job("approve a plan", 1, (Step("enter"),), called("approve_plan", mode="build"), on="s5"),
    Job("allow a command", 1, (Step("enter"),), called("answer_permission"), on="s3"),
    Job("stop", 1, (Step("escape", lambda app, client: app.main.session is not None
        and app.main.session.is_active),), called("stop_generation", session_id="s1"),
        prepare=run),
    Job("see the changes", 1, (Step("ctrl+g"),), diff_is_read),
    Job(
        "comment on a line and send it",
        5,
        (
            Step("ctrl+g"),
            Step("c", diff_is_read),
            Step(Text("why?"), lambda app, client: app.screen.is_modal),
            Step("enter"),
            Step("S", in_front("Diff")),
            Step("enter", lambda app, client: app.screen.is_modal),
        ),
        lambda app, client: client.called("send_chat_message"),
    ),
    Job(
        "commit everything",
        2,
        (Step("f4"), Step(Text("Mend"), in_front("Commit")), Step("enter")),
        called("commit_changes", stage_all=True),
    ),
    Job(
        "commit and push",
        3,
        (
            Step("f4"),
            Step(Text("Mend"), in_front("Commit")),
            Step("enter"),
            Step("enter", in_front("GoAhead")),
        ),
        called("git_push"),
    ),
    Job(
        "take back the queued message",
        1,
        (Step("up", lambda app, client: bool(app.main.state.queued.get("s1"))),),
        called("remove_queued_message"),
        prepare=queue,
    ),
    Job("archive what is finished", 2, (Step("shift+f8"),), called("archive_worktree")),
)  # fmt: skip


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
async def test_a_job_takes_no_more_keys_than_it_may(
    job: Job, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(not isinstance(step.what, Text) for step in job.steps) <= job.most
    monkeypatch.setattr(RequestPanel, "ARMED_AFTER", 0.0)
    monkeypatch.setattr(RequestPanel, "QUIET", 0.0)
    client = a_busy_state()
    client.answers |= {
        "create_worktree": create_worktree(client),
        "list_changed_files": lambda given: make_changes(
            *(["parser.py"] if given.get("side", "unstaged") == "unstaged" else [])
        ),
        "create_session": create_session(client),
        "commit_changes": lambda given: CommitResult(success=True, commit_sha="0" * 40),
        "git_push": lambda given: ExchangeResult(success=True, output=""),
        "get_git_remotes": lambda given: [Remote(name="origin", url="/origin.git")],
    }
    async with start(client, size=(120, 40)) as (app, pilot):
        app.main.open_session(job.on)
        await until(pilot, lambda: is_conversation_shown(app, job.on))
        job.prepare(app, client)
        for step in job.steps:
            await until(pilot, lambda: step.ready(app, client))  # noqa: B023
            keys = list(step.what.text) if isinstance(step.what, Text) else [step.what]
            await pilot.press(*keys)
        await until(pilot, lambda: job.done(app, client))
