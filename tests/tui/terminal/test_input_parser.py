"""What terminals send, whole, torn, garbled or unasked: keys come in their order, nothing else is
typed, and nothing raises.
"""

import sys
import tracemalloc
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events, messages
from textual.message import Message

from tui.terminal.input_parser import BackgroundReported, ColorsChanged, InputParser
from tui.terminal.sequences import BURST_DELAY, PASTE_DELAY, SEQUENCE_DELAY, Lexer

PASTE = "\x1b[200~{}\x1b[201~"
DARK = "\x1b]11;rgb:1111/1515/1313\x1b\\"
LIGHT = "\x1b]11;rgb:ff/fa/f0\x07"
LONG = 10.0
"""Seconds after which nothing is held any more."""


class Line:
    """A terminal's line: what comes through it, with pauses, and what it is read as."""

    def __init__(self, *bound: str, is_console: bool = False, **lexer: float) -> None:
        self.now = 1000.0
        self.lexer = Lexer(clock=lambda: self.now, **lexer)
        self.parser = InputParser(self.lexer, bound.__contains__, is_console=is_console)
        self.heard: list[Message] = []

    def bring(self, *pieces: str | float) -> "Line":
        """Text, and seconds that go by."""
        for piece in pieces:
            if isinstance(piece, str):
                self.heard += self.parser.feed(piece)
            else:
                self.now += piece
                self.heard += self.parser.tick()
        return self

    @property
    def keys(self) -> list[str]:
        """Names of keys; letters, bursts and pastes as their text."""
        return [
            event.text
            if isinstance(event, events.Paste)
            else event.character
            if event.is_printable and event.character
            else event.key
            for event in self.heard
            if isinstance(event, events.Key | events.Paste)
        ]


def read(*pieces: str | float) -> list[str]:
    return Line().bring(*pieces, LONG).keys


# Keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b[A\x1bOB\x1b[1;3D", ["up", "down", "alt+left"]),
        ("\x1b[1;5C\x1b[5A", ["ctrl+right", "ctrl+up"]),
        ("\x1b[3~\x1b[18;2~\x1b[33~", ["delete", "shift+f7", "f19"]),
        ("\x1b[[A\x1b[3$", ["f1", "shift+delete"]),
        ("\x1b[Z\t\r\n\x7f\x03", ["shift+tab", "tab", "enter", "ctrl+j", "backspace", "ctrl+c"]),
        ("\x1b[97;5u\x1b[13;2u\x1b[27u", ["ctrl+a", "shift+enter", "escape"]),
        ("\x1b[27;2;13~\x1b[27;5;97~\x1b[27;3;98~", ["shift+enter", "ctrl+a", "alt+b"]),
        ("\x1b[97:65;2;65u\x1b[57399u", ["A0"]),
        ("\x1b\r\x1bd\x1b\x7f", ["alt+enter", "alt+delete", "ctrl+w"]),
        ("\x1bb\x1bf", ["ctrl+left", "ctrl+right"]),
    ],
)
def test_keys_are_known_in_each_form_that_terminals_send(sent, keys):
    assert read(sent) == keys


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b[99;1:1u", ["c"]),
        ("\x1b[99;1:2u", ["c"]),
        ("\x1b[113;1:3u", []),
        ("\x1b[1;1:1A", ["up"]),
        ("\x1b[1;1:3A", []),
        ("\x1b[1114112u", []),
        ("\x1b[99999999u", []),
        ("\x1b[55296u", []),
        ("\x1b[7;1u", []),
        ("\x1b[97;5;1114112u", ["ctrl+a"]),
        ("\x1b[97;;7u", ["a"]),
        ("\x1b[97;99999u", []),
        ("\x1b[48;0;0;0;0t", []),
        ("\x1b[<0;99999999999;1M", []),
    ],
)
def test_events_of_keys_and_numbers_that_are_none_end_nothing(sent, keys):
    assert read("a", sent, "b") == ["a", *keys, "b"]


def test_keys_that_came_together_are_one_insertion_between_the_editing_keys():
    assert read("60\x7f\x7f5") == ["60", "backspace", "backspace", "5"]
    assert read("x" * 5000) == ["x" * 5000]
    assert read("\x1b[97;;97u\x1b[32;;32u\x1b[98;;98u") == ["a b"]
    assert read("full\u3000width and \U0001f468\u200d\U0001f469") == [
        "full\u3000width and \U0001f468\u200d\U0001f469"
    ]


def test_a_single_letter_has_its_name():
    (event,) = Line().bring("?").heard
    assert isinstance(event, events.Key)
    assert (event.key, event.character) == ("question_mark", "?")


# Escape and what comes with it -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1bh\x1b[D", ["escape", "h", "left"]),
        ("\x1bd\x1b[D", ["alt+delete", "left"]),
        ("\x1bx\x1bx", ["escape", "x", "escape", "x"]),
        ("\x1bhello", ["escape", "hello"]),
        ("\x1b1", ["escape", "1"]),
        ("\x1b\x1b[D", ["escape", "left"]),
        ("\x1b\x1b", ["escape", "escape"]),
        ("\x1b\x03", ["escape", "ctrl+c"]),
        ("\x1b\t", ["escape", "tab"]),
    ],
)
def test_escape_and_a_key_that_came_together_are_both_pressed(sent, keys):
    assert read(sent) == keys


def test_a_combination_with_alt_that_does_something_is_that_combination():
    line = Line("alt+x", "alt+shift+x", "alt+right_square_bracket")
    assert line.bring("\x1bx\x1bX\x1by\x1b]", LONG).keys == [
        "alt+x",
        "alt+shift+x",
        "escape",
        "y",
        "alt+right_square_bracket",
    ]


def test_escape_and_tab_go_back_on_the_console_alone():
    assert Line(is_console=True).bring("\x1b\t").keys == ["shift+tab"]


def test_a_lone_escape_is_a_key_after_the_delay_of_the_line():
    assert Line().bring("\x1b", 0.09).keys == []
    assert Line().bring("\x1b", 0.1).keys == ["escape"]
    assert Line(escape_delay=0.3).bring("\x1b", 0.25).keys == []


def test_where_escape_has_a_sequence_a_lone_one_waits_for_its_rest():
    assert Line().bring("\x1b[97;;97u", "\x1b", 0.4, "[A", LONG).keys == ["a", "up"]
    assert Line().bring("\x1b[97;;97u", "b", "\x1b", 0.1).keys == ["a", "b", "escape"]


# Torn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pause", [0.0, 0.09, 0.25])
@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("\x1b[A", ["up"]),
        ("\x1bOA", ["up"]),
        ("\x1b[1;3D", ["alt+left"]),
        ("\x1b[97;5u", ["ctrl+a"]),
        ("\x1b[<35;40;20M", []),
        ("\x1b[?1;2c", []),
        (PASTE.format("pasted\r"), ["pasted\r"]),
        (DARK, []),
    ],
)
def test_a_sequence_is_the_same_wherever_a_slow_line_tears_it(sent, keys, pause):
    for at in range(1, len(sent)):
        line = Line(escape_delay=0.3).bring("a", sent[:at], pause, sent[at:], LONG)
        assert line.bring("b").keys == ["a", *keys, "b"], at


@pytest.mark.parametrize("sent", ["\x1b[A", "\x1b[<35;40;20M", "\x1b[?1;2c", DARK, LIGHT])
def test_what_follows_an_escape_that_came_too_early_is_not_typed(sent):
    assert set(read(sent[0], 0.25, sent[1:])) <= {"escape", "up"}


def test_words_behind_an_escape_are_typed():
    assert read("\x1b", 0.2, "[x] done") == ["escape", "[x] done"]
    assert read("\x1b", 0.2, "[A note]") == ["escape", "[A note]"]


@pytest.mark.parametrize("begun", ["\x1b[<35;4", "\x1b[1;5", "\x1b]11;rgb:11", "\x1bP>|xte"])
def test_what_never_ends_is_dropped_after_a_while(begun):
    assert read("a", begun, SEQUENCE_DELAY, "hello") == ["a", "hello"]


def test_what_never_ends_gives_way_to_the_next_key():
    assert read("\x1b[<35;4", "hello") == ["hello"]
    assert read("\x1b[1;5", "\x1b[A") == ["up"]
    assert read("\x1b]11;rgb", "\x1b[A", "x") == ["up", "x"]
    assert read("\x1b]11;rgb", "\r", "x") == ["enter", "x"]


# What the terminal answers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "\x1b[?1;2c", "\x1b[?62;22c", "\x1b[>1;10;0c", "\x1b[=0c", "\x1b[?25u", "\x1b[0n",
        "\x1b[?2027;0$y", "\x1b[4;2$y", "\x1b[12;40R", "\x1b[8;40;120t", "\x1b[>4;2m",
        "\x1bP>|xterm(390)\x1b\\", "\x1bP1+r544e=787465726d\x1b\\", "\x1bP!|00000000\x1b\\",
        "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\", "\x1b]10;rgb:ff/ff/ff\x07", "\x1b]52;c;aGVsbG8=\x07",
        "\x1b]lTitle\x1b\\", "\x1b]11;cornsilk\x07", "\x1b_Gi=1;OK\x1b\\", "\x1b[201~", "\x1b[M !!",
    ],
)  # fmt: skip
def test_what_a_terminal_answers_unasked_is_never_a_key(answer):
    assert "".join(read(f"a{answer}b")) == "ab"
    assert read("a", answer, "b") == ["a", "b"]
    assert read("a", *answer, "b") == ["a", "b"]


def test_a_string_may_come_in_pieces_seconds_apart():
    assert read("a", "\x1b]52;c;aGVs", 1.5, "bG8", 1.5, "=\x07", "b") == ["a", "b"]


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
    for at in range(1, len(answer)):
        (message,) = Line().bring(answer[:at], 0.05, answer[at:], LONG).heard
        assert isinstance(message, BackgroundReported)
        assert message.dark is dark


def test_an_answer_among_keys_leaves_them_in_their_order():
    line = Line().bring(f"ab{LIGHT}\x1b[A{DARK}c")
    assert line.keys == ["ab", "up", "c"]
    assert [type(message) for message in line.heard].count(BackgroundReported) == 2


def test_reports_of_the_terminal_are_heard():
    line = Line().bring(
        "\x1b[?997;", "1n", "\x1b[I\x1b[O", "\x1b[?2026;2$y", "\x1b[48;40;120;800;1200t"
    )
    assert [type(message) for message in line.heard] == [
        ColorsChanged,
        events.AppFocus,
        events.AppBlur,
        messages.TerminalSupportsSynchronizedOutput,
        events.Resize,
    ]  # fmt: skip


# Pastes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 12))
def test_a_paste_comes_whole_in_whatever_pieces_it_is_sent(size):
    sent = "a" + PASTE.format("one\x1b[31m\r\n[201~ two") + "b" + PASTE.format("") + "\x1b[A"
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert read(*pieces) == ["a", "one\x1b[31m\r\n[201~ two", "b", "", "up"]


def test_a_megabyte_is_one_paste():
    text = "0123456789abcde\n" * 65536
    sent = PASTE.format(text)
    assert read(*(sent[at : at + 4096] for at in range(0, len(sent), 4096))) == [text]


def test_a_paste_whose_end_was_lost_gives_way_to_a_key():
    assert read("\x1b[200~one", PASTE_DELAY, " two", "\x1b[A", "\x1b[201~") == ["one two\x1b[A"]
    assert read("\x1b[200~one", PASTE_DELAY, "\x1b[A") == ["one", "up"]
    assert read("\x1b[200~one", PASTE_DELAY, "\x03") == ["one", "ctrl+c"]
    assert read("\x1b[200~one", PASTE_DELAY, "\x1b[201~x") == ["one", "x"]


def test_lines_that_came_together_were_pasted_and_do_not_send_themselves():
    lines = "".join(f"line {number}\r" for number in range(20))
    assert read(lines) == [lines]
    assert read(lines[:90], lines[90:], BURST_DELAY, "\r") == [lines[:90], lines[90:], "enter"]
    assert read("one\ttwo\rthree\rfour") == ["one\ttwo\rthree\rfour"]


def test_enter_among_a_few_keys_is_enter():
    assert read("yes\r") == ["yes", "enter"]
    assert read("one\rtwo\r") == ["one", "enter", "two", "enter"]
    assert read("\r\r\r\r") == ["enter"] * 4


# Anything ----------------------------------------------------------------------------------------

BEGUN = ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1bO", "\x1b[<", "\x1b[M", "\x1b[200~"]
NASTY = st.one_of(
    st.sampled_from(BEGUN),
    st.sampled_from(["\x1b[201~", "\x1b\\", "\x07", "\x9b", "\x9c", "\ufffd", "\r", "m", "u"]),
    st.text("0123456789:;<?>$ ", max_size=12),
    st.binary(max_size=12).map(lambda sent: sent.decode("utf-8", "replace")),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(NASTY, st.sampled_from([0.0, 0.0, 0.05, 0.3, 1.0, 5.0]))))
def test_nothing_that_a_line_brings_raises_or_is_held_for_ever(sent):
    line = Line()
    for piece, pause in sent:
        line.bring(piece, pause)
    line.bring("\x1b[201~", LONG, LONG, "\x1b\\", LONG)
    line.heard.clear()
    assert line.bring("hello").keys == ["hello"]


def _as_text(line: Line) -> str:
    """What was typed. Whether a return is a key or part of a paste depends on how much came in one
    piece; what could not be decoded is kept in a paste and is no key."""
    return "".join(line.keys).replace("enter", "\r").replace("\ufffd", "")


@settings(max_examples=200, deadline=None)
@given(st.lists(NASTY).map("".join), st.data())
def test_pieces_that_follow_at_once_are_read_as_one(sent, data):
    at = data.draw(st.integers(0, len(sent)))
    end = ("\x1b[201~", LONG)  # of a paste that may have begun
    pieces = [piece for piece in (sent[:at], sent[at:]) if piece]  # Nothing is the end of input.
    whole, torn = Line().bring(sent, *end), Line().bring(*pieces, *end)
    assert _as_text(torn) == _as_text(whole)


@pytest.mark.parametrize("begun", ["\x1b]", "\x1b]52;c;", "\x1bP1", "\x1b[", "\x1b[<", "\x1b["])
def test_what_never_ends_takes_no_memory(begun):
    line = Line().bring(begun)
    tracemalloc.start()
    for _ in range(200):
        line.bring("1" * 10_000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 100_000
    assert line.keys == []


@pytest.mark.parametrize("begun", ["\x1b[1", "\x1b", "a\r", "\x1b]1", "\x1b[200~", "\x1b[<1;1"])
def test_the_cost_is_linear(begun):
    """Of many steps that the reading takes, none is taken for what was read before."""

    def steps(times: int) -> int:
        line, count = Line(), 0

        def trace(frame: FrameType, event: str, argument: object) -> object:
            nonlocal count
            count += event == "line"
            return trace

        sys.settrace(trace)
        try:
            for _ in line.parser.feed(begun * times):
                pass
        finally:
            sys.settrace(None)
        return count

    assert steps(400) < 5 * steps(100) + 1000
