"""Recognize git failures that a retry may resolve, by git's error text.

The parts of a pattern must appear in order on one line. A regular expression with `.*` between
them would scan a line once for each occurrence of the first part, and remotes send lines of any
length.
"""

from typing import Final

_Patterns = tuple[tuple[str, ...], ...]

_LOCK_HELD: Final[_Patterns] = (
    ("Unable to create '", ".lock': File exists"),
    ("could not lock config file ", ": File exists"),
)
# Another process writes a file while `diff` reads it.
_FILE_CHANGED: Final[_Patterns] = (
    ("short read while indexing",),
    ("file changed before we could read it",),
)
# Another git is creating or removing a worktree. Its entry exists before its files do and vanishes
# while all entries are read, which every command about a worktree does first.
_WORKTREE_CHANGING: Final[_Patterns] = (
    ("failed to read ", "worktrees/", "/commondir"),
    ("failed to read ", "worktrees/", "/locked"),
    ("Invalid path '", ".git/worktrees/"),
)


def is_lock_held(stderr: str) -> bool:
    """Whether another process holds a lock."""
    return _matches(stderr, _LOCK_HELD)


def has_file_changed(stderr: str) -> bool:
    """Whether a file changed while git read it."""
    return _matches(stderr, _FILE_CHANGED)


def is_worktree_changing(stderr: str) -> bool:
    """Whether another git is creating or removing a worktree."""
    return _matches(stderr, _WORKTREE_CHANGING)


def _matches(stderr: str, patterns: _Patterns) -> bool:
    return any(
        _contains_in_order(line, parts)
        for parts in patterns
        if parts[0] in stderr
        for line in stderr.split("\n")
    )


def _contains_in_order(line: str, parts: tuple[str, ...]) -> bool:
    for part in parts:
        _, found, line = line.partition(part)
        if not found:
            return False
    return True
