"""A stub for `codex`: plays a recording of the real app-server.

`script.jsonl` beside it holds the lines, as `tests/live/record_codex.py` writes them: `dir` is
`in` for input, which the stub waits for, and `out` for output; `raw` is written as it is.
`fake.json` holds options: `timeout` (seconds to wait for input before it exits), `seed` (it writes
in chunks of random size), `version`, `signed_in`.
"""

import json
import os
import random
import select
import sys
from pathlib import Path

HERE = Path(sys.argv[0]).parent
OPTIONS = json.loads((HERE / "fake.json").read_text())
SIZES = random.Random(OPTIONS.get("seed"))


class Input:
    """The lines of input, which may be received in any order."""

    def __init__(self) -> None:
        self.unread: list[dict] = []
        self.rest = b""

    def next(self) -> dict:
        while b"\n" not in self.rest:
            ready, _, _ = select.select([0], [], [], OPTIONS.get("timeout"))
            if not ready:
                sys.stderr.write("no input\n")
                sys.exit(3)
            piece = os.read(0, 1 << 16)
            if not piece:
                sys.exit(0)
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        with (HERE / "received.jsonl").open("ab") as file:
            file.write(line + b"\n")
        received = json.loads(line)
        if received.get("method") == "hooks/list" or "includeLayers" in received.get("params", {}):
            # These requests are newer than the recordings.
            say(json.dumps({"id": received["id"], "error": {"code": -32601, "message": "unknown"}}))
            return self.next()
        return received

    def receive(self, like: dict) -> dict:
        """The next line with the same method, or the response to the same request."""
        while True:
            for line in self.unread:
                same = line.get("id") == like["id"] if "id" in like else True
                if line.get("method") == like.get("method") and ("method" in like or same):
                    self.unread.remove(line)
                    return line
            self.unread.append(self.next())


def say(text: str) -> None:
    data = text.encode() + b"\n"
    while data:
        size = SIZES.choice((1, 2, 7, 100, 4000)) if "seed" in OPTIONS else len(data)
        os.write(1, data[:size])
        data = data[size:]


def main() -> None:
    if sys.argv[1] == "--version":
        print(OPTIONS.get("version", "codex-cli 0.169.0"))
        return
    if sys.argv[1] == "login":
        sys.exit(0 if OPTIONS.get("signed_in", True) else 1)
    stdin, ids = Input(), {}
    for line in (HERE / "script.jsonl").read_text().splitlines():
        entry = json.loads(line)
        message = entry.get("msg", {})
        if entry["dir"] == "in":
            received = stdin.receive(message)
            if "method" in message:
                ids[message.get("id")] = received.get("id")
        elif "raw" in entry:
            say(entry["raw"] * entry.get("times", 1))
        elif entry["dir"] == "die":
            sys.stderr.write(entry["words"] + "\n")
            sys.exit(entry["code"])
        else:
            if "method" not in message:
                message = {**message, "id": ids.get(message.get("id"), message.get("id"))}
            say(json.dumps(message))
    while "timeout" not in OPTIONS:
        stdin.next()


main()
