"""Settings that the real OpenCode cannot use: told with the place, and without their content."""

from pathlib import Path

import pytest

from model.backends.opencode.backend import OpenCodeBackend
from model.base.errors import SpinneyError
from tests.live.cut_off import opencode_in
from tests.model.backends.agents import Open, a_launch

pytestmark = pytest.mark.asyncio(loop_scope="package")

ROWS = "".join(f' "row{number}": "loom-key",\n' for number in range(40))
"""More than is kept of a program's last words."""

UNUSABLE = [
    (
        f'{{"provider": {{"x": {{\n{ROWS} "apiKey": "loom-key"}}}}\n"model": "a/b"}}',
        "CommaExpected",
    ),
    ('{"provider": {"x": {"models": "loom-key"}}, "mode": 4}', "provider.x.models: Expected"),
]


def judge(refused: pytest.ExceptionInfo[SpinneyError], mistake: str) -> None:
    assert refused.value.message.startswith("OpenCode cannot use its settings")
    assert mistake in refused.value.message
    assert "loom-key" not in refused.value.message
    assert refused.value.error_type == "backend_unavailable"


@pytest.mark.parametrize(("settings", "mistake"), UNUSABLE)
async def test_those_of_the_project(
    open_opencode: Open, worktree: Path, settings: str, mistake: str
) -> None:
    (worktree / "opencode.json").write_text(settings)
    with pytest.raises(SpinneyError) as refused:
        await open_opencode()
    judge(refused, mistake)
    assert str(worktree / "opencode.json") in refused.value.message


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(("settings", "mistake"), UNUSABLE)
async def test_those_of_the_person(
    worktree: Path, tmp_path: Path, settings: str, mistake: str
) -> None:
    (tmp_path / "home").mkdir()
    environment = opencode_in(tmp_path / "home", {})
    (tmp_path / "home" / "CONFIG" / "opencode" / "opencode.json").write_text(settings)
    backend = OpenCodeBackend(tmp_path / "data")
    with pytest.raises(SpinneyError) as refused:
        await backend.open(a_launch(worktree, environment=environment))
    judge(refused, mistake)
    await backend.close()
