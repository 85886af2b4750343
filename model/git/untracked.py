"""Count the lines of untracked files and render them as a diff of new files.

The files are read directly and within limits: `git diff --no-index` needs a process per file.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.base.paths import open_itself
from model.git.run import LARGE_FILE

_MAX_TOTAL_BYTES: Final = 50_000_000
"""Bytes read at a time from all files together; the rest is omitted and reported as such."""
_MAX_FILES: Final = 5_000
_BINARY_PROBE: Final = 8_000
"""Bytes in which git searches for NUL."""


def count_lines(root: Path, names: Sequence[str]) -> int:
    """Return the lines of all text files, as `git diff --numstat` counts them once added."""
    return sum(lines or 0 for lines in count_lines_per_file(root, names))


def count_lines_per_file(root: Path, names: Sequence[str]) -> list[int | None]:
    """Return the lines of each file; `None` for binary, too large or too many files."""
    counts = [
        None if content is None or _is_binary(content) else _count_lines(content)
        for content, _ in _read_contents(root, names)
    ]
    return counts + [None] * (len(names) - len(counts))


def render_new_files(root: Path, names: Sequence[str]) -> str:
    """Return a unified diff that adds these files, with a note on files beyond the limits."""
    contents = _read_contents(root, names)
    pairs = zip(names, contents, strict=False)
    text = "".join(
        _render_new_file(_decode(name), content, mode) for name, (content, mode) in pairs if mode
    )
    more = len(names) - len(contents)
    return text + (f"\\ The rest is not shown: {more} more untracked files.\n" if more else "")


def _read_contents(root: Path, names: Sequence[str]) -> list[tuple[bytes | None, int]]:
    """Return content and git's file mode per name; no content if too large, mode 0 if no file.

    Shorter than `names` if there are too many files, or if they are too large together.
    """
    remaining = _MAX_TOTAL_BYTES
    found: list[tuple[bytes | None, int]] = []
    for name in names[:_MAX_FILES]:
        if remaining <= 0:
            break
        content, mode = _read(root / name, LARGE_FILE)
        remaining -= len(content or b"")
        found.append((content, mode))
    return found


def read_regular_file(path: Path, limit: int) -> bytes | None:
    """Return the content of a file or link; `None` if it is neither, or too large."""
    return _read(path, limit)[0]


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
        # The file may have been replaced by a link or a pipe meanwhile.
        with open(path, "rb", opener=open_itself) as file:
            return file.read(limit), mode
    except OSError:
        return None, 0


def _render_new_file(name: str, content: bytes | None, mode: int) -> str:
    before, after = _quote(f"a/{name}"), _quote(f"b/{name}")
    head = f"diff --git {before} {after}\nnew file mode {mode:o}\n"
    if content is None or _is_binary(content):
        return f"{head}Binary files /dev/null and {after} differ\n"
    if not content:
        return head
    text = content.decode("utf-8", "replace")
    count = _count_lines(content)
    span = "+1" if count == 1 else f"+1,{count}"
    body = "".join(f"+{line}\n" for line in text.removesuffix("\n").split("\n"))
    end = "" if text.endswith("\n") else "\\ No newline at end of file\n"
    return f"{head}--- /dev/null\n+++ {after}\n@@ -0,0 {span} @@\n{body}{end}"


def _count_lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:_BINARY_PROBE]


def _decode(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")


def _quote(name: str) -> str:
    """`name` as git prints it with `core.quotePath=false`."""
    if not any(character in '"\\\x7f' or character < " " for character in name):
        return name
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    escaped = (
        escapes.get(character)
        or (f"\\{ord(character):03o}" if character < " " or character == "\x7f" else character)
        for character in name
    )
    return f'"{"".join(escaped)}"'
