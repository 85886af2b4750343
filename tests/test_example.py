"""The examples, against a Spinney server and a git remote."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.program import ROOT, Program, Serving

SCRIPT = ROOT / "examples" / "worktree-life.mjs"
TASK = ROOT / "examples" / "task.sh"


@pytest.fixture
def node() -> str:
    return shutil.which("node") or pytest.skip("needs node")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Spinney with a git identity, for the commits."""
    program = Program(tmp_path)
    (program.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return program


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return tmp_path / "remote.git"


@pytest.fixture
def repository(program: Program, remote: Path) -> Path:
    """A repository pushed to a bare remote on disk."""
    path = program.make_repository()
    git(program, path, "init", "-q", "--bare", str(remote))
    git(program, path, "remote", "add", "origin", str(remote))
    git(program, path, "push", "-q", "origin", "HEAD")
    return path


def git(program: Program, directory: Path, *words: str) -> str:
    command = ["git", *words]
    ran = subprocess.run(
        command, cwd=directory, env=program.environ, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def run(
    node: str, program: Program, server: Serving, token: str, repository: Path
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [node, "--experimental-websocket", str(SCRIPT), server.base_url, token, str(repository)],
        cwd=program.cwd,
        env=program.environ,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
    )


def test_the_example_runs_the_whole_life_of_a_worktree(
    node: str, program: Program, repository: Path, remote: Path
) -> None:
    with program.serving("--demo") as server:
        ran = run(node, program, server, server.token, repository)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert [line.split()[0] for line in ran.stdout.splitlines()] == [
            *("project", "worktree", "session", "chat", "plan", "approve"),
            *("diff", "commit", "push", "archive", "restore", "remove"),
        ]
        assert program.call("list_projects") == []
    branch, path = ran.stdout.splitlines()[1].removeprefix("worktree ").split(" in ")
    assert git(program, remote, "show", f"{branch}:note.md") == "Written by an agent\n"
    assert not Path(path).exists()
    assert git(program, repository, "branch", "--list", branch) == ""


def test_the_example_ends_with_the_reason_of_a_failure(
    node: str, program: Program, tmp_path: Path
) -> None:
    with program.serving("--demo") as server:
        wrong_token = run(node, program, server, "guessed", tmp_path)
        no_repository = run(node, program, server, server.token, tmp_path)
    assert wrong_token.returncode == 1
    assert "(authentication_error)" in wrong_token.stderr
    assert no_repository.returncode == 1
    assert no_repository.stderr == f"worktree-life: Path is not a git repository: {tmp_path}\n"


def test_a_task_goes_from_its_prompt_to_the_base_branch_by_the_command_line(
    program: Program, repository: Path
) -> None:
    with program.serving("--demo"):
        program.call("add_project", f"path={repository}")

        def run_task(*words: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                ["sh", str(TASK), *words],
                cwd=repository,
                env={**program.environ, "SPINNEY": f"{sys.executable} {ROOT / 'spinney.py'}"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=2 * PATIENCE,
            )

        done = run_task("rows", "/demo plan write rows.txt: all of them")
        assert (done.returncode, done.stderr) == (0, "")
        assert "Approved.\n" in done.stdout and "Landed 1 worktree" in done.stdout
        assert git(program, repository, "show", "HEAD:rows.txt") != ""
        asked = run_task("asked", "/demo ask Which? | red | blue")
        assert (asked.returncode, "waits for an answer" in asked.stderr) == (1, True)
        again = run_task("rows", "Once more")
        assert (again.returncode, "already exists" in again.stderr) == (1, True)
