"""Records what the real OpenCode tells its adapter, for the tests that play it again without the
program: `python -m tests.live.record_opencode SCENARIO…`.
"""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.backends.opencode import server_pool
from model.backends.opencode.backend import OpenCodeBackend
from model.backends.opencode.event_stream import ServerEvent
from model.backends.opencode.server import CALL_TIMEOUT, OpenCodeServer
from model.backends.process import Unreadable
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub, configuration
from tests.live.cut_off import made_known, opencode_in
from tests.model.backends.agents import Conversation, a_launch
from tests.model.backends.opencode_played import RECORDINGS, SCENARIOS, answering

_KEPT_OUT = {"session.updated", "session.diff", "file.edited", "file.watcher.updated"}
"""Events that the adapter does not look at, and that are long."""


class RecordingServer(OpenCodeServer):
    """A server whose calls and events are written down."""

    lines: list[Any] = []  # noqa: RUF012 - one recording at a time

    def route(self, event: ServerEvent | Unreadable) -> None:
        if isinstance(event, ServerEvent) and event.kind not in _KEPT_OUT and event.session_id:
            self.lines.append({"event": event.kind, "told": event.properties})
        super().route(event)

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        timeout: float = CALL_TIMEOUT,
    ) -> Any:
        if method == "POST":
            # Its events come before its answer.
            self.lines.append({"call": f"{method} {path}"})
        return await super().call(method, path, directory, body, timeout)


async def record(name: str, folder: Path, stub: CompletionsStub) -> None:
    worktree = folder / "worktree"
    worktree.mkdir(parents=True)
    environment = opencode_in(folder, configuration(stub.base_url))
    mode, prompt = SCENARIOS[name]
    launch = a_launch(worktree, mode=mode, model=f"{PROVIDER}/{MODEL}", environment=environment)
    RecordingServer.lines = []
    backend = OpenCodeBackend(folder / "data")
    agent = await backend.open(launch)
    RecordingServer.lines = []
    conversation = Conversation(agent)
    await agent.send(base.Prompt(prompt))
    await answering(conversation, name)
    lines = [json.dumps(line) for line in RecordingServer.lines]
    await agent.close()
    await backend.close()
    text = "\n".join(lines).replace(str(worktree), "/worktree").replace(str(folder), "/home/w")
    (RECORDINGS / f"{name}.jsonl").write_text(text + "\n")


async def main() -> None:
    server_pool.OpenCodeServer = RecordingServer  # type: ignore[misc]
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    stub = CompletionsStub()
    with pytest.MonkeyPatch.context() as patch:
        made_known("opencode", patch)
        async with stub.running():
            for name in sys.argv[1:] or SCENARIOS:
                folder = Path(tempfile.mkdtemp())
                try:
                    await record(name, folder, stub)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
