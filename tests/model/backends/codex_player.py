"""A stub for `codex` on PATH, and the recordings that it plays."""

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

HERE = Path(__file__).parent
RECORDINGS = HERE / "recordings" / "codex"


class Player:
    """A folder with a `codex` that plays the lines of `script.jsonl`; see `fake_codex`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        shutil.copy(HERE / "fake_codex.py", folder / "fake.py")
        program = folder / "codex"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{folder}/fake.py" "$@"\n')
        program.chmod(0o755)
        self.prepare([])

    def prepare(self, lines: list[Json], **given: Any) -> None:
        """Play these lines when the program is next started."""
        (self.folder / "script.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in lines))
        (self.folder / "fake.json").write_text(json.dumps(given))

    def read_requests(self, method: str) -> list[Json]:
        """The parameters of the requests of this method that the program received."""
        lines = (self.folder / "received.jsonl").read_text().splitlines()
        messages = [json.loads(line) for line in lines]
        return [each["params"] for each in messages if each.get("method") == method]


def load_recording(name: str, place: Path) -> list[Json]:
    """The lines of a recording, with its placeholder for the folder replaced by `place`."""
    text = (RECORDINGS / f"{name}.jsonl").read_text().replace("/place", str(place))
    return [json.loads(line) for line in text.splitlines()]


def lines_until(lines: list[Json], method: str, nth: int = 1) -> list[Json]:
    """The lines up to and including the program's nth message of this method."""
    places = [
        number
        for number, line in enumerate(lines)
        if line["dir"] == "out" and line["msg"].get("method") == method
    ]
    return lines[: places[nth - 1] + 1]


def damage(lines: list[Json], chance: random.Random) -> list[Json]:
    """The recording with random faults: lines dropped, doubled, cut, swapped or invalid."""
    broken: list[Json] = []
    for line in lines:
        if line["dir"] == "in" or chance.random() > 0.12:
            broken.append(line)
            continue
        message = line["msg"]
        match chance.randrange(7):
            case 0:
                pass
            case 1:
                broken += [line, line]
            case 2:
                whole = json.dumps(message)
                broken.append({"dir": "out", "raw": whole[: chance.randrange(len(whole))]})
            case 3:
                broken.append({"dir": "out", "msg": {**message, "method": "something/new"}})
            case 4:
                broken.insert(max(0, len(broken) - 1), line)
            case 5:
                broken.append({"dir": "out", "msg": _replace_values(message, chance)})
            case _:
                broken += [{"dir": "out", "raw": "garbage \u0000 {]"}, line]
    return broken


def _replace_values(value: Any, chance: random.Random) -> Any:
    """The value with some values inside it replaced by ones of other types."""
    if isinstance(value, dict):
        return {key: _replace_values(each, chance) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace_values(each, chance) for each in value]
    if chance.random() < 0.15:
        return chance.choice([None, 7, "x", [], {}, True, [None], {"type": 3}])
    return value
