"""Failures of git that pass when one tries again, told by its words.

The words stand in their order on one line. An expression with `.*` between them would read a line
as often as its first word stands there, and remotes say lines of any length.
"""

from typing import Final

_Sentences = tuple[tuple[str, ...], ...]

_LOCK_HELD: Final[_Sentences] = (
    ("Unable to create '", ".lock': File exists"),
    ("could not lock config file ", ": File exists"),
)
# Somebody writes a file while `diff` reads it.
_FILE_CHANGED: Final[_Sentences] = (
    ("short read while indexing",),
    ("file changed before we could read it",),
)
# Another git makes or removes a worktree at this moment: its entry is there before what stands in
# it, and goes while all of them are read, which each command about one of them does first.
_HALF_MADE: Final[_Sentences] = (
    ("failed to read ", "worktrees/", "/commondir"),
    ("failed to read ", "worktrees/", "/locked"),
    ("Invalid path '", ".git/worktrees/"),
)


def is_lock_held(said: str) -> bool:
    """Whether somebody else holds a lock."""
    return _says(said, _LOCK_HELD)


def has_file_changed(said: str) -> bool:
    """Whether a file changed while git read it."""
    return _says(said, _FILE_CHANGED)


def is_half_made(said: str) -> bool:
    """Whether a worktree is being made or removed."""
    return _says(said, _HALF_MADE)


def _says(said: str, sentences: _Sentences) -> bool:
    return any(
        _in_order(line, words)
        for words in sentences
        if words[0] in said
        for line in said.split("\n")
    )


def _in_order(line: str, words: tuple[str, ...]) -> bool:
    for word in words:
        _, found, line = line.partition(word)
        if not found:
            return False
    return True
