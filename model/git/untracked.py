"""Files that git does not track yet: their lines counted, and shown as a diff of new files.

Read directly and within bounds: `git diff --no-index` would take a process for each file.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.git.run import LARGE_FILE

_MOST_BYTES: Final = 50_000_000
"""Bytes read in one go over all files; what comes after them is left out, and that is said."""
_MOST_FILES: Final = 5_000
_BINARY_PROBE: Final = 8_000
"""Git looks for a NUL in as many bytes."""


def count_lines(root: Path, names: Sequence[str]) -> int:
    """The lines of these text files, as `git diff --numstat` would count them once added."""
    return sum(lines or 0 for lines in count_lines_of_each(root, names))


def count_lines_of_each(root: Path, names: Sequence[str]) -> list[int | None]:
    """The lines of each; `None` for binary files and for those that are too large or too many."""
    counts = [
        None if content is None or _is_binary(content) else _lines(content)
        for content, _ in _contents(root, names)
    ]
    return counts + [None] * (len(names) - len(counts))


def as_new_files(root: Path, names: Sequence[str]) -> str:
    """A unified diff that adds these files; says at its end how many are too much for it."""
    found = _contents(root, names)
    pairs = zip(names, found, strict=False)
    text = "".join(_new_file(_text(name), content, mode) for name, (content, mode) in pairs if mode)
    more = len(names) - len(found)
    return text + (f"\\ The rest is not shown: {more} more untracked files.\n" if more else "")


def _contents(root: Path, names: Sequence[str]) -> list[tuple[bytes | None, int]]:
    """Content and git's file mode for each name: `None` is too large, mode 0 no file of git's.

    Fewer than the names where they are too many, or too large together.
    """
    left = _MOST_BYTES
    found: list[tuple[bytes | None, int]] = []
    for name in names[:_MOST_FILES]:
        if left <= 0:
            break
        content, mode = _read(root / name, LARGE_FILE)
        left -= len(content or b"")
        found.append((content, mode))
    return found


def _read(path: Path, limit: int) -> tuple[bytes | None, int]:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return os.fsencode(path.readlink()), 0o120000
        if not stat.S_ISREG(facts.st_mode):
            return None, 0
        mode = 0o100755 if facts.st_mode & stat.S_IXUSR else 0o100644
        if facts.st_size > limit:
            return None, mode
        # Never through a link or into a pipe that took the file's place since.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(limit), mode
    except OSError:
        return None, 0


def _new_file(name: str, content: bytes | None, mode: int) -> str:
    before, after = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    head = f"diff --git {before} {after}\nnew file mode {mode:o}\n"
    if content is None or _is_binary(content):
        return f"{head}Binary files /dev/null and {after} differ\n"
    if not content:
        return head
    text = content.decode("utf-8", "replace")
    count = _lines(content)
    span = "+1" if count == 1 else f"+1,{count}"
    body = "".join(f"+{line}\n" for line in text.removesuffix("\n").split("\n"))
    end = "" if text.endswith("\n") else "\\ No newline at end of file\n"
    return f"{head}--- /dev/null\n+++ {after}\n@@ -0,0 {span} @@\n{body}{end}"


def _lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_PROBE]


def _text(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")


def _quoted(name: str) -> str:
    """`name` as git prints it with `core.quotePath=false`."""
    if not any(mark in '"\\\x7f' or mark < " " for mark in name):
        return name
    named = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    marks = (
        named.get(mark) or (f"\\{ord(mark):03o}" if mark < " " or mark == "\x7f" else mark)
        for mark in name
    )
    return f'"{"".join(marks)}"'
