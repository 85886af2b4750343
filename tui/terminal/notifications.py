"""Desktop notifications and titles through the terminal, detected from the environment.

Unknown terminals are sent nothing: some print sequences that they do not understand.
"""

from collections.abc import Mapping
from typing import Final, Literal

from model.base.text import clean_line

NotificationProtocol = Literal["", "osc9", "osc777", "osc99"]
"""The control sequence for desktop notifications; empty if none is supported."""

_BY_PROGRAM: Final[Mapping[str, NotificationProtocol]] = {
    "iterm.app": "osc9", "iterm2": "osc9", "wezterm": "osc777", "ghostty": "osc777",
    "warpterminal": "osc777", "kitty": "osc99",
}  # fmt: skip
"""By `TERM_PROGRAM`, or by `LC_TERMINAL`, which some terminals forward over SSH."""

_BY_TERM: Final[Mapping[str, NotificationProtocol]] = {
    "xterm-kitty": "osc99", "xterm-ghostty": "osc777", "foot": "osc777", "foot-extra": "osc777",
    "rxvt-unicode": "osc777", "rxvt-unicode-256color": "osc777", "wezterm": "osc777",
}  # fmt: skip

_BY_VARIABLE: Final[Mapping[str, NotificationProtocol]] = {
    "KITTY_WINDOW_ID": "osc99", "WEZTERM_PANE": "osc777", "ITERM_SESSION_ID": "osc9",
    "GHOSTTY_RESOURCES_DIR": "osc777",
}  # fmt: skip
"""Variables that terminals set, which are also present in a tmux started in them."""

_TERMS_WITHOUT_TITLE: Final = ("", "dumb", "linux", "unknown")
MAX_LENGTH: Final = 200


def detect_protocol(environ: Mapping[str, str]) -> NotificationProtocol:
    """The notification protocol of the environment's terminal."""
    if environ.get("STY") or environ.get("TERM", "dumb") in _TERMS_WITHOUT_TITLE:
        return ""  # GNU screen passes nothing on, and prints unknown sequences.
    for name in ("TERM_PROGRAM", "LC_TERMINAL"):
        if (protocol := _BY_PROGRAM.get(environ.get(name, "").lower(), "")) != "":
            return protocol
    if (protocol := _BY_TERM.get(environ.get("TERM", ""), "")) != "":
        return protocol
    return next((protocol for name, protocol in _BY_VARIABLE.items() if environ.get(name)), "")


def has_title(environ: Mapping[str, str]) -> bool:
    """Whether the terminal's title can be set."""
    return environ.get("TERM", "") not in _TERMS_WITHOUT_TITLE


def notification_sequence(
    protocol: NotificationProtocol, title: str, body: str, *, tmux: bool
) -> str:
    """The escape sequence of a desktop notification; empty if none is supported.

    Inside tmux it is wrapped in tmux's own sequence, which tmux passes on if `allow-passthrough` is
    on and drops otherwise.
    """
    title, body = _clean(title), _clean(body)
    match protocol:
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


def title_sequence(text: str) -> str:
    """The escape sequence that sets the terminal's title."""
    return f"\x1b]2;{_clean(text)}\x07"


SAVE_TITLE: Final = "\x1b[22;2t"
"""Saves the terminal's title."""
RESTORE_TITLE: Final = "\x1b[23;2t"
"""Restores the saved title."""


def _clean(text: str) -> str:
    return clean_line(text)[:MAX_LENGTH]
