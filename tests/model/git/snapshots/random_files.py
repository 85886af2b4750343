"""Random contents of a worktree, for property tests."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

Content = bytes | tuple[str, str] | None
"""Bytes, a link and its target, or no file."""

NAMES = (
    "plain", "dir/inner", "dir", "ünï\nline", " space ", "exec", "raw\udcff", "-dash", "read.me",
    ":(top)*", "filtered", "crlf", "in/here", "out/new",
)  # fmt: skip
"""`dir` is a file in some states and a folder in others."""

_CONTENTS = st.sampled_from(
    [None, b"", b"one\ntwo\n", b"one\r\ntwo\r\n", b"\0\xff binary", b"no end", ("link", "plain"),
     ("link", "../out of it"), b"one\r\ntwo\n\r\nmixed\n"]
)  # fmt: skip
_MOVES = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))


@dataclass(frozen=True)
class Edit:
    """A change of the files of a worktree."""

    contents: dict[str, Content]
    modes: dict[str, int]
    moves: list[tuple[str, str]]

    def apply(self, root: Path) -> None:
        """Make the files equal to this; others stay, unless they are in the way."""
        for source, target in self.moves:
            if _is_file(root / source) and not os.path.lexists(root / target):
                _make_way(root, target)
                (root / source).rename(root / target)
        for name, content in self.contents.items():
            _put(root, name, content)
        for name, mode in self.modes.items():
            if _is_file(root / name) and not (root / name).is_symlink():
                (root / name).chmod(mode)
        _drop_empty_folders(root)


def edits(modes: list[int]) -> st.SearchStrategy[Edit]:
    """Return a strategy for edits that give files some of these permissions."""
    return st.builds(
        Edit,
        contents=st.dictionaries(st.sampled_from(NAMES), _CONTENTS, max_size=5),
        modes=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(modes), max_size=2),
        moves=st.lists(_MOVES, max_size=2),
    )


EDITS = edits([0o644, 0o755])


def examples(count: int) -> settings:
    """Return settings for examples that run git dozens of times: shrinking one takes minutes."""
    return settings(
        max_examples=count,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _put(root: Path, name: str, content: Content) -> None:
    path = root / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    _make_way(root, name)
    path.unlink(missing_ok=True)
    if isinstance(content, tuple):
        path.symlink_to(content[1])
    elif content is not None:
        path.write_bytes(content)


def _make_way(root: Path, name: str) -> None:
    path = root / name
    for parent in path.parents:
        if root in parent.parents and _is_file(parent):
            parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)


def _drop_empty_folders(root: Path) -> None:
    for current, _, _ in os.walk(root, topdown=False):
        parts = Path(current).relative_to(root).parts
        if parts[:1] not in ((), (".git",), ("sub",)) and not any(Path(current).iterdir()):
            Path(current).rmdir()
