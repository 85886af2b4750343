"""Records the events that the real OpenCode sends its adapter, for tests that replay them without
the program: `python -m tests.live.record_opencode SCENARIO…`.
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
from model.backends.process import InvalidLine
from model.backends.traffic import NULL_RECORDER, TrafficRecorder
from tests.live.completions_stub import MODEL, PROVIDER, CompletionsStub, configuration
from tests.live.isolation import isolate_opencode, put_on_path
from tests.model.backends.agents import Conversation, make_launch
from tests.model.backends.opencode_played import RECORDINGS, SCENARIOS, respond_to_requests

_KEPT_OUT = {"session.updated", "session.diff", "file.edited", "file.watcher.updated"}
"""Long events that the adapter ignores."""


class RecordingServer(OpenCodeServer):
    """A server whose calls and events are recorded."""

    lines: list[Any] = []  # noqa: RUF012 - one recording at a time

    def route(self, event: ServerEvent | InvalidLine) -> None:
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
        record: TrafficRecorder = NULL_RECORDER,
    ) -> Any:
        if method == "POST":
            # Recorded first, since its events arrive before its answer.
            self.lines.append({"call": f"{method} {path}"})
        return await super().call(method, path, directory, body, timeout, record)


async def record(name: str, folder: Path, stub: CompletionsStub) -> None:
    worktree = folder / "worktree"
    worktree.mkdir(parents=True)
    environment = isolate_opencode(folder, configuration(stub.base_url))
    mode, prompt = SCENARIOS[name]
    launch = make_launch(worktree, mode=mode, model=f"{PROVIDER}/{MODEL}", environment=environment)
    RecordingServer.lines = []
    backend = OpenCodeBackend(folder / "data")
    agent = await backend.open(launch)
    RecordingServer.lines = []
    conversation = Conversation(agent)
    await agent.send(base.Prompt(prompt))
    await respond_to_requests(conversation, name)
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
        put_on_path("opencode", patch)
        async with stub.running():
            for name in sys.argv[1:] or SCENARIOS:
                folder = Path(tempfile.mkdtemp())
                try:
                    await record(name, folder, stub)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
