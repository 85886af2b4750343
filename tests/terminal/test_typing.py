"""What typing costs on the line, and programs that get the whole terminal for a while."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.on_terminal import OnTerminal
from tests.program import Program

LETTERS = "äöüéèàñçøåæœßðþ"
"""None of them stands in an escape sequence."""
F7 = b"\x1b[18~"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[OnTerminal]:
    """A demo whose message box waits for words."""
    with Program(tmp_path).on_a_terminal("demo") as terminal:
        terminal.shows("Message Demo agent")
        yield terminal


def cost(terminal: OnTerminal, before: str, letter: str) -> int:
    """Bytes until a letter was drawn, with the keys that are pressed before it."""
    terminal.write((before + letter).encode())
    return len(terminal.read_until(letter.encode()))


def test_a_letter_costs_under_a_kilobyte_and_so_does_a_line_break(terminal: OnTerminal) -> None:
    terminal.shows("This agent is a demonstration")
    first = [cost(terminal, "", "Ω") for _ in range(10)]  # they come with what is still being drawn
    assert max(first[-3:]) < 1000
    letters = [cost(terminal, "", letter) for letter in LETTERS]
    assert sum(letters) / len(letters) < 300
    assert max(letters) < 1000
    assert cost(terminal, "\n", "λ") < 1000
    assert cost(terminal, "\n", "μ") < 1000


def test_a_shell_has_the_whole_terminal_and_its_keys_and_then_the_screen_is_back(
    terminal: OnTerminal,
) -> None:
    terminal.write(F7)
    terminal.read_until(b"\x1b[?1049l")
    terminal.write(b"echo got-$((40+2)) $(stty size)\n")
    terminal.read_until(b"got-42 40 120")
    # Heard by the program that runs, and by nobody else.
    terminal.write(b"sh -c 'echo ready-$((2-1)); exec sleep 600'\n")
    terminal.read_until(b"ready-1")
    terminal.write(b"\x03")
    terminal.write(b"echo after-$((1+1))\n")
    terminal.read_until(b"after-2")
    terminal.write(b"exit\n")
    terminal.read_until(b"\x1b[?1049h")
    terminal.shows("Message Demo agent")


def test_a_megabyte_is_pasted_as_a_chip(terminal: OnTerminal) -> None:
    terminal.write(b"\x1b[200~" + b"0123456789abcde\n" * 65536 + b"\x1b[201~")
    terminal.shows("[pasted 65,536 lines]")


def test_what_the_terminal_garbles_or_answers_late_is_not_typed_and_ends_nothing(
    terminal: OnTerminal,
) -> None:
    terminal.write(
        b"\x1b[113;1:3u\x1b[1;1:1A\x1b[1114112u\x1b[?1;2c\x1b]52;c;YW5zd2Vy\x07\x1b]11;rgb:ffff"
    )
    terminal.write(b"\xff\xfe")
    terminal.write(b"/ffff/ffff\x1b")
    terminal.write(b"\\\x1bP>|xterm(390)\x1b\\here")
    terminal.shows("here")
    assert terminal.process.poll() is None
    assert b"rgb:" not in terminal.output and b"1;2c" not in terminal.output


def test_five_kilobytes_are_written_at_once_without_brackets(terminal: OnTerminal) -> None:
    terminal.write(("word " * 1000 + "Ω").encode())
    terminal.shows("Ω")
