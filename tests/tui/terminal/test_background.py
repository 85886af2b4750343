"""When the terminal is asked for its background."""

import pytest

from tui.terminal.background import ANSWER_TIMEOUT, MAX_UNANSWERED, BackgroundQuery


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asking(**environ: str) -> tuple[BackgroundQuery, list[str], Clock]:
    written: list[str] = []
    clock = Clock()
    environ = {"TERM": "xterm-256color", **environ}
    return BackgroundQuery(written.append, environ, clock), written, clock


def test_a_terminal_is_asked_seldom_and_not_for_ever():
    questions, written, clock = asking()
    for _ in range(100):
        questions.send()
        clock.now += ANSWER_TIMEOUT / 10
    assert len(written) == MAX_UNANSWERED


def test_a_terminal_that_answers_is_asked_again():
    questions, written, clock = asking()
    for _ in range(10):
        questions.send()
        questions.note_answer()
        clock.now += ANSWER_TIMEOUT
    assert written == ["\x1b]11;?\x07"] * 10


def test_screen_hands_the_question_on_and_tmux_answers_it_itself():
    questions, written, _ = asking(STY="1.pts", TERM="screen")
    questions.send()
    assert written == ["\x1bP\x1b]11;?\x07\x1b\\"]
    questions, written, _ = asking(TMUX="/tmp/x", STY="1.pts", TERM="tmux-256color")
    questions.send()
    assert written == ["\x1b]11;?\x07"]


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_a_terminal_that_would_show_the_question_as_text_is_not_asked(term):
    questions, written, _ = asking(TERM=term)
    questions.send(at_once=True)
    assert written == []
