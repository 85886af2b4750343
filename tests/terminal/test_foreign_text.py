"""Text of strangers in every place where it is shown: it steers no terminal, breaks nothing, and
none of it is lost.
"""

import json
import re
from pathlib import Path

import pytest

from tests.bench.terminal import terminal
from tests.terminal.foreign_text import CONTROLS, MARKUP, SEEN, TEXTS

_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\)"
)
"""What Textual itself writes: colours, positions, modes."""

_LEAST = 40
"""Times that a text is seen on the way: it is in some sixty places."""


def shown_by_walk(number: int, place: Path) -> bytes:
    """All that was written to the terminal while every place showed this text."""
    for name in ("data", "config"):
        (place / name).mkdir()
    result = place / "result.json"
    program = ["-m", "tests.terminal.foreign_text", str(number), str(result)]
    with terminal(program, place, PYTHONIOENCODING="utf-8", TERM_PROGRAM="WezTerm") as screen:
        screen.wait_for_end(220)
    assert result.exists(), screen.shown[-3000:].decode(errors="replace")
    assert json.loads(result.read_text()) == {}
    return screen.shown


@pytest.mark.timeout(240)
@pytest.mark.parametrize("number", range(len(TEXTS)), ids=[ascii(text) for text in TEXTS])
def test_text_of_strangers_is_shown_and_does_nothing(number: int, tmp_path: Path) -> None:
    shown = shown_by_walk(number, tmp_path)
    for signature in CONTROLS.values():
        assert signature not in shown
    assert b"]777;notify;" in shown
    text = _SEQUENCE.sub(b"", shown)
    assert text.count(SEEN.encode()) > _LEAST
    for markup in MARKUP:
        assert markup not in TEXTS[number] or text.count(markup.encode()) > _LEAST
