"""Restarts into the installed version: what they wait for, and when they are refused."""

import asyncio
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.server import cancel_restart, get_program_status, restart_spinney
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import Session
from model.runtime import restarting
from model.runtime.restarting import Restarter
from model.runtime.workspace import Workspace
from model.service.installation import Installation
from tests.conftest import Eventually
from tests.patience import PATIENCE


def install(root: Path, version: str, *, problem: str = "") -> None:
    """Install a Spinney that can be imported, unless it has a problem."""
    for name in ("server", "tui/shell", "model/runtime"):
        (root / name).mkdir(parents=True, exist_ok=True)
        for package in (name, name.partition("/")[0]):
            (root / package / "__init__.py").touch()
    for name in ("server/serve", "server/engine", "tui/shell/app", "model/runtime/workspace"):
        (root / f"{name}.py").write_text("")
    (root / "server" / "app.py").write_text(problem)
    (root / "model" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    (root / "spinney.py").write_text("")


@pytest.fixture
async def installed(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a workspace that can restart; they are those that run."""
    monkeypatch.setattr(restarting, "_IDLE_DELAY", 0.01)
    root = tmp_path / "installed"
    install(root, "0.1.0")
    workspace.restarter = restarter = Restarter(workspace.store, Installation(root, root))
    workspace.run_in_background(restarter.run())
    stopped = asyncio.Event()
    restarter.request_shutdown = stopped.set
    async with asyncio.timeout(PATIENCE):
        while not restarter._stamp:
            await asyncio.sleep(0.01)
    return root


def set_status(workspace: Workspace, session: Session, status: str) -> None:
    workspace.store.record(SessionUpdated(session_id=session.id, updates={"status": status}))


async def test_an_idle_spinney_restarts_at_once(workspace: Workspace, installed: Path) -> None:
    answer = await restart_spinney(workspace)
    assert (answer.restarting, answer.running) == (True, [])
    assert workspace.restarter.is_requested
    assert workspace.store.state.program.restart == "now"
    with pytest.raises(SpinneyError, match="restarting already"):
        await cancel_restart(workspace)


async def test_running_sessions_are_named_waited_for_or_interrupted(
    workspace: Workspace, installed: Path, session: Session, eventually: Eventually
) -> None:
    set_status(workspace, session, "running")
    with pytest.raises(SpinneyError, match=f"would interrupt: {session.name}"):
        await restart_spinney(workspace)
    answer = await restart_spinney(workspace, "idle")
    assert (answer.restarting, answer.running) == (False, [session.name])
    assert (await cancel_restart(workspace)).restart is None
    await restart_spinney(workspace, "idle")
    assert workspace.store.state.program.restart == "idle"
    assert not workspace.restarter.is_requested
    set_status(workspace, session, "idle")
    await eventually(lambda: workspace.store.state.program.restart == "now")
    assert workspace.restarter.is_requested


async def test_a_restart_now_does_not_wait(
    workspace: Workspace, installed: Path, session: Session
) -> None:
    set_status(workspace, session, "running")
    assert (await restart_spinney(workspace, "now")).restarting


async def test_a_version_that_does_not_start_is_not_used(
    workspace: Workspace, installed: Path, session: Session, eventually: Eventually
) -> None:
    install(installed, "0.2.0", problem="import a_package_that_is_missing")
    with pytest.raises(SpinneyError) as refused:
        await restart_spinney(workspace)
    assert "No module named 'a_package_that_is_missing'" in refused.value.message
    assert "keeps running. Install Spinney again" in refused.value.message
    assert not workspace.restarter.is_requested

    install(installed, "0.2.0")
    set_status(workspace, session, "running")
    await restart_spinney(workspace, "idle")
    install(installed, "0.2.1", problem="1 / 0")  # while it waits
    reader = workspace.bus.reader()
    set_status(workspace, session, "idle")
    await eventually(lambda: workspace.store.state.program.restart is None)
    workspace.bus.seal()
    events = [entry.event for entry in reader.take()[0]]
    [failed] = [event for event in events if isinstance(event, TaskCompleted)]
    assert (failed.ok, "ZeroDivisionError" in failed.detail) == (False, True)
    assert not workspace.restarter.is_requested


async def test_other_installed_files_are_noticed_and_half_installed_ones_are_not(
    workspace: Workspace, installed: Path
) -> None:
    assert (await get_program_status(workspace)).installed_version is None
    (installed / "model" / "__init__.py").unlink()
    assert (await get_program_status(workspace)).installed_version is None
    install(installed, "0.2.0")
    assert (await get_program_status(workspace)).installed_version == "0.2.0"
    assert workspace.store.state.program.installed_version == "0.2.0"


async def test_a_spinney_that_cannot_restart_says_so(workspace: Workspace) -> None:
    with pytest.raises(SpinneyError, match="Quit it, and start it again"):
        await restart_spinney(workspace, "now")


def test_the_update_command_is_that_of_the_installer(tmp_path: Path) -> None:
    for file, kind in (("pipx_metadata.json", "pipx"), ("uv-receipt.toml", "uv"), ("x", "pip")):
        prefix = tmp_path / kind
        prefix.mkdir()
        (prefix / file).touch()
        assert Installation(tmp_path, prefix).kind == kind
    (tmp_path / ".git").mkdir()
    assert Installation(tmp_path, tmp_path).kind == "git"
