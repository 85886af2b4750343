"""The life cycle of OpenCode's server: probing, start, crash, and end when idle."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from model.backends import agent_events, base, process_table
from model.backends import program as backend_program
from model.backends.opencode.backend import OpenCodeBackend
from model.base.errors import SpinneyError
from tests.live.completions_stub import MODEL, PROVIDER
from tests.live.isolation import isolate_opencode
from tests.model.backends.agents import (
    Conversation,
    get_resume_token,
    make_launch,
    only,
    text,
    wait_until,
)

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_killed_server_fails_the_turn_and_a_new_one_resumes_the_conversation(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data")
    launch = make_launch(worktree, model=f"{PROVIDER}/{MODEL}", environment=environment)
    try:
        before = Conversation(await backend.open(launch))
        await before.turn("say: the colour is blue")
        await before.agent.send(base.Prompt("slow"))
        await before.until(agent_events.TextDelta)
        os.kill(find_server(tmp_path / "data"), signal.SIGKILL)
        failed = only(await before.rest(), agent_events.TurnFailed)
        assert failed.error_type == "backend_error"
        assert "SIGKILL" in failed.error
        await before.end()
        await before.agent.close()
        known = get_resume_token(before)
        resumed = make_launch(
            worktree,
            model=f"{PROVIDER}/{MODEL}",
            environment=environment,
            resume_token=known,
        )
        after = Conversation(await backend.open(resumed))
        assert "the colour is blue" in text(await after.turn("remember?"))
        assert get_resume_token(after) == known
        await after.agent.close()
    finally:
        await backend.close()
    await wait_until(lambda: find_servers(tmp_path / "data") == [])


def find_servers(data: Path) -> list[int]:
    """The pids of the servers that this backend started."""
    file = str(data / "worktrees.json")
    marked = process_table.find_by_variable("SPINNEY_OPENCODE_WORKTREES")
    return [pid for pid, value in marked if value == file]


def find_server(data: Path) -> int:
    return min(find_servers(data))


async def test_an_idle_server_ends(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data", idle_timeout=0.1)
    agent = await backend.open(make_launch(worktree, environment=environment))
    assert find_servers(tmp_path / "data")
    await agent.close()
    await wait_until(lambda: find_servers(tmp_path / "data") == [])
    await backend.close()


@pytest.fixture
def fake_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a shell script on PATH in place of the program."""

    def fake_program(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "opencode"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return program

    return fake_program


async def test_a_program_that_does_not_start_is_reported_with_its_last_output(
    fake_program: Callable[[str], Path], worktree: Path, tmp_path: Path
) -> None:
    fake_program("echo 'the loom is broken' >&2; exit 3")
    backend = OpenCodeBackend(tmp_path / "data")
    with pytest.raises(SpinneyError, match="the loom is broken") as error:
        await backend.open(make_launch(worktree))
    assert error.value.error_type == "backend_unavailable"
    await backend.close()


async def test_a_missing_program_is_reported_with_the_install_command(
    worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    backend = OpenCodeBackend(tmp_path / "data")
    assert "npm install" in ((await backend.probe()).problem or "")
    with pytest.raises(SpinneyError, match="npm install") as error:
        await backend.open(make_launch(worktree))
    assert error.value.error_type == "backend_unavailable"


async def test_the_probe_reports_a_version_that_is_too_old(
    fake_program: Callable[[str], Path], backend: OpenCodeBackend
) -> None:
    fake_program("echo 1.2.3")
    probe = await backend.probe()
    assert probe.version == "1.2.3"
    assert "opencode upgrade" in (probe.problem or "")


async def test_the_probe_of_a_program_that_hangs_times_out(
    fake_program: Callable[[str], Path], backend: OpenCodeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "COMMAND_TIMEOUT", 0.2)
    fake_program("exec sleep 60")
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
async def test_only_settings_without_a_provider_count_as_not_signed_in(
    fake_program: Callable[[str], Path],
    backend: OpenCodeBackend,
    monkeypatch: pytest.MonkeyPatch,
    settings: list[tuple[int | None, str]],
    signed_in: bool | None,
) -> None:
    async def run_command(command: list[str], *_: object) -> tuple[int | None, str]:
        if command[1] == "debug":
            return settings.pop(0)
        return (0, "1.18.33") if command[1] == "--version" else (0, "0 credentials")

    fake_program("exit 1")
    monkeypatch.setattr(backend_program, "run_command", run_command)
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
    assert probe.signed_in is None  # the stub is a provider from the user's settings
    assert probe.problem is None


async def test_the_probe_reports_how_to_sign_in(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: OpenCodeBackend
) -> None:
    for name, value in isolate_opencode(tmp_path, {}).items():
        monkeypatch.setenv(name, value)
    probe = await backend.probe()
    assert probe.signed_in is False
    assert "opencode auth login" in (probe.problem or "")
