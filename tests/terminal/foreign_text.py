"""Untrusted texts, and a program that shows them in every place of the terminal.

`python -m tests.terminal.foreign_text NUMBER RESULT` runs the terminal on a client without a model,
walks through its screens with one of the texts in every field, and writes what failed to RESULT.
"""

import asyncio
import json
import sys
import traceback
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from model.api.changes import ChangedFile, Changes, FileDiff
from model.domain.events.sessions import SessionUpdated
from model.domain.messages import Message, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from model.domain.requests import Question, QuestionOption, Request
from model.domain.sessions import LastRun
from model.domain.worktrees import Label
from model.state import State
from tests.patience import PATIENCE
from tests.terminal.foreign_places import (
    PLACES,
    SEEN,
    archived_events,
    command_results,
    is_shown,
)
from tests.tui.builders import a_project, a_session, a_worktree
from tests.tui.fake_client import FakeClient
from tui.shell.app import SpinneyApp
from tui.widgets.request_panel import RequestPanel

CONTROLS = {
    "\x1b]52;c;U0lHTkFUVVJF\x07": b"\x1b]52;c;U0lH",
    "\x1b]0;SIGTITLE\x07": b"\x1b]0;SIG",
    "\x1b]8;;http://sig.invalid\x1b\\": b"sig.invalid\x1b",
    "\x1bP1$rSIGDCS\x1b\\": b"\x1bP1$r",
    "\x1b_SIGAPC\x1b\\": b"\x1b_SIG",
    "\x1b[31337z": b"\x1b[31337z",
    "\x1bc": b"\x1bc",
    "\x9b31337z": b"\xc2\x9b",
    "\x9d0;SIG\x9c": b"\xc2\x9d",
    "\x90SIG\x9c": b"\xc2\x90",
    "a\x0eb\x0fc": b"\x0e",
    "a\x7fb": b"\x7f",
    "\u202egnp.exe\u202c": "\u202e".encode(),
    "zero\u200bwidth\u2066": "\u200b".encode(),
    "\ud800": b"\xed\xa0\x80",
}
"""Texts, and the bytes of each that must never be written to the terminal."""

MARKUP = ("[/]", "[/nope]", "[@click=app.quit]x[/]", "list[int]", "[bold red]", "[$accent]")
"""Texts that are shown unchanged."""

_PIECES = (*CONTROLS, *MARKUP)
TEXTS = tuple(SEEN + " ".join(_PIECES[n : n + 3]) for n in range(0, len(_PIECES), 3))
"""Three of them at a time; the texts must be as short as names."""


def make_client(text: str) -> FakeClient:
    """Return a client whose state and results contain the text in every field."""
    project = a_project(name=text, default_branch=text)
    worktree = a_worktree(
        name=text, branch=text, base_branch=text, label=Label(name=text, color="#ff0000")
    )
    session = a_session(
        name=text,
        recap=text,
        model=text,
        status="failed",
        last_run=LastRun(status="failed", error=text),
    )
    waits = a_session(
        id="s2", name=text, status="waiting", waiting_for="plan", request=_request("plan", text)
    )
    state = State(
        projects={"p1": project},
        worktrees={
            "w1": worktree,
            "w2": worktree.model_copy(update={"id": "w2", "detached_at": text}),
        },
        sessions={"s1": session, "s2": waits},
    )
    client = FakeClient(state)
    client.messages = {"s1": _messages(text), "s2": _messages(text)}
    change = ChangedFile(
        path=text,
        old_path=text,
        status="renamed",
        added=1,
        removed=1,
        old_mode="100644",
        mode="100644",
        submodule=False,
    )
    diff = f"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ {text}\n-{text}\n+new {text}\n {text}\n"
    client.answers |= command_results(text) | {
        "get_problems": lambda given: [text],
        "list_changed_files": lambda given: Changes(files=[change], base=text, operation=None),
        "get_file_diff": lambda given: FileDiff(path=text, text=diff, digest="d", hunks=["h"]),
    }
    return client


def _request(kind: Any, text: str) -> Request:
    question = Question(
        question=text, header=text, options=[QuestionOption(label=text, description=text)]
    )
    return Request(
        id=f"r-{kind}",
        kind=kind,
        plan=f"# {text}\n\n- {text}",
        questions=[question],
        tool_name=text,
        description=text,
        tool_input={"command": text, text: text},
    )


def _messages(text: str) -> list[Message]:
    shown = [
        ThinkingBlock(text=text, seconds=1.0),
        TextBlock(
            text=f"{text}\n\n`{text}`\n\n```python\n{text}\n```\n\n| {text} |\n|---|\n| {text} |"
        ),
        ToolUseBlock(id="t1", name=text, input={"file_path": text, "command": text}),
        ToolResultBlock(tool_use_id="t1", content=text, is_error=True),
        ToolUseBlock(
            id="t2",
            name="edit",
            input={"file_path": text, "old_string": text, "new_string": "x" + text},
        ),
        ToolResultBlock(tool_use_id="t2", content=text),
    ]
    asked = Message(
        id="m1", role="user", content=[TextBlock(text=text)], session_id="s1", timestamp=1.0
    )
    answer = Message(
        id="m2",
        role="assistant",
        content=shown,
        session_id="s1",
        timestamp=2.0,
        model=text,
        stop_reason="error",
    )
    return [asked, answer]


class Walk:
    """Opens all screens, one after the other."""

    def __init__(self, app: SpinneyApp, client: FakeClient, text: str) -> None:
        self._app = app
        self._client = client
        self._text = text
        self.unseen: list[str] = []
        """Places that did not show the text."""

    async def go(self, pilot: "Pilot[Any]") -> None:
        """Walk through all screens."""
        main = self._app.main
        while not main.is_connected or not main.state.sessions:
            await pilot.pause(0.02)
        main.open_session("s1")
        while (transcript := main.chat.transcript) is None:
            await pilot.pause(0.02)
        await pilot.pause(0.1)
        for _ in range(6):
            transcript.action_step(-1)
            transcript.action_open_part()
            await pilot.pause()
        for kind in ("plan", "question", "permission"):
            asked = _request(kind, self._text).model_dump(mode="python")
            changed = {"waiting_for": kind, "request": asked}
            self._client.feed(SessionUpdated(session_id="s2", updates=changed))
            main.open_session("s2")
            await pilot.pause(0.1)
        main.say(self._text, bad=True)
        self._client.lose(self._text)
        await pilot.pause(0.1)
        self._client.reload()
        await pilot.pause(0.1)
        for action in (
            "canvas",
            "open_diff",
            "commands",
            "rename_session",
            "label_worktree",
            "help",
        ):
            main.action_do(action)
            while self._app.screen is main:
                await pilot.pause(0.02)
            await pilot.pause(0.15)
            while self._app.screen is not main:
                await pilot.press("escape")
                await pilot.pause(0.05)
        await self._open_places(pilot)
        main.projects.focus()
        await pilot.press("s", "e", "e")
        await pilot.pause(0.1)

    async def _open_places(self, pilot: "Pilot[Any]") -> None:
        """Open every place in `PLACES` and wait until it shows the text."""
        main = self._app.main
        self._client.feed(*archived_events(self._text))
        main.open_session("s1")
        for name, open_place in PLACES.items():
            try:
                async with asyncio.timeout(PATIENCE):
                    await open_place(self._app, self._client, pilot)
                    while not is_shown(self._app):
                        await pilot.pause(0.02)
            except TimeoutError:
                self.unseen.append(f"{name} (on {type(self._app.screen).__name__})")
            for _ in range(10):
                if self._app.screen is main:
                    break
                await pilot.press("escape")
                await pilot.pause(0.02)


def main() -> None:
    """Run the walk; the result is `{}` if nothing failed."""
    number, result = int(sys.argv[1]), Path(sys.argv[2])
    RequestPanel.ARMED_AFTER = RequestPanel.QUIET = 0.0
    client = make_client(TEXTS[number])
    app = SpinneyApp(lambda: client)
    walk = Walk(app, client, TEXTS[number])
    failures: dict[str, str] = {}

    async def go(pilot: "Pilot[Any]") -> None:
        try:
            await walk.go(pilot)
            if walk.unseen:
                failures["unseen"] = ", ".join(walk.unseen)
        except BaseException:
            failures["broke"] = traceback.format_exc()
        app.exit()

    app.run(auto_pilot=go)
    if app._exit_renderables or app.return_code:
        failures["app"] = "ended with a traceback"
    result.write_text(json.dumps(failures))


if __name__ == "__main__":
    main()
