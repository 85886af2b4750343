"""Everything that makes two worktrees equal: bytes, modes, links, index, operation state."""

import hashlib
import os
import stat
import subprocess
from pathlib import Path

_OPERATION = (
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "config.worktree",
    "info/sparse-checkout",
)  # fmt: skip


def read_facts(root: Path) -> dict[str, object]:
    """The facts of a worktree; two equal worktrees have equal facts."""
    git_dir = Path(_git(root, "rev-parse", "--absolute-git-dir").decode().strip())
    operation = {
        name: (git_dir / name).read_bytes() for name in _OPERATION if (git_dir / name).is_file()
    }
    for folder in ("rebase-merge", "sequencer"):
        for file in sorted((git_dir / folder).rglob("*")):
            if file.is_file():
                operation[str(file.relative_to(git_dir))] = file.read_bytes()
    return {
        "files": read_files(root),
        "index": _git(root, "ls-files", "--stage", "-z"),
        "flags": _git(root, "ls-files", "-v", "-z"),
        "head": _git(root, "rev-parse", "HEAD"),
        "status": _git(root, "status", "--porcelain", "-z", "-uall"),
        "operation": operation,
    }


def read_person_facts(root: Path) -> dict[str, object]:
    """What of a repository belongs to its person: refs, reflogs, stash, index, HEAD."""
    git_dir = Path(_git(root, "rev-parse", "--absolute-git-dir").decode().strip())
    refs = _git(root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return {
        "refs": [ref for ref in refs if not ref.startswith(b"refs/spinney/")],
        "head": (git_dir / "HEAD").read_bytes(),
        "index": _git(root, "ls-files", "--stage", "-z"),
        "reflogs": {
            str(file.relative_to(git_dir)): file.read_bytes()
            for file in (git_dir / "logs").rglob("*")
            if file.is_file()
        },
    }


def read_files(root: Path) -> dict[str, tuple[str, int]]:
    """The hash and the permissions of every file and link; empty folders, too."""
    found: dict[str, tuple[str, int]] = {}
    for current, folders, names in os.walk(root):
        folder = Path(current)
        if folder == root:
            folders[:] = [name for name in folders if name != ".git"]
            names = [name for name in names if name != ".git"]
        if folder != root and not folders and not names:
            found[str(folder.relative_to(root))] = ("folder", 0)
        for name in [*names, *(f for f in folders if (folder / f).is_symlink())]:
            file = folder / name
            mode = file.lstat().st_mode
            content = os.fsencode(file.readlink()) if stat.S_ISLNK(mode) else file.read_bytes()
            kind = stat.S_IFMT(mode) if stat.S_ISLNK(mode) else stat.S_IMODE(mode)
            found[str(file.relative_to(root))] = (hashlib.sha256(content).hexdigest(), kind)
    return found


def _git(root: Path, *args: str) -> bytes:
    done = subprocess.run(["git", *args], cwd=root, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
