"""Undo is the reverse merge of exactly one change: anything else that happened stays."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.git.snapshots import chain, files, reverse
from model.git.snapshots.chain import SnapshotNote
from tests.model.git.repository import Repository
from tests.model.git.snapshots.worktree_facts import read_facts, read_person_facts

State = dict[str, bytes | tuple[str, str] | None]
Modes = dict[str, int]

NAMES = ("plain", "dir/inner", "dir", "ünï\nline", " space ", "exec", "raw\udcff", "-dash")
"""`dir` is a file in some states and a folder in others."""

CONTENTS = st.sampled_from(
    [None, b"", b"one\ntwo\n", b"one\r\ntwo\r\n", b"\0\xff binary", b"no end", ("link", "plain")]
)
STATES = st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=5)
MODES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0o644, 0o755]), max_size=2)


def put(root: Path, state: State, modes: Modes) -> None:
    """Make the files equal to `state`; others stay, unless they are in the way."""
    for name, content in state.items():
        path = root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        for parent in path.parents:
            if parent != root and (parent.is_symlink() or parent.is_file()):
                parent.unlink()
        path.unlink(missing_ok=True)
        if content is None:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            path.symlink_to(content[1])
        else:
            path.write_bytes(content)
    for name, mode in modes.items():
        if (root / name).is_file() and not (root / name).is_symlink():
            (root / name).chmod(mode)


def drop_empty_folders(root: Path) -> None:
    for current, _, _ in os.walk(root, topdown=False):
        if ".git" not in Path(current).parts and not any(Path(current).iterdir()):
            Path(current).rmdir()


async def take(root: Path) -> str:
    return (await chain.take_snapshot(root, SnapshotNote("request", worktree_id="w"))).tree


async def undo(root: Path, before: str, after: str) -> list[reverse.ReversedFile]:
    change = await files.diff_trees(root, before, after)
    planned = await reverse.plan_reverse(root, [change], await take(root))
    await reverse.apply_reverse(root, planned)
    return planned


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=STATES, turn=STATES, modes=MODES, autocrlf=st.booleans(), staged=st.booleans())
def test_undo_brings_back_what_was_and_redo_what_came(
    templates: Path, before: State, turn: State, modes: Modes, autocrlf: bool, staged: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        shutil.copytree(templates / "alone", root, symlinks=True)
        repository = Repository(root)
        repository.git("config", "core.autocrlf", str(autocrlf).lower())
        put(root, before, {})
        drop_empty_folders(root)
        if staged:
            repository.git("add", "--all")
        asyncio.run(check_round_trip(root, turn, modes))
        assert "error" not in repository.git("fsck", "--no-dangling")


async def check_round_trip(root: Path, turn: State, modes: Modes) -> None:
    facts, person = read_facts(root), read_person_facts(root)
    start = await take(root)
    put(root, turn, modes)
    drop_empty_folders(root)
    changed = read_facts(root)
    end = await take(root)
    (root / "of a person").write_text("stays\n")

    planned = await undo(root, start, end)
    assert all(file.action != "conflict" for file in planned)
    (root / "of a person").unlink()
    assert read_facts(root)["files"] == facts["files"]
    assert read_person_facts(root) == person

    back = await take(root)
    await undo(root, end, back)
    assert read_facts(root)["files"] == changed["files"]
