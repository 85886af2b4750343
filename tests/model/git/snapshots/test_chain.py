"""A chain of snapshots: what each stores, with what it remembers of the one before it."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.git.snapshots import chain, files
from model.git.snapshots.chain import SnapshotNote
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.trees import edit_trees
from model.git.working_tree import Entry
from tests.model.git.repository import Repository
from tests.model.git.snapshots.random_files import examples

NOTE = SnapshotNote("request", worktree_id="w")
NAMES = st.sampled_from(["a", "a.b", "a/b", "a/b/c", "a0", "d/e", "d/e/f", "d/ü\n", "d0", "z"])


async def read(root: Path, name: str) -> bytes:
    tree = (await chain.take_snapshot(root, NOTE)).tree
    entry = (await files.read_entries(root, tree, [name]))[name]
    return await files.read_blob(root, entry.object_id)


async def test_a_change_that_leaves_time_and_size_alone_is_seen(repository: Repository) -> None:
    file = repository.write("read.me", "one\n")
    os.utime(file, (1, 1))
    assert await read(repository.root, "read.me") == b"one\n"
    file.write_text("two\n")
    os.utime(file, (1, 1))
    assert await read(repository.root, "read.me") == b"two\n"


async def test_a_snapshot_is_whole_after_its_chain_was_deleted(repository: Repository) -> None:
    root = repository.root
    file = repository.write("new", "text\n")
    await chain.take_snapshot(root, NOTE)
    repository.git("update-ref", "-d", chain.chain_ref("w"))
    repository.git("gc", "--quiet", "--prune=now")
    assert await read(root, "new") == b"text\n"
    file.write_text("other\n")
    assert await read(root, "new") == b"other\n"


async def test_many_snapshots_take_little_room(repository: Repository) -> None:
    root = repository.root
    for number in range(chain._MAX_LOOSE):
        repository.write("read.me", f"{number}\n")
        await chain.take_snapshot(root, NOTE)
        await chain.pack_chain(root, "w")
    counted = dict(line.split(": ") for line in repository.git("count-objects", "-v").split("\n"))
    assert int(counted["packs"]) >= 1
    assert int(counted["count"]) < chain._MAX_LOOSE
    assert await read(root, "read.me") == b"%d\n" % (chain._MAX_LOOSE - 1)
    assert "error" not in repository.git("fsck", "--no-dangling")


@dataclass(frozen=True)
class Index:
    """A repository in which git edits trees by an index."""

    repository: Repository
    contents: dict[str, Entry]

    def write_tree(self, paths: dict[str, Entry]) -> str:
        self.repository.git("read-tree", "--empty")
        for path, entry in paths.items():
            info = f"{entry.mode},{entry.object_id},{path}"
            self.repository.git("update-index", "--add", "--cacheinfo", info)
        return self.repository.git("write-tree")


@pytest.fixture(params=["sha1", "sha256"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    root = tmp_path / "trees"
    root.mkdir()
    repository = Repository(root)
    repository.git("init", "--quiet", f"--object-format={request.param}")
    repository.write("one", "1\n")
    blob = repository.git("hash-object", "-w", "one")
    return Index(
        repository,
        {"file": Entry("100644", blob), "program": Entry("100755", blob),
         "link": Entry("120000", blob)},
    )  # fmt: skip


def list_files(names: list[str], kinds: dict[str, Entry]) -> dict[str, Entry]:
    """Return the names that can be files beside each other; a later name wins."""
    found: dict[str, Entry] = {}
    for number, name in enumerate(names):
        if not any(other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in found):
            found[name] = kinds[["file", "program", "link"][number % 3]]
    return found


@examples(8)
@given(before=st.lists(NAMES, unique=True), after=st.lists(NAMES, unique=True))
def test_trees_are_those_that_git_makes(index: Index, before: list[str], after: list[str]) -> None:
    old, new = list_files(before, index.contents), list_files(after, index.contents)
    changes: dict[str, Entry | None] = {
        **new, **{name: None for name in old if name not in new}
    }  # fmt: skip

    async def edit() -> str:
        objects = await NewObjects.create(index.repository.root)
        start = index.write_tree(old) if old else None
        (tree,) = await edit_trees(index.repository.root, [(start, changes)], objects)
        await objects.store()
        return tree

    assert asyncio.run(edit()) == index.write_tree(new)
    assert "error" not in index.repository.git("fsck", "--no-dangling")


async def test_each_snapshot_keeps_the_commit_that_is_being_merged(repository: Repository) -> None:
    root = repository.root
    repository.git("checkout", "--quiet", "-b", "other")
    other = repository.commit("more", "1\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("read.me", "mine\n")
    repository.git("merge", "--quiet", "--no-commit", "other")
    repository.git("branch", "--quiet", "-D", "other")
    lost = root / ".git" / "ORIG_HEAD"
    lost.write_text("0" * 39 + "1\n")
    for text in ("one\n", "two\n"):
        repository.write("read.me", text)
        taken = await chain.take_snapshot(root, NOTE)
        parents = repository.git("log", "-1", "--format=%P", taken.commit).split()
        assert other in parents
        assert "0" * 39 + "1" not in parents
    lost.write_text(f"{'0' * 39}1\n\n")  # The other commit is known, and this one looked for.
    taken = await chain.take_snapshot(root, NOTE)
    assert taken.is_new
    assert other in repository.git("log", "-1", "--format=%P", taken.commit).split()
