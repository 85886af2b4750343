"""A program: Spinney in a terminal, which opens sessions and measures each step.

`python opening.py RESULT SESSION…`. A step ends with the last output to the terminal before half a
second of silence, which is detected in the writing thread. No text would do as a mark of its end:
only cells that differ from those before are written.
"""

import asyncio
import fcntl
import json
import struct
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from textual.events import AppBlur, AppFocus

from model.base.instance import acquire_lock
from model.base.paths import resolve_directories
from server.engine import Engine
from tests.bench.spy import Spy, spy_on_terminal
from tests.bench.terminal import COLUMNS, LINES
from tui.shell.app import SpinneyApp
from tui.store.mirror import Change

QUIET = 0.5
"""Seconds without a write after which the screen is complete."""


class Opening:
    """The steps, run on the event loop of the application."""

    def __init__(self, app: SpinneyApp, spy: Spy, result: Path) -> None:
        self._app = app
        self._spy = spy
        self._result = result
        self._found: dict[str, Any] = {"opened": {}}

    async def run(self, sessions: list[str]) -> None:
        """Run all steps, then end the program."""
        main = self._app.main
        while not main.is_connected or not main.state.sessions:
            await asyncio.sleep(0.05)
        await self._spy.quiet(QUIET)
        for session_id in sessions:
            memory = _memory()
            opened = await self._step(partial(main.open_session, session_id))
            self._found["opened"][session_id] = {
                **opened,
                "widgets": len(self._app.screen.query("*")),
                "grown": _memory() - memory,
            }
        transcript = main.chat.transcript
        assert transcript is not None
        self._found["page up"] = await self._step(transcript.action_page_up)
        self._found["jump to the oldest that is read"] = await self._step(
            transcript.action_scroll_home
        )
        self._found["theme"] = await self._step(self._switch_theme)
        self._found["focus out"] = await self._step(lambda: self._app.post_message(AppBlur()))
        self._found["focus in"] = await self._step(lambda: self._app.post_message(AppFocus()))
        self._found["resize"] = await self._step(lambda: _resize(COLUMNS - 20, LINES))
        self._found["rss"] = _memory()
        self._result.write_text(json.dumps(self._found))
        self._app.exit()

    def _switch_theme(self) -> None:
        main, preferences = self._app.main, self._app.main.state.preferences
        light = preferences.model_copy(update={"theme": "light"})
        main.follow(Change(replace(main.state, preferences=light), main.state, preferences=True))

    async def _step(self, act: Callable[[], object]) -> dict[str, float]:
        """Return wall and CPU seconds until the last output was written."""
        began, cpu = time.perf_counter(), time.process_time()
        seen = self._spy.watch("")
        act()
        await asyncio.wait_for(seen, 30)
        wall, used = await self._spy.quiet(QUIET)
        return {"wall": wall - began, "cpu": used - cpu}


def _memory() -> int:
    memory: int = psutil.Process().memory_info().rss
    return memory


def _resize(columns: int, lines: int) -> None:
    # The kernel sends SIGWINCH, as when a terminal window is resized.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def main() -> None:
    """Run the application."""
    result, sessions = Path(sys.argv[1]), sys.argv[2:]
    spy = spy_on_terminal()
    places = resolve_directories()
    lock = acquire_lock(places.lock)
    assert lock is not None
    engine = Engine(places, lock, demo=False)
    app = SpinneyApp(engine.connect)
    opening = Opening(app, spy, result)
    try:
        app.run(auto_pilot=lambda _: opening.run(sessions))
    finally:
        engine.stop()


if __name__ == "__main__":
    main()
