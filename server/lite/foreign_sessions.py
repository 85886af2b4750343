"""Conversations begun in the agents' own screens, each to be continued in a worktree."""

import time
from typing import TYPE_CHECKING, Final

from aiohttp import web

from model.api.foreign_sessions import continue_foreign_session, list_foreign_sessions
from model.base.errors import HTTP_STATUS, SpinneyError
from model.commands.dispatch import run
from model.domain.foreign_sessions import ForeignSession
from model.domain.worktrees import Worktree
from model.worktrees import require_worktree
from server.lite.handlers import Handlers, html_response, redirect
from server.lite.html import Element, make, truncate
from server.lite.layout import render_page
from server.lite.lists import paginate
from server.lite.page_request import Form, PageRequest, button, link, nav, shorten

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_TITLE_SIZE: Final = 100
"""Bytes of a title, as HTML."""
_NAME_SIZE: Final = 40
_MAX_PROBLEMS: Final = 5


def foreign_sessions_path(worktree_id: str) -> str:
    """The address of the list."""
    return f"/lite/worktrees/{worktree_id}/conversations"


class ForeignSessionRoutes:
    """The list, and the form that continues one of it."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """Both."""
        path = foreign_sessions_path("{worktree_id}")
        return [
            web.get(path, self._handlers.page(self._get)),
            web.post(f"{path}/continue", self._handlers.form(self._continue)),
        ]

    async def _get(self, request: web.Request, page_request: PageRequest) -> str:
        """The conversations that were begun outside, for a worktree; paginated with `page`."""
        return await render_foreign_sessions(page_request, request.match_info["worktree_id"])

    async def _continue(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Continue a `conversation` (`AGENT/ID`) in plan mode."""
        worktree_id = request.match_info["worktree_id"]
        backend, _, conversation_id = form.get("conversation").partition("/")
        arguments = {
            "worktreeId": worktree_id,
            "backend": backend,
            "conversationId": conversation_id,
        }
        try:
            session = await run(self._workspace, continue_foreign_session, arguments)
        except SpinneyError as error:
            page = await render_foreign_sessions(page_request, worktree_id, error.message)
            return html_response(page, HTTP_STATUS[error.error_type])
        return redirect(f"/lite/sessions/{session.id}#end")


async def render_foreign_sessions(
    page_request: PageRequest, worktree_id: str, problem: str = ""
) -> str:
    """What was begun in the directory of a worktree or of its project, newest first."""
    worktree = require_worktree(page_request.state, worktree_id)
    found = await run(page_request.workspace, list_foreign_sessions, {"worktreeId": worktree_id})
    visible, links = paginate(page_request, found.sessions)
    form = page_request.make_form(
        f"{foreign_sessions_path(worktree_id)}/continue",
        make("ul", [_row(each, worktree) for each in visible], class_="rows"),
    )
    nothing = "No conversation was begun here with an agent's own screen."
    return render_page(
        page_request,
        "Conversations from elsewhere",
        nav(link(f"‹ {shorten(worktree.name)}", f"/lite/worktrees/{worktree_id}")),
        make("p", shorten(problem, 500), class_="bad", role="alert") if problem else None,
        [make("p", shorten(each, 300), class_="bad") for each in found.problems[:_MAX_PROBLEMS]],
        form if found.sessions else make("p", nothing),
        links,
    )


def _row(found: ForeignSession, worktree: Worktree) -> Element:
    is_copy = found.directory != worktree.path
    facts = [
        *(
            truncate(shorten(each), _NAME_SIZE)
            for each in (found.agent, found.origin, found.branch)
        ),
        "of the project, continued in a copy" if is_copy else "",
        time.strftime("%Y-%m-%d %H:%M", time.localtime(found.updated_at)),
    ]
    title = truncate(shorten(found.title), _TITLE_SIZE)
    return make(
        "li",
        make("b", title),
        make("small", f" {' · '.join(filter(None, facts))} "),
        button("Continue", "conversation", f"{found.backend}/{found.conversation_id}"),
    )
