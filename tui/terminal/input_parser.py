"""Converts terminal input to events: keys, bursts of text, pastes, mouse events and reports.

Textual's parser works by character, raises on garbled sequences and types unknown ones. Here a
lexer finds the sequences, and Textual only interprets complete and valid ones.
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
from tui.terminal.textual_internals import KeyReader, is_functional, lookup_old_keys

TYPED: Final = "typed"
"""The key name of a burst: several printable keys received together."""

_ALT: Final = {
    "\r": "alt+enter",
    "\x7f": "ctrl+w",
    "b": "ctrl+left",
    "f": "ctrl+right",
    "d": "alt+delete",
}
"""ESC and a character as in every shell: a line break, deleting a word, moving by a word."""

_KEY_LIKE = re.compile(r"\x1b\[[\d:;]*[u~A-FHPQRS]")
_KEY = re.compile(
    r"\x1b\[(?P<code>\d{0,7})(?::[\d:]*)?"
    r"(?:;(?P<modifiers>\d{0,4})(?::(?P<event>\d*))?(?:;(?P<text>[\d:]*))?)?(?P<end>[u~A-FHPQRS])"
)
_OTHER_KEY = re.compile(r"\x1b\[27;(\d{1,4});(\d{1,7})~")
"""A key as xterm's `modifyOtherKeys` reports it."""
_OLD_ARROW = re.compile(r"\x1b\[([2-8])([A-DFH])")
"""An arrow with a modifier in the form of some terminals."""
_OLD_FUNCTION_KEY = re.compile(r"\x1b\[(?:2[5689]|3[1-4])~")
"""The function keys after F12, which some terminals send instead of shift and a function key."""
_DISAMBIGUATED: Final = 1
"""The flag of the kitty keyboard protocol for sequences instead of ESC and a character."""
_NAMED_CONTROLS: Final = (9, 13, 27, 127)
"""Control characters that are keys in the kitty keyboard protocol."""
_KITTY = re.compile(r"\x1b\[(?:27(?:;\d*)?|[\d:]+;[\d:]*;[\d:]+)u")
"""Keys in a form that only terminals use that send all keys as sequences."""
_MOUSE = re.compile(r"\x1b\[<\d{1,3};-?\d{1,5};-?\d{1,5}[Mm]")
_SIZE = re.compile(r"\x1b\[48;" + ";".join([r"(\d{1,4})(?::\d*)?"] * 4) + "t")
_MAX_COLUMNS: Final = 2000
_MAX_ROWS: Final = 1000
"""More than any screen has; drawing a report of more would take all memory."""
_MODE = re.compile(r"\x1b\[\?(\d+);(\d)\$y")
_COLORS_CHANGED = re.compile(r"\x1b\[\?997;[12]n")
_KEYBOARD = re.compile(r"\x1b\[\?(\d{1,4})u")
"""The flags of the kitty keyboard protocol that are on."""
_CURSOR = re.compile(r"\x1b\[\d+;\d+R")
_BACKGROUND = re.compile(
    r"11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[0-9a-fA-F]{1,4})?"
)

_log = logging.getLogger(__name__)


class BackgroundReported(Message):
    """The terminal reported its background color."""

    def __init__(self, *, dark: bool) -> None:
        super().__init__()
        self.dark = dark


class ColorsChanged(Message):
    """The terminal reported that its colors changed."""


class KeyboardReported(Message):
    """The terminal sends `alt` and a digit differently from escape and a digit."""


class StatusReported(Message):
    """The terminal answered a status query: everything written before it has arrived."""


def is_burst(event: events.Key) -> bool:
    """Whether the event is a burst of several printable keys."""
    return event.key == TYPED


class InputParser(KeyReader):
    """Converts the characters of a terminal to events, in order.

    Never raises. Printable keys received together are one event; garbled and unrequested sequences
    are dropped. `is_bound` returns whether a combination such as `alt+x` is bound; if not, ESC and
    `x` are two keys received together.
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
        """Whether this is the Linux console, where shift+tab is ESC and a tab."""

    def feed(self, data: str) -> Iterable[Message]:
        """The events of the next piece of input; '' is the end of the input."""
        yield from self._events(self._lexer.feed(data) if data else self._lexer.flush())

    def tick(self) -> Iterable[Message]:
        """The events that are due because time has passed."""
        yield from self._events(self._lexer.tick())

    def wait(self) -> float | None:
        """Seconds until `tick` should be called; `None` if nothing is pending."""
        return self._lexer.wait()

    def _events(self, tokens: Iterable[Token]) -> Iterator[Message]:
        typed = ""
        for token in tokens:
            for items in self._read(token):
                if isinstance(items, str):
                    typed += items
                    continue
                if typed:
                    yield self._text_event(typed)
                    typed = ""
                yield items
        if typed:
            yield self._text_event(typed)

    def _read(self, token: Token) -> Iterable[Message | str]:
        try:
            match token.kind:
                case Kind.TEXT:
                    self._lexer.escape_delay = self._escape_delay
                    return [token.text.replace("\ufffd", "")]
                case Kind.CONTROL:
                    return self._plain_keys(token.text)
                case Kind.ALT:
                    return self._alt_keys(token.text)
                case Kind.SEQUENCE:
                    return list(self._sequence(token.text))
                case Kind.STRING:
                    return _parse_string(token.text)
                case Kind.PASTE:
                    return [events.Paste(token.text.replace("\0", ""))]
        except Exception:
            # An error of Textual in one sequence must not affect the next one.
            _log.exception("dropped %s that the terminal sent", token.kind.name.lower())
            return []

    def _text_event(self, text: str) -> Message:
        if not text.isprintable():
            return events.Paste(text)  # Wide or zero-width spaces, which no key types.
        if len(text) == 1:
            return self.keys_of(text)[0]
        return events.Key(TYPED, text)

    def _plain_keys(self, sequence: str) -> list[Message | str]:
        """The keys of a sequence; plain characters as strings."""
        items: list[Message | str] = []
        if _OLD_FUNCTION_KEY.fullmatch(sequence):
            return [events.Key(name, None) for name in lookup_old_keys(sequence)]
        for key in self.keys_of(sequence):
            text = key.character
            if text and len(text) == 1 and text.isprintable() and key.key == key_name(text):
                items.append(text)
            else:
                items.append(key)
        return items

    def _alt_keys(self, character: str) -> Iterable[Message | str]:
        if character == "\t" and self._is_console:
            return [events.Key("shift+tab", None)]
        if (key := _ALT.get(character)) is not None:
            return [events.Key(key, None)]
        if character.isprintable() and self._is_bound(name := _alt_name(character)):
            return [events.Key(name, None)]
        # On a slow line, and in tmux, escape and the letter after it arrive together.
        typed = [character] if character.isprintable() else self._plain_keys(character)
        return [events.Key("escape", ESC), *typed]

    def _sequence(self, sequence: str) -> Iterator[Message | str]:
        if sequence == f"{ESC}[I":
            yield events.AppFocus()
        elif sequence == f"{ESC}[O":
            yield events.AppBlur()
        elif sequence == f"{ESC}[0n":
            yield StatusReported()
        elif _COLORS_CHANGED.fullmatch(sequence):
            yield ColorsChanged()
        elif keyboard := _KEYBOARD.fullmatch(sequence):
            if int(keyboard[1]) & _DISAMBIGUATED:
                yield KeyboardReported()
        elif mode := _MODE.fullmatch(sequence):
            yield from _mode_messages(*mode.groups())
        elif size := _SIZE.fullmatch(sequence):
            yield from self._resize(*map(int, size.groups()))
        elif _MOUSE.fullmatch(sequence):
            if (event := self.parse_mouse_code(sequence)) is not None:
                yield event
        elif sequence[2:3] not in ("?", ">", "=", "<") and not _CURSOR.fullmatch(sequence):
            if _KITTY.match(sequence):
                # The escape key has a sequence as well, so a lone ESC is part of a torn one.
                self._lexer.escape_delay = max(self._escape_delay, PREFIX_DELAY)
            if (key_sequence := _normalize_key(sequence)) is not None:
                yield from self._plain_keys(key_sequence)

    def _resize(
        self, height: int, width: int, pixel_height: int, pixel_width: int
    ) -> Iterator[Message]:
        if 0 < width <= _MAX_COLUMNS and 0 < height <= _MAX_ROWS:
            event = events.Resize.from_dimensions((width, height), (pixel_width, pixel_height))
            self.terminal_size, self.terminal_pixel_size = event.size, event.pixel_size
            self.mouse_pixels = bool(pixel_width and pixel_height)
            yield event


def key_name(character: str) -> str:
    """Textual's name of the key that types a printable character."""
    name = character
    if not character.isalnum():
        name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _alt_name(character: str) -> str:
    shift = "shift+" if character.isupper() else ""
    return f"alt+{shift}{key_name(character.lower())}"


def _mode_messages(mode: str, setting: str) -> Iterator[Message]:
    if mode == "2026" and setting != "0":
        yield messages.TerminalSupportsSynchronizedOutput()
    elif mode == "2048":
        yield messages.InBandWindowResize.from_setting_parameter(int(setting))


def _normalize_key(sequence: str) -> str | None:
    """A key sequence in the form that Textual reads; `None` if it is not a key press."""
    if other := _OTHER_KEY.fullmatch(sequence):
        sequence = f"{ESC}[{other[2]};{other[1]}u"
    elif (old := _OLD_ARROW.fullmatch(sequence)) is not None:
        sequence = f"{ESC}[1;{old[1]}{old[2]}"
    if not _KEY_LIKE.fullmatch(sequence):
        return sequence  # Textual looks it up in its table, or ignores it.
    key = _KEY.fullmatch(sequence)
    if key is None or key["event"] not in (None, "", "1", "2"):
        return None
    code, modifiers, end = int(key["code"] or 1), key["modifiers"] or "", key["end"]
    text = ":".join(part for part in (key["text"] or "").split(":") if part and _is_text(part))
    if end == "u":
        if not (_is_text(str(code)) or code in _NAMED_CONTROLS or (code == 0 and text)):
            return None
    elif not is_functional(f"{code}{end}"):
        # Textual would treat the number as a character instead of using its table.
        return sequence if _OLD_FUNCTION_KEY.fullmatch(sequence) else None
    if not modifiers and not text:
        return f"{ESC}[{code}{end}"
    return f"{ESC}[{code};{int(modifiers or 1)};{text}".rstrip(";") + end


def _is_text(number: str) -> bool:
    """Whether it is the code point of a character that is not a control character."""
    code = int(number) if len(number) < 8 else -1
    is_control = code < 32 or 127 <= code < 160
    return not is_control and code <= sys.maxunicode and not 0xD800 <= code < 0xE000


def _parse_string(text: str) -> list[Message | str]:
    """The message of an operating system command; only the background color is handled."""
    if (background := _BACKGROUND.fullmatch(text)) is None:
        return []
    color = "#" + "".join(f"{_byte(channel):02x}" for channel in background.groups())
    return [BackgroundReported(dark=is_dark(color))]


def _byte(digits: str) -> int:
    """One to four hexadecimal digits, scaled to 0–255."""
    return round(int(digits, 16) / int("f" * len(digits), 16) * 255)
