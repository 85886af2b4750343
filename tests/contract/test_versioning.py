"""Section 9 and the rules of 2.5: older and newer clients and files are understood."""

import json
from typing import Any

from tests.contract.conftest import RefusedError, make_remote_call
from tests.program import Program, Serving
from tests.server.conftest import Socket


def read_preferences(program: Program) -> dict[str, Any]:
    return dict(json.loads((program.config / "preferences.json").read_text()))


def write_preferences(program: Program, text: str) -> None:
    program.config.mkdir(mode=0o700, exist_ok=True)
    (program.config / "preferences.json").write_text(text)


def test_a_missing_preferences_file_is_created_with_the_defaults(program: Program) -> None:
    with program.serving("--demo"):
        shown = program.call("get_preferences")
    assert (shown["theme"], shown["git_poll_interval"]) == ("system", 60)
    assert read_preferences(program)["theme"] == "system"
    (program.config / "preferences.json").unlink()
    with program.serving("--demo"):
        assert read_preferences(program)["zoom_level"] == 90


def test_keys_of_a_newer_version_are_kept(program: Program) -> None:
    write_preferences(program, json.dumps({"theme": "dark", "from_the_future": {"a": [1, None]}}))
    with program.serving("--demo"):
        program.call("update_preferences", json.dumps({"changes": {"zoom_level": 110}}))
        assert program.call("get_preferences")["theme"] == "dark"
    kept = read_preferences(program)
    assert kept["from_the_future"] == {"a": [1, None]}
    assert (kept["theme"], kept["zoom_level"]) == ("dark", 110)


def test_only_an_invalid_value_is_reset_and_a_problem_is_reported(program: Program) -> None:
    write_preferences(program, json.dumps({"theme": "dark", "zoom_level": 5000}))
    with program.serving("--demo"):
        shown = program.call("get_preferences")
        assert (shown["theme"], shown["zoom_level"]) == ("dark", 90)
        assert "zoom_level" in str(program.call("get_problems"))


def test_a_broken_file_is_kept_under_another_name(program: Program) -> None:
    write_preferences(program, '{"theme": "dark"')
    with program.serving("--demo"):
        assert program.call("get_preferences")["theme"] == "system"
    copies = [p for p in program.config.iterdir() if p.name != "preferences.json"]
    assert '{"theme": "dark"' in [path.read_text() for path in copies]


async def test_command_aliases_and_both_spellings_of_arguments_are_accepted(
    program: Program, served: Serving, socket: Socket
) -> None:
    call = make_remote_call(socket)
    project = await call("add_project", path=str(program.make_repository()))
    worktree = await call("open_base_worktree", project_id=project["id"])
    session = await call("create_session", worktree_id=worktree["id"], execution_mode="yolo")
    assert session["execution_mode"] == "yolo"
    for name in ("list_sessions", "get_sessions"):
        for spelling in ("worktreeId", "worktree_id"):
            assert await call(name, **{spelling: worktree["id"]}) == [session]
    for name in ("stop_generation", "cancel_chat_message"):
        assert (await call(name, sessionId=session["id"]))["id"] == session["id"]


async def test_null_is_absent_and_unknown_arguments_are_ignored(
    program: Program, served: Serving, socket: Socket
) -> None:
    call = make_remote_call(socket)
    args = {"name": "a", "parentId": None, "fromTheFuture": {"a": 1}}
    await socket.send({"id": "f", "command": "create_folder", "args": args})
    reply = await socket.answer("f")
    assert reply["warnings"] == ["create_folder takes no 'fromTheFuture'."]
    folder = reply["data"]
    assert folder["is_folder"] is True
    await socket.send({"id": "a", "command": "list_projects", "args": None, "version": 7})
    assert await socket.answer("a") == {"type": "response", "id": "a", "data": [folder]}
    await socket.send({"id": "b", "command": "list_worktrees", "args": {"projectID": "x"}})
    assert "Missing field" in (await socket.answer("b"))["error"]
    await socket.send({"id": "c", "command": "create_folder", "args": {"name": "c", "parentid": 1}})
    warnings = ["create_folder takes no 'parentid'. Did you mean parentId?"]
    assert (await socket.answer("c"))["warnings"] == warnings
    try:
        await call("rename_folder", folderId=folder["id"], name=None)
    except RefusedError as refused:
        assert "name" in refused.error
    else:
        raise AssertionError("null is no name")
    log = (program.data / "spinney.log").read_text()
    assert "create_folder: unknown arguments ignored: from_the_future" in log
