"""`spinney undo`: preview, choices, undo and redo from a shell."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.program import Program, until


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def play_turn(program: Program, session: dict[str, Any], text: str) -> None:
    """Let the demo agent write a file in a turn, and wait until the turn is recorded."""
    known = len(program.call("list_turns", f"sessionId={session['id']}"))
    program.call("send_chat_message", f"sessionId={session['id']}", f"message=/demo write {text}")

    def is_recorded() -> bool:
        turns = program.call("list_turns", f"sessionId={session['id']}")
        return len(turns) > known and turns[-1]["ended_at"] is not None

    until(is_recorded, "the turn is recorded")


def undo(program: Program, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return program.run("undo", "Talk", *arguments)


def test_without_a_name_the_newest_turn_of_the_directory_is_meant(program: Program) -> None:
    repository = program.make_repository()
    with program.serving("--demo"):
        worktree = program.create_ready_worktree(repository)
        words = (f"worktreeId={worktree['id']}", "executionMode=yolo")
        first, second = (program.call("create_session", *words) for _ in range(2))
        play_turn(program, first, "a.txt: one")
        play_turn(program, second, "b.txt: two")
        tree = Path(worktree["path"])

        def here(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return program.run("undo", *arguments, at=tree)

        def files() -> set[str]:
            return {path.name for path in tree.glob("*.txt")}

        done = here("--yes")
        assert (done.returncode, done.stderr, files()) == (0, "", {"a.txt"})
        again = here("--yes", "--json")
        assert json.loads(again.stdout)["turns"][0]["number"] == 1
        assert files() == set(), "what is undone already is not meant a second time"
        assert here("--redo").stdout == "Brought back: 1 turn\n"
        assert files() == {"a.txt"}, "the newest undo is taken back first"
        advised = done.stdout.rpartition("Take it back with: spinney ")[2].split()
        assert program.run(*advised).stdout == "Brought back: 1 turn\n"
        assert files() == {"a.txt", "b.txt"}


def test_a_turn_is_undone_with_a_choice_and_brought_back(program: Program) -> None:
    repository = program.make_repository()
    with program.serving("--demo"):
        worktree = program.create_ready_worktree(repository)
        mode = "executionMode=yolo"
        session = program.call("create_session", f"worktreeId={worktree['id']}", "name=Talk", mode)
        tree = Path(worktree["path"])
        nothing = undo(program)
        assert (nothing.returncode, "There is no turn" in nothing.stderr) == (4, True)
        play_turn(program, session, "a.txt: one")
        play_turn(program, session, "a.txt: two")
        (tree / "a.txt").write_text("three\n")

        asked = undo(program)
        assert "Turn 2: /demo write a.txt: two\nUndo files and conversation.\n" in asked.stdout
        assert "a.txt: changed since: choose with --keep or --before" in asked.stdout
        assert (asked.returncode, "--yes" in asked.stderr) == (2, True)
        preview = json.loads(undo(program, "--json").stdout)
        assert [file["action"] for file in preview["files"]] == ["conflict"]
        refused = undo(program, "--yes")
        assert (refused.returncode, (tree / "a.txt").read_text()) == (1, "three\n")
        unknown = undo(program, "--yes", "--keep", "b.txt")
        assert (unknown.returncode, "does not change 'b.txt'" in unknown.stderr) == (4, True)

        done = undo(program, "--yes", "--before", "a.txt")
        back = f"spinney undo {session['id'][:8]} --redo"
        assert done.stdout.endswith(f"Undone: 1 turn\nTake it back with: {back}\n")
        assert (tree / "a.txt").read_text() == "one\n"
        assert undo(program, "--redo").stdout == "Brought back: 1 turn\n"
        assert (tree / "a.txt").read_text() == "three\n"
        first = undo(program, "--turn", "1", "--both", "--yes", "--before", "a.txt", "--json")
        assert [turn["number"] for turn in json.loads(first.stdout)["turns"]] == [2, 1]
        assert not (tree / "a.txt").exists()

        play_turn(program, session, "b.txt: later")
        undo(program, "--yes")
        assert not (tree / "b.txt").exists()
        assert undo(program, "--redo").stdout == "Brought back: 1 turn\n"
        assert (tree / "b.txt").exists(), "the newest undo is taken back, not the one before it"
