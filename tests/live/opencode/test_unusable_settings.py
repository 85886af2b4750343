"""Settings that the real OpenCode cannot use: the error has their path, not their content."""

from pathlib import Path

import pytest

from model.backends.opencode.backend import OpenCodeBackend
from model.base.errors import SpinneyError
from tests.live.isolation import isolate_opencode
from tests.model.backends.agents import Open, make_launch

pytestmark = pytest.mark.asyncio(loop_scope="package")

ROWS = "".join(f' "row{number}": "loom-key",\n' for number in range(40))
"""Longer than the part of a program's output that is kept for errors."""

UNUSABLE = [
    (
        f'{{"provider": {{"x": {{\n{ROWS} "apiKey": "loom-key"}}}}\n"model": "a/b"}}',
        "CommaExpected",
    ),
    ('{"provider": {"x": {"models": "loom-key"}}, "mode": 4}', "provider.x.models: Expected"),
]


def check_error(refused: pytest.ExceptionInfo[SpinneyError], mistake: str) -> None:
    assert refused.value.message.startswith("OpenCode cannot use its settings")
    assert mistake in refused.value.message
    assert "loom-key" not in refused.value.message
    assert refused.value.error_type == "backend_unavailable"


@pytest.mark.parametrize(("settings", "mistake"), UNUSABLE)
async def test_unusable_project_settings_are_reported(
    open_opencode: Open, worktree: Path, settings: str, mistake: str
) -> None:
    (worktree / "opencode.json").write_text(settings)
    with pytest.raises(SpinneyError) as refused:
        await open_opencode()
    check_error(refused, mistake)
    assert str(worktree / "opencode.json") in refused.value.message


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(("settings", "mistake"), UNUSABLE)
async def test_unusable_user_settings_are_reported(
    worktree: Path, tmp_path: Path, settings: str, mistake: str
) -> None:
    (tmp_path / "home").mkdir()
    environment = isolate_opencode(tmp_path / "home", {})
    (tmp_path / "home" / "CONFIG" / "opencode" / "opencode.json").write_text(settings)
    backend = OpenCodeBackend(tmp_path / "data")
    with pytest.raises(SpinneyError) as refused:
        await backend.open(make_launch(worktree, environment=environment))
    check_error(refused, mistake)
    await backend.close()
