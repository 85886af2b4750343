"""Foreign text made harmless: what agents, git, files and people send can hold anything.

One function, applied where text enters the store, so that no screen has to think of it: control
bytes would reach the terminal (clipboard, title, colours), bidirectional marks can make code read
otherwise than it runs, and lone surrogates break every encoder.
"""

import re
from typing import Any

# C0 without tab and newline, DEL, C1; carriage returns are handled apart.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ANSI = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC … BEL or ST
    r"|[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC … ST
    r"|\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|[ -/]*[0-~])"  # two-character escapes
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c]")
_NEEDS_CLEANING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c]"
)


def clean(text: str) -> str:
    """`text` without control bytes; invisible and bidirectional marks become `<U+202E>`.

    Tabs and newlines stay; `\\r\\n` and a lone `\\r` become `\\n`; a lone surrogate U+FFFD.
    Cleaning what is clean gives the same object back.
    """
    if not _NEEDS_CLEANING.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _ANSI.sub("", text)
    text = _CONTROL.sub("", text)
    text = _SURROGATE.sub("\ufffd", text)
    return _INVISIBLE.sub(lambda mark: f"<U+{ord(mark.group()):04X}>", text)


def clean_line(text: str) -> str:
    """`clean`, on one line: for names, titles and labels."""
    return " ".join(clean(text).split())


def clean_json(value: Any) -> Any:
    """Every string inside a JSON value cleaned, keys too."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(str(key)): clean_json(item) for key, item in value.items()}
        case list() | tuple():
            return [clean_json(item) for item in value]
        case _:
            return value
