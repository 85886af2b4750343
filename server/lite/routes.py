"""The routes of `/lite`: authentication, pages, and forms."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from model.api.sessions import send_chat_message
from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from model.chat.lookup import session_in
from model.commands.dispatch import run
from model.commands.doctor import get_problems
from model.commands.sessions import mark_session_read
from model.domain.resources import Session
from model.worktrees import require_worktree
from server.auth import Authenticator
from server.http_api import read_body
from server.limits import Limits
from server.lite.form_actions import (
    FORM_ACTIONS,
    WORKTREE_ACTIONS,
    FormAction,
    WorktreeAction,
    create_session_from_form,
    create_worktree_from_form,
    message_arguments,
    wait_until_created,
)
from server.lite.layout import render_failure, render_sign_in
from server.lite.lists import render_sessions
from server.lite.page_request import Form, PageRequest, parse_form
from server.lite.request_forms import render_confirmation
from server.lite.session import render_session
from server.lite.sign_in import CookieAuth, Identity
from server.lite.turns import render_turns, run_turn_form
from server.lite.worktrees import render_changes, render_worktree, render_worktrees

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

SESSION: Final = "/lite/sessions/{session_id}"
WORKTREE: Final = "/lite/worktrees/{worktree_id}"

_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    # With `no-referrer`, browsers post forms with the origin `null`, which any site can send.
    "Referrer-Policy": "same-origin",
}

_MAX_ANONYMOUS_FORM: Final = 1024 * 1024
"""Maximum bytes of a form from an unauthenticated user, read only to show it again."""

_MAX_CREATED: Final = 100
_RETURN_PATH: Final = re.compile(r"/lite(/[\w-]{1,64}){0,3}", re.ASCII)

PageHandler = Callable[[web.Request, PageRequest], Awaitable[str]]
FormHandler = Callable[[web.Request, PageRequest, Form], Awaitable[web.Response]]


class Lite:
    """The page without JavaScript."""

    def __init__(
        self, workspace: "Workspace", authenticator: Authenticator, limits: Limits, version: str
    ) -> None:
        self._workspace = workspace
        self._authenticator = authenticator
        self._limits = limits
        self._version = version
        self._cookie_auth = CookieAuth(authenticator)
        self._created: dict[bytes, str] = {}
        """What was created, by a hash of the form, so that sending it twice creates one."""
        self._create_lock = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """All routes."""
        return [
            web.get("/lite", self._page_handler(self._get_sessions)),
            web.get("/lite/worktrees", self._page_handler(self._get_worktrees)),
            web.post("/lite/worktrees", self._form_handler(self._create_worktree)),
            web.get(WORKTREE, self._page_handler(self._get_worktree)),
            web.get(f"{WORKTREE}/changes", self._page_handler(self._get_changes)),
            web.get(SESSION, self._page_handler(self._get_session)),
            web.get(f"{SESSION}/turns", self._page_handler(self._get_turns)),
            web.post(f"{SESSION}/turns", self._form_handler(self._undo_or_redo)),
            web.post("/lite/sign-in", self._sign_in),
            web.post("/lite/sign-out", self._form_handler(self._sign_out)),
            web.post(f"{WORKTREE}/sessions", self._form_handler(self._create_session)),
            *(
                web.post(f"{WORKTREE}/{action.name}", self._worktree_handler(action))
                for action in WORKTREE_ACTIONS
            ),
            *(
                web.post(f"{SESSION}/{action.name}", self._action_handler(action))
                for action in FORM_ACTIONS
            ),
            web.get("/lite/{rest:.*}", self._page_handler(self._get_unknown)),
        ]

    # Pages --------------------------------------------------------------------------------------

    async def _get_sessions(self, _: web.Request, page_request: PageRequest) -> str:
        """All sessions, those that need you first; paginated with `page`."""
        return render_sessions(page_request, await get_problems(self._workspace))

    async def _get_worktrees(self, _: web.Request, page_request: PageRequest) -> str:
        """All worktrees with their git status by `page`; with `archived` the archive."""
        return await render_worktrees(page_request)

    async def _get_worktree(self, request: web.Request, page_request: PageRequest) -> str:
        """A worktree, its sessions, and forms for a new session, push and archive."""
        return render_worktree(page_request, request.match_info["worktree_id"])

    async def _get_changes(self, request: web.Request, page_request: PageRequest) -> str:
        """The changed files, and a form to commit them; with `side` and `file` one's diff.

        Lists are paginated with `page`, diffs with `at`.
        """
        return await render_changes(page_request, request.match_info["worktree_id"])

    async def _get_session(self, request: web.Request, page_request: PageRequest) -> str:
        """A session: its newest messages, request, queue, and all forms.

        `before` and `from` select older messages, `part` a tool's input and result, `plan` a form
        to edit the plan, `asked` the full details of a permission request. With `every`, browsers
        reload the page after that many seconds while the session is running.
        """
        session_id = request.match_info["session_id"]
        is_newest = page_request.query.keys() <= {"every", "beat"}
        if (
            is_newest
            and request.method == "GET"
            and session_in(page_request.state, session_id).unread
        ):
            await mark_session_read(self._workspace, session_id)
        return await render_session(page_request, session_id)

    async def _get_turns(self, request: web.Request, page_request: PageRequest) -> str:
        """The turns of a session; with `undo` or `redo`, a turn's number, what that would do."""
        session = session_in(page_request.state, request.match_info["session_id"])
        return await render_turns(page_request, session)

    async def _get_unknown(self, _: web.Request, page_request: PageRequest) -> str:
        """Anything else: a 404 page."""
        raise SpinneyError("There is nothing at this address.", "not_found")

    # Forms --------------------------------------------------------------------------------------

    async def _sign_in(self, request: web.Request) -> web.Response:
        """Sign in with `token`; sets a cookie for `/lite`, for 30 days with `remember`."""
        form = Form()
        response = web.Response(status=303, headers=_HEADERS)
        try:
            form = await self._read_form(request, _MAX_ANONYMOUS_FORM)
            remember = bool(form.get("remember"))
            self._cookie_auth.sign_in(request, form.get("token"), response, remember=remember)
        except SpinneyError as error:
            return self._sign_in_response(request, error, form, _return_path(form.get("to")))
        response.headers["Location"] = _return_path(form.get("to"))
        return response

    async def _sign_out(self, request: web.Request, _: PageRequest, __: Form) -> web.Response:
        """Sign out; revokes the cookie."""
        response = _redirect("/lite")
        self._cookie_auth.sign_out(request, response)
        return response

    async def _undo_or_redo(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Undo `turn`: `what`, with a choice `fileN` for the Nth `path`; or `redo` it."""
        session = session_in(page_request.state, request.match_info["session_id"])
        try:
            await run_turn_form(page_request, session, form)
        except SpinneyError as error:
            query = {"redo" if form.get("redo") else "undo": form.get("number")}
            failed = replace(page_request, typed=form, problem=error.message, query=query)
            status = HTTP_STATUS[error.error_type]
            return _html_response(await render_turns(failed, session), status)
        return _redirect(f"/lite/sessions/{session.id}/turns")

    async def _create_worktree(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Create a worktree of `project`, on a new branch or `branch`, or restore `recovery`.

        With `message` a session (`name`, `mode`, `backend`) is created in it, and gets that.
        """
        page_request = replace(page_request, path="/lite/worktrees")
        form_hash = form.digest
        async with self._create_lock:
            worktree_id = self._created.get(form_hash) if "once" in form else None
            if worktree_id in page_request.state.worktrees:
                return _redirect(f"/lite/worktrees/{worktree_id}")
            try:
                worktree = await create_worktree_from_form(self._workspace, form)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                html = await render_worktrees(failed)
                return _html_response(html, HTTP_STATUS[error.error_type])
            self._keep_created(form_hash, worktree.id)
        try:
            await wait_until_created(self._workspace, worktree.id)
        except SpinneyError as error:
            failed = replace(page_request, typed=form, problem=error.message)
            is_there = worktree.id in page_request.state.worktrees
            html = (
                render_worktree(failed, worktree.id) if is_there else await render_worktrees(failed)
            )
            return _html_response(html, HTTP_STATUS[error.error_type])
        if not form.get("message").strip():
            return _redirect(f"/lite/worktrees/{worktree.id}")
        session = await create_session_from_form(self._workspace, worktree.id, form)
        return await self._send_first_message(page_request, session, form)

    async def _create_session(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Create a session (`name`, `mode`, `backend`) and send its first `message`, if any."""
        worktree_id = request.match_info["worktree_id"]
        form_hash = form.digest
        async with self._create_lock:
            session_id = self._created.get(form_hash) if "once" in form else None
            if session_id in page_request.state.sessions:
                return _redirect(f"/lite/sessions/{session_id}#end")
            try:
                session = await create_session_from_form(self._workspace, worktree_id, form)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                return _html_response(
                    render_worktree(failed, worktree_id), HTTP_STATUS[error.error_type]
                )
            self._keep_created(form_hash, session.id)
        return await self._send_first_message(page_request, session, form)

    def _keep_created(self, form_hash: bytes, created_id: str) -> None:
        if len(self._created) >= _MAX_CREATED:
            self._created.clear()
        self._created[form_hash] = created_id

    async def _send_first_message(
        self, page_request: PageRequest, session: Session, form: Form
    ) -> web.Response:
        if form.get("message").strip():
            arguments = {"sessionId": session.id, **message_arguments(form)}
            try:
                await run(self._workspace, send_chat_message, arguments)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                html = await render_session(failed, session.id)
                return _html_response(html, HTTP_STATUS[error.error_type])
        return _redirect(f"/lite/sessions/{session.id}#end")

    def _action_handler(self, action: FormAction) -> Handler:
        async def run_action(
            request: web.Request, page_request: PageRequest, form: Form
        ) -> web.Response:
            session = session_in(page_request.state, request.match_info["session_id"])
            if action.needs_confirmation(form):
                return _html_response(render_confirmation(page_request, session, form))
            try:
                session_id = await action.run(self._workspace, session, form)
            except SpinneyError as error:
                # An edited plan is shown again on the page for editing plans.
                query = {"plan": "1"} if "plan" in form else {}
                failed = replace(page_request, typed=form, problem=error.message, query=query)
                html = await render_session(failed, session.id)
                return _html_response(html, HTTP_STATUS[error.error_type])
            return _redirect(f"/lite/sessions/{session_id}#end")

        return self._form_handler(run_action)

    def _worktree_handler(self, action: WorktreeAction) -> Handler:
        async def run_action(
            request: web.Request, page_request: PageRequest, form: Form
        ) -> web.Response:
            worktree = require_worktree(page_request.state, request.match_info["worktree_id"])
            try:
                await action.run(self._workspace, worktree, form)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                if action.name == "commit":
                    html = await render_changes(failed, worktree.id)
                else:
                    html = render_worktree(failed, worktree.id)
                return _html_response(html, HTTP_STATUS[error.error_type])
            return _redirect(f"/lite/worktrees/{worktree.id}?done={action.name}")

        return self._form_handler(run_action)

    # Authentication -----------------------------------------------------------------------------

    def _page_handler(self, read_page: PageHandler) -> Handler:
        """Authenticate a request for a page; errors are shown as a page, too."""

        @wraps(read_page)
        async def handle(request: web.Request) -> web.Response:
            try:
                identity = self._cookie_auth.identify(request)
            except SpinneyError as error:
                return self._sign_in_response(request, error, Form(), _return_path(request.path))
            page_request = self._make_page_request(request, identity)
            try:
                return _html_response(await read_page(request, page_request))
            except Exception as error:
                return self._failure_response(request, error, page_request)

        return handle

    def _form_handler(self, take_form: FormHandler) -> Handler:
        """Authenticate a form; its content is shown again if it is refused."""

        @wraps(take_form)
        async def handle(request: web.Request) -> web.Response:
            form, return_to = Form(), _return_path(request.path.rpartition("/")[0])
            try:
                identity = self._cookie_auth.identify(request)
            except SpinneyError as error:
                try:
                    form = await self._read_form(request, _MAX_ANONYMOUS_FORM)
                except SpinneyError:
                    pass
                return self._sign_in_response(request, error, form, return_to)
            page_request = replace(
                self._make_page_request(request, identity), path=return_to, query={}
            )
            try:
                form = await self._read_form(request, self._limits.body_size)
                self._cookie_auth.check_form(request, identity, form.get("form_value"))
                return await take_form(request, page_request, form)
            except Exception as error:
                return self._failure_response(request, error, replace(page_request, typed=form))

        return handle

    def _make_page_request(self, request: web.Request, identity: Identity) -> PageRequest:
        return PageRequest(
            workspace=self._workspace,
            version=self._version,
            path=request.path,
            query=request.query,
            csrf_token=identity.csrf_token,
            can_sign_out=identity.has_cookie,
        )

    async def _read_form(self, request: web.Request, limit: int) -> Form:
        if (request.content_length or 0) > limit:
            raise SpinneyError("The form is too large.", "too_large")
        if request.content_type not in (
            "application/x-www-form-urlencoded",
            "application/octet-stream",
        ):
            raise SpinneyError("A form must be sent as application/x-www-form-urlencoded.")
        raw = await read_body(request, self._limits)
        return await asyncio.to_thread(parse_form, raw)

    def _sign_in_response(
        self, request: web.Request, error: SpinneyError, form: Form, return_path: str
    ) -> web.Response:
        if error.error_type != "authentication_error":
            html = render_sign_in(self._version, error.message, return_path, form, tried=True)
            return _html_response(html, HTTP_STATUS[error.error_type])
        self._authenticator.log_refusal(request.remote or "")
        tried = request.path == "/lite/sign-in"
        return _html_response(
            render_sign_in(self._version, error.message, return_path, form, tried=tried), 401
        )

    def _failure_response(
        self, request: web.Request, error: Exception, page_request: PageRequest
    ) -> web.Response:
        failure = as_user_error(error, f"{request.method} {request.path}")
        return _html_response(
            render_failure(page_request, failure.message), HTTP_STATUS[failure.error_type]
        )


def _html_response(html: str, status: int = 200) -> web.Response:
    return web.Response(
        text=html, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS
    )


def _redirect(address: str) -> web.Response:
    return web.Response(status=303, headers={**_HEADERS, "Location": address})


def _return_path(path: str) -> str:
    """The path, if it is a page of `/lite` to return to, else `/lite`."""
    return path if _RETURN_PATH.fullmatch(path) and path != "/lite/sign-in" else "/lite"
