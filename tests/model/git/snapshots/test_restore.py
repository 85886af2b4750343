"""A deleted worktree comes back as it was: bytes, modes, links, index, merge in progress."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from model.git.snapshots import chain, restore
from model.git.snapshots.chain import SnapshotNote
from tests.model.git.repository import Repository
from tests.model.git.snapshots.worktree_facts import read_facts, read_person_facts

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


def stop_in_merge(repository: Repository, tree: Path) -> None:
    repository.commit("shared", "base\n", tree)
    repository.git("checkout", "--quiet", "-b", "theirs", cwd=tree)
    repository.commit("shared", "theirs\n", tree)
    repository.git("checkout", "--quiet", "otter", cwd=tree)
    repository.commit("shared", "ours\n", tree)
    subprocess.run(["git", "merge", "theirs"], cwd=tree, capture_output=True, timeout=60)
    assert "<<<<<<<" in (tree / "shared").read_text()
    repository.git("branch", "--quiet", "-D", "theirs")


def stop_in_rebase(repository: Repository, tree: Path) -> None:
    repository.commit("shared", "base\n", tree)
    repository.commit("shared", "ours\n", tree)
    repository.git("checkout", "--quiet", "-b", "onto", "HEAD~1", cwd=tree)
    repository.commit("shared", "theirs\n", tree)
    repository.git("checkout", "--quiet", "otter", cwd=tree)
    subprocess.run(["git", "rebase", "onto"], cwd=tree, capture_output=True, timeout=60)
    assert "<<<<<<<" in (tree / "shared").read_text()


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


def use_reserved_name(repository: Repository, tree: Path) -> None:
    repository.commit(".spinney-snapshot/state.json", "{}\n", tree)
    repository.write(".spinney-snapshot/other", "mine\n", tree)


SITUATIONS = [
    edit_everything, stage_in_layers, stop_in_merge, stop_in_rebase, convert_line_endings,
    leave_files_out, use_reserved_name,
]  # fmt: skip


@pytest.mark.parametrize("prepare", SITUATIONS)
async def test_a_deleted_worktree_comes_back_as_it_was(
    repository: Repository, tmp_path: Path, prepare: Callable[[Repository, Path], None]
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


def delete(repository: Repository, tree: Path) -> None:
    repository.git("worktree", "remove", "--force", str(tree))
    repository.git("worktree", "prune")
    for name in ("otter", "onto"):
        subprocess.run(["git", "branch", "-D", name], cwd=repository.root, capture_output=True)
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
