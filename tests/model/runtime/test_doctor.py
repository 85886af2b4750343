"""What the screens are told of this installation and of its server."""

import shutil

import pytest

from model import __version__
from model.base.paths import Directories
from model.commands.doctor import get_installation
from model.runtime.doctor import examine_machine
from model.runtime.workspace import Workspace


async def test_the_installation_names_version_log_git_and_folders(
    workspace: Workspace, directories: Directories
) -> None:
    told = await get_installation(workspace)
    assert (told.version, told.log) == (__version__, str(directories.log))
    found = {finding.name: finding for finding in told.findings}
    assert list(found) == ["git", "gh", "configuration", "data", "worktrees", "database", "backup"]
    assert found["git"].ok is True
    assert found["data"].found == str(directories.data)


async def test_a_missing_gh_is_no_fault_but_says_what_it_is_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    told = await get_installation(workspace)
    gh = next(finding for finding in told.findings if finding.name == "gh")
    assert gh.ok is None
    assert "pull requests" in gh.remedy and "gh auth login" in gh.remedy


async def test_a_folder_that_is_a_file_is_named_with_what_to_do(
    workspace: Workspace, directories: Directories
) -> None:
    shutil.rmtree(directories.worktrees_home, ignore_errors=True)
    directories.worktrees_home.parent.mkdir(parents=True, exist_ok=True)
    directories.worktrees_home.write_text("")
    told = await get_installation(workspace)
    worktrees = next(finding for finding in told.findings if finding.name == "worktrees")
    assert worktrees.ok is False
    assert str(directories.worktrees_home) in worktrees.remedy


async def test_settings_that_cannot_be_used_are_named_and_left_as_they_are(
    directories: Directories,
) -> None:
    directories.create()
    broken, odd = ('{"theme": "dark",', "is not valid JSON"), ('{"zoom_level": 1}', "zoom_level")
    for written, told in (broken, odd):
        directories.preferences.write_text(written)
        bad = [each for each in await examine_machine(directories) if each.name == "preferences"]
        assert [finding.ok for finding in bad] == [False]
        assert told in bad[0].found and str(directories.preferences) in bad[0].remedy
        assert directories.preferences.read_text() == written
