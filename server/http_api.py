"""The HTTP paths: each is one command, with its arguments from the path, the query and the body."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError, web
from aiohttp.typedefs import Handler

from model.api import raw_logs, sessions
from model.api.command import Command, snake_case
from model.base.errors import HTTP_STATUS, SpinneyError
from model.base.suggestions import did_you_mean
from model.base.text import clean_line
from model.client.snapshot import build_snapshot
from model.commands.dispatch import run
from server.auth import Door, Knock
from server.avatars import Avatars
from server.limits import Limits
from server.wire import PROTOCOL, dump_result, error_body, parse_json

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Operation:
    """A path and the command behind it. The path's own id is an argument too."""

    method: str
    path: str
    command: Command[..., Any]
    fields: tuple[str, ...] = ()
    """Arguments that come from the body, or from the query of a GET, in either spelling."""
    status: int = 200
    answer: Callable[[str, Any], Any] | None = None
    """The answer from the path's id and the command's result, where it is not the result."""


_SESSION = "/api/sessions/{session_id}"
_SESSIONS = "/api/worktrees/{worktree_id}/sessions"

OPERATIONS = (
    Operation(
        "POST",
        f"{_SESSION}/messages",
        sessions.send_chat_message,
        ("message", "files", "images", "message_id"),
    ),
    Operation(
        "GET",
        f"{_SESSION}/messages",
        sessions.get_messages,
        ("limit", "offset"),
        answer=lambda _, page: {"messages": page.model_dump(mode="json")["messages"]},
    ),
    Operation("POST", f"{_SESSION}/images", sessions.add_image, ("data",), status=201),
    Operation("POST", f"{_SESSION}/stop", sessions.stop_generation),
    Operation(
        "POST",
        f"{_SESSION}/approve",
        sessions.approve_plan,
        ("mode", "plan", "request_id", "fresh"),
    ),
    Operation("POST", f"{_SESSION}/answer", sessions.answer_question, ("answer", "request_id")),
    Operation("POST", f"{_SESSION}/archive", sessions.archive_session),
    Operation(
        "GET",
        f"{_SESSION}/output",
        sessions.get_tool_output,
        ("tool_use_id", "offset", "limit"),
    ),
    Operation("GET", f"{_SESSION}/raw-log", raw_logs.get_raw_log, ("before", "after", "limit")),
    Operation("GET", _SESSION, sessions.get_session),
    Operation(
        "PATCH",
        _SESSION,
        sessions.update_session,
        ("name", "execution_mode", "thinking_level"),
    ),
    Operation(
        "DELETE",
        _SESSION,
        sessions.delete_session,
        answer=lambda session_id, _: {"session_id": session_id},
    ),
    Operation(
        "GET",
        _SESSIONS,
        sessions.list_sessions,
        answer=lambda _, found: {"sessions": [s.model_dump(mode="json") for s in found]},
    ),
    Operation(
        "POST",
        _SESSIONS,
        sessions.create_session,
        ("name", "execution_mode", "model", "thinking_level", "backend"),
        status=201,
    ),
)


class HttpApi:
    """Everything under `/api`, and `/healthz`."""

    def __init__(self, workspace: "Workspace", door: Door, run: str, limits: Limits) -> None:
        self._workspace = workspace
        self._door = door
        self._run = run
        self._limits = limits

    def routes(self) -> list[web.RouteDef]:
        """Every path."""
        return [
            web.get("/healthz", self._health),
            web.get("/api/auth", self._auth),
            web.get("/api/init", self._init),
            web.get("/api/projects/{project_id}/avatar", Avatars(self._workspace).serve),
            *(
                web.route(operation.method, operation.path, self._handler(operation))
                for operation in OPERATIONS
            ),
        ]

    async def _health(self, _: web.Request) -> web.Response:
        """Whether the server answers; needs no token."""
        return web.json_response({"ok": True})

    async def _auth(self, request: web.Request) -> web.Response:
        """Whether the token, from the header or `?token=`, is the right one."""
        try:
            self._door.check(knock_of(request))
        except SpinneyError as error:
            status = HTTP_STATUS[error.error_type]
            return web.json_response({"ok": False, **error_body(error)}, status=status)
        return web.json_response({"ok": True, "token_required": self._door.token_required})

    async def _init(self, _: web.Request) -> web.Response:
        """Everything that a client needs to begin, and the number of the event it stands after."""
        snapshot = await build_snapshot(self._workspace)
        return web.json_response({**snapshot, "run": self._run})

    def _handler(self, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.Response:
            given = await self._given(request, operation)
            path_id = next(iter(request.match_info.values()))
            result = await run(self._workspace, operation.command, {**given, **request.match_info})
            if operation.answer is not None:
                answer = operation.answer(path_id, result)
                return web.json_response(answer, status=operation.status)
            return web.Response(
                body=dump_result(operation.command.result, result),
                status=operation.status,
                content_type="application/json",
            )

        return handle

    async def _given(self, request: web.Request, operation: Operation) -> dict[str, Any]:
        if not operation.fields:
            return {}
        given = request.query if request.method == "GET" else await self._body(request)
        taken = {}
        for name in given:
            if snake_case(name) in operation.fields:
                taken[name] = given[name]
            elif snake_case(name) not in request.match_info:  # The path's own id may come again.
                raise SpinneyError(_unknown_field(name, operation.fields))
        return taken

    async def _body(self, request: web.Request) -> dict[str, Any]:
        if not request.can_read_body:
            return {}
        # A page may post text to anybody without asking; with a token it has proven itself.
        if request.content_type != "application/json" and not self._door.has_token(
            knock_of(request)
        ):
            raise SpinneyError("The body must be sent as application/json.")
        raw = await body_of(request, self._limits)
        body = parse_json(raw) if raw.strip() else {}
        if not isinstance(body, dict):
            raise SpinneyError("Invalid request: it is not a JSON object")
        return body


def _unknown_field(name: str, known: tuple[str, ...]) -> str:
    shown = clean_line(name)[:100]
    return f"Unknown field: {shown}.{did_you_mean(shown, known)} Known: {', '.join(known)}"


async def body_of(request: web.Request, limits: Limits) -> bytes:
    """The whole body. Raises `SpinneyError` for one that is too large or too slow."""
    try:
        async with asyncio.timeout(limits.body_time):
            return await request.read()
    except TimeoutError:
        raise SpinneyError("The body took too long to arrive.", "timeout") from None
    except web.HTTPRequestEntityTooLarge:
        most = limits.body_size // 1024 // 1024
        raise SpinneyError(
            f"The body is larger than {most} MiB, the most that is taken.", "too_large"
        ) from None
    except (ConnectionError, ClientError):
        raise SpinneyError("The client left before its whole body had arrived.") from None


def _offered_token(headers: Mapping[str, str]) -> str:
    """The token that a page offers among the protocols of its WebSocket, as `token.<base64url>`.

    A page can set no header there, and an address is written into the browser's console.
    """
    offered = [name.strip() for name in headers.get("Sec-WebSocket-Protocol", "").split(",")]
    token = next((name for name in offered if name.startswith("token.")), None)
    if token is None or PROTOCOL not in offered:
        return ""
    encoded = token.removeprefix("token.")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError:
        return ""


def knock_of(request: web.Request) -> Knock:
    """What the request shows at the door. A token in the address counts only where it must."""
    headers = request.headers
    sockname = request.get_extra_info("sockname") or ("",)
    in_query = request.path in ("/ws", "/api/auth")
    return Knock(
        hosts=tuple(headers.getall("Host", ())),
        authorization=headers.get("Authorization", ""),
        query_token=(request.query.get("token") or _offered_token(headers)) if in_query else "",
        origin=headers.get("Origin"),
        fetch_site=headers.get("Sec-Fetch-Site", ""),
        own_address=sockname[0],
    )
