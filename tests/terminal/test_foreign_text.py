"""Untrusted text is shown completely in every place and does not control the terminal."""

import json
import re
from pathlib import Path

import pytest

from tests.bench.terminal import terminal
from tests.terminal.foreign_places import SEEN
from tests.terminal.foreign_text import CONTROLS, MARKUP, TEXTS

_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\)"
)
"""Sequences that Textual itself writes: colors, positions, modes."""

_MINIMUM = 40
"""Minimum number of times that a text is shown; it is in about sixty places."""


def run_walk(number: int, place: Path) -> bytes:
    """Return the output of the program that shows this text in every place."""
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
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=ascii(text), marks=[pytest.mark.core] if number % 8 == 0 else [])
        for number, text in enumerate(TEXTS)
    ],
)
def test_untrusted_text_is_shown_and_has_no_effect(number: int, tmp_path: Path) -> None:
    shown = run_walk(number, tmp_path)
    for signature in CONTROLS.values():
        assert signature not in shown
    assert b"]777;notify;" in shown
    text = _SEQUENCE.sub(b"", shown)
    assert text.count(SEEN.encode()) > _MINIMUM
    for markup in MARKUP:
        assert markup not in TEXTS[number] or text.count(markup.encode()) > _MINIMUM
