"""Resolving conflicts by one side, and continuing what they stopped."""

from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.changes import ConflictChoice
from model.git import discarding
from model.git.changes import list_changed_files
from model.git.conflicts import continue_operation, resolve
from model.git.discarding import undo
from model.git.merging import find_operation
from tests.model.git.repository import OPEN_GATE, Repository

LINES = "one\ntwo\nthree\n"


@pytest.fixture
def discards(tmp_path: Path) -> Path:
    return tmp_path / "discarded"


def start_merge(repository: Repository, ours: str | None, theirs: str | None) -> None:
    """Merge a branch on which `file` became `theirs` into one on which it became `ours`."""
    repository.commit("file", LINES)
    for branch, text in (("other", theirs), ("mine", ours)):
        repository.git("checkout", "--quiet", "-b", branch, "main")
        if text is None:
            repository.git("rm", "--quiet", "file")
            repository.git("commit", "--quiet", "-m", "Delete file")
        else:
            repository.commit("file", text)
    with pytest.raises(AssertionError):
        repository.git("merge", "--quiet", "other")


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ("ours", "one\nmine\nthree\n"),
        ("theirs", "one\nother\nthree\n"),
        ("both", "one\nmine\nother\nthree\n"),
    ],
)
async def test_a_conflict_is_resolved_by_a_side_and_the_merge_completed(
    repository: Repository, discards: Path, choice: ConflictChoice, text: str
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    await resolve(repository.root, discards, "file", choice)
    assert (repository.root / "file").read_text() == text
    sha = await continue_operation(repository.root, OPEN_GATE)
    assert sha == repository.git("rev-parse", "HEAD")
    assert await find_operation(repository.root) is None
    assert len(repository.git("log", "-1", "--format=%P").split()) == 2
    assert "Conflicts" not in repository.git("log", "-1", "--format=%B")


async def test_a_side_that_deleted_the_file_deletes_it(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", None)
    with pytest.raises(SpinneyError, match="deleted on one side"):
        await resolve(repository.root, discards, "file", "both")
    await resolve(repository.root, discards, "file", "theirs")
    assert not (repository.root / "file").exists()
    await continue_operation(repository.root, OPEN_GATE)


@pytest.mark.parametrize(("ours", "theirs"), [("mine\n", None), (None, "other\n")])
@pytest.mark.parametrize("choice", ["ours", "theirs"])
async def test_a_conflict_with_a_deletion_says_by_whom_and_is_brought_back(
    repository: Repository,
    discards: Path,
    ours: str | None,
    theirs: str | None,
    choice: ConflictChoice,
) -> None:
    start_merge(repository, ours, theirs)
    before = repository.git("status", "--short")
    (file,) = await list_changed_files(repository.root, "unstaged")
    assert file.deleted_by == ("ours" if ours is None else "theirs")
    await resolve(repository.root, discards, "file", choice)
    await resolve(repository.root, discards, "file", "markers")
    assert repository.git("status", "--short") == before
    assert (repository.root / "file").read_text() == (ours or theirs)


async def test_what_a_person_had_edited_comes_back(repository: Repository, discards: Path) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    repository.write("file", "half resolved by hand\n")
    made = await resolve(repository.root, discards, "file", "theirs")
    await undo(repository.root, discards, made.id)
    assert (repository.root / "file").read_text() == "half resolved by hand\n"


@pytest.mark.parametrize("choice", ["ours", "theirs", "both"])
async def test_the_undo_of_a_choice_brings_the_conflict_back_in_the_index(
    repository: Repository, discards: Path, choice: ConflictChoice
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    status, entries = repository.git("status", "--short"), repository.git("ls-files", "--stage")
    text = (repository.root / "file").read_text()
    await resolve(repository.root, discards, "file", choice)
    undone = await undo(repository.root, discards, None)  # as someone does who knows only this
    assert undone.unmerged
    assert repository.git("status", "--short") == status
    assert repository.git("ls-files", "--stage") == entries
    assert (repository.root / "file").read_text() == text


@pytest.mark.parametrize("choice", ["ours", "theirs", "both", "markers"])
async def test_what_is_saved_during_a_choice_stays_and_so_does_the_index(
    repository: Repository,
    discards: Path,
    monkeypatch: pytest.MonkeyPatch,
    choice: ConflictChoice,
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    file = repository.root / "file"
    if choice == "markers":
        await resolve(repository.root, discards, "file", "ours")
    entries = repository.git("ls-files", "--stage")

    put_in_place = discarding._put_in_place

    def save_and_put(*args: Any) -> str:
        file.write_text("saved")
        return put_in_place(*args)

    monkeypatch.setattr(discarding, "_put_in_place", save_and_put)
    with pytest.raises(SpinneyError, match="was saved meanwhile"):
        await resolve(repository.root, discards, "file", choice)
    assert file.read_text() == "saved"
    assert repository.git("ls-files", "--stage") == entries


async def test_the_undo_of_bringing_a_conflict_back_resolves_it_again(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    await resolve(repository.root, discards, "file", "theirs")
    entries = repository.git("ls-files", "--stage")
    await resolve(repository.root, discards, "file", "markers")
    assert not (await undo(repository.root, discards, None)).has_conflict
    assert repository.git("ls-files", "--stage") == entries
    assert (repository.root / "file").read_text() == "one\nother\nthree\n"


async def test_no_conflict_is_brought_back_once_the_merge_is_over(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    await resolve(repository.root, discards, "file", "theirs")
    await continue_operation(repository.root, OPEN_GATE)
    with pytest.raises(SpinneyError, match="cannot be brought back"):
        await undo(repository.root, discards, None)
    with pytest.raises(SpinneyError, match="no merge or rebase in progress"):
        await resolve(repository.root, discards, "file", "markers")
    assert (repository.root / "file").read_text() == "one\nother\nthree\n"
    assert not repository.git("status", "--short")


async def test_a_file_that_had_no_conflict_gets_none(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    repository.write("read.me", "changed\n")
    with pytest.raises(SpinneyError, match="had no conflict"):
        await resolve(repository.root, discards, "read.me", "markers")
    assert (repository.root / "read.me").read_text() == "changed\n"


async def test_a_resolved_conflict_is_brought_back_with_its_markers(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    await resolve(repository.root, discards, "file", "ours")
    await resolve(repository.root, discards, "file", "markers")
    assert "<<<<<<< " in (repository.root / "file").read_text()
    with pytest.raises(SpinneyError, match=r"1 file still has conflicts: file\."):
        await continue_operation(repository.root, OPEN_GATE)


async def test_a_file_without_conflict_is_left_alone(
    repository: Repository, discards: Path
) -> None:
    start_merge(repository, "one\nmine\nthree\n", "one\nother\nthree\n")
    repository.write("read.me", "changed\n")
    with pytest.raises(SpinneyError, match="has no conflict any more"):
        await resolve(repository.root, discards, "read.me", "ours")
    assert (repository.root / "read.me").read_text() == "changed\n"


async def test_a_rebase_is_continued_and_says_when_it_stops_again(
    repository: Repository, discards: Path
) -> None:
    repository.commit("file", LINES)
    repository.git("checkout", "--quiet", "-b", "mine")
    repository.commit("file", "one\nmine\nthree\n")
    repository.commit("file", "one\nmine again\nthree\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("file", "one\nmain\nthree\n")
    repository.git("checkout", "--quiet", "mine")
    with pytest.raises(AssertionError):
        repository.git("rebase", "--quiet", "main")
    await resolve(repository.root, discards, "file", "ours")
    with pytest.raises(SpinneyError):
        await continue_operation(repository.root, OPEN_GATE)
    await resolve(repository.root, discards, "file", "theirs")
    await continue_operation(repository.root, OPEN_GATE)
    assert await find_operation(repository.root) is None
    assert (repository.root / "file").read_text() == "one\nmine again\nthree\n"
