"""The HTTP interface, and errors as JSON."""

import json
from typing import Any

import aiohttp
import pytest

from model.base.errors import SpinneyError
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from server.app import Server
from tests.conftest import Eventually
from tests.fakes import FakeBackend, plan
from tests.server.conftest import base_url, bearer
from tests.tables import table


class Api:
    """Sends requests with the token; returns the status and the JSON."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self._url = base_url(server)
        self._http = http

    async def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        options = {} if body is None else {"json": body}
        async with self._http.request(
            method, self._url + path, headers=bearer(), **options
        ) as response:
            assert response.content_type == "application/json"
            return response.status, await response.json()


@pytest.fixture
def api(server: Server, http: aiohttp.ClientSession) -> Api:
    return Api(server, http)


async def test_health_needs_no_token(server: Server, http: aiohttp.ClientSession) -> None:
    response = await http.get(base_url(server) + "/healthz")
    assert (response.status, await response.json()) == (200, {"ok": True})


async def test_readiness_ends_while_nothing_can_be_saved(
    server: Server,
    http: aiohttp.ClientSession,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    response = await http.get(base_url(server) + "/readyz")
    assert (response.status, await response.json()) == (200, {"ok": True})
    monkeypatch.setattr(workspace.store, "_is_failing", True)
    response = await http.get(base_url(server) + "/readyz")
    assert response.status == 503
    assert "Check the disk" in (await response.json())["reason"]


async def test_init_gives_the_whole_state(api: Api, session: Session, workspace: Workspace) -> None:
    status, body = await api("GET", "/api/init")
    assert status == 200
    assert {"projects", "preferences", "activeSessions", "runningSessions", "uiState"} <= set(body)
    assert body["sessionsByWorktree"]["worktree"][0]["id"] == session.id
    assert body["worktreesByProject"]["project"][0]["id"] == "worktree"
    assert body["seq"] == workspace.bus.seq


async def test_a_message_is_sent_and_read_again(
    api: Api, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    path = f"/api/sessions/{session.id}/messages"
    status, sent = await api("POST", path, {"message": "hello there"})
    assert (status, set(sent), sent["status"]) == (200, {"message_id", "status"}, "processing")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    status, page = await api("GET", path)
    assert (status, set(page)) == (200, {"messages"})
    assert [m["role"] for m in page["messages"]] == ["user", "assistant"]
    assert page["messages"][1]["content"][0]["text"] == "hello there "
    status, page = await api("GET", path + "?limit=1&offset=1")
    assert [m["role"] for m in page["messages"]] == ["user"]


async def test_a_session_is_created_changed_archived_and_deleted(
    api: Api, worktree: Worktree
) -> None:
    path = f"/api/worktrees/{worktree.id}/sessions"
    status, made = await api("POST", path, {"name": "Fix it", "execution_mode": "build"})
    assert (status, made["name"], made["execution_mode"]) == (201, "Fix it", "build")
    one = f"/api/sessions/{made['id']}"
    assert [s["id"] for s in (await api("GET", path))[1]["sessions"]] == [made["id"]]
    status, changed = await api("PATCH", one, {"name": "Mend it", "execution_mode": "plan"})
    assert (status, changed["name"], changed["execution_mode"]) == (200, "Mend it", "plan")
    assert (await api("GET", one))[1]["messages"] == []
    assert (await api("POST", f"{one}/stop"))[0] == 200
    status, archived = await api("POST", f"{one}/archive")
    assert status == 200
    assert archived["archived_at"] is not None
    assert await api("DELETE", one) == (200, {"session_id": made["id"]})
    assert (await api("GET", one))[0] == 404


async def test_a_session_is_in_plan_mode_by_default(api: Api, worktree: Worktree) -> None:
    status, made = await api("POST", f"/api/worktrees/{worktree.id}/sessions")
    assert (status, made["execution_mode"]) == (201, "plan")


async def test_a_plan_is_approved(
    api: Api,
    session: Session,
    backend: FakeBackend,
    workspace: Workspace,
    eventually: Eventually,
) -> None:
    backend.script = plan
    one = f"/api/sessions/{session.id}"
    await api("POST", f"{one}/messages", {"message": "build a boat"})
    await eventually(lambda: workspace.store.state.sessions[session.id].waiting_for == "plan")
    assert (await api("POST", f"{one}/approve", {"mode": "plan"}))[0] == 400
    assert (await api("POST", f"{one}/approve", {"mode": "build"}))[0] == 200
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
    assert ("approve", "plan-1", "build", None) in backend.agents[session.id].calls


async def test_a_missing_session_is_named(api: Api) -> None:
    for method, path in (("GET", ""), ("POST", "/stop"), ("DELETE", ""), ("GET", "/messages")):
        assert await api(method, f"/api/sessions/nope{path}") == (
            404,
            {
                "error": "Session not found: nope",
                "error_type": "not_found",
                "session_id": "nope",
            },
        )


@table("body", [{}, {"message": ""}, {"message": 5}, {"message": "x", "files": "y"}, [], "text", 5])
async def test_an_invalid_body_is_a_400_with_a_reason(
    api: Api, session: Session, body: Any
) -> None:
    status, answer = await api("POST", f"/api/sessions/{session.id}/messages", body)
    assert (status, answer["error_type"]) == (400, "invalid_request")
    assert answer["error"]


@table(
    "body",
    [b"{", b"\xff", b"[" * 100_000, b'{"message": NaN}', b'{"message": 1e999}',
     b'{"message": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
async def test_invalid_json_is_a_400(
    server: Server, http: aiohttp.ClientSession, session: Session, body: bytes
) -> None:
    url = f"{base_url(server)}/api/sessions/{session.id}/messages"
    headers = {**bearer(), "Content-Type": "application/json"}
    response = await http.post(url, data=body, headers=headers)
    assert response.status == 400
    assert (await response.json())["error_type"] == "invalid_request"


async def test_a_huge_body_is_a_413(api: Api, session: Session) -> None:
    body = {"message": "x" * (17 * 1024 * 1024)}
    status, answer = await api("POST", f"/api/sessions/{session.id}/messages", body)
    assert (status, answer["error_type"]) == (413, "too_large")


async def test_unknown_addresses_and_methods_are_json_too(
    server: Server, http: aiohttp.ClientSession, api: Api
) -> None:
    assert (await api("GET", "/api/nothing"))[0] == 404
    assert (await api("PUT", "/api/init"))[1]["error_type"] == "invalid_request"
    assert (await api("GET", "/ws"))[0] == 400


async def test_details_of_an_unexpected_error_stay_in_the_log(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def explode(*_: Any) -> None:
        raise RuntimeError("password is hunter2")

    monkeypatch.setattr("server.http_api.build_snapshot", explode)
    status, answer = await api("GET", "/api/init")
    assert (status, answer["error_type"]) == (500, "internal_error")
    assert "hunter2" not in json.dumps(answer)
    reference = answer["error"].rstrip(".").split()[-1]
    assert reference in caplog.text
    assert "hunter2" in caplog.text


async def test_the_session_id_of_the_path_overrides_the_body(
    api: Api, session: Session, workspace: Workspace
) -> None:
    body = {"name": "Renamed", "session_id": "other", "sessionId": "other"}
    status, changed = await api("PATCH", f"/api/sessions/{session.id}", body)
    assert (status, changed["id"], changed["name"]) == (200, session.id, "Renamed")


async def test_a_rate_limit_of_the_provider_is_a_429(
    api: Api, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def limited(*_: Any, **__: Any) -> Any:
        raise SpinneyError("Too many requests.", "rate_limit_error", retry_after=7)

    monkeypatch.setattr("server.http_api.run", limited)
    status, answer = await api("POST", f"/api/sessions/{session.id}/stop")
    assert (status, answer["error_type"]) == (429, "rate_limit_error")
