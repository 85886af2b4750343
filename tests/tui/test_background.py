"""The terminal's own background: asked for, understood, and never taken for keys."""

from collections.abc import Iterable

import pytest
from textual import events
from textual.message import Message

from tui.background import (
    PATIENCE,
    UNANSWERED,
    AnsweringParser,
    BackgroundTold,
    ColorsChanged,
    Questions,
)

DARK = "\x1b]11;rgb:1111/1515/1313\x1b\\"
LIGHT = "\x1b]11;rgb:ff/fa/f0\x07"


def heard(*pieces: str, awaited: bool = True) -> list[Message]:
    parser = AnsweringParser(lambda: awaited)
    return [message for piece in pieces for message in parser.feed(piece)]


def backgrounds(messages: Iterable[Message]) -> list[bool]:
    return [message.dark for message in messages if isinstance(message, BackgroundTold)]


def keys(messages: Iterable[Message]) -> list[str]:
    return [message.key for message in messages if isinstance(message, events.Key)]


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        (DARK, True),
        (LIGHT, False),
        ("\x1b]11;rgb:f/f/f\x07", False),
        ("\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", True),
        ("\x1b]11;rgb:80/80/80\x07", False),
    ],
)
def test_an_answer_tells_whether_the_background_is_dark(answer, dark):
    messages = heard(answer)
    assert backgrounds(messages) == [dark]
    assert len(messages) == 1


def test_no_part_of_an_answer_becomes_a_key_wherever_it_is_broken():
    for at in range(1, len(DARK)):
        messages = heard("a", DARK[:at], DARK[at:], "b")
        assert keys(messages) == ["a", "b"], at
        assert backgrounds(messages) == [True], at


def test_an_answer_among_keys_leaves_them_in_their_order():
    messages = heard(f"ab{LIGHT}\x1b[A{DARK}c")
    assert keys(messages) == ["a", "b", "up", "c"]
    assert backgrounds(messages) == [False, True]


def test_an_answer_in_words_that_nobody_knows_is_thrown_away():
    assert heard("\x1b]11;cornsilk\x07") == []


def test_a_report_of_changed_colours_is_heard():
    messages = heard("\x1b[?997;", "1n", "\x1b[?997;2n", awaited=False)
    assert [type(message) for message in messages] == [ColorsChanged, ColorsChanged]


def test_what_only_begins_like_an_answer_is_still_a_key(monkeypatch):
    now = 100.0
    monkeypatch.setattr("tui.background.time.monotonic", lambda: now)
    parser = AnsweringParser(lambda: True)
    assert list(parser.feed("\x1b")) == [] == list(parser.tick())
    now += 1
    found = list(parser.tick())
    monkeypatch.setattr("textual._parser.get_time", lambda: 1e12)
    assert keys([*found, *parser.tick()]) == ["escape"]


def test_the_escape_key_is_held_only_while_an_answer_is_awaited(monkeypatch):
    parser = AnsweringParser(lambda: False)
    list(parser.feed("\x1b"))
    monkeypatch.setattr("textual._parser.get_time", lambda: 1e12)
    assert keys(parser.tick()) == ["escape"]


def test_a_paste_that_ends_with_an_escape_arrives_whole():
    messages = heard("\x1b[200~one\ntwo\x1b[201~")
    assert [m.text for m in messages if isinstance(m, events.Paste)] == ["one\ntwo"]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asking(**environ: str) -> tuple[Questions, list[str], Clock]:
    written: list[str] = []
    clock = Clock()
    environ = {"TERM": "xterm-256color", **environ}
    return Questions(written.append, environ, clock), written, clock


def test_a_terminal_is_asked_seldom_and_not_for_ever():
    questions, written, clock = asking()
    for _ in range(100):
        questions.ask()
        clock.now += PATIENCE / 10
    assert len(written) == UNANSWERED
    assert not questions.is_awaited


def test_a_terminal_that_answers_is_asked_again():
    questions, written, clock = asking()
    for _ in range(10):
        questions.ask()
        assert questions.is_awaited
        questions.answered()
        assert not questions.is_awaited
        clock.now += PATIENCE
    assert written == ["\x1b]11;?\x07"] * 10


def test_screen_hands_the_question_on_and_tmux_answers_it_itself():
    questions, written, _ = asking(STY="1.pts", TERM="screen")
    questions.ask()
    assert written == ["\x1bP\x1b]11;?\x07\x1b\\"]
    questions, written, _ = asking(TMUX="/tmp/x", STY="1.pts", TERM="tmux-256color")
    questions.ask()
    assert written == ["\x1b]11;?\x07"]


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_a_terminal_that_would_show_the_question_as_text_is_not_asked(term):
    questions, written, _ = asking(TERM=term)
    questions.ask(at_once=True)
    assert written == []
