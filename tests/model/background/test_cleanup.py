"""Orphaned files are removed, except those that a damaged database may refer to."""

import asyncio
import os
from pathlib import Path

import pytest

from model.background.cleanup import DEMO_MIN_AGE, MIN_AGE, remove_orphaned_folders
from model.base.paths import Directories
from model.commands.sessions import delete_session
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.git import discarding
from model.runtime.workspace import Workspace
from tests.patience import PATIENCE

NOW = 1_800_000_000.0


def create_old(path: Path, age: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix:
        path.write_text("x")
    else:
        path.mkdir()
        (path / "kept").write_text("x")
    os.utime(path, (NOW - age, NOW - age))
    return path


def test_old_folders_of_removed_worktrees_are_removed(
    directories: Directories,
) -> None:
    folders = (
        directories.discarded, directories.contexts, directories.scripts, directories.reviews
    )  # fmt: skip
    gone = [create_old(folder / "gone", MIN_AGE + 1) for folder in folders]
    new = [create_old(folder / "recent", MIN_AGE - 1) for folder in folders]
    there = [create_old(folder / "w", MIN_AGE + 1) for folder in folders]
    old_demo = create_old(directories.data / "demo" / "old.jsonl", DEMO_MIN_AGE + 1)
    demo = create_old(directories.data / "demo" / "new.jsonl", DEMO_MIN_AGE - 1)
    broken = directories.database.with_name("spinney.db.broken-20260101-000000")
    broken.write_text("")
    remove_orphaned_folders(directories, {"w"}, NOW)
    assert all(path.exists() for path in [*gone, *new, *there, old_demo, demo])
    broken.unlink()
    remove_orphaned_folders(directories, {"w"}, NOW)
    assert not any(path.exists() for path in [*gone, old_demo])
    assert all(path.exists() for path in [*new, *there, demo])


def test_discarded_changes_are_bounded_by_size_and_the_newest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discarding, "MAX_BYTES", 1000)
    for number in range(4):
        folder = tmp_path / "kept" / f"{number:020}-x"
        folder.mkdir(parents=True)
        (folder / "content").write_bytes(b"x" * (400 if number < 3 else 300))
    discarding.prune(tmp_path / "kept")
    assert [path.name[19] for path in sorted((tmp_path / "kept").iterdir())] == ["2", "3"]
    monkeypatch.setattr(discarding, "MAX_BYTES", 10)
    discarding.prune(tmp_path / "kept")
    assert [path.name[19] for path in (tmp_path / "kept").iterdir()] == ["3"]


async def test_files_of_lost_sessions_are_kept_as_long_as_their_database(
    directories: Directories,
    workspace: Workspace,
    worktree: Worktree,
    session: Session,
) -> None:
    await workspace.stop()
    lost = create_old(directories.pictures / "lost", 0)
    own = create_old(directories.pictures / session.id, 0)
    directories.database.with_name("spinney.db.broken-20260101-000000").write_text("")
    again = Workspace(directories, workspace.backends, workspace.catalog)
    await again.start()
    await delete_session(again, session.id)
    async with asyncio.timeout(PATIENCE):
        while own.exists():
            await asyncio.sleep(0.01)
    assert lost.exists()
    await again.stop()
