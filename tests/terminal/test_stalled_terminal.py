"""A terminal that nobody reads from (a dead link, ctrl+s) holds up nothing but itself."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tests.terminal.pty_program import demo_in_terminal, server_of


def test_server_and_sessions_go_on_while_the_terminal_is_not_read(tmp_path: Path) -> None:
    with demo_in_terminal(tmp_path) as screen:
        screen.shows("Tour")
        screen.type("\x10")
        screen.shows("earch for commands")
        screen.type("start, and")
        screen.shows("show its address")
        screen.type("\r")
        while not list(tmp_path.glob("spinney-demo-*/data/server.json")):
            screen.read()
        server = server_of(tmp_path)

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

        screen.type("\x1b")
        state = ask("/api/init")
        [[session]] = state["sessionsByWorktree"].values()
        # From here on nothing is read: the first screens of text fill the terminal's buffer, and
        # then every write of the screen's thread blocks.
        messages = f"/api/sessions/{session['id']}/messages"
        ask(messages, {"message": "/demo markdown 400\n/demo say the end of it"})
        end = time.monotonic() + PATIENCE
        while ask(f"/api/sessions/{session['id']}")["status"] != "idle":
            assert time.monotonic() < end, "the session stands still with its terminal"
            time.sleep(0.1)
        [_, answer] = ask(messages)["messages"]
        assert answer["content"][-1]["text"] == "the end of it"
        assert answer["stop_reason"] == "end_turn"

        # And the screen catches up when somebody looks again.
        screen.output.clear()
        screen.shows("the end of it")
