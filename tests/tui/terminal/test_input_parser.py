"""Parsing of terminal input that is whole, split, garbled or unsolicited.

Keys keep their order, nothing else is typed, and nothing raises.
"""

import sys
import tracemalloc
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events, messages
from textual.message import Message

from tests.nightly import examples
from tui.terminal.input_parser import (
    BackgroundReported,
    ColorsChanged,
    InputParser,
    KeyboardReported,
)
from tui.terminal.sequences import BURST_DELAY, PASTE_DELAY, SEQUENCE_DELAY, Lexer

PASTE = "\x1b[200~{}\x1b[201~"
DARK = "\x1b]11;rgb:1111/1515/1313\x1b\\"
LIGHT = "\x1b]11;rgb:ff/fa/f0\x07"
LONG = 10.0
"""Seconds after which no input is held back any more."""


class TimedParser:
    """A parser with a fake clock, and the messages that it has returned."""

    def __init__(self, *bound: str, is_console: bool = False, **lexer: float) -> None:
        self.now = 1000.0
        self.lexer = Lexer(clock=lambda: self.now, **lexer)
        self.parser = InputParser(self.lexer, bound.__contains__, is_console=is_console)
        self.received: list[Message] = []

    def send(self, *pieces: str | float) -> "TimedParser":
        """Feed text; a number lets that many seconds pass."""
        for piece in pieces:
            if isinstance(piece, str):
                self.received += self.parser.feed(piece)
            else:
                self.now += piece
                self.received += self.parser.tick()
        return self

    @property
    def keys(self) -> list[str]:
        """The names of the keys; letters, bursts and pastes as their text."""
        return [
            event.text
            if isinstance(event, events.Paste)
            else event.character
            if event.is_printable and event.character
            else event.key
            for event in self.received
            if isinstance(event, events.Key | events.Paste)
        ]


def read_keys(*pieces: str | float) -> list[str]:
    return TimedParser().send(*pieces, LONG).keys


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
    assert read_keys(sent) == keys


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
def test_key_events_and_invalid_numbers_do_not_disturb_other_keys(sent, keys):
    assert read_keys("a", sent, "b") == ["a", *keys, "b"]


def test_letters_of_one_read_are_one_insertion_between_editing_keys():
    assert read_keys("60\x7f\x7f5") == ["60", "backspace", "backspace", "5"]
    assert read_keys("x" * 5000) == ["x" * 5000]
    assert read_keys("\x1b[97;;97u\x1b[32;;32u\x1b[98;;98u") == ["a b"]
    assert read_keys("full\u3000width and \U0001f468\u200d\U0001f469") == [
        "full\u3000width and \U0001f468\u200d\U0001f469"
    ]


def test_a_single_letter_has_its_name():
    (event,) = TimedParser().send("?").received
    assert isinstance(event, events.Key)
    assert (event.key, event.character) == ("question_mark", "?")


# Escape ------------------------------------------------------------------------------------------


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
def test_escape_and_a_key_of_one_read_are_both_pressed(sent, keys):
    assert read_keys(sent) == keys


def test_a_bound_combination_with_alt_is_that_combination():
    line = TimedParser("alt+x", "alt+shift+x", "alt+right_square_bracket")
    assert line.send("\x1bx\x1bX\x1by\x1b]", LONG).keys == [
        "alt+x",
        "alt+shift+x",
        "escape",
        "y",
        "alt+right_square_bracket",
    ]


def test_escape_and_tab_are_shift_tab_on_the_console_only():
    assert TimedParser(is_console=True).send("\x1b\t").keys == ["shift+tab"]


def test_a_lone_escape_is_a_key_after_the_escape_delay():
    assert TimedParser().send("\x1b", 0.09).keys == []
    assert TimedParser().send("\x1b", 0.1).keys == ["escape"]
    assert TimedParser(escape_delay=0.3).send("\x1b", 0.25).keys == []


def test_where_escape_has_its_own_sequence_a_lone_one_waits_for_its_rest():
    assert TimedParser().send("\x1b[97;;97u", "\x1b", 0.4, "[A", LONG).keys == ["a", "up"]
    assert TimedParser().send("\x1b[97;;97u", "b", "\x1b", 0.1).keys == ["a", "b", "escape"]


# Split sequences ---------------------------------------------------------------------------------


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
def test_a_sequence_may_be_split_anywhere(sent, keys, pause):
    for at in range(1, len(sent)):
        line = TimedParser(escape_delay=0.3).send("a", sent[:at], pause, sent[at:], LONG)
        assert line.send("b").keys == ["a", *keys, "b"], at


@pytest.mark.parametrize("sent", ["\x1b[A", "\x1b[<35;40;20M", "\x1b[?1;2c", DARK, LIGHT])
def test_the_late_rest_of_a_sequence_is_not_typed(sent):
    assert set(read_keys(sent[0], 0.25, sent[1:])) <= {"escape", "up"}


def test_text_after_an_escape_is_typed():
    assert read_keys("\x1b", 0.2, "[x] done") == ["escape", "[x] done"]
    assert read_keys("\x1b", 0.2, "[A note]") == ["escape", "[A note]"]


@pytest.mark.parametrize("begun", ["\x1b[<35;4", "\x1b[1;5", "\x1b]11;rgb:11", "\x1bP>|xte"])
def test_an_unfinished_sequence_is_dropped_after_a_while(begun):
    assert read_keys("a", begun, SEQUENCE_DELAY, "hello") == ["a", "hello"]


def test_an_unfinished_sequence_is_dropped_at_the_next_key():
    assert read_keys("\x1b[<35;4", "hello") == ["hello"]
    assert read_keys("\x1b[1;5", "\x1b[A") == ["up"]
    assert read_keys("\x1b]11;rgb", "\x1b[A", "x") == ["up", "x"]
    assert read_keys("\x1b]11;rgb", "\r", "x") == ["enter", "x"]


# Responses of the terminal -----------------------------------------------------------------------


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
def test_an_unsolicited_response_is_never_a_key(answer):
    assert "".join(read_keys(f"a{answer}b")) == "ab"
    assert read_keys("a", answer, "b") == ["a", "b"]
    assert read_keys("a", *answer, "b") == ["a", "b"]


def test_a_string_may_arrive_in_pieces_seconds_apart():
    assert read_keys("a", "\x1b]52;c;aGVs", 1.5, "bG8", 1.5, "=\x07", "b") == ["a", "b"]


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
def test_a_color_response_reports_whether_the_background_is_dark(answer, dark):
    for at in range(1, len(answer)):
        (message,) = TimedParser().send(answer[:at], 0.05, answer[at:], LONG).received
        assert isinstance(message, BackgroundReported)
        assert message.dark is dark


def test_responses_among_keys_keep_their_order():
    line = TimedParser().send(f"ab{LIGHT}\x1b[A{DARK}c")
    assert line.keys == ["ab", "up", "c"]
    assert [type(message) for message in line.received].count(BackgroundReported) == 2


@pytest.mark.parametrize("size", ["0;80", "24;0", "9999;80", "24;9999"])
def test_sizes_that_no_screen_has_are_ignored(size: str) -> None:
    line = TimedParser().send(f"\x1b[48;{size};0;0t")
    assert line.received == []


def test_reports_of_the_terminal_become_events():
    line = TimedParser().send(
        "\x1b[?997;", "1n", "\x1b[I\x1b[O", "\x1b[?2026;2$y", "\x1b[48;40;120;800;1200t",
        "\x1b[?0u", "\x1b[?", "1u",
    )  # fmt: skip
    assert [type(message) for message in line.received] == [
        ColorsChanged,
        events.AppFocus,
        events.AppBlur,
        messages.TerminalSupportsSynchronizedOutput,
        events.Resize,
        KeyboardReported,
    ]  # fmt: skip


# Pastes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 12))
def test_a_paste_is_one_event_however_it_is_split(size):
    sent = "a" + PASTE.format("one\x1b[31m\r\n[201~ two") + "b" + PASTE.format("") + "\x1b[A"
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert read_keys(*pieces) == ["a", "one\x1b[31m\r\n[201~ two", "b", "", "up"]


def test_a_megabyte_is_one_paste():
    text = "0123456789abcde\n" * 65536
    sent = PASTE.format(text)
    assert read_keys(*(sent[at : at + 4096] for at in range(0, len(sent), 4096))) == [text]


def test_a_paste_without_an_end_is_ended_by_a_key():
    assert read_keys("\x1b[200~one", PASTE_DELAY, " two", "\x1b[A", "\x1b[201~") == [
        "one two\x1b[A"
    ]
    assert read_keys("\x1b[200~one", PASTE_DELAY, "\x1b[A") == ["one", "up"]
    assert read_keys("\x1b[200~one", PASTE_DELAY, "\x03") == ["one", "ctrl+c"]
    assert read_keys("\x1b[200~one", PASTE_DELAY, "\x1b[201~x") == ["one", "x"]


def test_lines_of_one_read_are_a_paste_and_press_no_enter():
    lines = "".join(f"line {number}\r" for number in range(20))
    assert read_keys(lines) == [lines]
    assert read_keys(lines[:90], lines[90:], BURST_DELAY, "\r") == [lines[:90], lines[90:], "enter"]
    assert read_keys("one\ttwo\rthree\rfour") == ["one\ttwo\rthree\rfour"]


def test_enter_among_a_few_keys_is_enter():
    assert read_keys("yes\r") == ["yes", "enter"]
    assert read_keys("one\rtwo\r") == ["one", "enter", "two", "enter"]
    assert read_keys("\r\r\r\r") == ["enter"] * 4


# Arbitrary input ---------------------------------------------------------------------------------

BEGUN = ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1bO", "\x1b[<", "\x1b[M", "\x1b[200~"]
NASTY = st.one_of(
    st.sampled_from(BEGUN),
    st.sampled_from(["\x1b[201~", "\x1b\\", "\x07", "\x9b", "\x9c", "\ufffd", "\r", "m", "u"]),
    st.text("0123456789:;<?>$ ", max_size=12),
    st.binary(max_size=12).map(lambda sent: sent.decode("utf-8", "replace")),
)  # fmt: skip


@settings(max_examples=examples(100, 1000), deadline=None)
@given(st.lists(st.tuples(NASTY, st.sampled_from([0.0, 0.0, 0.05, 0.3, 1.0, 5.0]))))
def test_no_input_raises_or_is_held_back_forever(sent):
    line = TimedParser()
    for piece, pause in sent:
        line.send(piece, pause)
    line.send("\x1b[201~", LONG, LONG, "\x1b\\", LONG)
    line.received.clear()
    assert line.send("hello").keys == ["hello"]


def _as_text(line: TimedParser) -> str:
    """The typed text, in a form that does not depend on how the input was split.

    A return, line feed or tab is a key or part of a paste, depending on the size of a read. Bytes
    that cannot be decoded are kept in a paste only.
    """
    characters = {"enter": "\r", "ctrl+j": "\n", "tab": "\t"}
    return "".join(characters.get(key, key) for key in line.keys).replace("\ufffd", "")


@settings(max_examples=examples(70, 1000), deadline=None)
@given(st.lists(NASTY).map("".join), st.data())
def test_input_in_pieces_is_parsed_like_whole_input(sent, data):
    at = data.draw(st.integers(0, len(sent)))
    end = ("\x1b[201~", LONG)  # ends a paste that may have begun
    pieces = [piece for piece in (sent[:at], sent[at:]) if piece]  # empty input ends it
    whole, torn = TimedParser().send(sent, *end), TimedParser().send(*pieces, *end)
    assert _as_text(torn) == _as_text(whole)


@pytest.mark.parametrize("begun", ["\x1b]", "\x1b]52;c;", "\x1bP1", "\x1b[", "\x1b[<", "\x1b["])
def test_an_unfinished_sequence_takes_no_memory(begun):
    line = TimedParser().send(begun)
    tracemalloc.start()
    for _ in range(200):
        line.send("1" * 10_000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 100_000
    assert line.keys == []


@pytest.mark.parametrize("begun", ["\x1b[1", "\x1b", "a\r", "\x1b]1", "\x1b[200~", "\x1b[<1;1"])
def test_the_cost_is_linear(begun):
    """Input that was parsed before is not parsed again."""

    def steps(times: int) -> int:
        line, count = TimedParser(), 0

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
