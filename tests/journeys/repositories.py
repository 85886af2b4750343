"""What git holds of the projects, compared with what was done to them.

The base branch of a project moves only by a landing or an undo that a person confirmed, its own
checkout has only changes that a person made, and each commit that was made can be found again.
"""

import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from tests.program import Program

BASE: Final = "main"
SHARED: Final = "shared.txt"
"""A file in which branches are in conflict."""


class GitFailedError(AssertionError):
    """What git printed when it failed."""


class Repositories:
    """The repositories of a journey, and a person's own use of git in them."""

    def __init__(self, program: Program, paths: list[Path]) -> None:
        self.paths = {path.name: path for path in paths}
        """The projects' own checkouts, by the names of the projects."""
        self._program = program
        self._numbers = count(1)
        self._commits: dict[str, set[str]] = {name: set() for name in self.paths}
        """The commits that a person made, by project."""
        self._dirty: set[tuple[str, str]] = set()
        """Projects and paths of files that a person changed in their checkouts."""
        self._first = Counter({name: self._count_moves(name) for name in self.paths})
        self._expected: Counter[str] = Counter()

    def git(self, folder: Path, *arguments: str) -> str:
        """Run git as a person in a shell would, and return what it prints."""
        environment = self._program.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        ran = subprocess.run(
            ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )
        if ran.returncode != 0:
            raise GitFailedError(f"git {' '.join(arguments)} in {folder}: {ran.stderr}")
        return ran.stdout.rstrip("\n")

    def tip(self, project: str) -> str:
        """The commit at which the base branch is."""
        return self.git(self.paths[project], "rev-parse", BASE)

    def expect_moves(self, project: str, times: int = 1) -> None:
        """Allow the base branch to move so many times more."""
        self._expected[project] += times

    def new_name(self) -> str:
        """Return an unused name for a file or a worktree."""
        return f"fruit{next(self._numbers)}"

    def commit(self, project: str, folder: Path, *, clashes: bool = False) -> str:
        """Commit all changes in a folder, and a new file; return its name.

        If it `clashes`, the commit is in conflict with others that do.
        """
        name = self.new_name()
        (folder / name).write_text(f"{name}\n")
        if clashes:
            (folder / SHARED).write_text(f"{name}\n")
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "--quiet", "--message", f"Grow {name}")
        self._commits[project].add(self.git(folder, "rev-parse", "HEAD"))
        return name

    def commit_to_base(self, project: str) -> str:
        """Commit in the project's own checkout, which moves the base branch."""
        self.expect_moves(project)
        return self.commit(project, self.paths[project])

    def change_checkout(self, project: str) -> None:
        """Change a file in the project's own checkout."""
        self._dirty.add((project, "README.md"))
        with (self.paths[project] / "README.md").open("a") as file:
            file.write("A person's line.\n")

    def clean_checkout(self, project: str) -> None:
        """Take that change back."""
        readme = self.paths[project] / "README.md"
        assert "A person's line.\n" in readme.read_text()
        self.git(self.paths[project], "checkout", "--quiet", "README.md")
        self._dirty.discard((project, "README.md"))

    def find_problem(self) -> str:
        """Describe what does not hold; empty if all does."""
        try:
            return next(self._find_problems(), "")
        except GitFailedError as failed:
            # While git makes a worktree, that one's HEAD is a commit that does not exist.
            return str(failed)

    def _find_problems(self) -> Iterator[str]:
        for name, path in self.paths.items():
            moves = self._count_moves(name) - self._first[name]
            if moves > self._expected[name]:
                log = (path / ".git/logs/refs/heads" / BASE).read_text()
                yield f"{BASE} of {name} moved {moves} times, wanted {self._expected[name]}:\n{log}"
            changed = {line[3:] for line in self.git(path, "status", "--porcelain").splitlines()}
            wanted = {file for project, file in self._dirty if project == name}
            if changed != wanted:
                yield f"changed in the checkout of {name}: {changed}, by a person: {wanted}"
            if lost := self._commits[name] - self._find_commits(path):
                yield f"commits of {name} that cannot be found: {lost}"

    def _find_commits(self, path: Path) -> set[str]:
        """The commits of a project that a branch, a worktree or a recovery point has."""
        found = set(self.git(path, "rev-list", "--all").split())
        recovery = self._program.data / "recovery.git"
        return found | (
            set(self.git(recovery, "rev-list", "--all").split()) if recovery.exists() else set()
        )

    def _count_moves(self, name: str) -> int:
        log = self.paths[name] / ".git/logs/refs/heads" / BASE
        return len(log.read_text().splitlines())
