"""Information about this installation that clients show."""

import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from model import __version__
from model.base.instance import hold_lock
from model.base.paths import Directories
from model.commands.doctor import get_installation
from model.runtime.doctor import examine_machine
from model.runtime.doctor_reach import examine_reach
from model.runtime.workspace import Workspace
from tests.certificates import make_certificate
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


async def test_the_running_spinney_its_port_and_its_certificate_are_checked(
    directories: Directories, tmp_path: Path
) -> None:
    files = make_certificate(tmp_path / "tls", days=3)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        preferences = {
            "http_server_port": port,
            "http_server_certificate": str(files.certificate),
            "http_server_key": str(files.key),
        }
        directories.preferences.write_text(json.dumps(preferences))
        found = {each.name: each for each in await examine_reach(directories, {"PATH": ""})}
    assert found["port"].found == f"{port} is in use by another program"
    assert found["certificate"].ok is None and "Renew it" in found["certificate"].remedy
    assert found["service"].ok is None
    assert files.key is not None
    files.key.write_text("nothing")
    with hold_lock(directories.lock):
        found = {each.name: each for each in await examine_reach(directories, {"PATH": ""})}
    assert found["running"].found == f"process {os.getpid()}, version {__version__}"
    assert "port" not in found
    assert found["certificate"].ok is False
