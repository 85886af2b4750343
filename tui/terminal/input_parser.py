"""Makes events of what a terminal sends: keys, bursts of text, pastes, the mouse and its answers.

Textual's parser reads by the character, raises where a sequence is garbled and types what it does
not know. Here a lexer finds the sequences; Textual only says what a whole and valid one means.
"""

import logging
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from textual import events, messages
from textual.keys import KEY_NAME_REPLACEMENTS
from textual.message import Message

from themes.contrast import is_dark
from tui.terminal.sequences import ESC, PREFIX_DELAY, Kind, Lexer, Token
from tui.terminal.textual_internals import KeyReader, is_functional, tabled_keys

TYPED: Final = "typed"
"""The name of the key that stands for several printable ones, which came together."""

_ALT: Final = {
    "\r": "alt+enter",
    "\x7f": "ctrl+w",
    "b": "ctrl+left",
    "f": "ctrl+right",
    "d": "alt+delete",
}
"""What ESC and a character mean in every shell: a line break, and words to delete or go over."""

_KEY_LIKE = re.compile(r"\x1b\[[\d:;]*[u~A-FHPQRS]")
_KEY = re.compile(
    r"\x1b\[(?P<code>\d{0,7})(?::[\d:]*)?"
    r"(?:;(?P<modifiers>\d{0,4})(?::(?P<event>\d*))?(?:;(?P<text>[\d:]*))?)?(?P<end>[u~A-FHPQRS])"
)
_OTHER_KEY = re.compile(r"\x1b\[27;(\d{1,4});(\d{1,7})~")
"""A key as xterm's `modifyOtherKeys` reports it."""
_OLD_ARROW = re.compile(r"\x1b\[([2-8])([A-DFH])")
"""As some terminals send an arrow with a modifier."""
_TABLED = re.compile(r"\x1b\[(?:2[5689]|3[1-4])~")
"""The function keys behind F12, as terminals send them that have no form for shift and F7."""
_NAMED_CONTROLS: Final = (9, 13, 27, 127)
"""Control characters that the kitty keyboard protocol has keys for."""
_KITTY = re.compile(r"\x1b\[(?:27(?:;\d*)?|[\d:]+;[\d:]*;[\d:]+)u")
"""Keys that only a terminal sends so which sends all keys as sequences."""
_MOUSE = re.compile(r"\x1b\[<\d{1,3};-?\d{1,5};-?\d{1,5}[Mm]")
_SIZE = re.compile(r"\x1b\[48;" + ";".join([r"(\d{1,4})(?::\d*)?"] * 4) + "t")
_MODE = re.compile(r"\x1b\[\?(\d+);(\d)\$y")
_COLORS_CHANGED = re.compile(r"\x1b\[\?997;[12]n")
_CURSOR = re.compile(r"\x1b\[\d+;\d+R")
_BACKGROUND = re.compile(
    r"11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[0-9a-fA-F]{1,4})?"
)

_log = logging.getLogger(__name__)


class BackgroundTold(Message):
    """The terminal said what its background is."""

    def __init__(self, *, dark: bool) -> None:
        super().__init__()
        self.dark = dark


class ColorsChanged(Message):
    """The terminal said that its colours are others now."""


class Answered(Message):
    """The terminal said that it is well: all that was written before the question has arrived."""


def is_burst(event: events.Key) -> bool:
    """Whether the event stands for several printable keys."""
    return event.key == TYPED


class InputParser(KeyReader):
    """Events from the characters of a terminal, in their order.

    Never raises; printable keys that came together are one event; what is garbled or was not asked
    for is dropped. `is_bound` says whether a combination such as `alt+x` does something: if not,
    ESC and `x` are two keys that came together.
    """

    def __init__(
        self,
        lexer: Lexer | None = None,
        is_bound: Callable[[str], bool] = lambda _: False,
        *,
        is_console: bool = False,
    ) -> None:
        super().__init__()
        self._lexer = lexer or Lexer()
        self._escape_delay = self._lexer.escape_delay
        self._is_bound = is_bound
        self._is_console = is_console
        """On the console of Linux, where shift+tab is ESC and a tab."""

    def feed(self, data: str) -> Iterable[Message]:
        """The events in the next piece; nothing at all is the end of the input."""
        yield from self._events(self._lexer.feed(data) if data else self._lexer.flush())

    def tick(self) -> Iterable[Message]:
        """The events that the time brings that went by."""
        yield from self._events(self._lexer.tick())

    def wait(self) -> float | None:
        """Seconds until `tick` has something to say."""
        return self._lexer.wait()

    def _events(self, tokens: Iterable[Token]) -> Iterator[Message]:
        typed = ""
        for token in tokens:
            for found in self._read(token):
                if isinstance(found, str):
                    typed += found
                    continue
                if typed:
                    yield self._text(typed)
                    typed = ""
                yield found
        if typed:
            yield self._text(typed)

    def _read(self, token: Token) -> Iterable[Message | str]:
        try:
            match token.kind:
                case Kind.TEXT:
                    self._lexer.escape_delay = self._escape_delay
                    return [token.text.replace("\ufffd", "")]
                case Kind.CONTROL:
                    return self._keys(token.text)
                case Kind.ALT:
                    return self._alt(token.text)
                case Kind.SEQUENCE:
                    return list(self._sequence(token.text))
                case Kind.STRING:
                    return _answer(token.text)
                case Kind.PASTE:
                    return [events.Paste(token.text.replace("\0", ""))]
        except Exception:
            # Textual's reading of one sequence: the next one is none the worse for it.
            _log.exception("dropped %s that the terminal sent", token.kind.name.lower())
            return []

    def _text(self, text: str) -> Message:
        if not text.isprintable():
            return events.Paste(text)  # Wide or joining spaces, which no key types.
        if len(text) == 1:
            return self.keys_of(text)[0]
        return events.Key(TYPED, text)

    def _keys(self, sequence: str) -> list[Message | str]:
        """What a key is that was pressed: a character, if it is a plain one."""
        found: list[Message | str] = []
        if _TABLED.fullmatch(sequence):
            return [events.Key(name, None) for name in tabled_keys(sequence)]
        for key in self.keys_of(sequence):
            text = key.character
            if text and len(text) == 1 and text.isprintable() and key.key == key_name(text):
                found.append(text)
            else:
                found.append(key)
        return found

    def _alt(self, character: str) -> Iterable[Message | str]:
        if character == "\t" and self._is_console:
            return [events.Key("shift+tab", None)]
        if (key := _ALT.get(character)) is not None:
            return [events.Key(key, None)]
        if character.isprintable() and self._is_bound(name := _alt_name(character)):
            return [events.Key(name, None)]
        # On a slow line, and in tmux, escape and the letter behind it come together.
        typed = [character] if character.isprintable() else self._keys(character)
        return [events.Key("escape", ESC), *typed]

    def _sequence(self, sequence: str) -> Iterator[Message | str]:
        if sequence == f"{ESC}[I":
            yield events.AppFocus()
        elif sequence == f"{ESC}[O":
            yield events.AppBlur()
        elif sequence == f"{ESC}[0n":
            yield Answered()
        elif _COLORS_CHANGED.fullmatch(sequence):
            yield ColorsChanged()
        elif mode := _MODE.fullmatch(sequence):
            yield from _mode(*mode.groups())
        elif size := _SIZE.fullmatch(sequence):
            yield from self._resize(*map(int, size.groups()))
        elif _MOUSE.fullmatch(sequence):
            if (event := self.parse_mouse_code(sequence)) is not None:
                yield event
        elif sequence[2:3] not in ("?", ">", "=", "<") and not _CURSOR.fullmatch(sequence):
            if _KITTY.match(sequence):
                # The escape key has a sequence, too: what begins like one was torn.
                self._lexer.escape_delay = max(self._escape_delay, PREFIX_DELAY)
            if (press := _press(sequence)) is not None:
                yield from self._keys(press)

    def _resize(
        self, height: int, width: int, pixel_height: int, pixel_width: int
    ) -> Iterator[Message]:
        if width and height:
            event = events.Resize.from_dimensions((width, height), (pixel_width, pixel_height))
            self.terminal_size, self.terminal_pixel_size = event.size, event.pixel_size
            self.mouse_pixels = bool(pixel_width and pixel_height)
            yield event


def key_name(character: str) -> str:
    """What Textual calls the key that types a printable character."""
    name = character
    if not character.isalnum():
        name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _alt_name(character: str) -> str:
    shift = "shift+" if character.isupper() else ""
    return f"alt+{shift}{key_name(character.lower())}"


def _mode(mode: str, setting: str) -> Iterator[Message]:
    if mode == "2026" and setting != "0":
        yield messages.TerminalSupportsSynchronizedOutput()
    elif mode == "2048":
        yield messages.InBandWindowResize.from_setting_parameter(int(setting))


def _press(sequence: str) -> str | None:
    """The sequence of a key in the form that Textual reads; `None` if it is no press of one."""
    if other := _OTHER_KEY.fullmatch(sequence):
        sequence = f"{ESC}[{other[2]};{other[1]}u"
    elif (old := _OLD_ARROW.fullmatch(sequence)) is not None:
        sequence = f"{ESC}[1;{old[1]}{old[2]}"
    if not _KEY_LIKE.fullmatch(sequence):
        return sequence  # Textual looks it up in its table, or knows nothing of it.
    key = _KEY.fullmatch(sequence)
    if key is None or key["event"] not in (None, "", "1", "2"):
        return None
    code, modifiers, end = int(key["code"] or 1), key["modifiers"] or "", key["end"]
    text = ":".join(part for part in (key["text"] or "").split(":") if part and _is_text(part))
    if end == "u":
        if not (_is_text(str(code)) or code in _NAMED_CONTROLS or (code == 0 and text)):
            return None
    elif not is_functional(f"{code}{end}"):
        # Textual would take the number for a character, and never look into its table.
        return sequence if _TABLED.fullmatch(sequence) else None
    if not modifiers and not text:
        return f"{ESC}[{code}{end}"
    return f"{ESC}[{code};{int(modifiers or 1)};{text}".rstrip(";") + end


def _is_text(number: str) -> bool:
    """Whether it is the number of a character, and none that controls."""
    code = int(number) if len(number) < 8 else -1
    is_control = code < 32 or 127 <= code < 160
    return not is_control and code <= sys.maxunicode and not 0xD800 <= code < 0xE000


def _answer(text: str) -> list[Message | str]:
    """What an operating system command tells; all but the background is dropped."""
    if (background := _BACKGROUND.fullmatch(text)) is None:
        return []
    color = "#" + "".join(f"{_byte(channel):02x}" for channel in background.groups())
    return [BackgroundTold(dark=is_dark(color))]


def _byte(digits: str) -> int:
    """One to four hexadecimal digits as a share of their greatest, of 255."""
    return round(int(digits, 16) / int("f" * len(digits), 16) * 255)
