"""Every screen and dialog, once: how it is reached, on a state that stands still.

What must hold for all of them is tested over this list. A new screen is one more row in `SCREENS`.
"""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import OptionList

from model.api.changes import ChangedFile, Changes, FileDiff
from model.domain.output import RawLog
from model.domain.resources import (
    Label,
    PlanBlock,
    Question,
    QuestionOption,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from model.domain.scripts import Script, ScriptRun
from tests.tui.conftest import settled, until
from tests.tui.fake_client import FakeClient, a_message, a_project, a_session, a_state, a_worktree
from themes.contrast import MIN_TEXT_CONTRAST, contrast_ratio
from tui.screens.palette import Palette
from tui.shell.app import SpinneyApp
from tui.terminal.output_filters import make_legible, nearest_color

NOW = 1_790_000_000.0
"""When it is, on every screen."""

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
    file = ChangedFile(
        path="parser.py", old_path=None, status="modified", added=2, removed=1,
        old_mode="100644", mode="100644", submodule=False,
    )  # fmt: skip
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
        "get_raw_log": lambda given: RawLog(
            text="" if given["after"] else f"{raw}\n",
            start=given["after"] or 0,
            end=len(raw) + 1,
            is_first=True,
            size=len(raw) + 1,
            path="/data/raw-logs/s1/raw-0.log",
            recording=False,
        ),
        "get_project_scripts": lambda given: [script],
        "get_script_output": lambda given: ran,
        "list_changed_files": lambda given: Changes(files=[file], base="main", operation=None),
        "get_file_diff": lambda given: FileDiff(
            path="parser.py", text=DIFF, digest="d", hunks=["h0"]
        ),
    }
    return client


def an_empty_state() -> FakeClient:
    """Nobody has added a project yet."""
    return FakeClient()


Reach = Callable[[SpinneyApp, "Pilot[None]"], Awaitable[None]]


@dataclass(frozen=True)
class Shown:
    """A screen: the client behind it, and the way there."""

    name: str
    reach: Reach
    client: Callable[[], FakeClient] = a_busy_state
    varies: bool = False
    """Whether it shows what differs between machines: versions, folders, addresses."""


def is_read(app: SpinneyApp, session_id: str) -> bool:
    """Whether the conversation of a session stands in its pane."""
    transcript = app.main.chat.transcript
    window = transcript.viewport if transcript is not None else None
    return window is not None and window.rows.history.session_id == session_id


def session(session_id: str, *keys: str) -> Reach:
    """Open a session, then press keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        app.main.open_session(session_id)
        await until(pilot, lambda: is_read(app, session_id))
        await pilot.press(*keys)

    return reach


def action(action_id: str, *keys: str, on: str = "s1") -> Reach:
    """Do an action of the key map in a session; wait until a screen is over the main one."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await session(on)(app, pilot)
        app.main.action_do(action_id)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*keys)

    return reach


async def _commands(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """The palette, with all that it finds."""
    await action("commands")(app, pilot)
    palette = app.screen
    assert isinstance(palette, Palette)
    found = palette.query_one(OptionList)
    await until(pilot, lambda: found.option_count)


def in_diff(*keys: str) -> Reach:
    """Open the diff screen, wait for its first file, then press keys."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await action("open_diff")(app, pilot)
        await until(pilot, lambda: getattr(app.screen, "file_diff", None) is not None)
        await pilot.press(*keys)

    return reach


async def _commenting(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await in_diff("tab", "down", "down", "shift+down", "c")(app, pilot)
    await until(pilot, lambda: app.screen.is_modal)


def focused(selector: str) -> Reach:
    """Open a session, and give the keys to a pane."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await session("s1")(app, pilot)
        app.main.query_one(selector).focus()

    return reach


async def _nothing(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """The screen as it is at the start."""


SCREENS: tuple[Shown, ...] = (
    Shown("first-start", _nothing, an_empty_state),
    Shown("conversation", session("s1")),
    Shown("reading", focused("#transcript")),
    Shown("projects", focused("#tree")),
    Shown("permission", session("s3")),
    Shown("question", session("s4")),
    Shown("plan", session("s5")),
    Shown("failed", session("s6")),
    Shown("help", action("help")),
    Shown("commands", _commands),
    Shown("new-worktree", action("new_worktree")),
    Shown("add-project", action("add_project"), varies=True),
    Shown("rename-session", action("rename_session")),
    Shown("delete-session", action("delete_session")),
    Shown("choose-model", action("choose_model")),
    Shown("preferences", action("preferences")),
    Shown("keys", action("edit_keys")),
    Shown("canvas", action("canvas")),
    Shown("diff", in_diff()),
    Shown("diff-marked", in_diff("tab", "down", "shift+down", "shift+down")),
    Shown("comment", _commenting),
    Shown("search", action("search")),
    Shown("archive", action("show_archive")),
    Shown("scripts", action("show_scripts")),
    Shown("raw-log", action("show_raw_log")),
    Shown("server", action("server"), varies=True),
    Shown("about", action("about"), varies=True),
    Shown("rename-worktree", action("rename_worktree")),
)


@asynccontextmanager
async def reached(
    shown: Shown, size: tuple[int, int] = (120, 40), **environ: str
) -> AsyncIterator[tuple[SpinneyApp, "Pilot[None]"]]:
    """The screen as it stands once nothing moves any more."""
    client = shown.client()
    with mock.patch("textual.constants.COLOR_SYSTEM", "truecolor"):
        app = SpinneyApp(lambda: client, environ=environ)
    with mock.patch.object(time, "time", lambda: NOW), mock.patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and settled(client))
            await shown.reach(app, pilot)
            await until(pilot, lambda: rows_in_front(app))  # it is laid out
            await still(app, pilot)
            yield app, pilot
    time.tzset()


async def still(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Wait until the screen is the same twice."""
    before: list[Any] = []
    while True:
        await pilot.pause(0.05)
        now = rows(app)
        if now == before:
            return
        before = now


def rows(app: SpinneyApp) -> list[Strip]:
    """The whole screen as rows, with what lies below a dialog."""
    return app.screen._compositor.render_strips()


def rows_in_front(app: SpinneyApp) -> list[Strip]:
    """The same without what a dialog leaves of the screen below it, faded."""
    if not app.screen.is_modal:
        return rows(app)
    shown = app.screen._compositor.visible_widgets.items()
    parts = [region.intersection(clip) for widget, (region, clip) in shown if widget != app.screen]
    if not parts:
        return []
    box = Region.from_union(parts)
    return [strip.crop(box.x, box.right) for strip in rows(app)[box.y : box.bottom]]


def text_of(app: SpinneyApp) -> list[str]:
    """The rows without their styles."""
    return [strip.text.rstrip() for strip in rows(app)]


def cells(strips: Iterable[Strip]) -> list[list[tuple[str, Style]]]:
    """Each row as its characters with their styles."""
    return [
        [(letter, segment.style or Style()) for segment in strip for letter in segment.text]
        for strip in strips
    ]


def hard_to_read(strips: list[Strip]) -> set[str]:
    """Words whose contrast is below that of text, on a terminal of any number of colours."""
    return {word for system in SYSTEMS for word in _hard_to_read(strips, system)}


def _hard_to_read(strips: list[Strip], system: ColorSystem) -> Iterable[str]:
    """The same on one kind of terminal, with the two colours that are drawn there."""
    for segment in (segment for strip in strips for segment in strip):
        words, style = segment.text.strip(), segment.style
        if not set(words) - ORNAMENTS or style is None or not (style.color and style.bgcolor):
            continue
        if system is not ColorSystem.TRUECOLOR:
            style = make_legible(style, system)
        pair = [nearest_color(color, system) for color in (style.color, style.bgcolor) if color]
        if contrast_ratio(*pair) < MIN_TEXT_CONTRAST:
            yield f"{words!r} {' on '.join(pair)} ({system.name})"
