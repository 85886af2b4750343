"""Terminals that answer queries at once, as local ones do, or send something before the screen."""

import re
import time
from pathlib import Path
from typing import Final

import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program

ANSWERS: Final = {
    b"\x1b[?u": b"\x1b[?1u",
    b"\x1b]11;?\x07": b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b[?2048$p": b"\x1b[?2048;2$y\x1b[48;40;120;800;1200t",
}
"""What a terminal with the kitty keyboard protocol and a white background answers."""
QUERY = re.compile(b"|".join(map(re.escape, ANSWERS)))
EARLY: Final = {
    "answers": b"".join(ANSWERS.values()),
    "reports": b"\x1b[?62;22c\x1bP>|kitty\x1b\\\x1b[I\x1b[O\x1b[I\x1b[?997;1n\x1b[24;80R\x1b[0n",
    "input": b"\x1b[<35;9;9M\x1b[<0;9;9M\x1b[<0;9;9m\x1b[200~one \x1b[201~\x1b[A\x1b1\x1b[49;3u",
    "garbage": b"\x1b[?9999999u\x1b[<0;9;99999m\x1b]11;rgb:z\x07\x1bP\xff\x1b\\\x1b[;;;u\x1b\x1b[",
}
"""What is sent until the program has drawn something."""
FIRST_FRAME: Final = b"commands"
PAUSE: Final = 0.02
"""Seconds between two sends: without a pause they would be read as one."""


def answer_until(terminal: OnTerminal, text: str, begin: int = 0) -> int:
    """Answer each query as soon as it arrives, until the screen contains `text`.

    Takes and returns the offset in the output behind the last query.
    """
    end = time.monotonic() + PATIENCE
    while not any(text in row for row in terminal.screen):
        assert time.monotonic() < end and terminal.read(), "\n".join([text, *terminal.screen])
        for query in QUERY.finditer(terminal.output, begin):
            terminal.write(ANSWERS[query.group()])
            begin = query.end()
    return begin


@pytest.mark.parametrize("early", EARLY)
def test_what_arrives_before_the_screen_stands_waits_for_it(tmp_path: Path, early: str) -> None:
    with Program(tmp_path).on_a_terminal("demo") as terminal:
        terminal.read_until(b"\x1b[?1049h")
        while not terminal.wait_for_output(FIRST_FRAME, PAUSE):
            terminal.write(EARLY[early])
        begin = answer_until(terminal, "This agent is a demonstration")
        # Numbered, because alt and a digit differ from escape and a digit.
        begin = answer_until(terminal, "1 · first-steps", begin)
        terminal.write(b"still here")
        answer_until(terminal, "still here", begin)
        terminal.write(b"\x11")
        terminal.read_to_end()
        assert terminal.process.wait(PATIENCE) == 0
