"""Undo is the reverse merge of exactly one change: anything else that happened stays."""

import asyncio
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.base.errors import SpinneyError
from model.git.snapshots import chain, reverse
from model.git.snapshots.chain import SnapshotNote
from model.git.snapshots.reversible import read_reversible
from tests.model.git.snapshots.random_files import EDITS, Edit, examples
from tests.model.git.snapshots.situations import SITUATIONS, Stage
from tests.model.git.snapshots.worktree_facts import read_facts, read_files, read_person_facts

LINES = 16
_NEW_LINES = st.lists(st.sampled_from(["", "new", "line 1"]), max_size=2)
LINE_EDITS = st.dictionaries(st.integers(0, LINES // 2 - 1), _NEW_LINES, max_size=4)
"""By half of the number of a line: the lines that take its place."""
RULES = st.sampled_from(
    [None, b"plain\n", b"*\n!.gitignore\n", b"/dir/\n\xc3\xbcn\xc3\xaf*\n", b"exec\n# c\n"]
)


async def take(root: Path) -> str:
    return (await chain.take_snapshot(root, SnapshotNote("request", worktree_id="w"))).tree


async def undo(root: Path, before: str, after: str) -> list[reverse.ReversedFile]:
    change = await read_reversible(root, before, after)
    planned = await reverse.plan_reverse(root, [change.files], await take(root))
    if all(file.action != "conflict" for file in planned):
        await reverse.apply_reverse(root, planned, change.modes)
    return planned


@pytest.mark.parametrize("situation", SITUATIONS)
@examples(5)
@given(before=EDITS, turn=EDITS, staged=st.booleans(), stages=st.booleans())
def test_undo_brings_back_what_was_and_redo_what_came(
    stage: Stage, situation: str, before: Edit, turn: Edit, staged: bool, stages: bool
) -> None:
    stage.set_up(situation)
    before.apply(stage.tree)
    if staged:
        stage.repository.git("add", "--all", "--sparse", cwd=stage.tree)
    main = read_facts(stage.repository.root), read_person_facts(stage.repository.root)
    asyncio.run(check_round_trip(stage, turn, stages))
    assert (read_facts(stage.repository.root), read_person_facts(stage.repository.root)) == main
    assert "error" not in stage.repository.git("fsck", "--no-dangling")


async def check_round_trip(stage: Stage, turn: Edit, stages: bool) -> None:
    root = stage.tree
    facts = read_facts(root)
    start = await take(root)
    turn.apply(root)
    if stages:
        stage.repository.git("add", "--all", "--sparse", cwd=root)
    end = await take(root)
    changed, person = read_facts(root), read_person_facts(root)
    (root / "of a person").write_bytes(b"stays\n")

    planned = await undo(root, start, end)
    assert all(file.action != "conflict" for file in planned)
    (root / "of a person").unlink()
    undone = read_facts(root)
    assert undone["files"] == facts["files"]
    for kind in ("index", "flags", "head", "operation"):
        assert undone[kind] == changed[kind]
    assert read_person_facts(root) == person

    await undo(root, end, await take(root))
    assert read_facts(root)["files"] == changed["files"]


@examples(6)
@given(
    turn=LINE_EDITS, since=LINE_EDITS, ending=st.sampled_from(["\n", "\r\n"]), ends=st.booleans()
)
@pytest.mark.longer
def test_lines_that_others_changed_since_stay(
    stage: Stage,
    turn: dict[int, list[str]],
    since: dict[int, list[str]],
    ending: str,
    ends: bool,
) -> None:
    stage.set_up("plain")
    text = stage.tree / "text"

    def write(*edits: dict[int, list[str]]) -> bytes:
        lines = {number: [f"line {number}"] for number in range(LINES)}
        for edit in edits:
            lines |= {number * 2: new for number, new in edit.items()}
        joined = ending.join(line for new in lines.values() for line in new)
        return (joined + ending * ends).encode()

    # What both changed is a conflict; git merges neither lines without one between them.
    others = {number: new for number, new in since.items() if number not in turn}
    before, after, now, undone = write(), write(turn), write(turn, others), write(others)
    text.write_bytes(before)
    start = asyncio.run(take(stage.tree))
    text.write_bytes(after)
    end = asyncio.run(take(stage.tree))
    text.write_bytes(now)
    present = asyncio.run(take(stage.tree))

    planned = asyncio.run(undo(stage.tree, start, end))
    assert all(file.action != "conflict" for file in planned)
    assert text.read_bytes() == undone
    asyncio.run(undo(stage.tree, present, asyncio.run(take(stage.tree))))
    assert text.read_bytes() == now


@examples(6)
@given(before=EDITS, turn=EDITS, rules=st.tuples(RULES, RULES))
@pytest.mark.longer
def test_ignored_files_are_left_alone(
    stage: Stage, before: Edit, turn: Edit, rules: tuple[bytes | None, bytes | None]
) -> None:
    stage.set_up("plain")
    before.apply(stage.tree)
    asyncio.run(check_ignored(stage, turn, *rules))


async def check_ignored(
    stage: Stage, turn: Edit, old_rules: bytes | None, new_rules: bytes | None
) -> None:
    root = stage.tree
    Edit({".gitignore": old_rules}, {}, []).apply(root)
    facts, ignored = read_files(root), list_ignored(stage)
    start = await take(root)
    turn.apply(root)
    ignored |= list_ignored(stage)
    Edit({".gitignore": new_rules}, {}, []).apply(root)
    changed, ignored = read_files(root), ignored | list_ignored(stage)
    end = await take(root)
    # What is in no snapshot must not be lost.
    for name in ignored & changed.keys():
        if (root / name).is_file() and not (root / name).is_symlink():
            (root / name).write_bytes(b"changed since\n")
    now = read_files(root)
    at_undo = await take(root)

    with suppress(SpinneyError):  # Something ignored is where a folder was, or a file.
        await undo(root, start, end)
        undone = read_files(root)
        assert {n: f for n, f in undone.items() if n not in ignored} == {
            n: f for n, f in facts.items() if n not in ignored
        }
        await undo(root, at_undo, await take(root))
    after = read_files(root)
    assert {n: f for n, f in after.items() if n in ignored} == {
        n: f for n, f in now.items() if n in ignored
    }


def list_ignored(stage: Stage) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard"],
        cwd=stage.tree, capture_output=True, check=True,
    )  # fmt: skip
    return {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
