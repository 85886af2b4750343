"""The routes of `/lite`: pages and forms."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from model.api.sessions import send_chat_message
from model.base.errors import HTTP_STATUS, SpinneyError
from model.chat.lookup import session_in
from model.commands.dispatch import run
from model.commands.doctor import get_problems
from model.commands.sessions import mark_session_read
from model.domain.sessions import Session
from model.worktrees import require_worktree
from server.auth import Authenticator
from server.guesses import GuessLimiter
from server.limits import Limits
from server.lite.conflicts import render_conflicts, send_conflict_message
from server.lite.foreign_sessions import ForeignSessionRoutes
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
from server.lite.handlers import Handlers, html_response, redirect
from server.lite.landing_routes import LandingRoutes
from server.lite.lists import render_sessions
from server.lite.notices import NoticeRoutes
from server.lite.one_time_actions import OneTimeActionRoutes
from server.lite.page_request import Form, PageRequest
from server.lite.request_forms import render_confirmation
from server.lite.session import render_session
from server.lite.sweep import SweepRoutes
from server.lite.train import TrainRoutes
from server.lite.turns import render_turns, run_turn_form
from server.lite.usage import render_usage
from server.lite.work import WorkRoutes
from server.lite.worktrees import render_changes, render_worktree, render_worktrees

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

SESSION: Final = "/lite/sessions/{session_id}"
WORKTREE: Final = "/lite/worktrees/{worktree_id}"
PROJECT: Final = "/lite/projects/{project_id}"

_MAX_CREATED: Final = 100


class Lite:
    """The page without JavaScript."""

    def __init__(
        self,
        workspace: "Workspace",
        authenticator: Authenticator,
        limits: Limits,
        version: str,
        guesses: GuessLimiter,
    ) -> None:
        self._workspace = workspace
        self._handlers = Handlers(workspace, authenticator, limits, version)
        self._one_time_actions = OneTimeActionRoutes(workspace, version, guesses)
        self._created: dict[bytes, str] = {}
        """What was created, by a hash of the form, so that sending it twice creates one."""
        self._create_lock = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """All routes."""
        page, form = self._handlers.page, self._handlers.form
        return [
            web.get("/lite", page(self._get_sessions)),
            web.get("/lite/worktrees", page(self._get_worktrees)),
            web.post("/lite/worktrees", form(self._create_worktree)),
            web.get(WORKTREE, page(self._get_worktree)),
            web.get(f"{WORKTREE}/changes", page(self._get_changes)),
            web.get(f"{PROJECT}/conflicts", page(self._get_conflicts)),
            *LandingRoutes(self._workspace, self._handlers).routes(),
            *TrainRoutes(self._workspace, self._handlers).routes(),
            *SweepRoutes(self._workspace, self._handlers).routes(),
            *WorkRoutes(self._workspace, self._handlers).routes(),
            *NoticeRoutes(self._workspace, self._handlers).routes(),
            *ForeignSessionRoutes(self._workspace, self._handlers).routes(),
            web.post(f"{WORKTREE}/conflict", form(self._write_about_conflict)),
            web.get(SESSION, page(self._get_session)),
            web.get(f"{SESSION}/turns", page(self._get_turns)),
            web.post(f"{SESSION}/turns", form(self._undo_or_redo)),
            web.get("/lite/usage", page(self._get_usage)),
            web.post("/lite/sign-in", self._handlers.sign_in),
            web.post("/lite/sign-out", form(self._handlers.sign_out)),
            web.post(f"{WORKTREE}/sessions", form(self._create_session)),
            *(
                web.post(f"{WORKTREE}/{action.name}", self._worktree_handler(action))
                for action in WORKTREE_ACTIONS
            ),
            *(
                web.post(f"{SESSION}/{action.name}", self._action_handler(action))
                for action in FORM_ACTIONS
            ),
            web.get("/lite/{rest:.*}", page(self._get_unknown)),
            *self._one_time_actions.routes(),
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
        return await render_worktree(page_request, request.match_info["worktree_id"])

    async def _get_changes(self, request: web.Request, page_request: PageRequest) -> str:
        """The changed files, and a form to commit them; with `side` and `file` one's diff.

        Lists are paginated with `page`, diffs with `at`.
        """
        return await render_changes(page_request, request.match_info["worktree_id"])

    async def _get_conflicts(self, request: web.Request, page_request: PageRequest) -> str:
        """The worktrees of a project that would be in conflict; with `of` (a worktree) and `with`
        (another, or the base branch), both versions.
        """
        return await render_conflicts(page_request, request.match_info["project_id"])

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

    async def _get_usage(self, _: web.Request, page_request: PageRequest) -> str:
        """What agents used in the last `days` (1, 7, 30 or `all`), `by` model, project, session,
        agent or day; limits and budgets.
        """
        return await render_usage(page_request)

    async def _get_unknown(self, _: web.Request, page_request: PageRequest) -> str:
        """Anything else: a 404 page."""
        raise SpinneyError("There is nothing at this address.", "not_found")

    # Forms --------------------------------------------------------------------------------------

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
            return html_response(await render_turns(failed, session), status)
        return redirect(f"/lite/sessions/{session.id}/turns")

    async def _write_about_conflict(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Send both versions of the conflict `with` a worktree or branch to the newest session."""
        worktree = require_worktree(page_request.state, request.match_info["worktree_id"])
        session = await send_conflict_message(self._workspace, worktree, form)
        return redirect(f"/lite/sessions/{session.id}#end")

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
                return redirect(f"/lite/worktrees/{worktree_id}")
            try:
                worktree = await create_worktree_from_form(self._workspace, form)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                html = await render_worktrees(failed)
                return html_response(html, HTTP_STATUS[error.error_type])
            self._keep_created(form_hash, worktree.id)
        try:
            await wait_until_created(self._workspace, worktree.id)
        except SpinneyError as error:
            failed = replace(page_request, typed=form, problem=error.message)
            is_there = worktree.id in page_request.state.worktrees
            html = (
                await render_worktree(failed, worktree.id)
                if is_there
                else await render_worktrees(failed)
            )
            return html_response(html, HTTP_STATUS[error.error_type])
        if not form.get("message").strip():
            return redirect(f"/lite/worktrees/{worktree.id}")
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
                return redirect(f"/lite/sessions/{session_id}#end")
            try:
                session = await create_session_from_form(self._workspace, worktree_id, form)
            except SpinneyError as error:
                failed = replace(page_request, typed=form, problem=error.message)
                return html_response(
                    await render_worktree(failed, worktree_id), HTTP_STATUS[error.error_type]
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
                return html_response(html, HTTP_STATUS[error.error_type])
        return redirect(f"/lite/sessions/{session.id}#end")

    def _action_handler(self, action: FormAction) -> Handler:
        async def run_action(
            request: web.Request, page_request: PageRequest, form: Form
        ) -> web.Response:
            session = session_in(page_request.state, request.match_info["session_id"])
            if action.needs_confirmation(form):
                return html_response(render_confirmation(page_request, session, form))
            try:
                session_id = await action.run(self._workspace, session, form)
            except SpinneyError as error:
                # An edited plan is shown again on the page for editing plans.
                query = {"plan": "1"} if "plan" in form else {}
                failed = replace(page_request, typed=form, problem=error.message, query=query)
                html = await render_session(failed, session.id)
                return html_response(html, HTTP_STATUS[error.error_type])
            return redirect(f"/lite/sessions/{session_id}#end")

        return self._handlers.form(run_action)

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
                    html = await render_worktree(failed, worktree.id)
                return html_response(html, HTTP_STATUS[error.error_type])
            return redirect(f"/lite/worktrees/{worktree.id}?done={action.name}")

        return self._handlers.form(run_action)
