"""Sections 1, 4.1, 5 and 7 of the interface: the HTTP paths, the token, and the error bodies."""
# ruff: noqa: F811 - fixtures

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from model.backends.base import QuestionAsked
from model.resources import Question, QuestionOption, Worktree
from model.workspace import Workspace
from server.app import Server
from tests.conftest import Eventually
from tests.contract.puppets import call, http, server, socket, start_server  # noqa: F401 - fixtures
from tests.contract.test_sessions import SESSION_FIELDS
from tests.fakes import FakeBackend, plan, silence
from tests.server.conftest import TOKEN, StartServer, base_url, bearer

Ask = Callable[..., Awaitable[tuple[int, Any]]]

NOBODY = "/api/sessions/no"
PATHS = [
    ("GET", "/api/init", None),
    ("POST", f"{NOBODY}/messages", {"message": "a"}),
    ("GET", f"{NOBODY}/messages", None),
    ("POST", f"{NOBODY}/stop", None),
    ("POST", f"{NOBODY}/approve", {"mode": "build"}),
    ("POST", f"{NOBODY}/answer", {"answer": "a"}),
    ("GET", "/api/worktrees/no/sessions", None),
    ("POST", "/api/worktrees/no/sessions", {}),
    ("GET", NOBODY, None),
    ("PATCH", NOBODY, {"name": "a"}),
    ("POST", f"{NOBODY}/archive", None),
    ("DELETE", NOBODY, None),
]


@pytest.fixture
def ask(server: Server, http: aiohttp.ClientSession) -> Ask:
    """`await ask("GET", path)`: the status and the JSON, asked with the token."""

    async def ask(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        url = base_url(server) + path
        async with http.request(method, url, headers=bearer(), json=body) as response:
            assert response.content_type == "application/json"
            return response.status, await response.json()

    return ask


@pytest.fixture
async def path(ask: Ask, worktree: Worktree) -> str:
    """The path of a session in plan mode."""
    status, made = await ask("POST", f"/api/worktrees/{worktree.id}/sessions", {})
    assert status == 201
    return f"/api/sessions/{made['id']}"


@pytest.fixture
def until(workspace: Workspace, eventually: Eventually) -> Callable[[str], Awaitable[None]]:
    """Waits until the only session has this status."""

    async def until(status: str) -> None:
        await eventually(
            lambda: {s.status for s in workspace.store.state.sessions.values()} == {status}
        )

    return until


Until = Callable[[str], Awaitable[None]]


async def test_post_a_session_takes_every_field(ask: Ask, worktree: Worktree) -> None:
    wanted = {"name": "A", "execution_mode": "yolo", "model": "model_2", "backend": "backend_a"}
    status, made = await ask("POST", f"/api/worktrees/{worktree.id}/sessions", wanted)
    assert status == 201
    assert set(made) >= SESSION_FIELDS
    assert {key: made[key] for key in wanted} == wanted


async def test_a_session_made_without_a_mode_plans(ask: Ask, path: str) -> None:
    assert (await ask("GET", path))[1]["execution_mode"] == "plan"


async def test_get_the_sessions_of_a_worktree(ask: Ask, path: str, worktree: Worktree) -> None:
    status, found = await ask("GET", f"/api/worktrees/{worktree.id}/sessions")
    assert (status, set(found)) == (200, {"sessions"})
    assert [f"/api/sessions/{session['id']}" for session in found["sessions"]] == [path]


async def test_get_a_session_comes_with_its_messages(ask: Ask, path: str, until: Until) -> None:
    await ask("POST", f"{path}/messages", {"message": "hello"})
    await until("idle")
    status, session = await ask("GET", path)
    assert (status, len(session["messages"])) == (200, 2)


async def test_patch_a_session_changes_what_is_given(ask: Ask, path: str) -> None:
    status, session = await ask("PATCH", path, {"name": "New", "execution_mode": "build"})
    assert (status, session["name"], session["execution_mode"]) == (200, "New", "build")


async def test_post_a_message_tells_its_id_and_status(
    ask: Ask, path: str, backend: FakeBackend
) -> None:
    backend.script = silence
    for expected in ("processing", "sent"):
        status, sent = await ask("POST", f"{path}/messages", {"message": "hello"})
        assert (status, set(sent)) == (200, {"message_id", "status"})
        assert sent["status"] == expected


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": 1},
        {"message": "a", "files": "a"},
        {"message": "a", "files": ["/missing/file"]},
        {"message": "a", "images": ["/missing/image.png"]},
    ],
)
async def test_400_for_a_message_that_is_none(ask: Ask, path: str, body: Any) -> None:
    status, told = await ask("POST", f"{path}/messages", body)
    assert (status, set(told)) == (400, {"error", "error_type"})
    assert told["error_type"] == "invalid_request"


async def test_get_messages_pages_a_hundred_by_default(ask: Ask, path: str, until: Until) -> None:
    for number in range(51):
        await ask("POST", f"{path}/messages", {"message": str(number)})
    await until("idle")

    async def count(query: str) -> int:
        status, page = await ask("GET", f"{path}/messages{query}")
        assert (status, set(page)) == (200, {"messages"})
        return len(page["messages"])

    assert await count("") == 100
    assert await count("?offset=100") == 2
    assert await count("?limit=7&offset=3") == 7


async def test_post_stop_gives_the_session(
    ask: Ask, path: str, backend: FakeBackend, until: Until
) -> None:
    backend.script = silence
    await ask("POST", f"{path}/messages", {"message": "hello"})
    status, session = await ask("POST", f"{path}/stop")
    assert (status, f"/api/sessions/{session['id']}") == (200, path)
    await until("idle")


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_post_approve_executes_the_plan(
    ask: Ask, path: str, backend: FakeBackend, until: Until, mode: str
) -> None:
    backend.script = plan
    await ask("POST", f"{path}/messages", {"message": "hello"})
    await until("waiting")
    assert (await ask("POST", f"{path}/approve", {"mode": "plan"}))[0] == 400
    status, session = await ask("POST", f"{path}/approve", {"mode": mode})
    assert (status, session["execution_mode"]) == (200, mode)
    await until("idle")


async def test_post_answer_answers_the_pending_question(
    ask: Ask, path: str, backend: FakeBackend, until: Until
) -> None:
    question = Question(question="Which?", options=[QuestionOption(label="A")])
    backend.script = lambda _: [QuestionAsked("q", (question,))]
    await ask("POST", f"{path}/messages", {"message": "ask me"})
    await until("waiting")
    assert (await ask("POST", f"{path}/answer", {}))[0] == 400
    status, session = await ask("POST", f"{path}/answer", {"answer": "A"})
    assert (status, f"/api/sessions/{session['id']}") == (200, path)
    await until("idle")


async def test_post_archive_and_delete(ask: Ask, path: str) -> None:
    status, session = await ask("POST", f"{path}/archive")
    assert status == 200
    assert session["archived_at"] > 0
    assert await ask("DELETE", path) == (200, {"session_id": session["id"]})
    assert (await ask("GET", path))[0] == 404


@pytest.mark.parametrize(("method", "path", "body"), PATHS[1:])
async def test_404_names_what_is_missing(ask: Ask, method: str, path: str, body: Any) -> None:
    status, told = await ask(method, path, body)
    kind = "Session" if "/sessions/" in path else "Worktree"
    named = {"session_id": "no"} if kind == "Session" else {}
    expected = {"error": f"{kind} not found: no", "error_type": "not_found", **named}
    assert (status, told) == (404, expected)


@pytest.mark.parametrize(("method", "path", "body"), PATHS)
@pytest.mark.parametrize("token", [None, "wrong"])
async def test_401_without_the_token(
    server: Server, http: aiohttp.ClientSession, method: str, path: str, body: Any,
    token: str | None,
) -> None:  # fmt: skip
    headers = bearer(token) if token else {}
    response = await http.request(method, base_url(server) + path, json=body, headers=headers)
    told = await response.json()
    assert (response.status, told["error_type"]) == (401, "authentication_error")


async def test_401_before_the_upgrade(server: Server, http: aiohttp.ClientSession) -> None:
    for token in ("", "wrong"):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(f"{base_url(server)}/ws", params={"token": token})
        assert refused.value.status == 401


async def test_auth_checks_a_token(server: Server, http: aiohttp.ClientSession) -> None:
    url = f"{base_url(server)}/api/auth"
    good = {"ok": True, "token_required": True}
    response = await http.get(url, headers=bearer())
    assert (response.status, await response.json()) == (200, good)
    response = await http.get(url, params={"token": TOKEN})
    assert (response.status, await response.json()) == (200, good)
    response = await http.get(url, params={"token": "wrong"})
    told = await response.json()
    assert (response.status, set(told)) == (401, {"ok", "error", "error_type"})
    assert (told["ok"], told["error_type"]) == (False, "authentication_error")


async def test_no_token_is_needed_where_none_is_required(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    open_server = await start_server(token_required=False)
    assert (await http.get(f"{base_url(open_server)}/api/init")).status == 200
    socket = await http.ws_connect(f"{base_url(open_server)}/ws")
    await socket.close()


async def test_init_has_every_part(ask: Ask, path: str) -> None:
    status, found = await ask("GET", "/api/init")
    assert status == 200
    assert set(found) >= {
        "projects", "worktreesByProject", "sessionsByWorktree", "activeSessions",
        "runningSessions", "preferences", "uiState", "seq",
    }  # fmt: skip
    assert TOKEN not in str(found)


async def test_the_page_is_served_to_everybody(server: Server, http: aiohttp.ClientSession) -> None:
    response = await http.get(base_url(server) + "/")
    assert (response.status, response.content_type) == (200, "text/html")


async def test_any_origin_method_and_header_is_allowed(
    server: Server, http: aiohttp.ClientSession
) -> None:
    asked = {
        "Origin": "https://anywhere.example",
        "Access-Control-Request-Method": "DELETE",
        "Access-Control-Request-Headers": "authorization, x-mine",
    }
    response = await http.options(base_url(server) + NOBODY, headers=asked)
    assert response.status == 204
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Allow-Methods"] == "DELETE"
    assert response.headers["Access-Control-Allow-Headers"] == "authorization, x-mine"
    response = await http.get(base_url(server) + "/api/init")
    assert response.headers["Access-Control-Allow-Origin"] == "*"


async def test_the_default_port_is_3456_and_only_this_machine_gets_in(
    workspace: Workspace, server: Server
) -> None:
    assert workspace.store.state.preferences.http_server_port == 3456
    assert base_url(server).startswith("http://127.0.0.1:")
