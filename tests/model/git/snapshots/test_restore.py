"""A deleted worktree comes back as it was: bytes, modes, links, index, merge in progress."""

import asyncio
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.git.snapshots import chain, restore
from model.git.snapshots.chain import SnapshotNote
from tests.model.git.repository import Repository
from tests.model.git.snapshots.random_files import EDITS, Edit, edits, examples
from tests.model.git.snapshots.situations import (
    SITUATIONS,
    Prepare,
    Stage,
    stop_in_merge,
    stop_in_rebase,
)
from tests.model.git.snapshots.worktree_facts import read_facts, read_files, read_person_facts

ANY_MODE = edits([0o600, 0o640, 0o755, 0o444, 0o700])
INTENDED = ["--intent-to-add", "--sparse", "."]
ADDS = st.sampled_from([[], ["--all", "--sparse"], ["--update"], INTENDED])
FOLDERS = st.sampled_from(["empty", "dir/empty", "in/deep/er", "out/empty", "ünï/\nfolder"])
NOTE = SnapshotNote("delete", worktree_id="w", worktree_name="otter")


def edit_everything(repository: Repository, tree: Path) -> None:
    (tree / "read.me").write_bytes(b"changed\r\n\0binary\xff")
    (tree / "script").write_text("#!/bin/sh\n")
    (tree / "script").chmod(0o755)
    (tree / "secret").write_text("only mine\n")
    (tree / "secret").chmod(0o600)
    (tree / "link").symlink_to("nowhere/at all")
    (tree / "dir" / "empty").mkdir(parents=True)
    (tree / 'new\nline "quoted" \\ ünï\r').write_text("odd name\n")
    (tree / os.fsdecode(b"raw\xff\xfe")).write_text("odd bytes\n")


def stage_in_layers(repository: Repository, tree: Path) -> None:
    repository.commit("gone", "to be removed\n", tree)
    repository.commit("a/b", "folder\n", tree)
    repository.write("staged", "first\n", tree)
    repository.git("add", "staged", cwd=tree)
    repository.write("staged", "second, not staged\n", tree)
    repository.git("rm", "--quiet", "--cached", "gone", cwd=tree)
    repository.write("intended", "soon\n", tree)
    repository.git("add", "--intent-to-add", "intended", cwd=tree)
    (tree / "a" / "b").unlink()
    (tree / "a").rmdir()
    (tree / "a").write_text("a file where a folder was\n")


def convert_line_endings(repository: Repository, tree: Path) -> None:
    repository.git("config", "core.autocrlf", "true")
    repository.write(".gitattributes", "*.bin -text\n*.up filter=upper\n", tree)
    repository.git("config", "filter.upper.clean", "tr a-z A-Z")
    repository.git("config", "filter.upper.smudge", "tr A-Z a-z")
    (tree / "lf.txt").write_bytes(b"one\ntwo\n")
    (tree / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (tree / "mixed.up").write_bytes(b"MiXeD\n")
    repository.git("add", "--all", cwd=tree)
    repository.git("commit", "--quiet", "-m", "Line endings", cwd=tree)
    (tree / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")


def leave_files_out(repository: Repository, tree: Path) -> None:
    repository.commit("in/here", "in\n", tree)
    repository.commit("out/there", "out\n", tree)
    repository.git("sparse-checkout", "set", "--cone", "in", cwd=tree)
    repository.write("in/here", "changed\n", tree)
    repository.git("update-index", "--assume-unchanged", "read.me", cwd=tree)
    repository.write("read.me", "nobody sees this\n", tree)


def convert_by_untracked_attributes(repository: Repository, tree: Path) -> None:
    repository.commit("crlf.txt", "one\ntwo\n", tree)
    repository.write(".gitattributes", "*.txt eol=crlf\n", tree)
    (tree / "crlf.txt").unlink()
    repository.git("checkout", "crlf.txt", cwd=tree)
    assert (tree / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n"


def leave_files_out_of_main(repository: Repository, tree: Path) -> None:
    """A new worktree takes over the sparse checkout of the one it is made in."""
    repository.commit("in/here", "in\n", tree)
    repository.commit("out/there", "out\n", tree)
    repository.git("merge", "--quiet", "otter")
    repository.git("sparse-checkout", "set", "--cone", "in")


def use_reserved_name(repository: Repository, tree: Path) -> None:
    repository.commit(".spinney-snapshot/state.json", "{}\n", tree)
    repository.write(".spinney-snapshot/other", "mine\n", tree)


STATES = [
    edit_everything, stage_in_layers, stop_in_merge, stop_in_rebase, convert_line_endings,
    leave_files_out, use_reserved_name, convert_by_untracked_attributes, leave_files_out_of_main,
]  # fmt: skip


@pytest.mark.parametrize("prepare", STATES)
async def test_a_deleted_worktree_comes_back_as_it_was(
    repository: Repository, tmp_path: Path, prepare: Prepare
) -> None:
    tree = tmp_path / "otter"
    repository.git("worktree", "add", "--quiet", "-b", "otter", str(tree))
    prepare(repository, tree)
    before, person = read_facts(tree), read_person_facts(repository.root)
    snapshot = await chain.take_snapshot(tree, NOTE, complete=True)
    assert read_facts(tree) == before
    assert read_person_facts(repository.root) == person

    delete(repository, tree)
    await restore.restore_worktree(repository.root, tree, snapshot)

    assert read_facts(tree) == before
    assert "error" not in repository.git("fsck", "--no-dangling")


@pytest.mark.parametrize("situation", SITUATIONS)
@examples(5)
@given(staged=EDITS, on_disk=ANY_MODE, adds=ADDS, folders=st.sets(FOLDERS))
def test_any_state_comes_back(
    stage: Stage, situation: str, staged: Edit, on_disk: Edit, adds: list[str], folders: set[str]
) -> None:
    stage.set_up(situation)
    repository, tree = stage.repository, stage.tree
    staged.apply(tree)
    if adds and adds != INTENDED:
        repository.git("add", *adds, cwd=tree)
    on_disk.apply(tree)
    if adds == INTENDED:
        repository.git("add", *adds, cwd=tree)
    for folder in folders:
        with suppress(FileExistsError, NotADirectoryError):
            (tree / folder).mkdir(parents=True)
    before, person = read_known(tree, situation), read_person_facts(repository.root)
    asyncio.run(delete_and_restore(stage))
    assert read_known(tree, situation) == before
    assert {**read_person_facts(repository.root), "refs": [], "reflogs": {}} == {
        **person, "refs": [], "reflogs": {},
    }  # fmt: skip
    assert "error" not in repository.git("fsck", "--no-dangling")


async def delete_and_restore(stage: Stage) -> None:
    snapshot = await chain.take_snapshot(stage.tree, NOTE, complete=True)
    delete(stage.repository, stage.tree)
    await restore.restore_worktree(stage.repository.root, stage.tree, snapshot)


def read_known(tree: Path, situation: str) -> dict[str, object]:
    """Return the facts that a snapshot keeps: not those of a submodule's own files."""
    facts = read_facts(tree)
    found = read_files(tree)
    facts["files"] = {name: fact for name, fact in found.items() if name.split("/")[0] != "sub"}
    if situation in ("line endings", "filter", "submodule"):
        # Git takes some files for changed until it has compared their content.
        del facts["status"]
    return facts


def delete(repository: Repository, tree: Path) -> None:
    repository.git("worktree", "remove", "--force", str(tree))
    repository.git("worktree", "prune")
    for name in ("otter", "onto"):
        subprocess.run(["git", "branch", "-D", name], cwd=repository.root, capture_output=True)
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
