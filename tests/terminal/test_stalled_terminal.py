"""A terminal that is not read (a dead connection, ctrl+s) does not block server and sessions."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tests.program import Program


def test_server_and_sessions_continue_while_the_terminal_is_not_read(tmp_path: Path) -> None:
    spinney = Program(tmp_path)
    with spinney.on_a_terminal("demo") as terminal:
        terminal.wait_for_text("Tour")
        terminal.write(b"\x10")
        terminal.wait_for_text("Search for commands")
        terminal.write(b"start and")
        terminal.wait_for_text("show its address")
        terminal.write(b"\r")
        terminal.wait_for_text("stop   l allow network")
        [found] = spinney.temporary.glob("spinney-demo-*/data/server.json")
        server = json.loads(found.read_text())

        def ask(path: str, body: dict[str, Any] | None = None) -> Any:
            request = urllib.request.Request(
                server["base_url"] + path,
                data=None if body is None else json.dumps(body).encode(),
                headers={
                    "Authorization": f"Bearer {server['token']}",
                    "Content-Type": "application/json",
                },
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        terminal.write(b"\x1b")
        state = ask("/api/init")
        [[session]] = state["sessionsByWorktree"].values()
        # From here on nothing is read: the first screens of text fill the terminal's buffer, then
        # every write of the screen's thread blocks.
        messages = f"/api/sessions/{session['id']}/messages"
        ask(messages, {"message": "/demo markdown 400\n/demo say the end of it"})
        end = time.monotonic() + PATIENCE
        while ask(f"/api/sessions/{session['id']}")["status"] != "idle":
            assert time.monotonic() < end, "the session is blocked by its terminal"
            time.sleep(0.1)
        [_, answer] = ask(messages)["messages"]
        assert answer["content"][-1]["text"] == "the end of it"
        assert answer["stop_reason"] == "end_turn"

        # When the terminal is read again, the screen shows the newest state.
        terminal.wait_for_text("│   the end of it")
