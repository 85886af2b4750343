"""What a change touches is found however it was committed, and is not guessed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.changes import find_base, list_changed_paths, read_touched_lines
from tests.model.git.repository import Repository

HOUR = 3600
START = 1_700_000_000


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "suite")
    made.root.mkdir()
    made.git("init", "--quiet")
    commit(made, "first", 0, "one\ntwo\nthree\n")
    land(made)
    return made


@contextmanager
def at(hours: float) -> Iterator[None]:
    """Commit so many hours after the first commit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_COMMITTER_DATE", f"{START + int(hours * HOUR)} +0000")
        yield


def commit(repository: Repository, name: str, hours: float, content: str = "") -> str:
    repository.write(name, content)
    repository.git("add", "--all")
    with at(hours):
        repository.git("commit", "--quiet", "--message", name)
    return repository.git("rev-parse", "HEAD")


def land(repository: Repository) -> None:
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")


def test_it_is_what_has_not_landed_however_old(repository: Repository) -> None:
    commit(repository, "second", 1)
    commit(repository, "third", 100)
    repository.write("not committed", "")
    assert list_changed_paths(repository.root) == ["not committed", "second", "third"]


def test_where_all_has_landed_it_is_that_of_the_last_day(repository: Repository) -> None:
    commit(repository, "second", 100)
    commit(repository, "third", 110)
    commit(repository, "fourth", 130)
    land(repository)
    assert list_changed_paths(repository.root) == ["fourth", "third"]


def test_what_a_merge_brought_belongs_to_it_however_old(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    commit(repository, "of the branch", 12)
    repository.git("checkout", "--quiet", "-")
    commit(repository, "beside it", 1)
    with at(48):
        repository.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    land(repository)
    assert list_changed_paths(repository.root) == ["of the branch"]


def test_without_a_landed_branch_it_is_not_known(repository: Repository) -> None:
    commit(repository, "second", 1)
    repository.git("update-ref", "-d", "refs/remotes/origin/main")
    assert list_changed_paths(repository.root) is None


def test_a_name_that_is_no_text_is_one_of_its_paths(repository: Repository) -> None:
    commit(repository, "second", 1)
    Path(repository.root, "\udcff.py").touch()
    assert list_changed_paths(repository.root) == ["second", "\udcff.py"]


def test_where_lines_were_only_removed_the_line_before_them_is_touched(
    repository: Repository,
) -> None:
    commit(repository, "first", 1, "one\nthree\n")
    assert read_touched_lines(repository.root / "first") == {1}


def test_a_test_that_has_another_git_changes_no_answer(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = repository.git("rev-parse", "HEAD")
    commit(repository, "second", 1)
    for name in ("PATH", "GIT_DIR"):
        monkeypatch.setenv(name, "/nonexistent")
    assert find_base(repository.root) == before
