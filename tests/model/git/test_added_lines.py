"""The lines that a commit or push adds are read exactly, whatever they look like."""

import pytest

from model.git.added_lines import (
    AddedLines,
    parse_added_lines,
    read_staged_additions,
    read_unpublished_additions,
)
from tests.model.git.repository import Repository


async def test_lines_that_look_like_a_diff_are_lines(repository: Repository) -> None:
    text = "++ b/other\n@@ -1,9 +1,9 @@\n-- a/x\n\\ no\n"
    repository.commit("a b.txt", "old")
    repository.write("a b.txt", f"{text}keep\nno line break at the end")
    additions = await read_staged_additions(repository.root, stage_all=True)
    [found] = additions.lines()
    assert (found.path, found.first) == ("a b.txt", 1)
    assert found.text == text + "keep\nno line break at the end"


async def test_staging_all_in_a_copy_leaves_the_index_as_it_is(repository: Repository) -> None:
    repository.write("staged", "1\n")
    repository.git("add", "staged")
    repository.write("loose", "2\n")
    before = repository.git("ls-files", "--stage")
    every = await read_staged_additions(repository.root, stage_all=True)
    staged = await read_staged_additions(repository.root, stage_all=False)
    assert [found.path for found in every.lines()] == ["loose", "staged"]
    assert [found.path for found in staged.lines()] == ["staged"]
    assert repository.git("ls-files", "--stage") == before
    repository.git("add", "--all")
    assert every.tree == repository.git("write-tree") != staged.tree


async def test_the_commits_that_a_remote_lacks_are_read_one_by_one(
    with_remote: Repository,
) -> None:
    first = with_remote.commit("one", "1\n")
    second = with_remote.commit("one", "2\n")
    additions = await read_unpublished_additions(with_remote.root, "origin", "HEAD")
    assert list(additions.lines()) == [
        AddedLines("one", 1, "2", second[:7]),
        AddedLines("one", 1, "1", first[:7]),
    ]


async def test_what_is_read_is_what_the_push_sends(with_remote: Repository) -> None:
    bad = with_remote.commit("one", "bad\n")
    with_remote.commit("one", "good\n")
    good = with_remote.git("commit-tree", "HEAD^{tree}", "-p", "HEAD^^", "-m", "Good")
    with_remote.git("replace", bad, good)
    additions = await read_unpublished_additions(with_remote.root, "origin", "HEAD")
    assert [found.text for found in additions.lines()] == ["good", "bad"]


@pytest.mark.parametrize(
    ("pushed", "published"),
    [("git@example.org:a/b.git", True), ("https://Example.org/a/b", True), ("/elsewhere", False)],
)
async def test_what_is_published_elsewhere_is_new_where_a_push_goes(
    with_remote: Repository, pushed: str, published: bool
) -> None:
    with_remote.git("remote", "set-url", "origin", "https://example.org/a/b.git")
    with_remote.git("config", "remote.origin.pushurl", pushed)
    additions = await read_unpublished_additions(with_remote.root, "origin", "main")
    assert ([found.path for found in additions.lines()] == []) is published


def test_a_hunk_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    cut = "+++ b/one\n@@ -5 +7,999999999 @@\n-5\n+a\n+b"
    assert list(parse_added_lines(cut)) == [AddedLines("one", 7, "a\nb")]
