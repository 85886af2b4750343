"""Completion of directories, and what kind of git repository each is."""

from pathlib import Path

import pytest

from model.commands.directories import MAX_RESULTS, list_directories
from model.runtime.workspace import Workspace
from tests.model.git.conftest import make_repository, own_home, repository  # noqa: F401 - fixtures
from tests.model.git.repository import Repository


async def list_names(workspace: Workspace, path: str) -> list[str]:
    return [Path(d.path).name for d in await list_directories(workspace, path)]


async def test_a_path_is_completed_as_in_a_shell(workspace: Workspace, tmp_path: Path) -> None:
    home = tmp_path / "listed"
    for name in ("alpha", "alps", "beta", ".hidden"):
        (home / name).mkdir(parents=True)
    (home / "also a file").touch()
    assert await list_names(workspace, f"{home}/") == ["alpha", "alps", "beta"]
    assert await list_names(workspace, f"{home}/al") == ["alpha", "alps"]
    assert await list_names(workspace, f"{home}/.h") == [".hidden"]
    assert await list_names(workspace, f"{home}/nothing/") == []


@pytest.mark.parametrize("path", ["", "relative", "~no-such-user/", "/\0", "x" * 10_000])
async def test_an_invalid_path_has_no_completions(path: str, workspace: Workspace) -> None:
    assert await list_directories(workspace, path) == []


async def test_repositories_linked_worktrees_and_bare_repositories_are_marked(
    workspace: Workspace,
    repository: Repository,  # noqa: F811
) -> None:
    beside = repository.root.parent
    repository.git("worktree", "add", "--quiet", "-b", "more", str(beside / "linked"))
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(beside / "bare.git"))
    (beside / "plain" / ".git").mkdir(parents=True)
    found = await list_directories(workspace, f"{beside}/")
    kinds = {Path(directory.path).name: directory.holds for directory in found}
    assert kinds[repository.root.name] == "repository"
    assert kinds["linked"] == "linked worktree"
    assert kinds["bare.git"] == "bare repository"
    assert kinds["plain"] == ""


async def test_the_number_of_results_is_bounded(workspace: Workspace, tmp_path: Path) -> None:
    for number in range(MAX_RESULTS + 5):
        (tmp_path / "many" / f"d{number}").mkdir(parents=True)
    assert len(await list_names(workspace, f"{tmp_path}/many/")) == MAX_RESULTS
