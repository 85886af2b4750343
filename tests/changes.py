"""What a change touches, as git knows it.

The change is what is not in `origin/main`, or, where everything is, what was committed in the last
day before HEAD.
"""

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

_HUNK: Final = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@cache
def find_base(folder: Path) -> str | None:
    """Return the commit before the change; `None` if git does not know one."""
    shared = _git(folder, "merge-base", "HEAD", "origin/main")
    if shared and shared != _git(folder, "rev-parse", "HEAD"):
        return shared
    committed = _git(folder, "log", "-1", "--format=%ct", "HEAD")
    if not committed:
        return None
    before = f"--before={int(committed) - 86_400}"
    return _git(folder, "rev-list", "-1", before, "HEAD") or None


def list_changed_paths(root: Path) -> list[str] | None:
    """Return the files that were changed, added, removed or renamed, committed or not."""
    base = find_base(root)
    if base is None:
        return None
    differ = _git(root, "diff", "--name-only", "--no-renames", "-z", base, "--")
    added = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if differ is None or added is None:
        return None
    return sorted({path for path in (differ + "\0" + added).split("\0") if path})


@cache
def read_touched_lines(file: Path) -> set[int] | None:
    """Return the lines of a file that the change touches; `None` if git does not know it."""
    base = find_base(file.parent)
    if base is None:
        return None
    difference = _git(file.parent, "diff", "--unified=0", "--no-ext-diff", base, "--", str(file))
    if difference is None or not _git(file.parent, "ls-files", "--", str(file)):
        return None
    return {
        line
        for start, lines in _HUNK.findall(difference)
        for line in range(int(start), int(start) + int(lines or 1))
    }


def _git(folder: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None
