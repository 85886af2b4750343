"""The life of OpenCode's server: found, started, killed, ended when nobody uses it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from model.backends import base, process_table
from model.backends import program as backend_program
from model.backends.opencode.backend import OpenCodeBackend
from model.base.errors import SpinneyError
from tests.live.completions_stub import MODEL, PROVIDER
from tests.live.cut_off import opencode_in
from tests.live.opencode.conftest import token
from tests.model.backends.agents import Conversation, a_launch, becomes, only, text

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_killed_server_fails_the_turn_and_the_conversation_goes_on_in_a_new_one(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data")
    launch = a_launch(worktree, model=f"{PROVIDER}/{MODEL}", environment=environment)
    try:
        before = Conversation(await backend.open(launch))
        await before.turn("say: the colour is blue")
        await before.agent.send(base.Prompt("slow"))
        await before.until(base.TextDelta)
        os.kill(server_of(tmp_path / "data"), signal.SIGKILL)
        failed = only(await before.rest(), base.TurnFailed)
        assert failed.error_type == "backend_error"
        assert "SIGKILL" in failed.error
        await before.end()
        await before.agent.close()
        known = token(before)
        resumed = a_launch(
            worktree,
            model=f"{PROVIDER}/{MODEL}",
            environment=environment,
            resume_token=known,
        )
        after = Conversation(await backend.open(resumed))
        assert "the colour is blue" in text(await after.turn("remember?"))
        assert token(after) == known
        await after.agent.close()
    finally:
        await backend.close()
    await becomes(lambda: servers_of(tmp_path / "data") == [])


def servers_of(data: Path) -> list[int]:
    """The processes of the servers that this backend started."""
    file = str(data / "worktrees.json")
    marked = process_table.environment_entries("SPINNEY_OPENCODE_WORKTREES")
    return [pid for pid, value in marked if value == file]


def server_of(data: Path) -> int:
    return min(servers_of(data))


async def test_a_server_that_nobody_uses_ends(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data", idle_timeout=0.1)
    agent = await backend.open(a_launch(worktree, environment=environment))
    assert servers_of(tmp_path / "data")
    await agent.close()
    await becomes(lambda: servers_of(tmp_path / "data") == [])
    await backend.close()


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a shell script on PATH in the place of the program."""

    def pretended(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "opencode"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return program

    return pretended


async def test_a_program_that_does_not_start_is_told_with_its_last_words(
    pretended: Callable[[str], Path], worktree: Path, tmp_path: Path
) -> None:
    pretended("echo 'the loom is broken' >&2; exit 3")
    backend = OpenCodeBackend(tmp_path / "data")
    with pytest.raises(SpinneyError, match="the loom is broken") as error:
        await backend.open(a_launch(worktree))
    assert error.value.error_type == "backend_unavailable"
    await backend.close()


async def test_a_program_that_is_not_there_is_told_with_its_installation(
    worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    backend = OpenCodeBackend(tmp_path / "data")
    assert "npm install" in ((await backend.probe()).problem or "")
    with pytest.raises(SpinneyError, match="npm install") as error:
        await backend.open(a_launch(worktree))
    assert error.value.error_type == "backend_unavailable"


async def test_the_probe_tells_of_a_version_that_is_too_old(
    pretended: Callable[[str], Path], backend: OpenCodeBackend
) -> None:
    pretended("echo 1.2.3")
    probe = await backend.probe()
    assert probe.version == "1.2.3"
    assert "opencode upgrade" in (probe.problem or "")


async def test_the_probe_of_a_program_that_hangs_ends(
    pretended: Callable[[str], Path], backend: OpenCodeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "COMMAND_TIMEOUT", 0.2)
    pretended("exec sleep 60")
    assert "opencode --version" in ((await backend.probe()).problem or "")


@pytest.mark.parametrize(
    ("settings", "signed_in"),
    [
        ([(None, "")], None),
        ([(1, ""), (0, '{"provider": {"own": {}}}')], None),
        ([(1, ""), (0, "{}")], False),
        ([(1, ""), (1, "")], None),
    ],
)
async def test_only_who_was_told_to_have_no_provider_is_not_signed_in(
    pretended: Callable[[str], Path],
    backend: OpenCodeBackend,
    monkeypatch: pytest.MonkeyPatch,
    settings: list[tuple[int | None, str]],
    signed_in: bool | None,
) -> None:
    async def told(command: list[str], *_: object) -> tuple[int | None, str]:
        if command[1] == "debug":
            return settings.pop(0)
        return (0, "1.18.33") if command[1] == "--version" else (0, "0 credentials")

    pretended("exit 1")
    monkeypatch.setattr(backend_program, "run_command", told)
    probe = await backend.probe()
    assert (probe.version, probe.signed_in) == ("1.18.33", signed_in)
    assert (probe.problem is None) == (signed_in is None)
    assert settings == []


async def test_the_probe_finds_the_program_and_its_version(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, backend: OpenCodeBackend
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    probe = await backend.probe()
    assert probe.program is not None
    assert Path(probe.program).name == "opencode"
    assert probe.version is not None
    assert probe.signed_in is None  # the stub is a provider of the person's own
    assert probe.problem is None


async def test_the_probe_tells_how_to_sign_in(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: OpenCodeBackend
) -> None:
    for name, value in opencode_in(tmp_path, {}).items():
        monkeypatch.setenv(name, value)
    probe = await backend.probe()
    assert probe.signed_in is False
    assert "opencode auth login" in (probe.problem or "")
