"""A checkout whose move was interrupted is completed, and nothing of a person's is replaced."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from model.git import interrupted_checkout
from model.git.base_branch import read_base
from model.git.interrupted_checkout import complete_checkout
from tests.model.git.repository import Repository

NAMES = ("deleted", "folder", "link", "new file", "read.me", "run")
"""In the order in which they are changed here."""
needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")


def _change(root: Path, name: str) -> None:
    """Change a file as the later commit has it."""
    file = root / name
    match name:
        case "deleted":
            file.unlink()
        case "folder":  # A file before.
            file.unlink()
            file.mkdir()
            (file / "inner").write_text("inner\n")
        case "link":
            file.unlink(missing_ok=True)
            file.symlink_to("run")
        case "run":
            file.chmod(0o755)
        case _:
            file.write_text(f"{name}\nin two\nor more lines\n")


@pytest.fixture
def sides(repository: Repository) -> tuple[str, str]:
    """Two commits; the files are those of the first."""
    root = repository.root
    for name in ("deleted", "folder", "link", "run"):
        (root / name).write_text(f"{name} before\n")
    before = repository.commit("read.me", "before\n")
    for name in NAMES:
        _change(root, name)
    after = repository.commit("other", "after\n")
    repository.git("reset", "--quiet", "--hard", before)
    return before, after


async def _complete(repository: Repository, other: str, since: float = 0.0) -> str:
    base = await read_base(repository.root, "main")
    return await complete_checkout(repository.root, base, other, since, patience=0)


def _interrupt(repository: Repository, start: str, end: str, done: int) -> None:
    """Leave the checkout as a kill does: the old index, its lock, and the first files changed."""
    root = repository.root
    repository.git("update-ref", "refs/heads/main", end)
    repository.git("reset", "--quiet", "--hard", start)
    repository.git("update-ref", "refs/heads/main", end)
    for name in NAMES[:done]:
        _change(root, name)
    if done == 4:
        (root / "new file").write_text("new file\nin t")  # The last one is written in part.
    (root / ".git" / "index.lock").touch()


@needs_proc
@pytest.mark.parametrize("done", range(len(NAMES) + 1))
async def test_an_interrupted_move_is_completed_wherever_it_stopped(
    repository: Repository, sides: tuple[str, str], done: int
) -> None:
    before, after = sides
    _interrupt(repository, before, after, done)
    assert await _complete(repository, before) == ""
    assert repository.git("status", "--porcelain") == ""
    assert (repository.root / "link").is_symlink()
    # Taken back: the files may have been changed, the base is where it was.
    _interrupt(repository, before, before, done)
    assert await _complete(repository, after) == ""
    assert repository.git("status", "--porcelain") == ""
    assert not (repository.root / "new file").exists()


@needs_proc
async def test_content_of_neither_commit_is_kept_and_the_rest_follows(
    repository: Repository, sides: tuple[str, str]
) -> None:
    before, after = sides
    _interrupt(repository, before, after, 3)
    (repository.root / "read.me").write_text("mine\n")
    (repository.root / "new file").write_text("mine too\n")
    problem = await _complete(repository, before)
    assert "2 files there (new file, read.me) have content of neither commit" in problem
    assert "Do not commit there" in problem
    assert (repository.root / "read.me").read_text() == "mine\n"
    assert (repository.root / "new file").read_text() == "mine too\n"
    assert repository.git("status", "--porcelain") == 'M "new file"\n M read.me'
    assert await _complete(repository, before) == problem
    repository.git("restore", ".")
    assert await _complete(repository, before) == ""
    # One that the later commit deletes cannot be left in place.
    _interrupt(repository, before, after, 3)
    (repository.root / "deleted").write_text("mine\n")
    assert "1 file there (deleted) has content" in await _complete(repository, before)
    assert (repository.root / "deleted").read_text() == "mine\n"
    repository.git("restore", "deleted")
    assert await _complete(repository, before) == ""
    assert repository.git("status", "--porcelain") == ""


@needs_proc
async def test_what_is_saved_while_the_checkout_is_completed_stays(
    repository: Repository, sides: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = sides
    _interrupt(repository, before, after, 6)
    saved, find_known = repository.root / "read.me", interrupted_checkout._find_known

    async def find_and_save(*args: Any) -> set[str]:
        known = await find_known(*args)
        saved.write_text("saved\n")
        return known

    monkeypatch.setattr(interrupted_checkout, "_find_known", find_and_save)
    assert "1 file there (read.me) has content" in await _complete(repository, before)
    assert saved.read_text() == "saved\n"


@needs_proc
async def test_a_lock_that_may_have_an_owner_stays(
    repository: Repository, sides: tuple[str, str]
) -> None:
    before, after = sides
    _interrupt(repository, before, after, 2)
    lock = repository.root / ".git" / "index.lock"
    with lock.open():
        problem = await _complete(repository, before)
        assert f"once no git runs there any more, delete {lock}." in problem
    now = time.time()
    os.utime(lock, (now - 60, now - 60))
    assert str(lock) in await _complete(repository, before, since=now), "it is of another git"
    assert await _complete(repository, before, since=now - 100) == ""
    assert repository.git("status", "--porcelain") == ""
