"""What a snapshot has beside the files: the index, the branch, a merge in progress, modes."""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Final

from model.git.snapshots.plumbing import RESERVED

STATE_FILE: Final = f"{RESERVED}/state.json"
INDEX_FOLDER: Final = f"{RESERVED}/index"
"""Staged entries that differ from the commit."""
UNMERGED_FOLDER: Final = f"{RESERVED}/unmerged"
"""`<stage>/<path>`: the versions of files with a conflict."""
GIT_FOLDER: Final = f"{RESERVED}/git"
"""Files of the git directory that describe an operation in progress."""
IGNORED_FOLDER: Final = f"{RESERVED}/ignored"

_OPERATION_FILES: Final = (
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG",
    "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "ORIG_HEAD", "BISECT_LOG", "BISECT_START",
    "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "config.worktree",
    "info/sparse-checkout",
)  # fmt: skip
_OPERATION_FOLDERS: Final = (
    "rebase-merge", "rebase-apply", "sequencer", "refs/bisect", "refs/worktree", "refs/rewritten",
)  # fmt: skip
_MAX_GIT_FILE: Final = 10_000_000
"""Bytes; what is larger was not written by git."""


@dataclass(frozen=True, slots=True)
class WorktreeState:
    """The part of a worktree's state that is not in a tree."""

    commit: str | None
    branch: str | None
    staged_removals: list[str] = field(default_factory=list)
    intent_to_add: list[str] = field(default_factory=list)
    flags: dict[str, list[str]] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    """Permissions other than 644 and 755."""
    empty_folders: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    """Repositories and submodules inside, whose contents are not part of the snapshot."""
    left_out: list[str] = field(default_factory=list)
    """Files that are not part of the snapshot, because they are too large or unreadable."""
    left_to_filters: list[str] = field(default_factory=list)
    """Large files that only a filter can bring back (Git LFS); the snapshot has what git stores."""
    normal_tree: str | None = None
    """The tree as git would store it, if line endings or filters make files on disk differ."""

    def to_json(self) -> bytes:
        """Return the state as ASCII; names of any bytes survive."""
        filled = {name: value for name, value in asdict(self).items() if value not in ([], {})}
        return json.dumps(filled, sort_keys=True, indent=1).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "WorktreeState":
        """Read a state; unknown fields of a newer version are ignored. Raises `ValueError`."""
        found = json.loads(text)
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in known})


def list_operation_files(git_dir: Path) -> dict[str, Path]:
    """Return the files that describe an operation in progress, by their path in `git_dir`."""
    found = {}
    for name in _OPERATION_FILES:
        if is_small_file(git_dir / name):
            found[name] = git_dir / name
    for folder in _OPERATION_FOLDERS:
        for current, _, names in os.walk(git_dir / folder):
            for name in sorted(names):
                path = Path(current) / name
                if is_small_file(path):
                    found[str(path.relative_to(git_dir))] = path
    return found


def is_small_file(path: Path) -> bool:
    """Whether it is a regular file of a size that git writes."""
    try:
        facts = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= _MAX_GIT_FILE


def is_unusual(mode: int) -> bool:
    """Whether a file's permissions are neither 644 nor 755."""
    return stat.S_ISREG(mode) and stat.S_IMODE(mode) not in (0o644, 0o755)


def find_unusual_modes(root: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the permissions of the files that are neither 644 nor 755."""
    found = {}
    for path in paths:
        try:
            mode = os.lstat(f"{root}/{path}").st_mode
        except OSError:
            continue
        if is_unusual(mode):
            found[path] = stat.S_IMODE(mode)
    return found


def find_empty_folders(root: Path, folders: Iterable[str]) -> list[str]:
    """Return the empty folders among and below `folders`, relative to `root`."""
    return sorted(set(_walk_empty(root, folders)))


def _walk_empty(root: Path, folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for current, inner, names in os.walk(root / folder):
            if ".git" in inner or ".git" in names:
                inner.clear()
            elif not inner and not names:
                yield str(Path(current).relative_to(root))


def find_operation_commits(files: Mapping[str, Path]) -> list[str]:
    """Return the commits that an operation in progress needs: those in its one-line files."""
    found = []
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/onto",
                 "rebase-merge/orig-head", "rebase-apply/onto", "rebase-apply/orig-head",
                 "ORIG_HEAD"):  # fmt: skip
        if name in files:
            lines = files[name].read_text("ascii", "replace").split()
            found += [line for line in lines if len(line) in (40, 64)]
    return list(dict.fromkeys(found))
