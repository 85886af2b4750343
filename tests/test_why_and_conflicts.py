"""`spinney why` and `spinney conflicts` with a whole program: the demo agent, real git."""

import json
from pathlib import Path

from tests.program import Program, until


def make_worktrees(program: Program) -> list[Path]:
    root = program.place / "alpha"
    root.mkdir()
    (root / "code.py").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    first = program.create_ready_worktree(program.make_repository())
    second = program.call("create_worktree", f"projectId={first['project_id']}")
    argument = f"worktreeId={second['id']}"
    until(lambda: program.call("get_worktree", argument)["status"] == "ready", "it is ready")
    return [Path(first["path"]), Path(second["path"])]


def test_conflicts_are_listed_and_lines_explained(tmp_path: Path) -> None:
    program = Program(tmp_path)
    with program.serving("--demo"):
        trees = make_worktrees(program)
        assert program.run("conflicts").stdout == "No worktrees are heading for a conflict.\n"
        for tree in trees:
            text = (tree / "code.py").read_text()
            (tree / "code.py").write_text(text.replace("line 5\n", f"line 5 of {tree.name}\n"))
        listed = program.run("conflicts", "alpha")
        assert listed.stdout.splitlines()[1:] == ["  code.py:5"]
        names, _ = listed.stdout.splitlines()
        assert sorted(names.split(" and ")) == sorted(tree.name for tree in trees)
        assert len(json.loads(program.run("conflicts", "--json").stdout)) == 2
        assert program.run("conflicts", "beta").returncode == 4

        changed = program.run("why", f"{trees[0]}/code.py:5").stdout
        assert changed.startswith("Changed by a person or another program before ")
        old = program.run("why", f"{trees[0]}/code.py:6").stdout
        assert old.startswith("Committed by Ada on ")
        assert old.splitlines()[1].endswith(" Begin")
        assert json.loads(program.run("why", "--json", f"{trees[0]}/code.py:6").stdout)["commit"]
        assert program.run("why", f"{trees[0]}/code.py:99").returncode == 4
        assert program.run("why", f"{tmp_path}/elsewhere:1").returncode == 4
        assert program.run("why", "code.py").returncode == 2
