"""Information about this installation that clients show."""

import shutil

import pytest

from model import __version__
from model.base.paths import Directories
from model.commands.doctor import get_installation
from model.runtime.doctor import examine_machine
from model.runtime.workspace import Workspace
from tests.model.git.conftest import repository  # noqa: F401 - a fixture
from tests.model.git.git_project import add_git_project
from tests.model.git.repository import Repository


async def test_the_installation_names_version_log_git_and_folders(
    workspace: Workspace, directories: Directories
) -> None:
    installation = await get_installation(workspace)
    assert (installation.version, installation.log) == (__version__, str(directories.log))
    found = {finding.name: finding for finding in installation.findings}
    assert list(found) == ["git", "gh", "configuration", "data", "worktrees", "database", "backup"]
    assert found["git"].ok is True
    assert found["data"].found == str(directories.data)


async def test_a_missing_gh_is_optional_and_its_purpose_is_explained(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    installation = await get_installation(workspace)
    gh = next(finding for finding in installation.findings if finding.name == "gh")
    assert gh.ok is None
    assert "pull requests" in gh.remedy and "gh auth login" in gh.remedy


async def test_glab_is_checked_once_a_project_is_on_gitlab(
    workspace: Workspace,
    repository: Repository,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repository.git("remote", "add", "origin", "git@gitlab.com:group/sub/engine.git")
    await add_git_project(workspace, repository)
    find = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "glab" else find(name))
    installation = await get_installation(workspace)
    glab = next(finding for finding in installation.findings if finding.name == "glab")
    assert glab.ok is None
    assert "merge requests" in glab.remedy and "glab auth login" in glab.remedy


async def test_a_file_in_place_of_a_folder_is_named_with_a_remedy(
    workspace: Workspace, directories: Directories
) -> None:
    shutil.rmtree(directories.worktrees_home, ignore_errors=True)
    directories.worktrees_home.parent.mkdir(parents=True, exist_ok=True)
    directories.worktrees_home.write_text("")
    installation = await get_installation(workspace)
    worktrees = next(finding for finding in installation.findings if finding.name == "worktrees")
    assert worktrees.ok is False
    assert str(directories.worktrees_home) in worktrees.remedy


async def test_invalid_preferences_are_reported_and_left_as_they_are(
    directories: Directories,
) -> None:
    directories.create()
    broken, odd = ('{"theme": "dark",', "is not valid JSON"), ('{"zoom_level": 1}', "zoom_level")
    for written, message in (broken, odd):
        directories.preferences.write_text(written)
        bad = [each for each in await examine_machine(directories) if each.name == "preferences"]
        assert [finding.ok for finding in bad] == [False]
        assert message in bad[0].found and str(directories.preferences) in bad[0].remedy
        assert directories.preferences.read_text() == written
