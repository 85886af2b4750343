"""`spinney land` and `spinney prune`: previews, questions, landings, trains, and what goes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.program import Program, until


@pytest.fixture
def program(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    config = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
    (program.home / ".gitconfig").write_text(config)
    return program


def git(path: str | Path, *arguments: str) -> str:
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", "-C", str(path), *author, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(worktree: dict[str, Any], name: str, text: str) -> None:
    """Commit a file in a worktree, and let Spinney notice."""
    (Path(worktree["path"]) / name).write_text(text)
    git(worktree["path"], "add", name)
    git(worktree["path"], "commit", "-m", f"Write {name}\x1b[2J")


def test_a_worktree_lands_is_taken_back_and_several_land_as_a_train(program: Program) -> None:
    repository = program.make_repository()
    with program.serving("--demo"):
        first = program.create_ready_worktree(repository)
        project_id = first["project_id"]

        def create(name: str) -> dict[str, Any]:
            tree: dict[str, Any] = program.call(
                "create_worktree", f"projectId={project_id}", f"customName={name}"
            )
            about = f"worktreeId={tree['id']}"
            until(lambda: program.call("get_worktree", about)["status"] == "ready", "it is ready")
            return tree

        second, third = create("second"), create("third")
        for worktree, name in ((first, "a.txt"), (second, "b.txt"), (third, "a.txt")):
            commit(worktree, name, f"{worktree['id']}\n")
        base = git(repository, "rev-parse", "HEAD")
        name = first["name"]

        asked = program.run("land", name, "--method", "squash")
        assert ("Write a.txt␛[2J" in asked.stdout, "\x1b" in asked.stdout) == (True, False)
        assert "1 commit, 1 file, +1 −0" in asked.stdout
        assert f"is checked out in {repository}, which follows." in asked.stdout
        assert (asked.returncode, "--yes" in asked.stderr) == (2, True)
        preview = json.loads(program.run("land", name, "--json").stdout)
        assert (preview["problem"], preview["base_commit"]) == ("", base)
        unknown = program.run("land", "nothing", "--yes")
        assert (unknown.returncode, "No worktree has" in unknown.stderr) == (4, True)

        options = ("--method", "squash", "--message", "Write a", "--yes")
        landed = program.run("land", name, *options)
        assert landed.stdout.endswith("Take it back with: spinney land --undo\n"), landed.stderr
        assert git(repository, "log", "-1", "--format=%s") == "Write a"
        assert (repository / "a.txt").exists()
        refused = program.run("land", "third", "--yes")
        assert (refused.returncode, "in conflict: a.txt" in refused.stdout) == (1, True)
        undone = program.run("land", name, "--undo", "--yes")
        assert f"is at {base[:7]} again" in undone.stdout, undone.stderr
        assert git(repository, "rev-parse", "HEAD") == base

        train = program.run("land", "--train", name, "second", "third", "--yes")
        assert "third: in conflict: a.txt" in train.stdout, train.stderr
        way_out = "Nothing landed; 2 of 3 are ready. Add --keep-going to land them.\n"
        assert train.stdout.endswith(way_out)
        assert (train.returncode, git(repository, "rev-parse", "HEAD")) == (1, base)
        cars, going = (name, "third", "second"), ("--keep-going", "--after", "keep", "--yes")
        rest = program.run("land", "--train", *cars, *going, "--json")
        assert json.loads(rest.stdout)["worktree_ids"] == [first["id"], second["id"]]
        assert rest.returncode == 1, "not all have landed"
        assert (repository / "b.txt").exists()

        program.call("fetch_worktrees_status", f"projectId={project_id}")
        dry = program.run("prune", "--project", Path(repository).name)
        assert f"{name}: goes: merged" in dry.stdout
        assert "third: stays: 1 commit nowhere else" in dry.stdout
        assert dry.stdout.endswith("Add --archive or --delete for those that go.\n")
        pruned = program.run("prune", "--delete", "--yes")
        assert (pruned.returncode, "second: Deleted." in pruned.stdout) == (0, True)
        left = [tree["id"] for tree in program.call("list_worktrees", f"projectId={project_id}")]
        assert left == [third["id"]]

        fourth = create("fourth")
        commit(fourth, "spinney.json", '{"scripts": {"check": "true"}}')
        unchecked = program.run("land", "fourth", "--yes")
        assert "Run 'spinney land --train fourth' to check it" in unchecked.stderr
        (Path(fourth["path"]) / "new.txt").touch()
        dirty = program.run("land", "fourth", "--yes")
        assert dirty.stderr.endswith("Commit or discard them first.\n"), "no way round is named"
