"""Sections 1, 4.1, 5 and 7 of the interface: HTTP paths, authentication and error bodies."""

import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import Chat, Target, bearer, make_served_target
from tests.program import Serving
from tests.server.conftest import Socket

Ask = Callable[..., Awaitable[tuple[int, Any]]]

UNKNOWN_SESSION = "/api/sessions/no"
PATHS = [
    ("GET", "/api/init", None),
    ("POST", f"{UNKNOWN_SESSION}/messages", {"message": "a"}),
    ("GET", f"{UNKNOWN_SESSION}/messages", None),
    ("POST", f"{UNKNOWN_SESSION}/stop", None),
    ("POST", f"{UNKNOWN_SESSION}/approve", {"mode": "build"}),
    ("POST", f"{UNKNOWN_SESSION}/answer", {"answer": "a"}),
    ("GET", "/api/worktrees/no/sessions", None),
    ("POST", "/api/worktrees/no/sessions", {}),
    ("GET", UNKNOWN_SESSION, None),
    ("PATCH", UNKNOWN_SESSION, {"name": "a"}),
    ("POST", f"{UNKNOWN_SESSION}/archive", None),
    ("DELETE", UNKNOWN_SESSION, None),
]

NO_MESSAGES: list[Any] = [
    {},
    {"message": ""},
    {"message": 1},
    {"message": "a", "files": "a"},
    {"message": "a", "files": ["/missing/file"]},
    {"message": "a", "files": ["missing"]},
    {"message": "a", "files": ["."]},
    {"message": "a", "files": ["/x/../proc/self/environ"]},
    {"message": "a", "images": ["/missing/image.png"]},
]
"""Bodies of a new message that are refused."""


@pytest.fixture
def target(served: Serving, socket: Socket) -> Target:
    """Only the served program; the WebSocket creates the resources."""
    return make_served_target(served, socket)


@pytest.fixture
def ask(served: Serving, http: aiohttp.ClientSession) -> Ask:
    """Sends a request with the token: `await ask("GET", path)` returns the status and the JSON."""

    async def ask(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with http.request(method, path, headers=bearer(served), json=body) as response:
            assert response.content_type == "application/json"
            return response.status, await response.json()

    return ask


@pytest.fixture
def path(session: Any) -> str:
    """The path of a session in plan mode."""
    return f"/api/sessions/{session['id']}"


async def send_message(ask: Ask, chat: Chat, session: Any, message: str, until: str) -> None:
    """Send a message over HTTP, and wait until the session has this status."""
    status, _ = await ask("POST", f"/api/sessions/{session['id']}/messages", {"message": message})
    assert status == 200
    await chat.until(session, until)


async def test_post_worktrees_sessions_accepts_every_field(ask: Ask, worktree: Any) -> None:
    wanted = {"name": "A", "execution_mode": "yolo", "model": "model_2", "backend": "backend_a"}
    status, made = await ask("POST", f"/api/worktrees/{worktree['id']}/sessions", wanted)
    assert status == 201
    assert {key: made[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    "keys", [("executionMode", "thinkingLevel"), ("execution_mode", "thinking_level")]
)
async def test_bodies_may_use_camel_case_or_snake_case(
    ask: Ask, worktree: Any, keys: tuple[str, str]
) -> None:
    mode, thinking = keys
    path = f"/api/worktrees/{worktree['id']}/sessions"
    status, made = await ask("POST", path, {mode: "build", thinking: "off"})
    assert (status, made["execution_mode"], made["thinking_level"]) == (201, "build", "off")
    one = f"/api/sessions/{made['id']}"
    status, now = await ask("PATCH", one, {mode: "yolo", thinking: "think"})
    assert (status, now["execution_mode"], now["thinking_level"]) == (200, "yolo", "think")
    for method, place in (("POST", path), ("PATCH", one)):
        for key in keys:
            status, answer = await ask(method, place, {key: "hurry"})
            assert (status, answer["error_type"]) == (400, "invalid_request")
            assert answer["error"].startswith(f"Invalid field '{key}': must be '"), (
                "the key as given"
            )


async def test_post_worktrees_sessions_defaults_to_plan_mode(ask: Ask, worktree: Any) -> None:
    status, made = await ask("POST", f"/api/worktrees/{worktree['id']}/sessions", {})
    assert (status, made["execution_mode"]) == (201, "plan")
    assert set(made) >= {"id", "worktree_id", "name", "created_at", "model", "backend"}


async def test_get_worktrees_sessions(ask: Ask, session: Any) -> None:
    path = f"/api/worktrees/{session['worktree_id']}/sessions"
    assert await ask("GET", path) == (200, {"sessions": [session]})


async def test_get_sessions_includes_the_messages(
    ask: Ask, chat: Chat, session: Any, path: str
) -> None:
    await send_message(ask, chat, session, "/demo say hello", until="idle")
    status, found = await ask("GET", path)
    assert (status, found["id"]) == (200, session["id"])
    assert [message["role"] for message in found["messages"]] == ["user", "assistant"]


async def test_patch_sessions_changes_the_given_fields(ask: Ask, path: str) -> None:
    status, session = await ask("PATCH", path, {"name": "New", "execution_mode": "build"})
    assert (status, session["name"], session["execution_mode"]) == (200, "New", "build")
    status, answer = await ask("PATCH", path, {"execution_mode": "hurry"})
    assert (status, answer["error_type"]) == (400, "invalid_request")


async def test_400_for_an_unknown_field_suggests_the_nearest_one(ask: Ask, path: str) -> None:
    status, body = await ask("PATCH", path, {"executionMod": "build"})
    assert status == 400
    assert body["error"].startswith("Unknown field: executionMod. Did you mean execution_mode?")
    status, body = await ask("POST", f"{path}/approve", {"mode": "build", "request_id": "old"})
    assert (status, body["error_type"]) == (409, "conflict")


async def test_post_messages_returns_id_and_status(ask: Ask, path: str) -> None:
    for expected in ("processing", "sent"):
        status, sent = await ask("POST", f"{path}/messages", {"message": "/demo wait 60"})
        assert (status, set(sent)) == (200, {"message_id", "status"})
        assert sent["status"] == expected


async def test_post_messages_accepts_files_and_images(
    ask: Ask, chat: Chat, session: Any, path: str, tmp_path: Path
) -> None:
    for name in ("notes.txt", "drawing.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    given = {"files": [str(tmp_path / "notes.txt")], "images": [str(tmp_path / "drawing.png")]}
    status, _ = await ask("POST", f"{path}/messages", {"message": "/demo say seen", **given})
    assert status == 200
    await chat.until(session, "idle")
    await send_message(ask, chat, session, "/demo recall", until="idle")
    recalled = await chat.last_text(session)
    assert all(f"@{paths[0]}" in recalled for paths in given.values()), "the agent received them"


async def test_post_messages_accepts_paths_in_the_worktree(
    ask: Ask, chat: Chat, session: Any, worktree: Any, path: str
) -> None:
    (Path(worktree["path"]) / "src").mkdir()
    (Path(worktree["path"]) / "src" / "notes.txt").write_text("Mend it.")
    body = {"message": "/demo say seen", "files": ["src/notes.txt"]}
    assert (await ask("POST", f"{path}/messages", body))[0] == 200
    await chat.until(session, "idle")
    await send_message(ask, chat, session, "/demo recall", until="idle")
    assert f"@{worktree['path']}/src/notes.txt" in await chat.last_text(session)


async def test_400_for_post_messages_without_a_message(ask: Ask, path: str) -> None:
    answers = [await ask("POST", f"{path}/messages", body) for body in NO_MESSAGES]
    assert [status for status, _ in answers] == [400] * len(NO_MESSAGES)
    for body, (_, answer) in zip(NO_MESSAGES, answers, strict=True):
        assert set(answer) == {"error", "error_type"}, body
        assert answer["error_type"] == "invalid_request", body


async def test_get_messages_pages_a_hundred_by_default(
    ask: Ask, chat: Chat, session: Any, path: str
) -> None:
    for number in range(51):
        await ask("POST", f"{path}/messages", {"message": f"/demo run echo {number}"})
    while (await ask("GET", path))[1]["message_count"] < 102:
        await chat.receive()
    await chat.until(session, "idle")

    async def page(query: str) -> list[str]:
        status, found = await ask("GET", f"{path}/messages{query}")
        assert (status, set(found)) == (200, {"messages"})
        return [message["id"] for message in found["messages"]]

    newest, oldest = await page(""), await page("?offset=100")
    assert (len(newest), len(oldest)) == (100, 2)
    everything = [*oldest, *newest]
    assert len(set(everything)) == 102
    assert await page("?limit=7&offset=3") == everything[-10:-3]
    assert (await ask("GET", f"{path}/messages?limit=many"))[0] == 400


async def test_post_stop_returns_the_session(ask: Ask, chat: Chat, session: Any, path: str) -> None:
    await send_message(ask, chat, session, "/demo wait 60", until="running")
    status, stopped = await ask("POST", f"{path}/stop")
    assert (status, stopped["id"]) == (200, session["id"])
    await chat.until(session, "idle")


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_post_approve_executes_the_plan(
    ask: Ask, chat: Chat, session: Any, path: str, mode: str
) -> None:
    await send_message(ask, chat, session, "/demo plan say done", until="waiting")
    for wrong in ({"mode": "plan"}, {"mode": 1}, {}):
        status, answer = await ask("POST", f"{path}/approve", wrong)
        assert (status, answer["error_type"]) == (400, "invalid_request")
    status, approved = await ask("POST", f"{path}/approve", {"mode": mode})
    assert (status, approved["execution_mode"]) == (200, mode)
    await chat.until(session, "idle")
    assert await chat.last_text(session) == "done"


async def test_post_answer_answers_the_pending_question(
    ask: Ask, chat: Chat, session: Any, path: str
) -> None:
    await send_message(ask, chat, session, "/demo ask Which? | A | B", until="waiting")
    assert (await ask("POST", f"{path}/answer", {}))[0] == 400
    status, answered = await ask("POST", f"{path}/answer", {"answer": "A"})
    assert (status, answered["id"]) == (200, session["id"])
    await chat.until(session, "idle")
    assert await chat.last_text(session) == "You answered: A"


async def test_get_output_pages_through_a_long_tool_result(
    ask: Ask, chat: Chat, session: Any, path: str
) -> None:
    await ask("PATCH", path, {"execution_mode": "build"})
    await send_message(ask, chat, session, "/demo run seq 10000", until="idle")
    _, page = await ask("GET", f"{path}/messages")
    (use,) = (b for m in page["messages"] for b in m["content"] if b["type"] == "tool_use")
    asked = f"{path}/output?toolUseId={use['id']}&limit=1000"
    status, piece = await ask("GET", asked)
    assert (status, len(piece["content"]), piece["next_offset"]) == (200, 1000, 1000)
    assert (await ask("GET", f"{asked}&offset=-1"))[0] == 400
    assert (await ask("GET", f"{path}/output?toolUseId=other"))[0] == 404


async def test_post_archive(ask: Ask, path: str) -> None:
    status, archived = await ask("POST", f"{path}/archive")
    assert status == 200
    assert archived["archived_at"] > 0


async def test_endpoints_without_fields_ignore_the_body(
    served: Serving, http: aiohttp.ClientSession, ask: Ask, worktree: Any
) -> None:
    statuses = {}
    for method, end in (("POST", "/stop"), ("POST", "/archive"), ("DELETE", "")):
        for body in (b"no json", b"[]", b"\xff\x00", b"{"):
            _, session = await ask("POST", f"/api/worktrees/{worktree['id']}/sessions", {})
            path = f"/api/sessions/{session['id']}{end}"
            async with http.request(method, path, data=body, headers=bearer(served)) as response:
                statuses[method, end, body] = response.status
    assert statuses == dict.fromkeys(statuses, 200)


async def test_delete_sessions_deletes_it_permanently(ask: Ask, session: Any, path: str) -> None:
    assert await ask("DELETE", path) == (200, {"session_id": session["id"]})
    assert (await ask("GET", path))[0] == 404


async def test_404_names_what_is_missing(ask: Ask) -> None:
    for method, path, body in PATHS[1:]:
        kind = "Session" if "/sessions/" in path else "Worktree"
        named = {"session_id": "no"} if kind == "Session" else {}
        expected = {"error": f"{kind} not found: no", "error_type": "not_found", **named}
        assert await ask(method, path, body) == (404, expected), (method, path)


async def test_400_for_a_body_that_is_not_a_json_object(
    served: Serving, http: aiohttp.ClientSession, path: str
) -> None:
    for body in ("no json", "[]", '"text"', "{"):
        async with http.post(f"{path}/messages", data=body, headers=bearer(served)) as response:
            answer = await response.json()
            assert (response.status, answer["error_type"]) == (400, "invalid_request")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit, which only Linux has")
async def test_500_when_the_disk_is_full_and_nothing_is_changed(
    served: Serving, ask: Ask, session: Any, path: str
) -> None:
    # No file of the program can grow, as if the disk were full.
    limits = resource.prlimit(served.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(served.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        status, answer = await ask("PATCH", path, {"name": "New"})
    finally:
        resource.prlimit(served.pid, resource.RLIMIT_FSIZE, limits)
    assert (status, set(answer)) == (500, {"error", "error_type"})
    assert "Traceback" not in answer["error"]
    assert (await ask("GET", path))[1]["name"] == session["name"]


async def test_401_without_the_token(http: aiohttp.ClientSession) -> None:
    for method, path, body in PATHS:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            async with http.request(method, path, json=body, headers=headers) as response:
                answer = await response.json()
            assert (response.status, set(answer)) == (401, {"error", "error_type"}), (method, path)
            assert answer["error_type"] == "authentication_error", (method, path)


async def test_get_api_auth_checks_a_token(served: Serving, http: aiohttp.ClientSession) -> None:
    good = {"ok": True, "token_required": True}
    for request in ({"headers": bearer(served)}, {"params": {"token": served.token}}):
        async with http.get("/api/auth", **request) as response:
            assert (response.status, await response.json()) == (200, good)
    async with http.get("/api/auth", params={"token": "wrong"}) as response:
        answer = await response.json()
        assert (response.status, set(answer)) == (401, {"ok", "error", "error_type"})
        assert (answer["ok"], answer["error_type"]) == (False, "authentication_error")


async def test_get_api_init_has_the_initial_state_of_a_client(
    served: Serving, ask: Ask, project: Any, worktree: Any, session: Any
) -> None:
    status, found = await ask("GET", "/api/init")
    assert status == 200
    assert set(found) >= {
        "projects", "worktreesByProject", "sessionsByWorktree", "activeSessions",
        "runningSessions", "preferences", "uiState", "seq",
    }  # fmt: skip
    assert project["id"] in [one["id"] for one in found["projects"]]
    assert [one["id"] for one in found["worktreesByProject"][project["id"]]] == [worktree["id"]]
    assert found["sessionsByWorktree"][worktree["id"]] == [session]
    assert served.token not in str(found)


async def test_get_pages_serves_the_static_frontend_without_a_token(
    http: aiohttp.ClientSession,
) -> None:
    pages = []
    for address in ("/", "/index.html"):
        async with http.get(address) as response:
            assert (response.status, response.content_type) == (200, "text/html")
            pages.append(await response.text())
    assert pages[0] == pages[1]


async def test_405_for_a_method_that_a_path_does_not_support(ask: Ask) -> None:
    for method, address in (("PUT", UNKNOWN_SESSION), ("POST", "/"), ("DELETE", "/api/init")):
        status, answer = await ask(method, address)
        assert (status, set(answer)) == (405, {"error", "error_type"})
        assert answer["error_type"] == "invalid_request"


async def test_get_ws_upgrades_with_the_token(socket: Socket) -> None:
    assert isinstance(await socket.call("list_projects"), list)


async def test_cors_allows_any_origin_method_and_header(http: aiohttp.ClientSession) -> None:
    asked = {
        "Origin": "https://anywhere.example",
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization, x-mine",
    }
    async with http.options(UNKNOWN_SESSION, headers=asked) as response:
        assert response.status == 204
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert response.headers["Access-Control-Allow-Methods"] == "DELETE"
        assert response.headers["Access-Control-Allow-Headers"] == "authorization, x-mine"
    async with http.get("/api/init") as response:
        assert response.headers["Access-Control-Allow-Origin"] == "*"
