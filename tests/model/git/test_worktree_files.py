"""Finding a worktree's file by a few letters of its path."""

import os

import pytest

from model.base.errors import SpinneyError
from model.worktrees import file_search
from model.worktrees.file_search import FileSearch
from tests.model.git.made_repository import Repository


async def found(repository: Repository, query: str, limit: int = 50) -> list[str]:
    return await FileSearch().find(repository.root, query, limit)


async def test_tracked_and_new_files_are_found_and_ignored_ones_are_not(
    repository: Repository,
) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("new.txt", "")
    repository.write("noise.log", "")
    assert sorted(await found(repository, "")) == [".gitignore", "new.txt", "read.me"]


async def test_letters_in_a_files_own_name_come_before_those_of_its_folders(
    repository: Repository,
) -> None:
    for name in ("parser/lib/other.py", "src/my_parser.py", "src/parser.py", "p/a/r/s/e/r.py"):
        repository.write(name, "")
    expected = ["src/parser.py", "src/my_parser.py", "parser/lib/other.py", "p/a/r/s/e/r.py"]
    assert await found(repository, "PARSER") == expected
    assert await found(repository, "parser", limit=2) == expected[:2]


async def test_nothing_in_the_letters_is_a_pattern(repository: Repository) -> None:
    repository.write("a(b.txt", "")
    assert await found(repository, "(.") == ["a(b.txt"]


async def test_names_that_nobody_could_write_are_left_out(repository: Repository) -> None:
    repository.write("plain.txt", "")
    repository.write("two\x1b[2Jlines.txt", "")
    (repository.root / os.fsdecode(b"bad\xff.txt")).touch()
    assert await found(repository, "txt") == ["plain.txt"]


async def test_a_file_in_conflict_is_listed_once(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit("read.me", "theirs\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("read.me", "ours\n")
    with pytest.raises(AssertionError):
        repository.git("merge", "other")
    assert await found(repository, "read") == ["read.me"]


async def test_a_list_is_made_anew_once_it_is_old(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = FileSearch()
    assert await known.find(repository.root, "late", 50) == []
    repository.write("late.txt", "")
    assert await known.find(repository.root, "late", 50) == []
    monkeypatch.setattr(file_search, "MAX_AGE", 0.0)
    await known.find(repository.root, "late", 50)
    await known._refreshing[repository.root]
    assert await known.find(repository.root, "late", 50) == ["late.txt"]
    await known._refreshing[repository.root]


async def test_a_folder_that_is_gone_is_a_sentence_each_time(repository: Repository) -> None:
    known = FileSearch()
    for _ in range(2):
        with pytest.raises(SpinneyError, match="directory is missing"):
            await known.find(repository.root / "gone", "x", 50)
