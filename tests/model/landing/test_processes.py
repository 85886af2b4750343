"""How many processes of git each operation starts: a few milliseconds each, more under load.

The table says which. One that is not in it has to be needed: for what is true only then, or for an
act. What is known already, or can be asked together with something else, is not asked again.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from model.background import worktree_status
from model.commands.changes import (
    get_file_diff,
    list_changed_files,
    stage_changes,
    unstage_changes,
)
from model.commands.git import commit_changes
from model.commands.landing import land_worktree, preview_landing, undo_landing
from model.commands.sessions import create_session
from model.commands.worktrees import remove_worktree
from model.domain.hosting import MergeMethod
from model.git.branch_summary import summarize_branch
from model.git.branch_tips import read_branch_tips
from model.turns.recorder import TurnRecorder
from tests.model.git.processes import count_processes, counting
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing

_FOLLOW: Final = "diff-index read-tree"
"""A checkout follows its branch: what git would overwrite is looked for first."""
_CAN_FOLLOW: Final = f"status {_FOLLOW}"
_CAPTURE: Final = "status ls-files ls-files"
"""What is on the disk, the marks in the index, empty folders."""
_LOSSES: Final = "worktree-list status rev-list"

OPERATIONS: Final = {
    "list the changed files": "diff ls-files",
    "show the diff of a file": "diff ls-files diff",
    "stage a hunk": "diff ls-files diff apply",
    "show a staged diff": "diff diff",
    "unstage a hunk": "diff diff apply",
    "stage a file": "diff ls-files add",
    # The tree is written again: it is committed only if it is what was searched for secrets.
    "commit what is staged": "status write-tree diff write-tree commit rev-parse",
    "commit all": "status add write-tree diff add write-tree commit rev-parse",
    "preview a merge": (
        "for-each-ref status rev-list diff diff log merge-base merge-tree commit-tree "
        f"{_CAN_FOLLOW}"
    ),
    "preview a squash": (
        "for-each-ref status rev-list diff diff log var merge-base merge-tree rev-parse "
        f"commit-tree {_CAN_FOLLOW}"
    ),
    "preview a rebase": (
        "for-each-ref status rev-list diff diff log rev-parse merge-tree commit-tree "
        f"commit-tree merge-tree commit-tree {_CAN_FOLLOW}"
    ),
    "land by merge": (
        "for-each-ref status log config merge-base merge-tree commit-tree "
        f"{_CAN_FOLLOW} update-ref {_FOLLOW}"
    ),
    "land by squash": (
        "for-each-ref status log var config merge-base merge-tree rev-parse commit-tree "
        f"{_CAN_FOLLOW} update-ref {_FOLLOW}"
    ),
    # Two commits: each but the first is three processes more.
    "land by rebase": (
        "for-each-ref status config log rev-parse merge-tree commit-tree "
        f"commit-tree merge-tree commit-tree {_CAN_FOLLOW} update-ref {_FOLLOW}"
    ),
    "take a landing back": f"for-each-ref {_CAN_FOLLOW} update-ref {_FOLLOW}",
    "land beside a remote": (
        "for-each-ref status log config merge-base merge-tree commit-tree "
        f"{_CAN_FOLLOW} update-ref {_FOLLOW} for-each-ref"
    ),
    "take a landing back beside a remote": (
        f"for-each-ref for-each-ref {_CAN_FOLLOW} update-ref {_FOLLOW}"
    ),
    # The branches are read once for all worktrees of a repository.
    "look at a worktree": "for-each-ref status",
    "look at a worktree with changes": "for-each-ref status diff",
    "look at a worktree with a new commit": "for-each-ref status rev-list merge-base diff",
    "summarize a branch": "for-each-ref rev-parse merge-base diff",
    "create a worktree": "for-each-ref for-each-ref branch worktree-add",
    # Twice: a teardown may have taken minutes, in which a file was saved.
    "remove a worktree": (
        f"for-each-ref {_LOSSES} ls-files log {_CAPTURE} cat-file unpack-objects update-ref "
        f"diff-tree unpack-objects update-ref {_CAPTURE} {_LOSSES} worktree-remove "
        "rev-list branch config update-ref"
    ),
    "begin the first turn": "log status ls-files cat-file unpack-objects update-ref",
    "end a turn with changes": "status unpack-objects update-ref diff-tree",
    "begin a turn without changes": "status",
    "end a turn without changes": "status",
}


class Table:
    """Compares what operations start with `OPERATIONS`."""

    @contextmanager
    def row(self, operation: str) -> Iterator[None]:
        """Fail if the body starts a process of git that is not in the operation's row."""
        with counting() as started:
            yield
        more = Counter(started) - Counter(OPERATIONS[operation].split())
        assert not more, f"{operation}: {' '.join(started)}"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    count_processes(monkeypatch)
    return Table()


async def test_staging_and_committing(table: Table, landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n")
    path = Path(one.path, "read.me")
    path.write_text("zero\ntwo\nthree\n")
    with table.row("list the changed files"):
        await list_changed_files(landing.workspace, one.id)
    with table.row("show the diff of a file"):
        shown = await get_file_diff(landing.workspace, one.id, "read.me")
    with table.row("stage a hunk"):
        await stage_changes(landing.workspace, one.id, "read.me", shown.hunks[0], shown.digest)
    with table.row("show a staged diff"):
        shown = await get_file_diff(landing.workspace, one.id, "read.me", "staged")
    with table.row("unstage a hunk"):
        await unstage_changes(landing.workspace, one.id, "read.me", shown.hunks[0], shown.digest)
    with table.row("stage a file"):
        await stage_changes(landing.workspace, one.id, "read.me")
    with table.row("commit what is staged"):
        await commit_changes(landing.workspace, one.id, "One")
    path.write_text("zero\nthree\n")
    landing.repository.write("new", "new\n", cwd=path.parent)
    with table.row("commit all"):
        await commit_changes(landing.workspace, one.id, "Two", stage_all=True)
    assert landing.git(one, "log", "--format=%s", "-2") == "Two\nOne"


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_landing(table: Table, landing: Landing, method: MergeMethod) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    before = landing.repository.commit("read.me", "zero\none\ntwo\nthree\n")
    await landing.settle(one)
    with table.row(f"preview a {method}"):
        preview = await preview_landing(landing.workspace, one.id, method)
    with table.row(f"land by {method}"):
        landed = await land_worktree(
            landing.workspace, one.id, preview.base_commit, method, ignore_check=True
        )
    assert landing.repository.git("rev-parse", "main") == landed.after != before
    with table.row("take a landing back"):
        await undo_landing(landing.workspace, landed.id)
    assert landing.repository.git("rev-parse", "main") == before


async def test_landing_beside_a_remote(
    table: Table, with_remote: Repository, landing: Landing
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    with_remote.git("push", "--quiet", "origin", "main")
    preview = await preview_landing(landing.workspace, one.id, "merge")
    with table.row("land beside a remote"):
        landed = await land_worktree(
            landing.workspace, one.id, preview.base_commit, "merge", ignore_check=True
        )
    with table.row("take a landing back beside a remote"):
        await undo_landing(landing.workspace, landed.id)
    assert with_remote.git("rev-parse", "main") == preview.base_commit


async def test_looking_at_a_worktree(table: Table, landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n")

    async def look() -> None:
        await worktree_status.refresh(
            landing.workspace.store, one.id, read_branch_tips, report_unchanged=False
        )

    with table.row("look at a worktree"):
        await look()
    landing.repository.write("read.me", "other\n", cwd=Path(one.path))
    with table.row("look at a worktree with changes"):
        await look()
    landing.commit(one, "read.me", "another\n")
    with table.row("look at a worktree with a new commit"):
        await look()
    with table.row("summarize a branch"):
        table_of_files, _ = await summarize_branch(Path(one.path), "main", 1000)
    assert "a.txt" in table_of_files


async def test_creating_and_removing_a_worktree(table: Table, landing: Landing) -> None:
    await landing.make("zero")
    with table.row("create a worktree"):
        one = await landing.make("one")
    await landing.settle(one)
    await landing.workspace.landing.merged.examine(one)
    with table.row("remove a worktree"):
        await remove_worktree(landing.workspace, one.id)
    assert not Path(one.path).exists()


async def test_turns(table: Table, landing: Landing) -> None:
    one = await landing.make("one")
    session = await create_session(landing.workspace, one.id, "main")
    recorder = TurnRecorder(landing.workspace.store)
    for beginning, end in (
        ("begin the first turn", "end a turn with changes"),
        ("begin a turn without changes", "end a turn without changes"),
    ):
        with table.row(beginning):
            await recorder.begin(session, None)
        if end == "end a turn with changes":
            landing.repository.write("read.me", "other\n", cwd=Path(one.path))
        with table.row(end):
            recorder.end(session)
            await recorder.settle(session.id)
    turns = await landing.workspace.store.turns(session.id)
    assert [[file.path for file in turn.files] for turn in turns] == [["read.me"], []]
