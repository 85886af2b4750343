"""Sections 4.2 and 4.3 of the interface: frames of a client and their replies."""

from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import Call, Target, make_served_target, open_socket, receive_data
from tests.program import Serving
from tests.server.conftest import Socket


@pytest.fixture
def target(served: Serving, socket: Socket) -> Target:
    """Only the served program."""
    return make_served_target(served, socket)


async def test_a_success_is_a_response_with_the_id_of_its_request(socket: Socket) -> None:
    await socket.send({"id": "mine", "command": "get_http_server_status"})
    reply = await socket.answer("mine")
    assert set(reply) == {"type", "id", "data"}
    assert (reply["type"], reply["data"]["running"]) == ("response", True)


async def test_args_may_use_camel_case_or_snake_case(call: Call, session: Any) -> None:
    assert (await call("get_session", sessionId=session["id"]))["id"] == session["id"]
    assert (await call("get_session", session_id=session["id"]))["id"] == session["id"]


async def test_an_unknown_argument_is_ignored_with_a_warning(socket: Socket, session: Any) -> None:
    args = {"sessionId": session["id"], "sessionID": 1}
    await socket.send({"id": "a", "command": "get_session", "args": args})
    reply = await socket.answer("a")
    assert reply["data"]["id"] == session["id"]
    assert reply["warnings"] == ["get_session takes no 'sessionID'. Did you mean sessionId?"]


async def test_requests_in_flight_are_distinguished_by_their_ids(
    socket: Socket, session: Any
) -> None:
    ids = [f"flight-{number}" for number in range(20)]
    for request_id in ids:
        args = {"sessionId": request_id}
        await socket.send({"id": request_id, "command": "get_session", "args": args})
    for request_id in ids:
        seen = [frame for frame in socket.frames if frame.get("id") == request_id]
        reply = seen[0] if seen else await socket.answer(request_id)
        assert reply["error"] == f"Session not found: {request_id}"


FAILURES: list[tuple[Any, str]] = [
    ({"id": "1", "command": "nonsense"}, "Unknown command: nonsense"),
    ({"id": "1", "command": "get_session"}, "Missing field: sessionId"),
    ({"id": "1", "command": "get_session", "args": {"sessionId": 1}}, "Invalid field 'sess"),
    ({"id": "1", "command": "list_projects", "args": []}, "Invalid "),
    ({"id": "1", "command": 1}, "Invalid "),
    ({"id": "1"}, "Missing field: command"),
    ({"id": "1", "type": "send_message"}, "Missing field: session"),
    ({"id": "1", "type": "subscribe"}, "Missing field: session_id"),
    ({"id": "1", "type": "unsubscribe", "session_id": 1}, "Invalid field 'session_id'"),
    ({"id": "1", "type": "subscribe", "session_id": "no"}, "Session not found: no"),
]
"""Frames and how the errors that answer them begin."""


async def test_a_failure_is_an_error_with_the_id_of_its_request(socket: Socket) -> None:
    for frame, error in FAILURES:
        await socket.send(frame)
        reply = await socket.answer("1")
        assert set(reply) >= {"type", "id", "error", "error_type"}, frame
        assert reply["error"].startswith(error), frame


async def test_a_frame_that_is_not_an_object_is_an_error_and_the_connection_stays(
    socket: Socket,
) -> None:
    for frame in ("no json", "[]", "1", '"text"', "null", "{", '{"id": NaN'):
        await socket.send(frame)
        reply = await socket.answer(None)
        assert reply["type"] == "error", frame
        assert reply["error"].startswith("Invalid request: "), frame
        assert isinstance(await socket.call("list_projects"), list), frame


async def test_send_message_starts_a_run(socket: Socket, session: Any, worktree: Any) -> None:
    given = {"session_id": session["id"], "message": "/demo say hello", "files": []}
    await socket.send({"type": "send_message", **given})
    assert (await receive_data(socket, "message-started"))["session_id"] == session["id"]
    assert (await receive_data(socket, "content-delta"))["content"].strip() == "hello"
    await receive_data(socket, "message-completed")
    await socket.send({"type": "send_message", "id": "with one", **given})
    assert set((await socket.answer("with one"))["data"]) == {"message_id", "status"}
    await receive_data(socket, "message-completed")


async def test_send_message_that_fails_is_an_error_without_an_id_too(
    socket: Socket, session: Any
) -> None:
    await socket.send({"type": "send_message", "session_id": "no", "message": "hello"})
    reply = await socket.answer(None)
    assert (reply["type"], reply["error"]) == ("error", "Session not found: no")
    given = {"session_id": session["id"], "message": "a", "files": ["/missing/file"]}
    await socket.send({"type": "send_message", "id": "1", **given})
    assert "/missing/file" in (await socket.answer("1"))["error"]


async def test_subscribe_and_unsubscribe_never_duplicate_events(
    socket: Socket, session: Any, listener: Socket
) -> None:
    about = {"session_id": session["id"]}
    for number, kind in enumerate(("subscribe", "subscribe", "unsubscribe")):
        await socket.send({"type": kind, "id": f"{kind}-{number}", **about})
        assert (await socket.answer(f"{kind}-{number}"))["type"] == "response"
        before = len(socket.frames)
        await socket.send({"type": "send_message", "message": "/demo say hello", **about})
        await receive_data(socket, "message-completed")
        received = [frame.get("event") for frame in socket.frames[before:]]
        assert received.count("message-started") == 1
        assert received.count("message-completed") == 1


async def test_a_client_that_reconnects_must_subscribe_again(
    served: Serving, http: aiohttp.ClientSession, socket: Socket, session: Any
) -> None:
    about = {"session_id": session["id"]}
    await socket.send({"type": "subscribe", "id": "1", **about})
    await socket.answer("1")
    await socket.socket.close()
    again = await open_socket(http, served.token)
    await again.send({"type": "send_message", "message": "/demo say hello", **about})
    assert (await receive_data(again, "message-completed"))["session_id"] == session["id"]


async def test_401_before_the_upgrade(http: aiohttp.ClientSession) -> None:
    for query in ({}, {"token": ""}, {"token": "wrong"}):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect("/ws", params=query)
        assert refused.value.status == 401
