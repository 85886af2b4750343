"""The routes of `/lite` for landing and for pull requests: their pages, and their forms."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from model.api.command import Command
from model.api.landing import land_worktree, send_landing_message, undo_landing
from model.api.pull_request_acts import (
    merge_pull_request,
    reply_to_thread,
    set_pull_request_draft,
)
from model.api.pull_request_messages import answer_comments, fix_checks
from model.api.scripts import run_worktree_script
from model.api.worktrees import set_worktree_base
from model.base.errors import SpinneyError
from model.commands.dispatch import run
from model.domain.messages import SessionMessage
from model.worktrees import require_project, require_worktree
from server.lite.handlers import Handlers, RenderFor, redirect, refuse_form
from server.lite.landing import desk_path, landing_path, render_desk, render_landing
from server.lite.page_request import Form, PageRequest
from server.lite.pull_request import pull_request_path, render_pull_request

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_WORKTREE: Final = "/lite/worktrees/{worktree_id}"
_PROJECT: Final = "/lite/projects/{project_id}"


class LandingRoutes:
    """Pages and forms of landing and of pull requests."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        page, form = self._handlers.page, self._handlers.form
        return [
            web.get(f"{_PROJECT}/landing", page(self._get_desk)),
            web.post(f"{_PROJECT}/undo-landing", form(self._undo)),
            web.get(f"{_WORKTREE}/landing", page(self._get_landing)),
            web.post(f"{_WORKTREE}/land", form(self._land)),
            web.post(f"{_WORKTREE}/base", form(self._set_base)),
            web.post(f"{_WORKTREE}/check", form(self._check)),
            web.post(f"{_WORKTREE}/landing-problem", form(self._send_problem)),
            web.get(f"{_WORKTREE}/pull-request", page(self._get_pull_request)),
            web.post(f"{_WORKTREE}/merge", form(self._merge)),
            web.post(f"{_WORKTREE}/ready", form(self._mark_ready)),
            web.post(f"{_WORKTREE}/reply", form(self._reply)),
            web.post(f"{_WORKTREE}/fix-checks", form(self._fix_checks)),
            web.post(f"{_WORKTREE}/answer-comments", form(self._answer_comments)),
        ]

    # Pages --------------------------------------------------------------------------------------

    async def _get_desk(self, request: web.Request, page_request: PageRequest) -> str:
        """The worktrees of a project with what is next for each; paginated with `page`."""
        return await render_desk(page_request, request.match_info["project_id"])

    async def _get_landing(self, request: web.Request, page_request: PageRequest) -> str:
        """What landing a worktree would do, by `method`; with `output` that of its check."""
        return await render_landing(page_request, request.match_info["worktree_id"])

    async def _get_pull_request(self, request: web.Request, page_request: PageRequest) -> str:
        """The pull request of a worktree; with `log` that of a check, with `thread` a thread."""
        return await render_pull_request(page_request, request.match_info["worktree_id"])

    # Forms --------------------------------------------------------------------------------------

    async def _undo(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Take the landing `landing_id` back."""
        project = require_project(page_request.state, request.match_info["project_id"])
        try:
            await run(self._workspace, undo_landing, {"landingId": form.get("landing_id")})
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_desk, project.id)
        return redirect(f"{desk_path(project.id)}?done=undo")

    async def _land(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Land it on `base_commit` by `method`.

        With `message`, `after`, `ignore_check`, `stash_base`.
        """
        worktree = require_worktree(page_request.state, request.match_info["worktree_id"])
        message = form.get("message").strip()
        arguments = {
            "worktreeId": worktree.id,
            "baseCommit": form.get("base_commit"),
            "method": form.get("method"),
            "after": form.get("after"),
            "ignoreCheck": bool(form.get("ignore_check")),
            "stashBase": bool(form.get("stash_base")),
            **({"message": message} if message else {}),
        }
        try:
            await run(self._workspace, land_worktree, arguments)
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_landing, worktree.id)
        return redirect(f"{desk_path(worktree.project_id)}?done=land")

    async def _set_base(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Let it land in the branch `base`; with `move` its commits are moved onto it."""
        worktree_id = request.match_info["worktree_id"]
        moves = bool(form.get("move"))
        given = {"worktreeId": worktree_id, "baseBranch": form.get("base"), "moveCommits": moves}
        try:
            await run(self._workspace, set_worktree_base, given)
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_landing, worktree_id)
        return redirect(f"{landing_path(worktree_id)}?done=base")

    async def _check(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Run the check of a worktree."""
        worktree_id = request.match_info["worktree_id"]
        arguments = {"worktreeId": worktree_id, "script": "check"}
        try:
            await run(self._workspace, run_worktree_script, arguments)
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_landing, worktree_id)
        return redirect(f"{landing_path(worktree_id)}?done=check")

    async def _send_problem(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Send what keeps a worktree from landing to a session."""
        worktree_id = request.match_info["worktree_id"]
        return await self._send(
            send_landing_message, page_request, form, render_landing, worktree_id
        )

    async def _fix_checks(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Send the failed checks of the pull request to a session."""
        worktree_id = request.match_info["worktree_id"]
        return await self._send(fix_checks, page_request, form, render_pull_request, worktree_id)

    async def _answer_comments(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Send the open comments of the pull request to a session."""
        worktree_id = request.match_info["worktree_id"]
        return await self._send(
            answer_comments, page_request, form, render_pull_request, worktree_id
        )

    async def _merge(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Merge the pull request at `head_commit` by `method`, or as soon as it can be (`auto`).

        Only with `sure`.
        """
        if not form.get("sure"):
            worktree_id = request.match_info["worktree_id"]
            refusal = SpinneyError("Tick the box to confirm the merge.")
            return await refuse_form(page_request, form, refusal, render_pull_request, worktree_id)
        method = {"method": form.get("method")} if form.get("method") else {}
        more = {"headCommit": form.get("head_commit"), "auto": bool(form.get("auto")), **method}
        return await self._change(request, page_request, form, merge_pull_request, more)

    async def _mark_ready(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Mark the pull request as ready for review."""
        return await self._change(
            request, page_request, form, set_pull_request_draft, {"draft": False}
        )

    async def _reply(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Reply to `thread_id` with `message`, and mark it as resolved with `resolve`."""
        more = {
            "threadId": form.get("thread_id"),
            "text": form.get("message").strip(),
            "resolve": bool(form.get("resolve")),
        }
        return await self._change(request, page_request, form, reply_to_thread, more)

    async def _change(
        self,
        request: web.Request,
        page_request: PageRequest,
        form: Form,
        command: Command[..., Any],
        more: Mapping[str, Any],
    ) -> web.Response:
        worktree_id = request.match_info["worktree_id"]
        try:
            await run(self._workspace, command, {"worktreeId": worktree_id, **more})
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_pull_request, worktree_id)
        done = request.path.rpartition("/")[2]
        return redirect(f"{pull_request_path(worktree_id)}?done={done}")

    async def _send(
        self,
        command: Command[..., SessionMessage],
        page_request: PageRequest,
        form: Form,
        render: RenderFor,
        worktree_id: str,
    ) -> web.Response:
        """Run a command that sends a message to a session, and lead there."""
        try:
            sent = await run(self._workspace, command, {"worktreeId": worktree_id})
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render, worktree_id)
        return redirect(f"/lite/sessions/{sent.session_id}#end")
