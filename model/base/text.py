"""Makes untrusted text visible: text from agents, git, files and people can contain anything.

Applied once, where text enters the store or is read for a screen, so that no screen has to do it.
Control characters would steer the terminal; bidirectional and invisible ones make code read
differently from how it runs. Each is replaced by a visible mark, and nothing is ever dropped: users
see all of what they allow to run.

Only text for display is marked. Bytes that are executed or written stay as they are: scripts, git
objects and files are never changed, and `restore_hidden` turns the marks of an edited text back
into the characters they represent.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

_ALWAYS_HIDDEN: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe03-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""C0 except tab, newline and carriage return; DEL, C1; bidirectional controls, fillers, line
separators, tags, lone surrogates."""

_SOMETIMES_HIDDEN: Final = "\u200c\u200d\ufe00-\ufe02\ufe0e\ufe0f\u180b-\u180f\U000e0100-\U000e01ef"
"""Joiners and variation selectors: part of a word or an emoji, depending on their neighbors."""

_COMBINING: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_MAX_COMBINING: Final = 8
"""Most combining marks on one letter; more would cover the lines around it."""

_REGIONAL_FLAG: Final = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063"
    "\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""The flags of England, Scotland and Wales, the only ones that are spelled with tag characters."""

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
"""Arabic and related scripts, the scripts of South Asia, Mongolian: joiners are part of words."""
_HAN: Final = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"

_KEPT: Final = "|".join(
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
"""Characters that are kept, by the characters before and after them."""

_UNDECIDED: Final = re.compile(
    "(?:\U0001f3f4[\U000e0061-\U000e007a]{0,5}|[\r\u200c\u200d\ufe0f]{1,2})\\Z"
)
"""The end of a piece of text that is shown depending on the next piece."""
_LONGEST_UNDECIDED: Final = 6


@cache
def _hidden() -> re.Pattern[str]:
    """Matches text that may need marks. Compiled on demand: most texts at startup are ASCII."""
    return re.compile(
        f"[\r{_ALWAYS_HIDDEN}{_SOMETIMES_HIDDEN}]|[{_COMBINING}]{{{_MAX_COMBINING + 1}}}"
    )


@cache
def _runs() -> re.Pattern[str]:
    """Matches line endings, characters that are kept, and runs of characters to mark."""
    return re.compile(
        f"(?P<end>\r\n)|(?P<kept>{_REGIONAL_FLAG}|{_KEPT})|(?P<marked>\r+(?!\n)"
        f"|[{_ALWAYS_HIDDEN}]+|[{_SOMETIMES_HIDDEN}]"
        f"|(?<=[{_COMBINING}]{{{_MAX_COMBINING}}})[{_COMBINING}]+)"
    )


class _Marks(dict[int, str]):
    """The mark of a character, by code point."""

    def __missing__(self, code: int) -> str:
        if code < 0x20:
            return chr(0x2400 + code)
        return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


_MARKS: Final = _Marks()
_COLOR: Final = re.compile("\x1b\\[[0-9;:]*m")
_MARK: Final = re.compile("[\u2400-\u241f\u2421]|<U\\+[0-9A-F]{4,5}>")


def make_visible(text: str, before: str = "") -> str:
    """Return `text` with every control and invisible character replaced by a mark.

    C0 and DEL become control pictures (`␛`, `␡`), all others their code point (`<U+202E>`). Tabs
    and newlines are kept, `\\r\\n` becomes `\\n`, and joiners that belong to a word or an emoji are
    kept. Text that is visible already is returned as the same object.

    Args:
        text: Untrusted text; the result is at most nine times as long.
        before: The text that precedes it, if it is a piece of a longer one.
    """
    if not (_ASCII_CONTROL if text.isascii() else _hidden()).search(text):
        return text
    whole = before[-_MAX_COMBINING:] + text
    start = len(whole) - len(text)
    pieces: list[str] = []
    done = start
    for match in _runs().finditer(whole, start):
        if match["kept"] is None:
            shown = "\n" if match["end"] else match[0].translate(_MARKS)
            pieces += (whole[done : match.start()], shown)
            done = match.end()
    return "".join((*pieces, whole[done:])) if pieces else text


def clean_line(text: str) -> str:
    """Apply `make_visible` and join into one line: for names, titles and labels."""
    return " ".join(make_visible(text).split())


def make_json_visible(value: Any) -> Any:
    """Apply `make_visible` to every string in a JSON value, including keys."""
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
    """Make terminal output visible: color sequences are removed, everything else is marked.

    A lone carriage return, with which progress lines are redrawn, is shown and ends its line.
    """
    text = _COLOR.sub("", text)
    if "\r" in text:
        text = re.sub("\r(?!\n)", f"{_CARRIAGE_RETURN}\n", text)
    return make_visible(text)


def show_returns(text: str) -> str:
    """Replace every carriage return by a mark, including those in line endings."""
    return text.replace("\r", _CARRIAGE_RETURN)


def show_mixed_returns(value: Any) -> Any:
    """Show the carriage returns in a JSON value if its line endings are mixed.

    Uniform line endings carry no information. With mixed ones, an edit that changes only line
    endings would look as if nothing changed.
    """
    texts = list(_texts_in(value))
    returns = sum(text.count("\r\n") for text in texts)
    if not returns or returns == sum(text.count("\n") for text in texts):
        return value
    return _show_returns_in(value)


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


def _show_returns_in(value: Any) -> Any:
    match value:
        case str():
            return show_returns(value)
        case dict():
            return {key: _show_returns_in(item) for key, item in value.items()}
        case list() | tuple():
            return [_show_returns_in(item) for item in value]
        case _:
            return value


def find_hidden(text: str) -> str | None:
    """Describe the first hidden character of `text` for the user; `None` if there is none.

    Stricter than `make_visible`: a carriage return is part of what a shell executes.
    """
    for match in _runs().finditer(text):
        if match["kept"] is None:
            hidden = match[0][0]
            line = text.count("\n", 0, match.start()) + 1
            code_point, mark = f"U+{ord(hidden):04X}", _MARKS[ord(hidden)]
            description = code_point if code_point in mark else f"{mark} ({code_point})"
            return f"line {line} contains the character {description}"
    return None


def restore_hidden(edited: str, original: str) -> str:
    """Undo `make_visible` in an edited text: turn each mark of `original` back into its character.

    A mark that is literally part of `original` stays a mark.
    """
    if edited == make_visible(original):
        return original
    marked = {hidden for match in _runs().finditer(original) for hidden in match["marked"] or ""}
    originals = {_MARKS[ord(hidden)]: hidden for hidden in marked}
    for literal in _MARK.findall(original):
        originals.pop(literal, None)
    return _MARK.sub(lambda mark: originals.get(mark[0], mark[0]), edited)


class VisibleStream:
    """Incremental `make_visible`: holds back characters whose neighbors have not arrived yet."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the piece made visible, without an end that depends on the next piece."""
        text = self._held + piece
        undecided = _UNDECIDED.search(text, max(0, len(text) - _LONGEST_UNDECIDED))
        end = undecided.start() if undecided else len(text)
        self._held = text[end:]
        return self._convert(text[:end])

    def end(self) -> str:
        """Return what was held back, when no more pieces follow."""
        held, self._held = self._held, ""
        return self._convert(held)

    def _convert(self, text: str) -> str:
        shown = make_visible(text, self._before)
        self._before = (self._before + text)[-_MAX_COMBINING:]
        return shown
