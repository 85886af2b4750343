"""Masks secrets in text that is still being written.

Guests get streamed text line by line, or sentence by sentence in long lines, as a secret may arrive
in several pieces. What comes after the last boundary is held back until it is complete.
"""

from typing import Final

from model.secrets.assignments import find_open_label
from model.secrets.scanner import PRIVATE_KEY, find_for_guests, mask_for_guests

MAX_HELD: Final = 8192
"""Characters that are held back at most; a longer line without spaces is masked as a whole."""

_BOUNDARIES: Final = ("\n", ". ", "! ", "? ")
_LABEL_ENDS: Final = ":= "
_KEY_BEGIN: Final = "-----BEGIN "
_KEY_END: Final = "-----END "
_KEY_HEAD: Final = "-----BEGIN PRIVATE KEY-----\n"
_SCHEMES: Final = ("bearer", "basic", "token")


def find_boundary(text: str) -> int:
    """The length of the part of an unfinished text in which no secret can be incomplete."""
    end = max(text.rfind(mark) for mark in _BOUNDARIES) + 1
    begin = text.rfind(_KEY_BEGIN, 0, end + len(_KEY_BEGIN))
    is_within_key = begin != -1 and text.find(_KEY_END, begin, end) == -1
    if is_within_key:
        end = begin
    if end > 0 and text[end - 1] == "\n" and (label := find_open_label(text, end)) != -1:
        end = label
    if len(text) - end <= MAX_HELD:
        return end
    if is_within_key:
        return text.rfind("\n") + 1 or len(text)
    # A space after a word that is no label, as the value of one may be the next word.
    end = text.rfind(" ", 0, len(text) - MAX_HELD // 2)
    while end > 0 and (
        text[end - 1] in _LABEL_ENDS or text[max(0, end - 6) : end].lower().endswith(_SCHEMES)
    ):
        end = text.rfind(" ", 0, end)
    return end if end > 0 else len(text)


class MaskedText:
    """One block of streamed text."""

    def __init__(self, text: str = "") -> None:
        self._held = ""
        self.first = self.append(text)
        """What can be shown of the text that it began with."""

    def append(self, text: str) -> str:
        """Add a piece; return what can be shown of what was held back before, masked."""
        held = self._held + text
        end = find_boundary(held)
        shown = held[:end]
        # What is held back of a very long key goes on as one.
        self._held = (_KEY_HEAD if _ends_within_key(shown) else "") + held[end:]
        return mask_for_guests(shown)

    def finish(self) -> str:
        """Return the rest, masked: nothing follows."""
        held, self._held = self._held, ""
        return mask_for_guests(held)


def _ends_within_key(text: str) -> bool:
    if text.find(_KEY_BEGIN) == -1 or text.endswith("-----"):
        return False
    found = find_for_guests(text)
    return bool(found) and found[-1].label == PRIVATE_KEY and found[-1].end == len(text)
