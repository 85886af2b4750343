"""Real git repositories for tests."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from model.domain.projects import Project
from model.git.secret_gate import SecretGate
from tests.environment import create_home
from tests.patience import PATIENCE

OPEN_GATE = SecretGate(
    Project(id="p1", name="p", path="/p", default_branch="main", added_at=0.0), is_on=False
)
"""Lets everything pass."""


@dataclass(frozen=True)
class Repository:
    """The root of a repository, with helpers to run git, write files and commit."""

    root: Path

    def git(self, *args: str, cwd: Path | None = None) -> str:
        result = subprocess.run(
            ["git", *args], cwd=cwd or self.root, capture_output=True, text=True, timeout=PATIENCE
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def write(self, name: str, text: str, cwd: Path | None = None) -> Path:
        path = (cwd or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, name: str, text: str, cwd: Path | None = None) -> str:
        self.write(name, text, cwd)
        self.git("add", "--all", cwd=cwd)
        self.git("commit", "-m", f"Change {name}", cwd=cwd)
        return self.git("rev-parse", "HEAD", cwd=cwd)


def set_own_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make git read its settings from this new home directory only."""
    for name, value in create_home(home).items():
        monkeypatch.setenv(name, value)
    return home


def make_templates(place: Path) -> None:
    """Create the repositories that fixtures copy.

    `alone` has one commit on `main`; `project` is the same with the remote `origin.git`. A copy
    takes a tenth of the time of the git processes behind it.
    """
    with pytest.MonkeyPatch.context() as environ:
        set_own_home(place / "home", environ)
        project = Repository(place / "project")
        project.root.mkdir()
        project.git("init", "--quiet")
        project.commit("read.me", "one\ntwo\nthree\n")
        shutil.copytree(project.root, place / "alone")
        origin = str(place / "origin.git")
        project.git("clone", "--quiet", "--bare", str(project.root), origin)
        project.git("remote", "add", "origin", origin)
        project.git("fetch", "--quiet", "origin")
        project.git("push", "--quiet", "--set-upstream", "origin", "main")
