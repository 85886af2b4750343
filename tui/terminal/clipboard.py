"""Copying through the terminal (OSC 52), which works over SSH and needs no program."""

import base64

from tui.terminal.capabilities import Terminal

LIMIT = 74_000
"""Maximum bytes of text: terminals truncate or refuse sequences over about 100,000 bytes."""


def copy_sequence(text: str, terminal: Terminal) -> str | None:
    """The escape sequence that copies the text; `None` if the text is too long."""
    encoded = text.encode(errors="replace")
    if len(encoded) > LIMIT:
        return None
    sequence = f"\x1b]52;c;{base64.b64encode(encoded).decode()}\x07"
    if terminal.tmux:
        # tmux passes on what is wrapped in its own sequence, with every ESC doubled.
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


def format_copied(text: str) -> str:
    """The notice about what was copied."""
    lines = text.count("\n") + 1
    if lines > 1:
        return f"Copied {lines} lines."
    return f"Copied '{text}'." if len(text) <= 40 else f"Copied {len(text)} characters."


def format_too_long(text: str) -> str:
    """The message that the text is too long to be copied."""
    return (
        f"Not copied: {len(text)} characters are too many for the terminal's clipboard. "
        "Select less, or use the terminal's own selection (shift+drag)."
    )
