"""Typing: the bytes it costs, a shell in the terminal, pastes, and garbled terminal responses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.on_terminal import OnTerminal
from tests.program import Program

LETTERS = "äöüéèàñçøåæœßðþ"
"""None of them occurs in an escape sequence."""
F7 = b"\x1b[18~"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[OnTerminal]:
    """The terminal of a demo whose message box has the focus."""
    with Program(tmp_path).on_a_terminal("demo") as terminal:
        terminal.wait_for_text("Message Demo agent")
        yield terminal


def count_bytes(terminal: OnTerminal, before: str, letter: str) -> int:
    """Type `before` and `letter`; return the bytes written until the letter is drawn."""
    terminal.write((before + letter).encode())
    return len(terminal.read_until(letter.encode()))


def test_a_letter_or_a_line_break_costs_under_a_kilobyte(terminal: OnTerminal) -> None:
    terminal.wait_for_text("This agent is a demonstration")
    first = [count_bytes(terminal, "", "Ω") for _ in range(10)]  # the screen may still be drawn
    assert max(first[-3:]) < 1000
    letters = [count_bytes(terminal, "", letter) for letter in LETTERS]
    assert sum(letters) / len(letters) < 300
    assert max(letters) < 1000
    assert count_bytes(terminal, "\n", "λ") < 1000
    assert count_bytes(terminal, "\n", "μ") < 1000


def test_a_shell_gets_the_terminal_and_its_keys_until_it_exits(
    terminal: OnTerminal,
) -> None:
    terminal.write(F7)
    terminal.read_until(b"\x1b[?1049l")
    terminal.write(b"echo got-$((40+2)) $(stty size)\n")
    terminal.read_until(b"got-42 40 120")
    # Only the program in the foreground is interrupted.
    terminal.write(b"sh -c 'echo ready-$((2-1)); exec sleep 600'\n")
    terminal.read_until(b"ready-1")
    terminal.write(b"\x03")
    terminal.write(b"echo after-$((1+1))\n")
    terminal.read_until(b"after-2")
    terminal.write(b"exit\n")
    terminal.read_until(b"\x1b[?1049h")
    terminal.wait_for_text("Message Demo agent")


def test_a_paste_of_a_megabyte_becomes_a_chip(terminal: OnTerminal) -> None:
    terminal.write(b"\x1b[200~" + b"0123456789abcde\n" * 65536 + b"\x1b[201~")
    terminal.wait_for_text("[pasted 65,536 lines]")


def test_garbled_or_late_terminal_responses_are_ignored(
    terminal: OnTerminal,
) -> None:
    terminal.write(
        b"\x1b[113;1:3u\x1b[1;1:1A\x1b[1114112u\x1b[?1;2c\x1b]52;c;YW5zd2Vy\x07\x1b]11;rgb:ffff"
    )
    terminal.write(b"\xff\xfe")
    terminal.write(b"/ffff/ffff\x1b")
    terminal.write(b"\\\x1bP>|xterm(390)\x1b\\here")
    terminal.wait_for_text("here")
    assert terminal.process.poll() is None
    assert b"rgb:" not in terminal.output and b"1;2c" not in terminal.output


def test_five_kilobytes_are_accepted_without_bracketed_paste(terminal: OnTerminal) -> None:
    terminal.write(("word " * 1000 + "Ω").encode())
    terminal.wait_for_text("Ω")
