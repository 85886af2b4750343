"""A program in the place of `codex`: it plays a recording of the real one's app-server.

`script.jsonl` beside it holds the lines, as `tests/live/record_codex.py` writes them: `dir` is
`in` for what we say (it waits for that) and `out` for what it says; `raw` is said as it is.
`fake.json` holds what else it shall do: `patience` (seconds to wait for us, then it dies), `seed`
(it speaks in pieces of random size), `version`, `signed_in`.
"""

import json
import os
import random
import select
import sys
from pathlib import Path

HERE = Path(sys.argv[0]).parent
GIVEN = json.loads((HERE / "fake.json").read_text())
SIZES = random.Random(GIVEN.get("seed"))


class Ears:
    """What we say to it, in whatever order it wants to hear that."""

    def __init__(self) -> None:
        self.unheard: list[dict] = []
        self.rest = b""

    def next(self) -> dict:
        while b"\n" not in self.rest:
            ready, _, _ = select.select([0], [], [], GIVEN.get("patience"))
            if not ready:
                sys.stderr.write("nobody speaks to me\n")
                sys.exit(3)
            piece = os.read(0, 1 << 16)
            if not piece:
                sys.exit(0)
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        with (HERE / "heard.jsonl").open("ab") as heard:
            heard.write(line + b"\n")
        heard = json.loads(line)
        if heard.get("method") == "hooks/list" or "includeLayers" in heard.get("params", {}):
            # Newer than the recordings.
            say(json.dumps({"id": heard["id"], "error": {"code": -32601, "message": "unknown"}}))
            return self.next()
        return heard

    def hear(self, like: dict) -> dict:
        """The next line with the same method, or the answer to the same request."""
        while True:
            for line in self.unheard:
                same = line.get("id") == like["id"] if "id" in like else True
                if line.get("method") == like.get("method") and ("method" in like or same):
                    self.unheard.remove(line)
                    return line
            self.unheard.append(self.next())


def say(text: str) -> None:
    data = text.encode() + b"\n"
    while data:
        size = SIZES.choice((1, 2, 7, 100, 4000)) if "seed" in GIVEN else len(data)
        os.write(1, data[:size])
        data = data[size:]


def main() -> None:
    if sys.argv[1] == "--version":
        print(GIVEN.get("version", "codex-cli 0.169.0"))
        return
    if sys.argv[1] == "login":
        sys.exit(0 if GIVEN.get("signed_in", True) else 1)
    ears, ids = Ears(), {}
    for line in (HERE / "script.jsonl").read_text().splitlines():
        entry = json.loads(line)
        message = entry.get("msg", {})
        if entry["dir"] == "in":
            heard = ears.hear(message)
            if "method" in message:
                ids[message.get("id")] = heard.get("id")
        elif "raw" in entry:
            say(entry["raw"] * entry.get("times", 1))
        elif entry["dir"] == "die":
            sys.stderr.write(entry["words"] + "\n")
            sys.exit(entry["code"])
        else:
            if "method" not in message:
                message = {**message, "id": ids.get(message.get("id"), message.get("id"))}
            say(json.dumps(message))
    while "patience" not in GIVEN:
        ears.next()


main()
