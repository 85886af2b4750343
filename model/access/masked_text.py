"""Masks secrets in text that is still being written.

Guests get streamed text line by line, or sentence by sentence in long lines, as a secret may arrive
in several pieces. What comes after the last boundary is held back until it is complete.
"""

from typing import Final

from model.secrets.scanner import mask_secrets

MAX_HELD: Final = 8192
"""Characters that are held back at most; a longer line without spaces is masked as a whole."""

_BOUNDARIES: Final = ("\n", ". ", "! ", "? ")
_LABEL_ENDS: Final = ":= "
_KEY_BEGIN: Final = "-----BEGIN "
_KEY_END: Final = "-----END "


def find_boundary(text: str) -> int:
    """The length of the part of an unfinished text in which no secret can be incomplete."""
    end = max(text.rfind(mark) for mark in _BOUNDARIES) + 1
    begin = text.rfind(_KEY_BEGIN, 0, end + len(_KEY_BEGIN))
    if begin != -1 and text.find(_KEY_END, begin, end) == -1:
        end = begin
    if len(text) - end <= MAX_HELD:
        return end
    # A space after a word that is no label, as the value of one may be the next word.
    end = text.rfind(" ", 0, len(text) - MAX_HELD // 2)
    while end > 0 and text[end - 1] in _LABEL_ENDS:
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
        self._held = held[end:]
        return mask_secrets(held[:end])

    def finish(self) -> str:
        """Return the rest, masked: nothing follows."""
        held, self._held = self._held, ""
        return mask_secrets(held)
