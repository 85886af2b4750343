"""The HTTP API: each path runs one command, with arguments from path, query and body."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError, web
from aiohttp.typedefs import Handler

from model.access.shapes import show_upload
from model.api import raw_logs, sessions
from model.api.command import Command, snake_case
from model.base.errors import HTTP_STATUS, SpinneyError
from model.base.image_size import detect_format
from model.base.suggestions import did_you_mean
from model.base.text import clean_line
from model.chat.lookup import session_in
from model.client.snapshot import build_snapshot
from model.commands.dispatch import run
from model.state import State
from server.auth import Authenticator, Credentials
from server.avatars import PICTURE_HEADERS, Avatars
from server.guesses import GuessLimiter
from server.guest_worlds import GuestWorlds, describe_guest, guest_of
from server.limits import Limits
from server.wire import PROTOCOL, dump_result, error_body, parse_json

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Operation:
    """A path and its command. The id in the path is an argument, too."""

    method: str
    path: str
    command: Command[..., Any]
    fields: tuple[str, ...] = ()
    """Arguments from the body, or from the query of a GET, in snake_case or camelCase."""
    status: int = 200
    build_response: Callable[[str, Any], Any] | None = None
    """Builds the response from the path's id and the command's result, if it is not the result."""


_MAX_FILE_NAME = 200
"""Characters of the name of an uploaded file that are returned."""

_SESSION = "/api/sessions/{session_id}"
_SESSIONS = "/api/worktrees/{worktree_id}/sessions"

OPERATIONS = (
    Operation(
        "POST",
        f"{_SESSION}/messages",
        sessions.send_chat_message,
        ("message", "files", "images", "message_id", "send_at"),
    ),
    Operation(
        "GET",
        f"{_SESSION}/messages",
        sessions.get_messages,
        ("limit", "offset"),
        build_response=lambda _, page: {"messages": page.model_dump(mode="json")["messages"]},
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
        build_response=lambda session_id, _: {"session_id": session_id},
    ),
    Operation(
        "GET",
        _SESSIONS,
        sessions.list_sessions,
        build_response=lambda _, rows: {"sessions": [row.model_dump(mode="json") for row in rows]},
    ),
    Operation(
        "POST",
        _SESSIONS,
        sessions.create_session,
        ("name", "execution_mode", "model", "thinking_level", "backend"),
        status=201,
    ),
)


COMMAND_PATHS = frozenset((operation.method, operation.path) for operation in OPERATIONS)
"""Methods and paths that stand for a command."""


class HttpApi:
    """Everything under `/api`, `/healthz` and `/readyz`."""

    def __init__(
        self,
        workspace: "Workspace",
        authenticator: Authenticator,
        run_id: str,
        limits: Limits,
        worlds: GuestWorlds,
        guesses: GuessLimiter,
    ) -> None:
        self._workspace = workspace
        self._authenticator = authenticator
        self._run_id = run_id
        self._limits = limits
        self._worlds = worlds
        self._guesses = guesses

    def routes(self) -> list[web.RouteDef]:
        """All routes."""
        return [
            web.get("/healthz", self._health),
            web.get("/readyz", self._ready),
            web.get("/api/auth", self._auth),
            web.post("/api/guest", self._open_guest_link),
            web.get("/api/init", self._init),
            web.get("/api/projects/{project_id}/avatar", Avatars(self._workspace).serve),
            web.post(f"{_SESSION}/attachments", self._attach),
            web.get(f"{_SESSION}/attachments/{{name}}", self._serve_picture),
            *(
                web.route(operation.method, operation.path, self._make_handler(operation))
                for operation in OPERATIONS
            ),
        ]

    async def _health(self, _: web.Request) -> web.Response:
        """Health check: the server answers. Needs no token."""
        return web.json_response({"ok": True})

    async def _ready(self, _: web.Request) -> web.Response:
        """Readiness check: messages are accepted. Otherwise 503 with a `reason`; needs no token."""
        # It listens only once the store is open and the agents' catalog is loaded.
        if self._workspace.store.is_failing:
            reason = "The last changes cannot be saved. Check the disk of the data directory."
            return web.json_response({"ok": False, "reason": reason}, status=503)
        return web.json_response({"ok": True})

    async def _auth(self, request: web.Request) -> web.Response:
        """Whether the token from the header or `?token=` is valid. With a guest's token also
        `guest`: role, time, and what is shared.
        """
        try:
            guest = self._authenticator.identify(credentials_of(request))
        except SpinneyError as error:
            status = HTTP_STATUS[error.error_type]
            return web.json_response({"ok": False, **error_body(error)}, status=status)
        if guest is not None:
            return web.json_response({"ok": True, "guest": describe_guest(guest)})
        return web.json_response({"ok": True, "token_required": self._authenticator.token_required})

    async def _open_guest_link(self, request: web.Request) -> web.Response:
        """Open a guest link on a device: takes its token as `link`, and returns a `token` for the
        requests of this device, and `guest`. Needs no other token.
        """
        link = (await self._body(request)).get("link")
        if not isinstance(link, str):
            raise SpinneyError("Missing field: link")
        try:
            guest, token = await self._workspace.grants.links.open(link)
        except SpinneyError as error:
            if error.error_type == "authentication_error":
                self._guesses.note_wrong(request.remote or "")
            raise
        self._workspace.grants.note_action(guest, "opened the link on a new device", None)
        return web.json_response({"token": token, "guest": describe_guest(guest)}, status=201)

    async def _init(self, request: web.Request) -> web.Response:
        """The complete state for a new client, and the number of the last event it includes. For a
        guest it is what is shared, and `guest`.
        """
        guest = guest_of(request)
        if guest is not None:
            return web.json_response(await self._worlds.build_snapshot(guest))
        snapshot = await build_snapshot(self._workspace)
        return web.json_response({**snapshot, "run": self._run_id})

    async def _attach(self, request: web.Request) -> web.Response:
        """Upload a file, which is the body, of type `application/octet-stream`, to be sent with a
        message. The `path` of the response is one of the message's `images` if its `kind` is
        `image`, else one of its `files`. At most 20 MB; 200 of a session, until it is deleted.
        Images are scaled down to 1,568 pixels, and have no metadata and no animation afterwards.
        """
        self._check_type(request, "application/octet-stream")
        session_id = request.match_info["session_id"]
        session_in(self._state(request), session_id)
        name = clean_line(request.query.get("name", ""))[:_MAX_FILE_NAME] or "file"
        data = await _read_upload(request, self._limits)
        upload = await self._workspace.uploads.save_file(session_id, data, name)
        guest = guest_of(request)
        if guest is not None:
            self._workspace.grants.note_action(guest, "uploaded a file", session_id)
        answer = {
            "path": str(upload.path) if guest is None else show_upload(str(upload.path)),
            "name": name,
            "kind": "image" if upload.is_image else "file",
            "size": upload.size,
            "width": upload.width,
            "height": upload.height,
        }
        return web.json_response(answer, status=201)

    async def _serve_picture(self, request: web.Request) -> web.Response:
        """An attached picture: PNG, JPEG, WebP or GIF. Its name is the end of its `path`."""
        session_id, name = request.match_info["session_id"], request.match_info["name"]
        session_in(self._state(request), session_id)
        image = await self._workspace.uploads.read_image(session_id, name)
        if image is None:
            raise SpinneyError("The session has no such picture.", "not_found")
        content_type = f"image/{detect_format(image)}"
        return web.Response(body=image, content_type=content_type, headers=PICTURE_HEADERS)

    def _make_handler(self, operation: Operation) -> Handler:
        async def handle(request: web.Request) -> web.Response:
            fields = await self._read_arguments(request, operation)
            path_id = next(iter(request.match_info.values()))
            arguments = {**fields, **request.match_info}
            result = await self._run(request, operation.command, arguments)
            if operation.build_response is not None:
                response = operation.build_response(path_id, result)
                return web.json_response(response, status=operation.status)
            return web.Response(
                body=dump_result(operation.command.result, result),
                status=operation.status,
                content_type="application/json",
            )

        return handle

    async def _run(
        self, request: web.Request, command: Command[..., Any], arguments: dict[str, Any]
    ) -> Any:
        guest = guest_of(request)
        if guest is not None:
            return await self._worlds.run(guest, command, arguments)
        return await run(self._workspace, command, arguments)

    def _state(self, request: web.Request) -> State:
        """The state as the sender of the request knows it."""
        guest = guest_of(request)
        if guest is not None:
            self._workspace.bus.seal()
            return self._worlds.open(guest).world.state
        return self._workspace.store.state

    async def _read_arguments(self, request: web.Request, operation: Operation) -> dict[str, Any]:
        if not operation.fields:
            return {}
        fields = request.query if request.method == "GET" else await self._body(request)
        arguments = {}
        for name in fields:
            if snake_case(name) in operation.fields:
                arguments[name] = fields[name]
            elif snake_case(name) not in request.match_info:  # The id of the path may be repeated.
                raise SpinneyError(_unknown_field(name, operation.fields))
        return arguments

    async def _body(self, request: web.Request) -> dict[str, Any]:
        if not request.can_read_body:
            return {}
        self._check_type(request, "application/json")
        raw = await read_body(request, self._limits)
        body = parse_json(raw) if raw.strip() else {}
        if not isinstance(body, dict):
            raise SpinneyError("Invalid request: it is not a JSON object")
        return body

    def _check_type(self, request: web.Request, content_type: str) -> None:
        """Raise `SpinneyError` for a body of another type.

        Pages can post text/plain to any site without a preflight; a valid token proves intent.
        """
        if request.content_type != content_type and not self._authenticator.has_token(
            credentials_of(request)
        ):
            raise SpinneyError(f"The body must be sent as {content_type}.")


def _unknown_field(name: str, known: tuple[str, ...]) -> str:
    shown = clean_line(name)[:100]
    return f"Unknown field: {shown}.{did_you_mean(shown, known)} Known: {', '.join(known)}"


async def read_body(request: web.Request, limits: Limits) -> bytes:
    """Read the whole body. Raises `SpinneyError` if it is too large or too slow."""
    try:
        return await _read(request, limits.body_time)
    except web.HTTPRequestEntityTooLarge:
        limit = limits.body_size // 1024 // 1024
        raise SpinneyError(
            f"The body is larger than the limit of {limit} MiB.", "too_large"
        ) from None


async def _read_upload(request: web.Request, limits: Limits) -> bytes:
    try:
        clone = request.clone(client_max_size=limits.upload_size)
        return await _read(clone, limits.upload_time)
    except web.HTTPRequestEntityTooLarge:
        limit = limits.upload_size // 1024 // 1024
        raise SpinneyError(f"The file is larger than {limit} MB.", "too_large") from None


async def _read(request: web.Request, seconds: float) -> bytes:
    try:
        async with asyncio.timeout(seconds):
            return await request.read()
    except TimeoutError:
        raise SpinneyError("The body took too long to arrive.", "timeout") from None
    except (ConnectionError, ClientError):
        raise SpinneyError("The client disconnected before sending the whole body.") from None


def _token_from_subprotocols(headers: Mapping[str, str]) -> str:
    """The token among a WebSocket's subprotocols, as `token.<base64url>`.

    Pages cannot set headers of a WebSocket, and browsers log its address to the console.
    """
    subprotocols = [name.strip() for name in headers.get("Sec-WebSocket-Protocol", "").split(",")]
    token = next((name for name in subprotocols if name.startswith("token.")), None)
    if token is None or PROTOCOL not in subprotocols:
        return ""
    encoded = token.removeprefix("token.")
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError:
        return ""


def credentials_of(request: web.Request) -> Credentials:
    """The credentials of a request; a token in the query only counts for `/ws` and `/api/auth`."""
    headers = request.headers
    sockname = request.get_extra_info("sockname") or ("",)
    in_query = request.path in ("/ws", "/api/auth")
    return Credentials(
        hosts=tuple(headers.getall("Host", ())),
        authorization=headers.get("Authorization", ""),
        query_token=(request.query.get("token") or _token_from_subprotocols(headers))
        if in_query
        else "",
        origin=headers.get("Origin"),
        fetch_site=headers.get("Sec-Fetch-Site", ""),
        local_address=sockname[0],
    )
