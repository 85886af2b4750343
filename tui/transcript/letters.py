"""Decides which letters typed in a focused transcript are commands, and which are a message.

A message may begin with a command's letter: `keep …`. So a letter is a command only if it arrives
alone, and if a message follows soon after it, it belongs to that message, too.
"""

from typing import Final

MOVES: Final = frozenset("jkgGb {}/")
"""Letters that always are commands."""
MATCHES: Final = frozenset("nN")
"""Commands during a search."""
PARTS: Final = frozenset("cyov")
"""Commands while the cursor is visible."""
_HELD: Final = frozenset("jkb nN{}")
"""Commands that a slow line may deliver several times at once, because the key is held down."""
_PAUSE: Final = 0.7
"""Seconds after which a letter does not belong to the word before it any more."""


class Letters:
    """The command letters pressed last, which may turn out to begin a message."""

    def __init__(self) -> None:
        self._word = ""
        self._last = ""
        self._pressed_at = 0.0

    def press(self, letter: str, time: float) -> None:
        """Note a command at the time of its key."""
        # No word begins with the same letter twice, but a command is often repeated.
        if time - self._pressed_at > _PAUSE:
            self._word = letter
        else:
            self._word = "" if letter == self._last else self._word + letter
        self._last, self._pressed_at = letter, time

    def take_word(self, time: float) -> str:
        """The command letters that the message typed now begins with."""
        word = self._word if time - self._pressed_at <= _PAUSE else ""
        self.forget()
        return word

    def forget(self) -> None:
        """Forget all letters, because the focus changed."""
        self._word = self._last = ""


def is_held(letters: str) -> bool:
    """Whether several letters that arrived at once are one key that is held down."""
    return letters[0] in _HELD and not letters.strip(letters[0])
