"""Records the real Codex, for tests that replay it without the program:

    SPINNEY_RECORD_CODEX=1 make test TESTS=tests/live/record_codex.py

A copy of this file, called `codex`, runs between Spinney and the program and records the messages.
One JSON object per line: `dir` is `in` (to the program) or `out`, `msg` the message.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

if __name__ != "__main__":
    import pytest

    from tests.model.backends.codex_scenarios import SCENARIOS, play

RECORDINGS = Path(__file__).parents[1] / "model" / "backends" / "recordings" / "codex"

_LEFT_OUT = {
    "configWarning",
    "remoteControl/status/changed",
    "account/rateLimits/updated",
    "account/updated",
    "skills/changed",
}
_LONGEST = 400
"""Maximum characters of a text; longer ones are instructions, which are not needed."""


def shorten(message: Any) -> Any:
    """Shorten long texts and long lists."""
    match message:
        case dict():
            return {key: shorten(value) for key, value in message.items()}
        case list():
            return [shorten(value) for value in message[:3]]
        case str() if len(message) > _LONGEST:
            return message[:40] + "…"
    return message


def relay() -> None:
    """Pass on every line in both directions, and record it."""
    here = Path(__file__).parent
    real = (here / "real").read_text()
    lock = threading.Lock()

    def pass_on(source: IO[bytes], sink: IO[bytes], direction: str) -> None:
        with (here / "recording.jsonl").open("a") as file:
            for line in source:
                message = json.loads(line)
                if message.get("method") not in _LEFT_OUT:
                    with lock:
                        entry = {"dir": direction, "msg": shorten(message)}
                        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                        file.flush()
                sink.write(line)
                sink.flush()
        sink.close()

    with subprocess.Popen(
        [real, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        incoming = (sys.stdin.buffer, program.stdin, "in")
        threading.Thread(target=pass_on, args=incoming, daemon=True).start()
        pass_on(program.stdout, sys.stdout.buffer, "out")


if __name__ == "__main__":
    relay()
else:

    @pytest.mark.skipif("SPINNEY_RECORD_CODEX" not in os.environ, reason="records only on request")
    @pytest.mark.parametrize("name", SCENARIOS)
    async def test_record(
        name: str,
        codex_program: Path,
        codex_environment: dict[str, str],
        open_codex: Any,
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        tools = place / "between"
        tools.mkdir()
        shutil.copy(__file__, tools / "between.py")
        (tools / "real").write_text(str(codex_program))
        shim = tools / "codex"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{tools}/between.py" "$@"\n')
        shim.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
        scenario = SCENARIOS[name]
        conversation = await open_codex(**scenario.launch)
        await play(conversation, scenario)
        await conversation.agent.close()
        RECORDINGS.mkdir(parents=True, exist_ok=True)
        recording = (tools / "recording.jsonl").read_text().replace(str(place), "/place")
        (RECORDINGS / f"{name}.jsonl").write_text(recording)
