"""A kill at any step of a landing, of its undo or of a train leaves nothing half done."""

# ruff: noqa: F811 (fixtures have the names of what they are)

import json
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from tests.patience import PATIENCE
from tests.program import Program, until
from tests.test_recovery_survival import kill_at, program, repository  # noqa: F401 - fixtures

# What git was asked for, and whether it does that before the kill.
MOVE = [
    ("update-ref -m land", True),
    ("commit-tree -p", True),
    ("update-ref -m land", False),
    ("read-tree -m -u", False),
    ("read-tree -m -u", True),
]
STASH = [
    ("stash push", False),
    ("stash push", True),
    ("update-ref -m land", True),
    ("read-tree -m -u", True),
    ("stash apply", False),
    ("stash drop", True),
]
FOLLOW = [("rebase --quiet", False), ("rebase --quiet", True)]
RETURN = [
    ("update-ref -m undo", True),
    ("update-ref -m undo", False),
    ("read-tree -m -u", False),
    ("read-tree -m -u", True),
]
TRAIN = [
    ("checkout --quiet --force", True),
    ("commit-tree -p", True),
    ("update-ref refs/spinney/trains", True),
    ("worktree add", True),
    ("worktree remove", False),
    ("update-ref -m land", True),
    ("update-ref -d refs/spinney/trains", False),
]
AFTER_LANDING = TRAIN[-2:]


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_branch(program: Program, repository: Path, name: str) -> dict[str, Any]:
    """Return a worktree with a commit."""
    worktree: dict[str, Any] = program.create_ready_worktree_named(repository, name)
    tree = Path(worktree["path"])
    (tree / name).write_text("1\n")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", f"Add {name}")
    return worktree


@pytest.fixture(autouse=True)
def prepared(repository: Path) -> None:
    """The repository has a check, and an identity for commits."""
    git(repository, "config", "user.name", "T")
    git(repository, "config", "user.email", "t@example.invalid")
    (repository / "spinney.json").write_text(json.dumps({"scripts": {"check": "echo fine"}}))
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "check")


def land(program: Program, worktree: dict[str, Any], *options: str) -> dict[str, Any]:
    key = f"worktreeId={worktree['id']}"
    base = program.call("preview_landing", key)["base_commit"]
    landed: dict[str, Any] = program.call(
        "land_worktree", key, f"baseCommit={base}", "ignoreCheck=true", *options
    )
    return landed


def expect_landed_or_not(
    program: Program,
    repository: Path,
    worktree: dict[str, Any],
    before: str,
) -> dict[str, Any]:
    """Expect that it landed completely or not at all, and land it if it did not."""
    project = f"projectId={worktree['project_id']}"

    def has_settled() -> bool:
        landed = program.call("list_landings", project)
        is_moved = git(repository, "rev-parse", "main") != before
        is_current = any(one["undone_at"] is None for one in landed)
        return is_moved == is_current and git(repository, "status", "--porcelain") == ""

    until(has_settled, "it has settled")
    if git(repository, "rev-parse", "main") == before:
        return land(program, worktree)
    landed: dict[str, Any] = program.call("list_landings", project)[0]
    return landed


@pytest.mark.parametrize("step", [pytest.param(MOVE[0], marks=pytest.mark.core), *MOVE[1:]])
def test_a_kill_during_a_landing_leaves_it_done_or_not_begun(
    step: tuple[str, bool],
    program: Program,
    repository: Path,
) -> None:
    before = git(repository, "rev-parse", "main")
    with program.serving("--demo") as server:
        worktree = make_branch(program, repository, "one")
        kill_at(program, (*step, ""), worktree["path"])
        with suppress(SpinneyError):
            land(program, worktree)
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        landed = expect_landed_or_not(program, repository, worktree, before)
        assert (repository / "one").read_text() == "1\n"
        program.call("undo_landing", f"landingId={landed['id']}")
        assert git(repository, "rev-parse", "main") == before
        assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize("step", STASH)
def test_a_kill_while_changes_are_stashed_for_a_landing_loses_none_of_them(
    step: tuple[str, bool],
    program: Program,
    repository: Path,
) -> None:
    (repository / "mine").write_text("1\n2\n3\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "mine")
    before = git(repository, "rev-parse", "main")
    with program.serving("--demo") as server:
        worktree = make_branch(program, repository, "one")
        (repository / "mine").write_text("0\n1\n2\n3\n")
        kill_at(program, (*step, ""), worktree["path"])
        with suppress(SpinneyError):
            land(program, worktree, "stashBase=true")
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        project = f"projectId={worktree['project_id']}"

        def has_settled() -> bool:
            is_moved = git(repository, "rev-parse", "main") != before
            is_whole = git(repository, "status", "--porcelain").split() == ["M", "mine"]
            return bool(program.call("list_landings", project)) == is_moved and is_whole

        until(has_settled, "the changes are back, and nothing else is changed")
        assert (repository / "mine").read_text() == "0\n1\n2\n3\n"
        until(lambda: git(repository, "stash", "list") == "", "the stash is dropped")
        assert program.call("get_problems") == []


@pytest.mark.parametrize("step", FOLLOW)
def test_a_kill_while_a_stack_follows_loses_no_commit_of_it(
    step: tuple[str, bool],
    program: Program,
    repository: Path,
) -> None:
    with program.serving("--demo") as server:
        lower = make_branch(program, repository, "lower")
        upper = make_branch(program, repository, "upper")
        above = Path(upper["path"])
        program.call("set_worktree_base", f"worktreeId={upper['id']}", "baseBranch=lower")
        git(above, "rebase", "--quiet", "lower")
        kill_at(program, (*step, ""), str(above))
        with suppress(SpinneyError):
            land(program, lower, "method=squash")
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        about = f"worktreeId={upper['id']}"
        until(lambda: program.call("get_worktree", about)["base_branch"] is None, "it has followed")
        assert git(above, "log", "--format=%s", "main..HEAD") == "Add upper"
        assert git(above, "status", "--porcelain") == ""


@pytest.mark.parametrize("step", [pytest.param(RETURN[0], marks=pytest.mark.core), *RETURN[1:]])
def test_a_kill_during_an_undo_leaves_it_done_or_not_begun(
    step: tuple[str, bool],
    program: Program,
    repository: Path,
) -> None:
    before = git(repository, "rev-parse", "main")
    with program.serving("--demo") as server:
        worktree = make_branch(program, repository, "one")
        landed = land(program, worktree)
        kill_at(program, (*step, ""), worktree["path"])
        with suppress(SpinneyError):
            program.call("undo_landing", f"landingId={landed['id']}")
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        found = expect_landed_or_not(program, repository, worktree, before)
        program.call("undo_landing", f"landingId={found['id']}")
        assert git(repository, "rev-parse", "main") == before
        assert not (repository / "one").exists()


@pytest.mark.parametrize("step", [pytest.param(TRAIN[0], marks=pytest.mark.core), *TRAIN[1:]])
def test_a_kill_during_a_train_leaves_the_base_and_no_trace(
    step: tuple[str, bool],
    program: Program,
    repository: Path,
) -> None:
    before = git(repository, "rev-parse", "main")
    with program.serving("--demo") as server:
        cars = [make_branch(program, repository, name) for name in ("one", "two")]
        project = f"projectId={cars[0]['project_id']}"
        ids = json.dumps([car["id"] for car in cars])
        kill_at(program, (*step, ""), cars[0]["path"])
        with ThreadPoolExecutor(1) as thread, suppress(SpinneyError):
            thread.submit(run_and_land, program, project, ids).result()
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
    (program.place / "kill").unlink()
    with program.serving("--demo"):
        has_landed = git(repository, "rev-parse", "main") != before
        assert has_landed == (step in AFTER_LANDING)
        until(lambda: program.call("get_train", project)["status"] != "running", "it is reported")
        if not has_landed:
            run_and_land(program, project, ids)
        until(lambda: git(repository, "status", "--porcelain") == "", "the checkout has followed")
        assert sorted(path.name for path in repository.iterdir() if path.name in ("one", "two"))
        until(lambda: program.call("get_train", project)["status"] == "landed", "the train landed")
        until(lambda: git(repository, "worktree", "list").count("\n") == 2, "nothing is left")
        assert git(repository, "for-each-ref", "refs/spinney/trains") == ""


def run_and_land(program: Program, project: str, ids: str) -> None:
    """Run a train to its end, and land it."""
    train = program.call("start_train", project, f"worktreeIds={ids}")

    def status() -> str:
        return str(program.call("get_train", project)["status"])

    until(lambda: status() != "running", "the train has ended")
    assert status() == "ready"
    program.call("land_train", f"trainId={train['id']}")
