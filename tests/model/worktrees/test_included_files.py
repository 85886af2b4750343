"""Ignored files that `.worktreeinclude` names are copied into new worktrees, and nothing else."""

import asyncio
import os
import random
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.git import cancel_git
from model.commands.worktrees import (
    create_worktree,
    get_included_files,
    recreate_worktree,
    remove_worktree,
)
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktrees import CopiedFiles
from model.git.included_files import list_included
from model.runtime.workspace import Workspace
from model.worktrees import creation, file_copier, included_files
from model.worktrees.file_copier import TEMPORARY_NAME, FileCopier
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE


@pytest.fixture
def ignoring(repository: Repository) -> Repository:
    """A repository that ignores `.env` files, caches and keys, and includes the first two."""
    repository.commit(".gitignore", ".env\n*.key\ncache/\n")
    repository.commit(".worktreeinclude", ".env\ncache/\n")
    return repository


def write(root: Path, name: str, text: str = "x", mode: int = 0o644) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


async def test_what_is_ignored_and_included_is_copied_with_modes_times_and_links(
    ignoring: Repository, make: Maker
) -> None:
    root = ignoring.root
    secret = write(root, ".env", "KEY=1", 0o600)
    os.utime(secret, (1_000, 2_000))
    write(root, "app/.env", "KEY=2")
    write(root, "cache/tool", "#!/bin/sh", 0o755)
    (root / "cache" / "to-tool").symlink_to("tool")
    (root / "cache" / "outside").symlink_to("../../shared/.env")
    write(root, "my.key")  # ignored, but not included
    write(root, "note.txt")  # neither ignored nor included
    made = await make("one")
    path = Path(made.path)
    assert (path / ".env").read_text() == "KEY=1"
    facts = (path / ".env").stat()
    assert (stat.S_IMODE(facts.st_mode), facts.st_mtime) == (0o600, 2_000)
    assert (path / "app" / ".env").read_text() == "KEY=2"
    assert os.access(path / "cache" / "tool", os.X_OK)
    assert str((path / "cache" / "to-tool").readlink()) == "tool"
    # The worktree lies elsewhere: what leads out of the repository still leads to the same place.
    assert str((path / "cache" / "outside").readlink()) == str(root.parent / "shared" / ".env")
    assert not (path / "my.key").exists()
    assert not (path / "note.txt").exists()
    assert ignoring.git("status", "--porcelain", cwd=path) == ""
    assert made.copied_files is not None
    assert (made.copied_files.count, made.copied_files.problems) == (5, [])


async def test_what_will_be_copied_is_listed_before(
    ignoring: Repository, make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await get_included_files(workspace, make.project.id)).count == 0
    monkeypatch.setattr(included_files, "_LARGE", 1_000)
    write(ignoring.root, ".env", "K=1")
    write(ignoring.root, "cache/model.bin", "x" * 1_500)
    found = await get_included_files(workspace, make.project.id)
    assert (found.files, found.count, found.size) == ([".env", "cache/model.bin"], 2, 1_503)
    assert found.large == ["cache/model.bin (2 kB)"]
    assert found.summary == "Copies .env and 1 more, 2 kB in all: cache/model.bin (2 kB)"


async def test_without_the_file_nothing_is_copied(
    repository: Repository, make: Maker, workspace: Workspace
) -> None:
    repository.commit(".gitignore", ".env\n")
    write(repository.root, ".env")
    made = await make("one")
    assert not (Path(made.path) / ".env").exists()
    assert made.copied_files is None


async def test_a_file_that_the_branch_would_not_ignore_is_not_exposed_to_a_commit(
    ignoring: Repository, make: Maker, event_log: EventLog
) -> None:
    write(ignoring.root, ".env", "KEY=1")
    ignoring.git("branch", "old", "HEAD~2")  # before there was a `.gitignore`
    made = await make("one", base_branch="old")
    assert not (Path(made.path) / ".env").exists()
    assert made.copied_files is not None
    assert made.copied_files.problems == [
        "Not copied, because git does not ignore it on this branch: .env."
    ]
    await make.eventually(lambda: event_log.last_task("copy_files") is not None)
    task = event_log.last_task("copy_files")
    assert task is not None
    assert (task.ok, task.worktree_id) == (False, made.id)


async def test_files_of_the_branch_stay_and_links_in_it_lead_nowhere(
    ignoring: Repository, make: Maker, tmp_path: Path
) -> None:
    root, outside = ignoring.root, tmp_path / "outside"
    outside.mkdir()
    ignoring.git("checkout", "--quiet", "-b", "theirs")
    (root / "app").symlink_to(outside)
    ignoring.git("add", "app")
    write(root, ".env", "theirs")
    ignoring.git("add", "--force", ".env")
    ignoring.git("commit", "--quiet", "-m", "Theirs")
    ignoring.git("checkout", "--quiet", "main")
    write(root, ".env", "mine")
    write(root, "app/.env", "mine")
    made = await make("one", base_branch="theirs")
    assert (Path(made.path) / ".env").read_text() == "theirs"
    assert list(outside.iterdir()) == []
    assert made.copied_files is not None
    (problem,) = made.copied_files.problems
    assert "app/.env" in problem


async def test_a_failure_is_a_sentence_and_the_creation_goes_on(
    ignoring: Repository, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = ignoring.root
    for number in range(8):
        write(root, f"cache/{number}", "x" * 100)
    monkeypatch.setattr(file_copier, "clone_file", lambda *_: False)
    monkeypatch.setattr(file_copier, "MAX_BYTES", 250)
    subprocess.run(["git", "init", "--quiet", root / "cache" / "inner"], check=True)
    made = await make("one")
    assert made.status == "ready"
    assert made.copied_files is not None
    assert made.copied_files.count == 2
    assert made.copied_files.problems == [
        "Not copied, because there is no room for it: cache/2 (100 B), cache/3 (100 B), "
        "cache/4 (100 B), cache/5 (100 B), cache/6 (100 B) and 1 more.",
        "Not copied, because it is a repository of its own: cache/inner.",
    ]


@pytest.mark.parametrize("kind", ["link", "folder", "too large"])
async def test_a_file_of_patterns_that_git_must_not_read_is_named(
    repository: Repository, make: Maker, workspace: Workspace, kind: str
) -> None:
    path = repository.root / ".worktreeinclude"
    match kind:
        case "link":
            path.symlink_to("/etc/passwd")
        case "folder":
            path.mkdir()
        case _:
            path.write_text("a" * 70_000)
    assert (
        "must be a regular file" in (await get_included_files(workspace, make.project.id)).summary
    )
    made = await make("one")
    assert made.copied_files is not None
    assert "must be a regular file" in made.copied_files.problems[0]


async def test_a_restored_and_a_recreated_worktree_get_them_again(
    ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    write(ignoring.root, ".env", "KEY=1")
    made = await make("one")
    await remove_worktree(workspace, made.id, force=True, for_good=True)
    (found,) = await workspace.recovery_points.list(make.project.id)
    restored = await workspace.restoring.restore_worktree(found.point.id)
    assert (Path(restored.path) / ".env").read_text() == "KEY=1"
    assert restored.copied_files == CopiedFiles(count=1, size=5, total=1)
    subprocess.run(["rm", "-r", restored.path], check=True)
    workspace.poller.refresh(restored.id)
    await make.eventually(lambda: workspace.store.state.worktrees[restored.id].status == "missing")
    await recreate_worktree(workspace, restored.id)
    assert (Path(restored.path) / ".env").read_text() == "KEY=1"


# Canceled, killed ---------------------------------------------------------------------------------


async def test_canceling_stops_the_copying_and_leaves_nothing(
    ignoring: Repository, make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ignoring.root, ".env")
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_stop(copier: FileCopier, names: list[str]) -> None:
        loop.call_soon_threadsafe(started.set)
        copier._stopped.wait()

    monkeypatch.setattr(FileCopier, "copy", wait_for_stop)
    made = await create_worktree(workspace, make.project.id, custom_name="one")
    await started.wait()
    await cancel_git(workspace, made.id)
    await make.wait_until_settled(made.id)
    assert made.id not in workspace.store.state.worktrees
    assert not Path(made.path).exists()
    assert ignoring.git("branch", "--list", "one") == ""


async def test_after_a_kill_the_next_start_copies_what_is_left(
    ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    for number in range(3):
        write(ignoring.root, f"cache/{number}", str(number))
    made = await make("one")
    path = Path(made.path)
    (path / "cache" / "2").unlink()
    (path / TEMPORARY_NAME).write_text("half of")
    killed = made.model_copy(update={"status": "creating"})
    await workspace.store.accept(WorktreeUpdated(worktree=killed))
    await creation.recover(workspace.store)
    assert (path / "cache" / "2").read_text() == "2"
    assert not (path / TEMPORARY_NAME).exists()
    assert workspace.store.state.worktrees[made.id].status == "ready"


async def test_the_progress_of_copying_is_shown(
    ignoring: Repository, make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write(ignoring.root, f"cache/{number}")
    goes_on = threading.Event()
    copy_all = FileCopier.copy

    def copy_two_first(copier: FileCopier, names: list[str]) -> None:
        copy_all(copier, names[:2])
        goes_on.wait(PATIENCE)
        copy_all(copier, names[2:])

    monkeypatch.setattr(FileCopier, "copy", copy_two_first)
    monkeypatch.setattr(included_files, "_PROGRESS_INTERVAL", 0.01)
    made = await create_worktree(workspace, make.project.id, custom_name="one")

    def shows_two() -> bool:
        copied = workspace.store.state.worktrees[made.id].copied_files
        return copied is not None and (copied.count, copied.total) == (2, 5)

    await make.eventually(shows_two)
    assert workspace.store.state.worktrees[made.id].status == "creating"
    goes_on.set()
    await make.wait_until_settled(made.id)
    assert workspace.store.state.worktrees[made.id].copied_files == CopiedFiles(
        count=5, size=5, total=5
    )


def test_a_file_that_is_made_while_its_copy_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        write(tmp_path / "from", name, "copied")
    (tmp_path / "to").mkdir()
    copier = FileCopier(tmp_path / "from", tmp_path / "to")
    copy_content = FileCopier._copy_content

    def make_and_copy(self: FileCopier, own: str, *folders: int) -> bool:
        if own == "a":
            write(tmp_path / "to", own, "made")
        return copy_content(self, own, *folders)

    monkeypatch.setattr(FileCopier, "_copy_content", make_and_copy)
    copier.copy(["a", "b"])
    texts = {file.name: file.read_text() for file in (tmp_path / "to").iterdir()}
    assert texts == {"a": "made", "b": "copied"}
    assert (copier.copied, copier.failures) == (1, [])


@pytest.mark.longer
def test_ten_thousand_files_are_copied(tmp_path: Path) -> None:
    names = sorted(f"{number % 50}/{number}" for number in range(10_000))
    for name in names:
        write(tmp_path / "from", name, name)
    (tmp_path / "to").mkdir()
    copier = FileCopier(tmp_path / "from", tmp_path / "to")
    copier.copy(names)
    assert (copier.copied, copier.failures) == (10_000, [])
    assert all((tmp_path / "to" / name).read_text() == name for name in names[::500])


# What is copied, against git ----------------------------------------------------------------------

NAMES = ("a", "b.env", ".env", "c.key", "deep", "sp ace", "ünï", "*", "[x]", "!neg", ":!x")
PATTERNS = (
    ".env", "*.key", "/a", "deep/", "**/c.key", "!b.env", "b.env", "*", "!*/", "deep/**", "\\!neg",
    "[!a]*", "sp ace", "?", "#comment", "", "/deep/*/a", "*.env", "\\*",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
async def test_exactly_what_git_finds_ignored_by_both_files_is_listed(
    repository: Repository, seed: int
) -> None:
    chance, root = random.Random(seed), repository.root
    for _ in range(40):
        name = "/".join(chance.choices(NAMES, k=chance.randint(1, 4)))
        path = root / name
        if not any(parent.is_file() for parent in path.parents) and not path.is_dir():
            write(root, name)
    for file in (".gitignore", ".worktreeinclude"):
        lines = chance.choices(PATTERNS, k=chance.randint(1, 6))
        (root / file).write_text("\n".join(lines) + "\n")
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    for path in chance.sample(sorted(files), 3):
        repository.git("--literal-pathspecs", "add", "--force", "--", str(path))
    listed = repository.git("ls-files", "-o", "-i", "--exclude-standard", "-z").split("\0")
    matching = repository.git("ls-files", "-o", "-i", "-X", ".worktreeinclude", "-z").split("\0")
    expected = {name for name in listed if name} & {name for name in matching if name}
    assert set((await list_included(root)).files) == expected


async def test_what_git_cannot_list_is_an_error_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / ".worktreeinclude").write_text(".env\n")
    with pytest.raises(SpinneyError, match="no longer a git worktree"):
        await list_included(tmp_path)
