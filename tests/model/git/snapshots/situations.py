"""Repositories with a worktree in which something unusual is set up or in progress."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.model.git.repository import Repository

Prepare = Callable[[Repository, Path], None]
"""Sets up a worktree: the repository, and the worktree's path."""


def prepare_nothing(repository: Repository, tree: Path) -> None:
    pass


def convert_line_endings(repository: Repository, tree: Path) -> None:
    repository.git("config", "core.autocrlf", "true")
    (tree / "crlf").write_bytes(b"one\r\ntwo\r\n")
    repository.git("add", "crlf", cwd=tree)
    repository.git("commit", "--quiet", "-m", "Line endings", cwd=tree)


def filter_contents(repository: Repository, tree: Path) -> None:
    """As Git LFS does: what git stores is not what is on disk."""
    repository.write(".gitattributes", "plain filter=lfs\nfiltered filter=lfs\n", tree)
    repository.git("config", "filter.lfs.clean", "base64")
    repository.git("config", "filter.lfs.smudge", "base64 -d")
    (tree / "filtered").write_bytes(b"\0 large")
    repository.git("add", "--all", cwd=tree)
    repository.git("commit", "--quiet", "-m", "Filtered", cwd=tree)


def leave_files_out(repository: Repository, tree: Path) -> None:
    repository.commit("in/here", "in\n", tree)
    repository.commit("out/there", "out\n", tree)
    repository.git("sparse-checkout", "set", "--cone", "in", cwd=tree)


def stop_in_merge(repository: Repository, tree: Path) -> None:
    for name in ("plain", "dir/inner"):
        repository.commit(name, "base\n", tree)
    repository.git("checkout", "--quiet", "-b", "theirs", cwd=tree)
    for name in ("plain", "dir/inner"):
        repository.commit(name, "theirs\n", tree)
    repository.git("checkout", "--quiet", "otter", cwd=tree)
    repository.commit("plain", "ours\n", tree)
    repository.git("rm", "--quiet", "dir/inner", cwd=tree)
    repository.git("commit", "--quiet", "-m", "Remove it", cwd=tree)
    subprocess.run(["git", "merge", "theirs"], cwd=tree, capture_output=True, timeout=60)
    assert "<<<<<<<" in (tree / "plain").read_text()


def stop_in_rebase(repository: Repository, tree: Path) -> None:
    repository.commit("plain", "base\n", tree)
    repository.commit("plain", "ours\n", tree)
    repository.git("checkout", "--quiet", "-b", "onto", "HEAD~1", cwd=tree)
    repository.commit("plain", "theirs\n", tree)
    repository.git("checkout", "--quiet", "otter", cwd=tree)
    subprocess.run(["git", "rebase", "onto"], cwd=tree, capture_output=True, timeout=60)
    assert "<<<<<<<" in (tree / "plain").read_text()


def add_submodule(repository: Repository, tree: Path) -> None:
    library = repository.root.parent / "library"
    shutil.copytree(repository.root, library, symlinks=True)
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub",
        cwd=tree,
    )  # fmt: skip
    repository.git("commit", "--quiet", "-m", "Add a submodule", cwd=tree)
    repository.git("checkout", "--quiet", "-b", "moved", cwd=tree / "sub")
    repository.commit("in sub", "a commit of its own\n", tree / "sub")
    repository.write("edited", "not committed\n", tree / "sub")


SITUATIONS: dict[str, Prepare] = {
    "plain": prepare_nothing,
    "line endings": convert_line_endings,
    "filter": filter_contents,
    "sparse": leave_files_out,
    "merge": stop_in_merge,
    "rebase": stop_in_rebase,
    "submodule": add_submodule,
}


@dataclass
class Stage:
    """A place where a repository and its worktree are set up again and again, quickly."""

    template: Path
    place: Path
    _prepared: dict[str, Path] = field(default_factory=dict)

    @property
    def repository(self) -> Repository:
        return Repository(self.place / "project")

    @property
    def tree(self) -> Path:
        return self.place / "tree"

    def set_up(self, situation: str) -> None:
        """Make the place what it is in a situation; a copy after the first time."""
        shutil.rmtree(self.place, ignore_errors=True)
        if situation in self._prepared:
            shutil.copytree(self._prepared[situation], self.place, symlinks=True)
            return
        shutil.copytree(self.template, self.place / "project", symlinks=True)
        self.repository.git("worktree", "add", "--quiet", "-b", "otter", str(self.tree))
        SITUATIONS[situation](self.repository, self.tree)
        kept = self.place.with_name(f"prepared {situation}")
        shutil.copytree(self.place, kept, symlinks=True)
        self._prepared[situation] = kept
