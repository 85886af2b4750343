"""Every path of `/lite`: who may come in, which page answers, and what a form leads to."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.typedefs import Handler

from model.api.sessions import send_chat_message
from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from model.chat.chats import session_in
from model.commands.dispatch import run
from model.commands.doctor import get_problems
from model.commands.sessions import mark_session_read
from model.domain.resources import Session
from server.auth import Door
from server.http_api import body_of
from server.limits import Limits
from server.lite.form_actions import ORDERS, Order, begun_session, message_of
from server.lite.layout import failure_page, sign_in_page
from server.lite.lists import sessions_page, worktree_page, worktrees_page
from server.lite.page_request import Form, Visit
from server.lite.request_forms import sure_page
from server.lite.session import session_page
from server.lite.sign_in import Guest, SigningIn

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

SESSION: Final = "/lite/sessions/{session_id}"

_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    # Under `no-referrer` browsers post forms with the origin `null`, which could be anybody's.
    "Referrer-Policy": "same-origin",
}

_MOST_FIELDS: Final = 500
_MOST_OF_STRANGERS: Final = 1024 * 1024
"""Bytes of a form that are read before somebody has signed in, to give them back."""

_MOST_BEGUN: Final = 100

_WAY_BACK: Final = re.compile(r"/lite(/[\w-]{1,64}){0,3}", re.ASCII)

ReadPage = Callable[[web.Request, Visit], Awaitable[str]]
TakeForm = Callable[[web.Request, Visit, Form], Awaitable[web.Response]]


class Lite:
    """The page without JavaScript."""

    def __init__(self, workspace: "Workspace", door: Door, limits: Limits, version: str) -> None:
        self._workspace = workspace
        self._door = door
        self._limits = limits
        self._version = version
        self._signing_in = SigningIn(door)
        self._begun: dict[bytes, str] = {}
        """Sessions by the form that began them: a button pressed twice begins one."""
        self._beginning = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """Every path."""
        return [
            web.get("/lite", self._reading(self._sessions)),
            web.get("/lite/worktrees", self._reading(self._worktrees)),
            web.get("/lite/worktrees/{worktree_id}", self._reading(self._worktree)),
            web.get(SESSION, self._reading(self._session)),
            web.post("/lite/sign-in", self._sign_in),
            web.post("/lite/sign-out", self._taking(self._sign_out)),
            web.post("/lite/worktrees/{worktree_id}/sessions", self._taking(self._begin)),
            *(web.post(f"{SESSION}/{order.name}", self._ordering(order)) for order in ORDERS),
            web.get("/lite/{rest:.*}", self._reading(self._nothing)),
        ]

    # Pages --------------------------------------------------------------------------------------

    async def _sessions(self, _: web.Request, visit: Visit) -> str:
        """All sessions, those that need you first; `page` leads on."""
        return sessions_page(visit, await get_problems(self._workspace))

    async def _worktrees(self, _: web.Request, visit: Visit) -> str:
        """All worktrees with git's counts; `page` leads on."""
        return worktrees_page(visit)

    async def _worktree(self, request: web.Request, visit: Visit) -> str:
        """A worktree, its sessions, and the form that begins another one."""
        return worktree_page(visit, request.match_info["worktree_id"])

    async def _session(self, request: web.Request, visit: Visit) -> str:
        """A session: its newest messages, what it asks, its queue, and all forms.

        `before` and `from` lead through older messages, `part` to a tool's input and result, `plan`
        to a plan that can be edited, `asked` to all that a permission is asked for. With `every`
        browsers ask for the page again after so many seconds while a run goes on.
        """
        session_id = request.match_info["session_id"]
        is_newest = visit.query.keys() <= {"every", "beat"}
        if is_newest and request.method == "GET" and session_in(visit.state, session_id).unread:
            await mark_session_read(self._workspace, session_id)
        return await session_page(visit, session_id)

    async def _nothing(self, _: web.Request, visit: Visit) -> str:
        """Anything else: a 404 that says so."""
        raise SpinneyError("There is nothing at this address.", "not_found")

    # Forms --------------------------------------------------------------------------------------

    async def _sign_in(self, request: web.Request) -> web.Response:
        """Takes `token` and gives a cookie for `/lite`; with `remember` it lasts 30 days."""
        form = Form()
        response = web.Response(status=303, headers=_HEADERS)
        try:
            form = await self._form_of(request, _MOST_OF_STRANGERS)
            remember = bool(form.get("remember"))
            self._signing_in.sign_in(request, form.get("token"), response, remember=remember)
        except SpinneyError as error:
            return self._stranger(request, error, form, _way_back(form.get("to")))
        response.headers["Location"] = _way_back(form.get("to"))
        return response

    async def _sign_out(self, request: web.Request, _: Visit, __: Form) -> web.Response:
        """Ends the cookie."""
        response = _see("/lite")
        self._signing_in.sign_out(request, response)
        return response

    async def _begin(self, request: web.Request, visit: Visit, form: Form) -> web.Response:
        """Begins a session (`name`, `mode`, `backend`) and sends its first `message`, if any."""
        worktree_id = request.match_info["worktree_id"]
        pressed = hashlib.sha256(repr(form.fields).encode(errors="replace")).digest()
        async with self._beginning:
            session_id = self._begun.get(pressed) if "once" in form else None
            if session_id in visit.state.sessions:
                return _see(f"/lite/sessions/{session_id}#end")
            try:
                session = await begun_session(self._workspace, worktree_id, form)
            except SpinneyError as error:
                again = replace(visit, typed=form, problem=error.message)
                return _html(worktree_page(again, worktree_id), HTTP_STATUS[error.error_type])
            if len(self._begun) >= _MOST_BEGUN:
                self._begun.clear()
            self._begun[pressed] = session.id
        return await self._first_message(visit, session, form)

    async def _first_message(self, visit: Visit, session: Session, form: Form) -> web.Response:
        if form.get("message").strip():
            given = {"sessionId": session.id, **message_of(form)}
            try:
                await run(self._workspace, send_chat_message, given)
            except SpinneyError as error:
                again = replace(visit, typed=form, problem=error.message)
                page = await session_page(again, session.id)
                return _html(page, HTTP_STATUS[error.error_type])
        return _see(f"/lite/sessions/{session.id}#end")

    def _ordering(self, order: Order) -> Handler:
        async def carry_out(request: web.Request, visit: Visit, form: Form) -> web.Response:
            session = session_in(visit.state, request.match_info["session_id"])
            if order.wants_to_be_sure(form):
                return _html(sure_page(visit, session, form))
            try:
                session_id = await order.carry_out(self._workspace, session, form)
            except SpinneyError as error:
                # A plan that was edited is still on the page where that was done.
                query = {"plan": "1"} if "plan" in form else {}
                again = replace(visit, typed=form, problem=error.message, query=query)
                page = await session_page(again, session.id)
                return _html(page, HTTP_STATUS[error.error_type])
            return _see(f"/lite/sessions/{session_id}#end")

        return self._taking(carry_out)

    # Coming in ----------------------------------------------------------------------------------

    def _reading(self, read: ReadPage) -> Handler:
        """A page for who may see it; what goes wrong is told on a page, too."""

        @wraps(read)
        async def answer(request: web.Request) -> web.Response:
            try:
                guest = self._signing_in.guest(request)
            except SpinneyError as error:
                return self._stranger(request, error, Form(), _way_back(request.path))
            visit = self._visit(request, guest)
            try:
                return _html(await read(request, visit))
            except Exception as error:
                return self._failure(request, error, visit)

        return answer

    def _taking(self, take: TakeForm) -> Handler:
        """A form of who may send it; what was typed comes back with any refusal."""

        @wraps(take)
        async def answer(request: web.Request) -> web.Response:
            form, back = Form(), _way_back(request.path.rpartition("/")[0])
            try:
                guest = self._signing_in.guest(request)
            except SpinneyError as error:
                try:
                    form = await self._form_of(request, _MOST_OF_STRANGERS)
                except SpinneyError:
                    pass
                return self._stranger(request, error, form, back)
            visit = replace(self._visit(request, guest), path=back, query={})
            try:
                form = await self._form_of(request, self._limits.body_size)
                self._signing_in.check_form(request, guest, form.get("form_value"))
                return await take(request, visit, form)
            except Exception as error:
                return self._failure(request, error, replace(visit, typed=form))

        return answer

    def _visit(self, request: web.Request, guest: Guest) -> Visit:
        return Visit(
            workspace=self._workspace,
            version=self._version,
            path=request.path,
            query=request.query,
            form_value=guest.form_value,
            can_leave=guest.has_cookie,
        )

    async def _form_of(self, request: web.Request, most: int) -> Form:
        if (request.content_length or 0) > most:
            raise SpinneyError("The form is larger than what is taken.", "too_large")
        if request.content_type not in (
            "application/x-www-form-urlencoded",
            "application/octet-stream",
        ):
            raise SpinneyError("A form must be sent as application/x-www-form-urlencoded.")
        raw = await body_of(request, self._limits)
        return await asyncio.to_thread(_parsed, raw)

    def _stranger(
        self, request: web.Request, error: SpinneyError, form: Form, to: str
    ) -> web.Response:
        if error.error_type != "authentication_error":
            page = sign_in_page(self._version, error.message, to, form, tried=True)
            return _html(page, HTTP_STATUS[error.error_type])
        self._door.tell_refused(request.remote or "")
        tried = request.path == "/lite/sign-in"
        return _html(sign_in_page(self._version, error.message, to, form, tried=tried), 401)

    def _failure(self, request: web.Request, error: Exception, visit: Visit) -> web.Response:
        told = as_user_error(error, f"{request.method} {request.path}")
        return _html(failure_page(visit, told.message), HTTP_STATUS[told.error_type])


def _html(page: str, status: int = 200) -> web.Response:
    return web.Response(
        text=page, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS
    )


def _see(address: str) -> web.Response:
    return web.Response(status=303, headers={**_HEADERS, "Location": address})


def _way_back(path: str) -> str:
    """A place of `/lite` where one may go on; its beginning for any other address."""
    return path if _WAY_BACK.fullmatch(path) and path != "/lite/sign-in" else "/lite"


def _parsed(raw: bytes) -> Form:
    try:
        pairs = parse_qsl(
            raw.decode(errors="replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise SpinneyError("Invalid request: the form has too many fields.") from None
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value.replace("\r\n", "\n"))
    return Form(fields)
