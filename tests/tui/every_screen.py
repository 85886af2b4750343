"""Every screen and dialog, and how to open it on a fixed state.

Tests of what must hold for all of them are parametrized with `SCREENS`. A new screen is one more
row in it.
"""

import datetime
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from rich.color import ColorSystem
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import OptionList

from model import __version__
from model.api.changes import Changes, FileDiff
from model.api.code_reviews import Comparison, ReviewState
from model.api.guests import NewGuestLink
from model.api.preferences import MagicPrompt, PromptVariable
from model.api.usage import Budget, UsageReport, UsageRow
from model.domain.code_reviews import CodeReview, Finding
from model.domain.events.notices import NoticeRaised
from model.domain.guests import GuestLink
from model.domain.hosting import WorkflowRun
from model.domain.landing import ReviewProgress
from model.domain.messages import PlanBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from model.domain.notices import Notice
from model.domain.output import RawLog
from model.domain.program import ProgramStatus
from model.domain.requests import Question, QuestionOption, Request
from model.domain.scripts import CommandRun, Script, ScriptRun
from model.domain.secret_findings import SecretFinding, SecretReport
from model.domain.usage import AccountLimits, Cost, Usage, UsageWindow
from model.domain.worktrees import Label
from model.state import apply
from tests.tui import a_hosting_service as hosting
from tests.tui.builders import (
    a_changed_file,
    a_commit,
    a_message,
    a_project,
    a_session,
    a_stash,
    a_state,
    a_worktree,
    make_changes,
)
from tests.tui.fake_client import FakeClient
from tests.tui.landing_desk import FakeLanding, a_check, a_preview, a_train
from tests.tui.reading import is_conversation_shown, rows_in_front
from tests.tui.waiting import settled, until, wait_until_still
from themes.contrast import MIN_TEXT_CONTRAST, contrast_ratio
from tui.diff.commit_list import CommitList
from tui.diff.compare_screen import CompareDiff
from tui.diff.screen import Diff
from tui.hosting.work_list import WorkList
from tui.landing.desk_list import DeskList
from tui.landing.sweep_list import SweepList
from tui.screens.notice_matrix import NoticeMatrix
from tui.screens.palette import Palette
from tui.screens.prompt_editor import EditPrompt
from tui.screens.secrets_found import SecretsFound
from tui.shell.app import SpinneyApp
from tui.terminal.output_filters import make_legible, nearest_color

NOW = 1_790_000_000.0
"""The current time on every screen."""

BOXES = {chr(code) for code in range(0x2500, 0x25A0)}
ORNAMENTS = BOXES | set("▪■□")
SYSTEMS = (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD)

ANSWER = """\
# The parser

The loop ends **one step early**: `read_rows` never sees the last row. See
[the format](https://example.org/format), *section 2*.

1. read the tail
2. test it

> A file without a newline at its end is still a file.

| Rows | Read |
| ---- | ---- |
| 12   | 11   |

```python
def read_rows(text: str) -> list[str]:  # the last one, too
    return [row for row in text.split("\\n") if row != ""]
```
"""
DIFF = """\
diff --git a/parser.py b/parser.py
index 1..2 100644
--- a/parser.py
+++ b/parser.py
@@ -40,3 +40,4 @@ def read_rows(text):
     rows = []
-    while row:
+    while row or tail:
+        rows.append(row)  # all of them
     return rows
"""


CONFLICT = f"""\
diff --git a/parser.py b/parser.py
--- a/parser.py
+++ b/parser.py
@@ -40,3 +40,9 @@ def read_rows(text):
     rows = []
+{"<" * 7} HEAD
     while row:
+{"|" * 7} 4f1c2d9
+    while True:
+{"=" * 7}
+    while row or tail:
+{">" * 7} main
     return rows
"""
"""Composed, so that no tool takes it for a conflict of this file."""


def a_busy_state() -> FakeClient:
    """Two projects, and sessions in every state."""
    request = Request(
        id="r1",
        kind="permission",
        tool_name="bash",
        tool_input={"command": "make test"},
        execution_mode="build",
        directory="/code/alpha",
        session_scope="exactly this command",
    )
    question = Request(
        id="r2",
        kind="question",
        questions=[
            Question(
                question="Which store?",
                options=[QuestionOption(label="SQLite"), QuestionOption(label="Files")],
            )
        ],
    )
    plan = Request(id="r3", kind="plan", plan="1. Read the tail.\n2. Test it.")
    client = FakeClient(
        a_state(
            a_project(),
            a_project(id="p2", name="beta", path="/code/beta", added_at=2.0),
            a_worktree(
                cached_uncommitted_added=12, cached_uncommitted_removed=3, cached_ahead_count=2,
                label=Label(name="urgent", color="#d9534f"),
            ),
            a_worktree(
                id="w2", project_id="p2", name="calm-heron", branch="calm-heron",
                path="/trees/calm-heron", pr_number=12, cached_check_status="success",
            ),
            a_session(usage=Usage(input_tokens=12_000, output_tokens=400), execution_mode="build"),
            a_session(id="s2", name="Rename the store", unread=True),
            a_session(id="s3", name="Run the tests", status="waiting", worktree_id="w2",
                      waiting_for="permission", request=request),
            a_session(id="s4", name="Choose a store", status="waiting", worktree_id="w2",
                      waiting_for="question", request=question),
            a_session(id="s5", name="Read the tail", status="waiting", worktree_id="w2",
                      waiting_for="plan", request=plan, execution_mode="plan"),
            a_session(id="s6", name="Update the docs", status="failed", worktree_id="w2"),
        )
    )  # fmt: skip
    client.messages["s1"] = [
        a_message("The parser drops the last row. Find out why.", timestamp=NOW - 100),
        a_message("", id="m2", role="assistant", timestamp=NOW - 90, content=[
            ThinkingBlock(text="Let me look.", seconds=4.0),
            ToolUseBlock(id="t1", name="edit", input={
                "file_path": "/trees/brave-otter/parser.py",
                "old_content": "while row:\n", "new_content": "while row or tail:\n",
            }),
            ToolResultBlock(tool_use_id="t1", content="done"),
            ToolUseBlock(id="t2", name="bash", input={"command": "make test"}),
            ToolResultBlock(tool_use_id="t2", content="1 failed", is_error=True),
            TextBlock(text=ANSWER),
            PlanBlock(text="1. Read the tail.\n2. Test it."),
        ]),
    ]  # fmt: skip
    script = Script(name="run", text="npm start", shown="npm start", hash="h", trusted=False)
    ran = ScriptRun(
        worktree_id="w1", script="run", status="failed", exit_code=1, output="no such port",
        started_at=NOW - 70, ended_at=NOW - 60,
    )  # fmt: skip
    raw = "\n".join(
        f"2026-09-21 14:13:2{n}.04{n} {line}" for n, line in enumerate((
            "· started in /trees/brave-otter: claude --print --input-format stream-json",
            '→ {"type":"user","message":{"role":"user","content":"Read the tail."}}',
            '← {"type":"assistant","message":{"content":[{"type":"text","text":"I read it."}]}}',
            "← stderr: warning: the key … is old",
            "· 12 lines left out",
        ))
    )  # fmt: skip
    client.answers |= {
        "get_http_server_status": lambda given: {"running": True},
        "list_guest_links": lambda given: [
            GuestLink(
                id="l1", name="Ann", scope_name="Fix the parser", role="approver", session_id="s1",
                created_at=NOW - 7200, expires_at=NOW + 7200, max_devices=2, devices=1,
                last_used=NOW - 300,
            ),
            GuestLink(
                id="l2", name="Bo", scope_name="orchard", role="driver", project_id="p1",
                created_at=NOW - 90_000, expires_at=NOW - 3600,
            ),
        ],
        "create_guest_link": lambda given: NewGuestLink(
            link=GuestLink(
                id="l3", name="Guest", role="viewer", session_id="s1", created_at=NOW,
                expires_at=NOW + 86_400,
            ),
            url=f"http://127.0.0.1:3456/#guest=sgl_{'k' * 43}", rows=["1"],
            hint="The server is reachable from this machine only, and so is the link.",
        ),
        "get_raw_log": lambda given: RawLog(
            text="" if given["after"] else f"{raw}\n",
            start=given["after"] or 0,
            end=len(raw) + 1,
            is_first=True,
            size=len(raw) + 1,
            path="/data/raw-logs/s1/raw-0.log",
            recording=False,
        ),
        "run_command": lambda given: CommandRun(
            worktree_id="w1",
            command="make test",
            status="failed",
            exit_code=2,
            output="..F\n1 failed, 2 passed",
            started_at=NOW - 70,
            ended_at=NOW - 60,
        ),
        "get_project_scripts": lambda given: [script],
        "get_script_output": lambda given: ran,
        "list_changed_files": lambda given: make_changes("parser.py"),
        "get_file_diff": lambda given: FileDiff(
            path="parser.py", text=DIFF, digest="d", hunks=["h0"]
        ),
        "list_commits": lambda given: [
            a_commit("4f1c2d9a", "Read the last row", authored_at=NOW - 300, body=(
                "The loop ended one step early.\n\nA file without a newline at its end is a file."
            )),
            a_commit("b81e07f3", "Test the tail", is_pushed=True, authored_at=NOW - 8_000),
            a_commit("0ac93e57", "Begin", is_pushed=True, is_in_base=True, authored_at=NOW - 9e5),
        ],
        "list_commit_files": lambda given: make_changes("parser.py", "tail.py").files,
        "list_stashes": lambda given: [
            a_stash("s2", "Half of the parser", created_at=NOW - 600),
            a_stash("s1", "Changes on top of 0ac93e5 Begin", created_at=NOW - 90_000, files=1),
        ],
    }  # fmt: skip
    client.answers["get_commit_file_diff"] = client.answers["get_file_diff"]
    client.answers["get_command_output"] = client.answers["run_command"]
    return client


def a_stopped_merge() -> FakeClient:
    """A worktree with a conflict."""
    client = a_busy_state()
    files = [a_changed_file("parser.py", status="conflicted")]
    client.answers |= {
        "list_changed_files": lambda given: Changes(
            files=files if given.get("side", "unstaged") == "unstaged" else [],
            base="main",
            operation="merge",
        ),
        "get_file_diff": lambda given: FileDiff(
            path="parser.py", text=CONFLICT, digest="d", hunks=["h0"]
        ),
    }
    return client


def a_pull_request_to_look_at() -> FakeClient:
    """A worktree with a pull request."""
    client = a_busy_state()
    worktree = client.state.worktrees["w1"]
    linked = worktree.model_copy(update={"pr_number": 12, "pr_url": hosting.URL})
    client.state = a_state(
        *client.state.projects.values(), linked, client.state.worktrees["w2"],
        *client.state.sessions.values(),
    )  # fmt: skip
    client.answers |= {
        "get_pull_request": lambda given: hosting.a_pull_request(),
        "get_check_log": lambda given: hosting.a_log(),
        "list_possible_reviewers": lambda given: ["ada", "grace", "linus", "loom/docs"],
    }
    client.reload(client.state)
    return client


def a_hosting_service_to_look_at() -> FakeClient:
    """Two projects whose hosting services answer."""
    client = a_busy_state()
    runs = [
        WorkflowRun(
            id=str(n), title=f"Read the tail {n}", number=n, workflow="CI", branch="main",
            commit="a" * 40, state="failure", updated_at=NOW - 600 * n,
        )
        for n in range(1, 4)
    ]  # fmt: skip
    client.answers |= {
        "list_open_work": lambda given: hosting.open_work(),
        "list_workflow_runs": lambda given: runs,
        "list_issues": lambda given: [hosting.an_issue(8, "Read files from a pipe")],
    }
    return client


def an_empty_state() -> FakeClient:
    """A client without projects."""
    return FakeClient()


def landing(**fields: Any) -> Callable[[], FakeClient]:
    """A function that returns a client with worktrees in every state of landing.

    `fields`: what differs from the attributes of `FakeLanding`.
    """

    def make() -> FakeClient:
        fake = FakeLanding()
        for name, value in fields.items():
            setattr(fake, name, value)
        return fake.client

    return make


Reach = Callable[[SpinneyApp, "Pilot[None]"], Awaitable[None]]


@dataclass(frozen=True)
class ScreenCase:
    """A screen: its client, and how to open it."""

    name: str
    reach: Reach
    client: Callable[[], FakeClient] = a_busy_state
    varies: bool = False
    """Whether it shows something that differs between machines: versions, folders, addresses."""


def session(session_id: str, *keys: str) -> Reach:
    """A function that opens a session, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        app.main.open_session(session_id)
        await until(pilot, lambda: is_conversation_shown(app, session_id))
        await pilot.press(*keys)

    return reach


def action(action_id: str, *keys: str, on: str = "s1") -> Reach:
    """A function that performs an action in a session, and waits for the screen that it opens."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await session(on)(app, pilot)
        app.main.action_do(action_id)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*keys)

    return reach


async def _commands(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Open the palette, and wait until it is filled."""
    await action("commands")(app, pilot)
    palette = app.screen
    assert isinstance(palette, Palette)
    found = palette.query_one(OptionList)
    await until(pilot, lambda: found.option_count)


def in_diff(*keys: str) -> Reach:
    """A function that opens the diff screen, waits for its first file, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("open_diff")(app, pilot)
        await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)
        await pilot.press(*keys)

    return reach


def a_reviewed_worktree() -> FakeClient:
    """A worktree whose changes an agent has reviewed."""
    client = a_busy_state()
    client.answers |= {
        "get_review": lambda given: ReviewState(
            progress=ReviewProgress(hunks=23, accepted=15, rejected=2), verdicts=[], viewed=[]
        ),
        "get_code_review": lambda given: CodeReview(
            worktree_id="w1",
            status="completed",
            agent="Claude Code",
            findings=[
                Finding(
                    id="f1",
                    path="parser.py",
                    first_line=41,
                    last_line=42,
                    severity="major",
                    explanation="The loop never ends if the tail is kept.",
                    suggestion="    while row or tail:",
                )
            ],
        ),
        "compare_branches": lambda given: Comparison(
            left="main", right="brave-otter", left_commit="a1", right_commit="b2",
            files=make_changes("parser.py", "tail.py").files,
        ),
    }  # fmt: skip
    client.answers["get_compared_diff"] = client.answers["get_file_diff"]
    return client


def a_version_to_restart_into() -> FakeClient:
    """Another version is installed while sessions run."""
    client = a_busy_state()
    program = ProgramStatus(version=__version__, installed_version="9.9.9")
    client.answers["get_program_status"] = lambda given: program
    return client


async def _comparison(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await session("s1")(app, pilot)
    app.main.show(CompareDiff(app.main, "p1", "main", "w1", ("main", "brave-otter")))
    await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)


async def _review(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_diff()(app, pilot)
    screen = app.screen
    assert isinstance(screen, Diff)
    await until(pilot, lambda: bool(screen.view.notes))


async def _findings(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await _review(app, pilot)
    await pilot.press("L")
    await until(pilot, lambda: app.screen.is_modal)


async def _edit_finding(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_diff("f")(app, pilot)
    await until(pilot, lambda: getattr(app.screen, "finding_here", None) is not None)
    await pilot.press("enter")
    await until(pilot, lambda: app.screen.is_modal)


async def _comment(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_diff("down", "down", "shift+down", "c")(app, pilot)
    await until(pilot, lambda: app.screen.is_modal)


def in_log(*keys: str) -> Reach:
    """A function that opens the log, waits for its commits, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("log")(app, pilot)
        await until(pilot, lambda: bool(app.screen.query_one(CommitList).items))
        await pilot.press(*keys)

    return reach


async def _commit_diff(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_log("enter")(app, pilot)
    await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)


def in_pull_request(*keys: str) -> Reach:
    """A function that opens the pull request, waits for it, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("pull_request")(app, pilot)
        screen = app.screen
        await until(pilot, lambda: getattr(screen, "details", None) is not None)
        await pilot.press(*keys)
        if keys:
            await until(pilot, lambda: app.screen is not screen)

    return reach


def in_open_work(*keys: str) -> Reach:
    """A function that opens the open work, waits for it, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("open_work")(app, pilot)
        await until(pilot, lambda: bool(app.screen.query_one(WorkList).items))
        await pilot.press(*keys)

    return reach


async def _edit_prompt(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Edit a text that the service has refused."""
    await session("s1")(app, pilot)
    variables = [
        PromptVariable(name="checks", help="The failed checks, one a line"),
        PromptVariable(name="branch", help="Branch of the worktree"),
    ]
    prompt = MagicPrompt(
        key="investigate_workflow_run", label="Investigate workflow run",
        purpose="Message to a session about failed checks", kind="session",
        default="Find out why these checks fail on {branch}:\n{checks}\nFix the cause.",
        variables=variables,
    )  # fmt: skip
    app.push_screen(EditPrompt(prompt, "", lambda text: None))
    await until(pilot, lambda: app.screen.is_modal)


async def _amend(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_log("A")(app, pilot)
    await until(pilot, lambda: app.screen.is_modal)


def a_worktree_with_secrets() -> FakeClient:
    """A worktree whose commit is refused."""
    client = a_busy_state()
    client.answers |= {
        "list_changed_files": lambda given: make_changes("config.py"),
        "find_secrets": lambda given: SecretReport(
            findings=[
                SecretFinding(
                    path="config.py",
                    line=12,
                    label="GitHub token",
                    excerpt="ghp_…",
                    fingerprint="a" * 16,
                ),
                SecretFinding(
                    path="deploy/keys/id_ed25519",
                    line=1,
                    label="private key",
                    excerpt="----…",
                    fingerprint="b" * 16,
                ),
            ]
        ),
    }
    client.refuse("commit_changes", "The commit would contain 2 possible secrets.", "conflict")
    return client


async def _secrets(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await action("commit")(app, pilot)
    await until(pilot, lambda: app.screen.is_modal)
    await pilot.press(*"Go", "enter")
    await until(pilot, lambda: isinstance(app.screen, SecretsFound))


def focused(selector: str) -> Reach:
    """A function that opens a session and focuses a pane."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await session("s1")(app, pilot)
        app.main.query_one(selector).focus()

    return reach


async def _earlier_messages(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await session("s1")(app, pilot)
    app.main.chat.composer.sent_messages += ["Fix the parser.", "!make test", "Test the\ntail."]
    await pilot.press("ctrl+r")
    await until(pilot, lambda: app.screen is not app.main)


def in_landing(*keys: str) -> Reach:
    """A function that opens the landing desk, waits for its rows, then presses keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("show_landing")(app, pilot)
        await until(pilot, lambda: bool(app.screen.query_one(DeskList).items))
        await pilot.press(*keys)
        if keys:
            await until(pilot, lambda: app.screen.is_modal)

    return reach


async def _land(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_landing("l")(app, pilot)
    await until(pilot, lambda: getattr(app.screen, "preview", None) is not None)


async def _sweep(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await action("show_sweep")(app, pilot)
    await until(pilot, lambda: bool(app.screen.query_one(SweepList).items))
    await pilot.press("space")


async def _command_output(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await session("s1", *"!make test", "enter")(app, pilot)
    await until(pilot, lambda: getattr(app.screen, "result", None) is not None)


def a_used_program() -> FakeClient:
    """Turns of thirty days, with limits of two accounts."""
    client = a_busy_state()
    used = client.state.sessions["s1"].model_copy(
        update={
            "cost": Cost(usd=0.84, is_estimated=True),
            "context_tokens": 42_000,
            "context_window": 200_000,
        }
    )
    client.state = a_state(
        *client.state.projects.values(), *client.state.worktrees.values(), used,
        *(each for each in client.state.sessions.values() if each.id != "s1"),
    )  # fmt: skip
    today = datetime.date.fromtimestamp(NOW)
    days = [
        usage_row((today - datetime.timedelta(days=n)).isoformat(), 3 + n % 5, 0.4 * (n % 7))
        for n in range(29, -1, -1)
    ]
    models = [
        usage_row("claude-opus-4-6", 31, 12.345),
        usage_row("gpt-5.2-codex", 12, 3.2, estimated_turns=12),
        usage_row("a-model-of-ones-own", 2, None, unknown_turns=2),
    ]
    total = usage_row("Total", 45, 15.545, estimated_turns=12, unknown_turns=2)
    client.answers |= {
        "get_usage": lambda given: UsageReport(
            by=given["by"], since=given.get("since"), until=None, today=today.isoformat(),
            rows=days if given["by"] == "day" else models, total=total,
        ),
        "list_budgets": lambda given: [
            Budget(scope="day", id="", label="All projects, today", limit_usd=20, spent_usd=16.4,
                   used=0.82, resets_at=NOW + 9000),
        ],
        "list_usage_limits": lambda given: [
            AccountLimits(
                id="backend_a",
                label="Claude Code",
                backend="backend_a",
                updated_at=NOW,
                windows=[
                    UsageWindow(id="a", label="5 hours", used=0.83, resets_at=NOW + 1200),
                    UsageWindow(id="b", label="7 days", used=0.4, resets_at=NOW + 2e5),
                ],
            ),
            AccountLimits(
                id="backend_b:work",
                label="Codex (work)",
                backend="backend_b",
                updated_at=NOW,
                windows=[
                    UsageWindow(
                        id="a", label="5 hours", used=1, resets_at=NOW + 600, reached=True
                    ),
                ],
            ),
        ],
    }  # fmt: skip
    client.reload(client.state)
    return client


def usage_row(label: str, turns: int, cost: float | None, **fields: int) -> UsageRow:
    """What some turns used."""
    usage = Usage(input_tokens=1000 * turns, output_tokens=200 * turns)
    return UsageRow(
        key=label, label=label, turns=turns, seconds=90 * turns, usage=usage, tokens=usage.total,
        cost_usd=cost, **fields,
    )  # fmt: skip


async def _usage(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await action("show_usage")(app, pilot)
    await until(pilot, lambda: getattr(app.screen, "is_shown", False))


async def _share(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await session("s1")(app, pilot)
    await action("share_session")(app, pilot)
    await pilot.press("r", "r")


async def _guest_link(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await _share(app, pilot)
    dialog = app.screen
    await pilot.press("enter")
    await until(pilot, lambda: app.screen.is_modal and app.screen is not dialog)


async def _stay(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Keep the screen that is shown at the start."""


def a_client_with_notices() -> FakeClient:
    """A client with notices of several reasons."""
    client = a_busy_state()
    rows = (
        ("plan", "Update the docs has a plan", "Split the page in two", "r5"),
        ("failed", "Try again has failed", "The provider is overloaded.", None),
        ("finished", "Fix the parser has finished", "All tests pass.", None),
        ("check_failed", "Checks of calm-otter have failed", "Pull request #12", None),
    )
    for minutes, (reason, title, text, request_id) in enumerate(rows):
        notice = Notice.model_validate(
            {
                "id": f"{reason}.s{minutes}", "reason": reason, "session_id": "s1",
                "title": title, "text": text, "created_at": NOW - 60.0 * (3 + 40 * minutes),
                "request_id": request_id,
            }
        )  # fmt: skip
        client.reload(apply(client.state, NoticeRaised(notice=notice)))
    return client


async def _notice_matrix(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await action("notice_settings")(app, pilot)
    await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 0)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, NoticeMatrix))


_APART = (
    "The check passed on the branch, not on 3 new commits of 'main'.",
    "It brings in 2 commits of 'calm-heron', which has not landed.",
)
_DIRTY = (
    "'main' is checked out in /code/alpha, with 2 uncommitted changes (parser.py, read.me). Commit "
    "or stash them there, then try again."
)
_RED = "The check failed. Fix what it reports, or land in spite of it."

SCREENS: tuple[ScreenCase, ...] = (
    ScreenCase("first-start", _stay, an_empty_state),
    ScreenCase("conversation", session("s1")),
    ScreenCase("reading", focused("#transcript")),
    ScreenCase("projects", focused("#tree")),
    ScreenCase("permission", session("s3")),
    ScreenCase("question", session("s4")),
    ScreenCase("plan", session("s5")),
    ScreenCase("failed", session("s6")),
    ScreenCase("usage", _usage, a_used_program),
    ScreenCase("help", action("help")),
    ScreenCase("commands", _commands),
    ScreenCase("new-worktree", action("new_worktree")),
    ScreenCase("add-project", action("add_project"), varies=True),
    ScreenCase("rename-session", action("rename_session")),
    ScreenCase("delete-session", action("delete_session")),
    ScreenCase("choose-model", action("choose_model")),
    ScreenCase("preferences", action("preferences")),
    ScreenCase("notices", action("show_notices"), a_client_with_notices),
    ScreenCase("notice-matrix", _notice_matrix),
    ScreenCase("keys", action("edit_keys")),
    ScreenCase("theme", action("theme")),
    ScreenCase("canvas", action("canvas")),
    ScreenCase("diff", in_diff()),
    ScreenCase("diff-marked", in_diff("down", "shift+down", "shift+down")),
    ScreenCase("comment", _comment),
    ScreenCase("review", _review, a_reviewed_worktree),
    ScreenCase("edit-finding", _edit_finding, a_reviewed_worktree),
    ScreenCase("findings", _findings, a_reviewed_worktree),
    ScreenCase("comparison", _comparison, a_reviewed_worktree),
    ScreenCase("conflict", in_diff(), a_stopped_merge),
    ScreenCase("log", in_log()),
    ScreenCase("commit-diff", _commit_diff),
    ScreenCase("amend", _amend),
    ScreenCase("stashes", action("stash")),
    ScreenCase("secrets", _secrets, a_worktree_with_secrets),
    ScreenCase("landing", in_landing(), landing(train=a_train(), can_undo="l1")),
    ScreenCase("landing-empty", action("show_landing"), landing(rows=[])),
    ScreenCase("land", _land, landing()),
    ScreenCase(
        "land-refused",
        _land,
        landing(preview=a_preview(check=a_check("failed"), problem=_RED, held_by_check=True)),
    ),
    ScreenCase(
        "land-apart",
        _land,
        landing(preview=a_preview(warnings=list(_APART), offers_train=True)),
    ),
    ScreenCase("land-dirty", _land, landing(preview=a_preview(problem=_DIRTY, offers_stash=True))),
    ScreenCase("new-train", in_landing("t"), landing()),
    ScreenCase("train", in_landing("t"), landing(train=a_train())),
    ScreenCase("sweep", _sweep, landing()),
    ScreenCase("search", action("search")),
    ScreenCase("share", _share),
    ScreenCase("guest-link", _guest_link),
    ScreenCase("guests", action("show_guests")),
    ScreenCase("archive", action("show_archive")),
    ScreenCase("scripts", action("show_scripts")),
    ScreenCase("raw-log", action("show_raw_log")),
    ScreenCase("server", action("server"), varies=True),
    ScreenCase("restart", action("restart_spinney"), a_version_to_restart_into),
    ScreenCase("about", action("about"), varies=True),
    ScreenCase("shell-command", session("s1", *"!make test")),
    ScreenCase("command-output", _command_output),
    ScreenCase("earlier-messages", _earlier_messages),
    ScreenCase("rename-worktree", action("rename_worktree")),
    ScreenCase("open-work", in_open_work("down", "space"), a_hosting_service_to_look_at),
    ScreenCase("workflow-runs", in_open_work("tab", "tab", "tab"), a_hosting_service_to_look_at),
    ScreenCase("begin-work", in_open_work("down", "enter"), a_hosting_service_to_look_at),
    ScreenCase("project-settings", action("project_settings")),
    ScreenCase("edit-prompt", _edit_prompt),
    ScreenCase("work-filters", in_open_work("tab", "f2"), a_hosting_service_to_look_at),
    ScreenCase("pull-request", in_pull_request(), a_pull_request_to_look_at),
    ScreenCase("check-log", in_pull_request("tab", "tab", "enter"), a_pull_request_to_look_at),
    ScreenCase("merge", in_pull_request("m"), a_pull_request_to_look_at),
    ScreenCase("reply", in_pull_request("tab", "tab", "tab", "r"), a_pull_request_to_look_at),
    ScreenCase("reviewers", in_pull_request("v"), a_pull_request_to_look_at),
    ScreenCase("edit-pull-request", in_pull_request("e"), a_pull_request_to_look_at),
)


@asynccontextmanager
async def show_screen(
    shown: ScreenCase, size: tuple[int, int] = (120, 40), **environ: str
) -> AsyncIterator[tuple[SpinneyApp, "Pilot[None]"]]:
    """Open a screen, and wait until it no longer changes."""
    client = shown.client()
    with mock.patch("textual.constants.COLOR_SYSTEM", "truecolor"):
        app = SpinneyApp(lambda: client, environ=environ)
    with mock.patch.object(time, "time", lambda: NOW), mock.patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and settled(client))
            await shown.reach(app, pilot)
            await until(pilot, lambda: rows_in_front(app))  # the layout is done
            await wait_until_still(pilot)
            yield app, pilot
    time.tzset()


def find_low_contrast(strips: list[Strip]) -> set[str]:
    """Words with less than the minimum contrast of text in any color system."""
    return {word for system in SYSTEMS for word in _find_low_contrast(strips, system)}


def _find_low_contrast(strips: list[Strip], system: ColorSystem) -> Iterable[str]:
    """Words with too little contrast in one color system, with their colors."""
    for segment in (segment for strip in strips for segment in strip):
        words, style = segment.text.strip(), segment.style
        if not set(words) - ORNAMENTS or style is None or not (style.color and style.bgcolor):
            continue
        if system is not ColorSystem.TRUECOLOR:
            style = make_legible(style, system)
        pair = [nearest_color(color, system) for color in (style.color, style.bgcolor) if color]
        if contrast_ratio(*pair) < MIN_TEXT_CONTRAST:
            yield f"{words!r} {' on '.join(pair)} ({system.name})"
