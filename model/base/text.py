"""Foreign text made visible: what agents, git, files and people send can hold anything.

One function, applied where text enters the store or is read for a screen, so that no screen has to
think of it. Control characters would steer the terminal, bidirectional and invisible ones make code
read otherwise than it runs. Each is shown as a visible mark, and nothing is ever left out: what a
person decides about is all of what will run.

What is marked is text for people. Bytes that run or are written stay as they are: scripts, git's
objects and files are never marked on their way, and `restore_hidden` turns the marks of an edited
text back into what they stand for.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

_ALWAYS: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe03-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""C0 but tab, newline and carriage return, DEL, C1; bidirectional controls, fillers, separators of
lines, tags, halves of surrogate pairs."""

_SOMETIMES: Final = "\u200c\u200d\ufe00-\ufe02\ufe0e\ufe0f\u180b-\u180f\U000e0100-\U000e01ef"
"""Joiners and variation selectors: part of a word or an emoji, by their neighbors."""

_COMBINING: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_MOST_COMBINING: Final = 8
"""Marks over one letter; more of them cover the lines around it."""

_FLAG_OF_A_REGION: Final = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063"
    "\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""The flags of England, Scotland and Wales, the only ones that are spelled with tags."""

_CARRIAGE_RETURN: Final = "\u240d"

_ASCII_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

_EMOJI: Final = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JOINED_SCRIPTS: Final = (
    "[\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1b00-\u1b7f"
    "\ufb50-\ufdff\ufe70-\ufefc]"
)
"""Arabic and its kin, the scripts of India and its neighbors, Mongolian: joiners spell words."""
_HAN: Final = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"

_BELONGS: Final = "|".join(
    f"(?<={before}){characters}{after and f'(?={after})'}"
    for characters, before, after in (
        ("\u200d", _EMOJI, _EMOJI),
        ("\u200d", "\ufe0f", _EMOJI),
        ("[\u200c\u200d]", _JOINED_SCRIPTS, _JOINED_SCRIPTS),
        ("[\ufe0e\ufe0f]", _EMOJI, ""),
        ("\ufe0f", "[0-9#*]", "\u20e3"),
        ("[\ufe00-\ufe02\U000e0100-\U000e01ef]", _HAN, ""),
        ("\ufe00", "[\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f]", ""),
        ("[\u180b-\u180f]", "[\u1800-\u18af]", ""),
    )
)
"""Characters that stay, by what stands before and after them."""

_UNDECIDED: Final = re.compile(
    "(?:\U0001f3f4[\U000e0061-\U000e007a]{0,5}|[\r\u200c\u200d\ufe0f]{1,2})\\Z"
)
"""The end of a piece of text whose next one decides how it is shown."""
_LONGEST_UNDECIDED: Final = 6


@cache
def _hidden() -> re.Pattern[str]:
    """What may have to be shown, roughly. Compiled late: most texts at a start are ASCII."""
    return re.compile(f"[\r{_ALWAYS}{_SOMETIMES}]|[{_COMBINING}]{{{_MOST_COMBINING + 1}}}")


@cache
def _runs() -> re.Pattern[str]:
    """What is a line's end, what stays, and runs of what is marked."""
    return re.compile(
        f"(?P<end>\r\n)|(?P<stays>{_FLAG_OF_A_REGION}|{_BELONGS})|(?P<marked>\r+(?!\n)"
        f"|[{_ALWAYS}]+|[{_SOMETIMES}]|(?<=[{_COMBINING}]{{{_MOST_COMBINING}}})[{_COMBINING}]+)"
    )


class _Marks(dict[int, str]):
    """The mark of a character, by its number."""

    def __missing__(self, code: int) -> str:
        if code < 0x20:
            return chr(0x2400 + code)
        return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


_MARKS: Final = _Marks()
_COLOR: Final = re.compile("\x1b\\[[0-9;:]*m")
_MARK: Final = re.compile("[\u2400-\u241f\u2421]|<U\\+[0-9A-F]{4,5}>")


def make_visible(text: str, before: str = "") -> str:
    """`text` with every control and invisible character shown as a mark.

    C0 and DEL are shown as their pictures (`␛`, `␡`), all others by their number (`<U+202E>`).
    Tabs and newlines stay, and so do `\\r\\n` (as `\\n`) and what belongs to a word or an emoji by
    its neighbors. Making visible what is visible gives the same object back.

    Args:
        text: Foreign text; at most nine times as long afterwards.
        before: The text that stands before it, where it is a piece of a longer one.
    """
    if not (_ASCII_CONTROL if text.isascii() else _hidden()).search(text):
        return text
    whole = before[-_MOST_COMBINING:] + text
    start = len(whole) - len(text)
    pieces: list[str] = []
    done = start
    for found in _runs().finditer(whole, start):
        if found["stays"] is None:
            shown = "\n" if found["end"] else found[0].translate(_MARKS)
            pieces += (whole[done : found.start()], shown)
            done = found.end()
    return "".join((*pieces, whole[done:])) if pieces else text


def clean_line(text: str) -> str:
    """`make_visible`, on one line: for names, titles and labels."""
    return " ".join(make_visible(text).split())


def make_json_visible(value: Any) -> Any:
    """Every string inside a JSON value made visible, keys too."""
    match value:
        case str():
            return make_visible(value)
        case dict():
            return {make_visible(str(key)): make_json_visible(item) for key, item in value.items()}
        case list() | tuple():
            return [make_json_visible(item) for item in value]
        case _:
            return value


def make_output_visible(text: str) -> str:
    """What a program printed for a terminal: its colors taken out, everything else made visible.

    A lone carriage return, by which a line of progress is drawn anew, is shown and ends its line.
    """
    text = _COLOR.sub("", text)
    if "\r" in text:
        text = re.sub("\r(?!\n)", f"{_CARRIAGE_RETURN}\n", text)
    return make_visible(text)


def show_returns(text: str) -> str:
    """The text with each carriage return shown, those at the end of a line as well."""
    return text.replace("\r", _CARRIAGE_RETURN)


def show_mixed_returns(value: Any) -> Any:
    """A JSON value, with its carriage returns shown where its lines do not all end alike.

    Where they do, the returns say nothing. Else a change of nothing but the ends of lines would
    look as if nothing changed.
    """
    texts = list(_texts_in(value))
    returns = sum(text.count("\r\n") for text in texts)
    if not returns or returns == sum(text.count("\n") for text in texts):
        return value
    return _with_returns(value)


def _texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _texts_in(item)
        case list() | tuple():
            for item in value:
                yield from _texts_in(item)


def _with_returns(value: Any) -> Any:
    match value:
        case str():
            return show_returns(value)
        case dict():
            return {key: _with_returns(item) for key, item in value.items()}
        case list() | tuple():
            return [_with_returns(item) for item in value]
        case _:
            return value


def find_hidden(text: str) -> str | None:
    """What `text` does not show of itself, for a person; `None` where it shows all.

    Stricter than `make_visible`: a carriage return is part of what a shell runs.
    """
    for found in _runs().finditer(text):
        if found["stays"] is None:
            hidden = found[0][0]
            line = text.count("\n", 0, found.start()) + 1
            number, shown = f"U+{ord(hidden):04X}", _MARKS[ord(hidden)]
            named = number if number in shown else f"{shown} ({number})"
            return f"line {line} holds the character {named}"
    return None


def restore_hidden(edited: str, original: str) -> str:
    """The bytes of a text that was edited with marks in it: each mark of `original` turned back.

    A mark that stands in `original` as such stays one.
    """
    if edited == make_visible(original):
        return original
    marked = {hidden for found in _runs().finditer(original) for hidden in found["marked"] or ""}
    meant = {_MARKS[ord(hidden)]: hidden for hidden in marked}
    for literal in _MARK.findall(original):
        meant.pop(literal, None)
    return _MARK.sub(lambda mark: meant.get(mark[0], mark[0]), edited)


class VisibleStream:
    """`make_visible` for a text that comes in pieces, whose neighbors may come later."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """The piece made visible, without what its next one decides about."""
        text = self._held + piece
        undecided = _UNDECIDED.search(text, max(0, len(text) - _LONGEST_UNDECIDED))
        end = undecided.start() if undecided else len(text)
        self._held = text[end:]
        return self._take(text[:end])

    def end(self) -> str:
        """What was held back, when nothing more will come."""
        held, self._held = self._held, ""
        return self._take(held)

    def _take(self, text: str) -> str:
        shown = make_visible(text, self._before)
        self._before = (self._before + text)[-_MOST_COMBINING:]
        return shown
