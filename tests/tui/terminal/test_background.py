"""When the terminal is queried for its background color."""

import pytest

from tui.terminal.background import ANSWER_TIMEOUT, MAX_UNANSWERED, BackgroundQuery


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_query(**environ: str) -> tuple[BackgroundQuery, list[str], FakeClock]:
    written: list[str] = []
    clock = FakeClock()
    environ = {"TERM": "xterm-256color", **environ}
    return BackgroundQuery(written.append, environ, clock), written, clock


def test_a_terminal_that_never_answers_gets_a_limited_number_of_queries():
    query, written, clock = make_query()
    for _ in range(100):
        query.send()
        clock.now += ANSWER_TIMEOUT / 10
    assert len(written) == MAX_UNANSWERED


def test_a_terminal_that_answers_is_queried_again():
    query, written, clock = make_query()
    for _ in range(10):
        query.send()
        query.note_answer()
        clock.now += ANSWER_TIMEOUT
    assert written == ["\x1b]11;?\x07"] * 10


def test_screen_passes_the_query_on_and_tmux_answers_it():
    query, written, _ = make_query(STY="1.pts", TERM="screen")
    query.send()
    assert written == ["\x1bP\x1b]11;?\x07\x1b\\"]
    query, written, _ = make_query(TMUX="/tmp/x", STY="1.pts", TERM="tmux-256color")
    query.send()
    assert written == ["\x1b]11;?\x07"]


@pytest.mark.parametrize("term", ["linux", "dumb", ""])
def test_a_terminal_that_would_show_the_query_as_text_is_not_queried(term):
    query, written, _ = make_query(TERM=term)
    query.send(at_once=True)
    assert written == []
