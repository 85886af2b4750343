"""What typing costs on the line, and programs that get the whole terminal for a while."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.terminal.pty_program import Screen, demo_in_terminal

LETTERS = "äöüéèàñçøåæœßðþ"
"""None of them stands in an escape sequence."""
F7 = "\x1b[18~"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    """A demo whose message box waits for words."""
    with demo_in_terminal(tmp_path) as screen:
        screen.shows("Message Demo agent")
        yield screen


def cost(screen: Screen, before: str, letter: str) -> int:
    """Bytes until a letter was drawn, with the keys that are pressed before it."""
    start = len(screen.output)
    screen.type(before + letter)
    end = time.monotonic() + PATIENCE
    while letter.encode() not in screen.output[start:]:
        assert time.monotonic() < end, f"{letter} was not drawn"
        screen.read()
    return len(screen.output) - start


def test_a_letter_costs_under_a_kilobyte_and_so_does_a_line_break(screen: Screen) -> None:
    screen.shows("This agent is a demonstration")
    first = [cost(screen, "", "Ω") for _ in range(10)]  # they come with what is still being drawn
    assert max(first[-3:]) < 1000
    letters = [cost(screen, "", letter) for letter in LETTERS]
    assert sum(letters) / len(letters) < 300
    assert max(letters) < 1000
    assert cost(screen, "\n", "λ") < 1000
    assert cost(screen, "\n", "μ") < 1000


def test_a_shell_has_the_whole_terminal_and_its_keys_and_then_the_screen_is_back(
    screen: Screen,
) -> None:
    shown = len(screen.output)
    screen.type(F7)
    leaves, enters = b"\x1b[?1049l", b"\x1b[?1049h"
    while leaves not in screen.output[shown:]:
        assert screen.process.poll() is None
        screen.read()
    screen.type("echo got-$((40+2)) $(stty size)\n")
    screen.shows("got-42 40 120")
    # Heard by the program that runs, and by nobody else.
    screen.type("sh -c 'echo ready-$((2-1)); exec sleep 600'\n")
    screen.shows("ready-1")
    screen.type("\x03")
    screen.type("echo after-$((1+1))\n")
    screen.shows("after-2")
    shown = len(screen.output)
    screen.type("exit\n")
    while enters not in screen.output[shown:]:
        assert screen.process.poll() is None
        screen.read()
    del screen.output[: shown + 1]
    screen.shows("essage Demo agent")  # the cursor is on its first letter


def test_a_megabyte_is_pasted_as_a_chip(screen: Screen) -> None:
    screen.type("\x1b[200~" + "0123456789abcde\n" * 65536 + "\x1b[201~")
    screen.shows("[pasted 65,536 lines]")


def test_what_the_terminal_garbles_or_answers_late_is_not_typed_and_ends_nothing(
    screen: Screen,
) -> None:
    screen.type(
        "\x1b[113;1:3u\x1b[1;1:1A\x1b[1114112u\x1b[?1;2c\x1b]52;c;YW5zd2Vy\x07\x1b]11;rgb:ffff"
    )
    os.write(screen.far, b"\xff\xfe")
    screen.type("/ffff/ffff\x1b")
    screen.type("\\\x1bP>|xterm(390)\x1b\\here")
    screen.shows("here")
    assert screen.process.poll() is None
    assert b"rgb:" not in screen.output and b"1;2c" not in screen.output


def test_five_kilobytes_are_written_at_once_without_brackets(screen: Screen) -> None:
    screen.type("word " * 1000 + "Ω")
    screen.shows("Ω")
