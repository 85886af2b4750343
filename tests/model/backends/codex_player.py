"""A prepared `codex` on PATH, and what it is to play."""

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
    """A folder with a `codex` that plays what `script.jsonl` holds; see `fake_codex`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        shutil.copy(HERE / "fake_codex.py", folder / "fake.py")
        program = folder / "codex"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{folder}/fake.py" "$@"\n')
        program.chmod(0o755)
        self.prepare([])

    def prepare(self, lines: list[Json], **given: Any) -> None:
        """Play these lines from the next start on."""
        (self.folder / "script.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in lines))
        (self.folder / "fake.json").write_text(json.dumps(given))

    def heard(self, method: str) -> list[Json]:
        """The parameters of the requests of this method that it heard."""
        lines = (self.folder / "heard.jsonl").read_text().splitlines()
        messages = [json.loads(line) for line in lines]
        return [each["params"] for each in messages if each.get("method") == method]


def recording(name: str, place: Path) -> list[Json]:
    """The lines of a recording, as if it had been made at `place`."""
    text = (RECORDINGS / f"{name}.jsonl").read_text().replace("/place", str(place))
    return [json.loads(line) for line in text.splitlines()]


def until(lines: list[Json], method: str, nth: int = 1) -> list[Json]:
    """The lines up to and with the nth message of this method that the program says."""
    places = [
        number
        for number, line in enumerate(lines)
        if line["dir"] == "out" and line["msg"].get("method") == method
    ]
    return lines[: places[nth - 1] + 1]


def mutated(lines: list[Json], chance: random.Random) -> list[Json]:
    """The recording of a program gone wrong: lines lost, doubled, cut, swapped, or of no kind."""
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
                broken.append({"dir": "out", "msg": _spoilt(message, chance)})
            case _:
                broken += [{"dir": "out", "raw": "garbage \u0000 {]"}, line]
    return broken


def _spoilt(value: Any, chance: random.Random) -> Any:
    """The same with values of other types here and there."""
    if isinstance(value, dict):
        return {key: _spoilt(each, chance) for key, each in value.items()}
    if isinstance(value, list):
        return [_spoilt(each, chance) for each in value]
    if chance.random() < 0.15:
        return chance.choice([None, 7, "x", [], {}, True, [None], {"type": 3}])
    return value
