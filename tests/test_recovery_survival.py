"""A kill at any step of a deletion, a restoration or an undo loses nothing."""

import os
import shutil
import signal
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from tests.model.git.snapshots.worktree_facts import read_facts
from tests.patience import PATIENCE
from tests.program import Program, until

# What git was asked for, whether it does that before the kill, and what is done as well.
DELETION = [
    ("unpack-objects", False, ""),
    ("update-ref refs/spinney/recovery", False, ""),
    ("update-ref refs/spinney/recovery", True, ""),
    ("worktree remove", False, 'rm "$tree/read.me" "$tree/new" "$tree/.git"'),
    ("worktree remove", True, ""),
    ("branch -D", True, ""),
]
RESTORATION = [
    ("branch --no-track", True, ""),
    ("worktree add", True, ""),
    ("read-tree", True, ""),
    ("checkout-index", True, ""),
    ("--index-info", True, ""),
]
# Without words it is killed among the files.
UNDO = [
    ("status --porcelain", False),
    ("diff-tree", True),
    ("cat-file --batch", True),
    ("", False),
    ("unpack-objects", False),
    ("update-ref refs/spinney/worktrees", True),
]
FILES = 300


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "alpha"
    root.mkdir()
    (root / "read.me").write_text("one\n")
    (root / "other").write_text("one\n")
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"]
    for words in (["init", "-qb", "main"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A program whose git kills it at the step that `kill_at` arranges."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        "#!/bin/sh\n"
        f'[ -f "{tmp_path}/kill" ] && . "{tmp_path}/kill"\n'
        f'[ -z "$words" ] && exec {shutil.which("git")} "$@"\n'
        'case "$*" in\n'
        '*"$words"*)\n'
        f'  [ "$after" ] && {shutil.which("git")} "$@"\n'
        '  eval "$also"\n'
        '  kill -9 "$PPID";;\n'
        f'*) exec {shutil.which("git")} "$@";;\n'
        "esac\n"
    )
    script.chmod(0o755)
    return Program(tmp_path, environ={"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})


def kill_at(program: Program, step: tuple[str, bool, str], tree: str) -> None:
    words, after, also = step
    text = f"words='{words}'\nafter='{after or ''}'\nalso='{also}'\ntree='{tree}'\n"
    (program.place / "kill").write_text(text)


def change_everything(program: Program, repository: Path) -> dict[str, Any]:
    worktree: dict[str, Any] = program.create_ready_worktree(repository)
    tree = Path(worktree["path"])
    program.call("create_session", f"worktreeId={worktree['id']}", "name=Talk")
    (tree / "read.me").write_text("changed\n")
    (tree / "new").write_text("untracked\n")
    (tree / "staged").write_text("staged\n")
    subprocess.run(["git", "add", "staged"], cwd=tree, check=True)
    return worktree


def find_worktree(program: Program) -> dict[str, Any] | None:
    """Return the worktree once it is neither being removed nor being restored."""
    project = program.call("list_projects")[0]["id"]

    def list_all() -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = program.call("list_worktrees", f"projectId={project}")
        return listed

    until(lambda: all(each["status"] == "ready" for each in list_all()), "it has settled")
    return next(iter(list_all()), None)


def expect_everything(program: Program, facts: dict[str, object]) -> None:
    """Expect the worktree with all that it had, or a recovery point that brings it back."""
    found = find_worktree(program)
    if found is None:
        [point] = program.call("list_recovery_points")
        found = program.call("restore_worktree", f"recoveryId={point['recovery_id']}")
    assert read_facts(Path(found["path"])) == facts
    [session] = program.call("list_sessions", f"worktreeId={found['id']}")
    assert session["name"] == "Talk"


@pytest.mark.parametrize("step", [pytest.param(DELETION[0], marks=pytest.mark.core), *DELETION[1:]])
def test_a_kill_during_a_deletion_loses_nothing(
    step: tuple[str, bool, str], program: Program, repository: Path
) -> None:
    with program.serving("--demo") as server:
        worktree = change_everything(program, repository)
        facts = read_facts(Path(worktree["path"]))
        kill_at(program, step, worktree["path"])
        with suppress(SpinneyError):
            program.call("remove_worktree", f"worktreeId={worktree['id']}", "force=true")
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        expect_everything(program, facts)


@pytest.mark.parametrize(
    "step", [pytest.param(RESTORATION[0], marks=pytest.mark.core), *RESTORATION[1:]]
)
def test_a_kill_during_a_restoration_loses_nothing(
    step: tuple[str, bool, str], program: Program, repository: Path
) -> None:
    with program.serving("--demo") as server:
        worktree = change_everything(program, repository)
        facts = read_facts(Path(worktree["path"]))
        program.call("remove_worktree", f"worktreeId={worktree['id']}", "force=true")
        [point] = program.call("list_recovery_points")
        kill_at(program, step, worktree["path"])
        with suppress(SpinneyError):
            program.call("restore_worktree", f"recoveryId={point['recovery_id']}")
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        expect_everything(program, facts)


def play_turn(program: Program, worktree: dict[str, Any], repository: Path) -> str:
    """Let the demo agent change, create and delete hundreds of files; return the turn's id."""
    tree = Path(worktree["path"])
    for number in range(FILES):
        (tree / f"file {number:03}").write_text(f"before {number}\n")
    script = repository.parent / "change"
    script.write_text(
        'for f in file*; do echo after >>"$f"; done; rm other; mkdir -p a/b; echo >a/b/c'
    )
    arguments = [f"worktreeId={worktree['id']}", "name=Talk", "executionMode=yolo"]
    session = f"sessionId={program.call('create_session', *arguments)['id']}"
    program.call("send_chat_message", session, f"message=/demo run sh '{script}'")
    until(
        lambda: any(turn["ended_at"] for turn in program.call("list_turns", session)),
        "the turn is recorded",
    )
    [turn] = program.call("list_turns", session)
    assert len(turn["files"]) == FILES + 2
    return str(turn["turn_id"])


@pytest.mark.parametrize("step", [pytest.param(UNDO[-1], marks=pytest.mark.core), *UNDO[:-1]])
def test_a_kill_during_an_undo_loses_nothing(
    step: tuple[str, bool], program: Program, repository: Path
) -> None:
    words, after = step
    with program.serving("--demo") as server:
        worktree = program.create_ready_worktree(repository)
        tree = Path(worktree["path"])
        turn = play_turn(program, worktree, repository)
        changed = read_facts(tree)["files"]
        undo = f"turnId={turn}", "what=both"
        if words:
            kill_at(program, (words, after, ""), worktree["path"])
        with ThreadPoolExecutor(1) as thread:
            undoing = thread.submit(program.call, "undo_turn", *undo)
            if not words:
                until(lambda: not (tree / "a").exists(), "the undo writes files")
                server.process.kill()
            with suppress(SpinneyError):
                undoing.result()
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink(missing_ok=True)
    left = tree / f".{uuid.uuid4().hex}.spinney"
    if not words:  # Killed while it wrote a file.
        left.touch()
    with program.serving("--demo"):
        [known] = program.call("list_turns", f"sessionId={turn.partition('.')[0]}")
        if known["undone"] is None:
            program.call("undo_turn", *undo)
        else:
            left.unlink(missing_ok=True)  # It was killed later.
        for number in range(FILES):
            assert (tree / f"file {number:03}").read_text() == f"before {number}\n"
        assert (tree / "other").read_text() == "one\n"
        assert not (tree / "a").exists()
        program.call("redo_turn", f"turnId={turn}")
        assert read_facts(tree)["files"] == changed


def test_the_command_line_lists_and_restores_what_was_deleted(
    program: Program, repository: Path
) -> None:
    with program.serving("--demo"):
        worktree = change_everything(program, repository)
        tree = Path(worktree["path"])
        facts = read_facts(tree)
        program.call("remove_worktree", f"worktreeId={worktree['id']}", "force=true")
        listed = program.run("recover").stdout
        assert f"{worktree['name']}: Deleted (3 files, 0.0 MB, 1 session)" in listed
        point = listed.split()[0]
        files = program.run("recover", "files", point).stdout.splitlines()
        assert files == ["added     new", "modified  read.me", "added     staged"]
        restored = program.run("recover", "restore", point)
        assert restored.stdout == f"Restored {worktree['name']} in {tree}\n"
        assert read_facts(tree) == facts
        (tree / "read.me").unlink()
        assert program.run("recover", "files", point, "read.me").stdout == "Restored 1 file\n"
        assert (tree / "read.me").read_text() == "changed\n"
        assert "2 recovery points, " in program.run("doctor").stdout
        project_id = worktree["project_id"]
        program.call("remove_project", f"projectId={project_id}")
        listed = program.run("recover").stdout
        assert ": Project removed (0.0 MB, 1 session)" in listed
        restored = program.run("recover", "restore", listed.split()[0])
        assert restored.stdout == f"Restored {repository.name} (1 session)\n"
        [back] = program.call("list_worktrees", f"projectId={project_id}")
        assert back["id"] == worktree["id"]
        unknown = program.run("recover", "restore", "nothing")
        assert (unknown.returncode, unknown.stdout) == (4, "")
        assert program.run("recover", "restore").returncode == 2
