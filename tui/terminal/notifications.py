"""How this terminal can be told to notify: known from its environment alone, never probed.

A terminal that is not known is sent nothing: some print what they do not understand.
"""

from collections.abc import Mapping
from typing import Final, Literal

from model.base.text import clean_line

Way = Literal["", "osc9", "osc777", "osc99"]
"""The control sequence that makes a notification on the desktop; empty: none is known."""

_BY_PROGRAM: Final[Mapping[str, Way]] = {
    "iterm.app": "osc9", "iterm2": "osc9", "wezterm": "osc777", "ghostty": "osc777",
    "warpterminal": "osc777", "kitty": "osc99",
}  # fmt: skip
"""By `TERM_PROGRAM`, or `LC_TERMINAL`, which some send along over SSH."""

_BY_TERM: Final[Mapping[str, Way]] = {
    "xterm-kitty": "osc99", "xterm-ghostty": "osc777", "foot": "osc777", "foot-extra": "osc777",
    "rxvt-unicode": "osc777", "rxvt-unicode-256color": "osc777", "wezterm": "osc777",
}  # fmt: skip

_BY_TRACE: Final[Mapping[str, Way]] = {
    "KITTY_WINDOW_ID": "osc99", "WEZTERM_PANE": "osc777", "ITERM_SESSION_ID": "osc9",
    "GHOSTTY_RESOURCES_DIR": "osc777",
}  # fmt: skip
"""What terminals leave in the environment, also of a tmux that was started in them."""

_WITHOUT_TITLE: Final = ("", "dumb", "linux", "unknown")
LONGEST: Final = 200


def way_of(environ: Mapping[str, str]) -> Way:
    """The way of the terminal that this environment describes."""
    if environ.get("STY") or environ.get("TERM", "dumb") in _WITHOUT_TITLE:
        return ""  # GNU screen hands nothing on, and prints what it does not know.
    for name in ("TERM_PROGRAM", "LC_TERMINAL"):
        if (way := _BY_PROGRAM.get(environ.get(name, "").lower(), "")) != "":
            return way
    if (way := _BY_TERM.get(environ.get("TERM", ""), "")) != "":
        return way
    return next((way for name, way in _BY_TRACE.items() if environ.get(name)), "")


def has_title(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has a title that can be set."""
    return environ.get("TERM", "") not in _WITHOUT_TITLE


def notification(way: Way, title: str, body: str, *, tmux: bool) -> str:
    """What to write so that the desktop shows both; empty where there is no way.

    Inside tmux it stands in tmux's own envelope, which tmux opens where `allow-passthrough` is on
    and throws away where it is off.
    """
    title, body = _harmless(title), _harmless(body)
    match way:
        case "osc9":
            sequence = f"\x1b]9;{title}: {body}\x07"
        case "osc777":
            sequence = f"\x1b]777;notify;{title.replace(';', ',')};{body}\x07"
        case "osc99":
            sequence = (
                f"\x1b]99;i=spinney:d=0;{title}\x1b\\\x1b]99;i=spinney:d=1:p=body;{body}\x1b\\"
            )
        case _:
            return ""
    if tmux:
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


def title(text: str) -> str:
    """What to write so that the terminal has this title."""
    return f"\x1b]2;{_harmless(text)}\x07"


TITLE_KEPT: Final = "\x1b[22;2t"
"""The terminal keeps the title that it has."""
TITLE_BACK: Final = "\x1b[23;2t"
"""The terminal takes up the title that it kept."""


def _harmless(text: str) -> str:
    return clean_line(text)[:LONGEST]
