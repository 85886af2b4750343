"""A newer version is looked for once a day, if the user wants it, and never blocks anything."""

from pathlib import Path

import pytest

from model.commands.preferences import update_preferences
from model.runtime.workspace import Workspace
from model.service.releases import INTERVAL, ReleaseCheck, is_newer, read_answer
from tests.conftest import Eventually


class Index:
    """A package index with one version, or (empty) one that cannot be reached."""

    def __init__(self, version: str = "99.0.0") -> None:
        self.version, self.asked = version, 0

    async def ask(self) -> str:
        self.asked += 1
        return self.version


async def test_the_network_is_asked_once_a_day_and_only_with_the_preference_on(
    workspace: Workspace, eventually: Eventually
) -> None:
    index = Index()
    workspace.ask_for_release = index.ask
    status = workspace.restarter
    assert (index.asked, status.status.release) == (0, None)
    for _ in range(2):
        await update_preferences(workspace, {"check_for_updates": True})
        await eventually(lambda: status.status.release == "99.0.0")
        await update_preferences(workspace, {"check_for_updates": False})
        await eventually(lambda: status.status.release is None)
    assert index.asked == 1


async def test_a_failed_check_keeps_what_is_known_and_is_not_repeated_at_once(
    tmp_path: Path,
) -> None:
    now, index = 1000 * INTERVAL, Index("2.0.0")
    check = ReleaseCheck(tmp_path / "releases.json", index.ask, lambda: now)
    assert await check.find_newer("1.9.9") == "2.0.0"
    assert await check.find_newer("1.9.9") == "2.0.0"
    assert index.asked == 1
    now += INTERVAL
    index.version = ""
    assert await check.find_newer("1.9.9") == "2.0.0"
    assert await check.find_newer("1.9.9") == "2.0.0"
    assert index.asked == 2
    assert await check.find_newer("2.0.0") is None
    now -= INTERVAL  # The clock was wrong.
    index.version = "2.1.0"
    assert await check.find_newer("1.9.9") == "2.1.0"
    assert index.asked == 3


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("spinney (0.9.1)\nAvailable versions: 0.9.1, 0.9.0\n", "0.9.1"),
        ('[{"name": "spinney", "version": "0.9.0", "latest_version": "0.10.0"}]', "0.10.0"),
        ('[{"name": "aiohttp", "version": "3.0", "latest_version": "3.1"}]', ""),
        ("ERROR: No matching distribution found for spinney\n", ""),
        ("", ""),
        ("{", ""),
    ],
)
def test_the_answers_of_pip_and_uv_are_read(printed: str, version: str) -> None:
    assert read_answer(printed) == version


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.10.0", "0.9.9", True),
        ("1.0", "0.9.9", True),
        ("0.1.0", "0.1.0", False),
        ("0.2.0rc1", "0.1.0", False),
        ("", "0.1.0", False),
        ("0.1.1", "0.1.0.dev3", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer
