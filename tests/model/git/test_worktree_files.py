"""Finding files of a worktree by letters of their paths."""

import asyncio
import os

import pytest

from model.base.errors import SpinneyError
from model.worktrees import file_search
from model.worktrees.file_search import FileSearch
from tests.model.git.repository import Repository
from tests.patience import PATIENCE


async def find_files(repository: Repository, query: str, limit: int = 50) -> list[str]:
    return await FileSearch().find(repository.root, query, limit)


async def test_tracked_and_new_files_are_found_and_ignored_ones_are_not(
    repository: Repository,
) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("new.txt", "")
    repository.write("noise.log", "")
    assert sorted(await find_files(repository, "")) == [".gitignore", "new.txt", "read.me"]


async def test_matches_in_the_file_name_rank_above_those_in_folders(
    repository: Repository,
) -> None:
    for name in ("parser/lib/other.py", "src/my_parser.py", "src/parser.py", "p/a/r/s/e/r.py"):
        repository.write(name, "")
    expected = ["src/parser.py", "src/my_parser.py", "parser/lib/other.py", "p/a/r/s/e/r.py"]
    assert await find_files(repository, "PARSER") == expected
    assert await find_files(repository, "parser", limit=2) == expected[:2]


async def test_a_query_is_not_a_pattern(repository: Repository) -> None:
    repository.write("a(b.txt", "")
    assert await find_files(repository, "(.") == ["a(b.txt"]


async def test_names_with_control_or_invalid_characters_are_skipped(repository: Repository) -> None:
    repository.write("plain.txt", "")
    repository.write("two\x1b[2Jlines.txt", "")
    (repository.root / os.fsdecode(b"bad\xff.txt")).touch()
    assert await find_files(repository, "txt") == ["plain.txt"]


async def test_a_file_in_conflict_is_listed_once(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit("read.me", "theirs\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("read.me", "ours\n")
    with pytest.raises(AssertionError):
        repository.git("merge", "other")
    assert await find_files(repository, "read") == ["read.me"]


async def test_an_outdated_list_is_refreshed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_search, "MAX_AGE", PATIENCE)
    search = FileSearch()
    assert await search.find(repository.root, "late", 50) == []
    repository.write("late.txt", "")
    assert await search.find(repository.root, "late", 50) == []
    monkeypatch.setattr(file_search, "MAX_AGE", 0.0)
    async with asyncio.timeout(PATIENCE):
        while await search.find(repository.root, "late", 50) != ["late.txt"]:
            await asyncio.sleep(0.01)


async def test_a_missing_folder_raises_an_error_each_time(repository: Repository) -> None:
    search = FileSearch()
    for _ in range(2):
        with pytest.raises(SpinneyError, match="directory is missing"):
            await search.find(repository.root / "gone", "x", 50)
