"""Section 2.8 of the interface: environment variables of the program and its agents."""

from pathlib import Path

import aiohttp
import pytest

from tests.contract.conftest import make_program, open_socket
from tests.program import Program, Serving

KEYS = {"ANTHROPIC_API_KEY": "dummy-key-1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/dummy-2"}


def parse_environment(text: str) -> dict[str, str]:
    lines = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value for name, _, value in lines}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("level", "kept", "dropped"),
    [("trace", "INFO", None), ("debug", "INFO", None), ("info", "INFO", None),
     ("warn", None, "INFO"), ("error", None, "INFO"), ("nonsense", "INFO", None)],
)  # fmt: skip
def test_the_log_contains_messages_of_its_level(
    tmp_path: Path, level: str, kept: str | None, dropped: str | None
) -> None:
    program = make_program(tmp_path)
    program.environ["SPINNEY_LOG"] = level
    with program.serving("--demo"):
        program.call("list_projects")
    log = (program.data / "spinney.log").read_text()
    assert kept is None or f" {kept} " in log
    assert dropped is None or f" {dropped} " not in log
    assert (" DEBUG " in log) == (level in ("trace", "debug"))


def test_files_are_written_only_to_the_configured_directories(program: Program) -> None:
    with program.serving("--demo"):
        program.call("create_folder", "name=a")
    assert (program.config / "preferences.json").is_file()
    assert (program.data / "spinney.log").is_file()
    elsewhere = {".config", ".local", ".spinney", "Library"}
    assert elsewhere.isdisjoint(path.name for path in program.home.iterdir())
    assert list(program.cwd.iterdir()) == []


async def test_agents_get_their_own_variables_and_no_client_can_read_them(tmp_path: Path) -> None:
    program = make_program(tmp_path)
    program.environ |= KEYS | {"SPINNEY_LOG": "trace"}
    with program.serving("--demo") as served:
        found = await read_agent_environment(program, served)
        assert {name: found[name] for name in KEYS} == KEYS
        assert served.token not in str(found)
        assert "SPINNEY_LOG" not in found
        assert found["SPINNEY_WORKSPACE_PATH"]
        headers = {"Authorization": f"Bearer {served.token}"}
        async with (
            aiohttp.ClientSession(served.base_url, headers=headers) as http,
            http.get("/api/init") as response,
        ):
            known = await response.text()
    kept = [path for place in (program.config, program.data) for path in place.rglob("*")]
    written = known.encode() + b"".join(path.read_bytes() for path in kept if path.is_file())
    for secret in KEYS.values():
        assert secret.encode() not in written


async def read_agent_environment(program: Program, served: Serving) -> dict[str, str]:
    """The environment of a process started by the demo agent."""
    async with aiohttp.ClientSession(served.base_url) as http:
        socket = await open_socket(http, served.token)
        project = await socket.call("add_project", path=str(program.make_repository()))
        worktree = await socket.call("open_base_worktree", projectId=project["id"])
        ids = {"worktreeId": worktree["id"]}
        session = await socket.call("create_session", **ids, executionMode="yolo")
        message = "/demo run env > .git/seen"
        await socket.call("send_chat_message", sessionId=session["id"], message=message)
        if not any(frame.get("event") == "message-completed" for frame in socket.frames):
            await socket.event("message-completed")
        seen = Path(worktree["path"]) / ".git" / "seen"
        return parse_environment(seen.read_text())
