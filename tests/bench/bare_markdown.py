"""A program: the baseline of opening a session, a Textual widget for each of its newest messages.

`python bare_markdown.py RESULT MESSAGES`.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown

from tests.bench.long_session import message_of
from tests.bench.spy import Spy, spy_on_terminal


class BareMarkdown(App[None]):
    """An empty scrolling container."""

    def compose(self) -> ComposeResult:
        yield VerticalScroll()


async def open_all(app: App[Any], spy: Spy, result: Path, messages: int) -> None:
    """Mount the newest 100 of `messages` messages and wait until the last one is drawn."""
    await spy.quiet(0.5)
    memory = psutil.Process().memory_info().rss
    began, cpu = time.perf_counter(), time.process_time()
    seen = spy.watch(f"(mark {messages - 1})")
    scroll = app.query_one(VerticalScroll)
    texts = [message_of("bare", number).text for number in range(messages - 100, messages)]
    await scroll.mount_all(Markdown(text) for text in texts)
    scroll.scroll_end(animate=False)
    wall, used = await asyncio.wait_for(seen, 120)
    rss = psutil.Process().memory_info().rss
    found = {
        "wall": wall - began,
        "cpu": used - cpu,
        "widgets": len(app.screen.query("*")),
        "grown": rss - memory,
        "rss": rss,
    }
    result.write_text(json.dumps(found))
    app.exit()


def main() -> None:
    """Run the application."""
    result, messages = Path(sys.argv[1]), int(sys.argv[2])
    spy = spy_on_terminal()
    BareMarkdown().run(auto_pilot=lambda pilot: open_all(pilot.app, spy, result, messages))


if __name__ == "__main__":
    main()
