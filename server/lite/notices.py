"""Notices on the list of sessions: what a person should know besides what waits for an answer."""

from typing import TYPE_CHECKING, Final

from aiohttp import web

from model.api.notices import dismiss_notice
from model.commands.dispatch import run
from model.domain.notices import WAITING, Notice
from server.lite.handlers import Handlers, redirect
from server.lite.html import Element, Node, make, truncate
from server.lite.page_request import Form, PageRequest, button, link, shorten

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_PATH: Final = "/lite/notices"
_MAX_SHOWN: Final = 8
_TEXT_SIZE: Final = 200
"""Bytes of a title or text, as HTML."""


class NoticeRoutes:
    """The form that dismisses a notice."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """One."""
        return [web.post(f"{_PATH}/dismiss", self._handlers.form(self._dismiss))]

    async def _dismiss(self, _: web.Request, __: PageRequest, form: Form) -> web.Response:
        """Dismiss the notice `notice_id`."""
        await run(self._workspace, dismiss_notice, {"noticeId": form.get("notice_id")})
        return redirect("/lite")


def notice_list(page_request: PageRequest) -> Node:
    """The newest notices; sessions that wait or have finished are listed anyway."""
    listed_anyway = (*WAITING, "finished")
    notices = [n for n in page_request.state.notices.values() if n.reason not in listed_anyway]
    notices.sort(key=lambda notice: notice.created_at, reverse=True)
    if not notices:
        return None
    more = len(notices) - _MAX_SHOWN
    return [
        make("h2", "Notices"),
        page_request.make_form(
            f"{_PATH}/dismiss",
            make("ul", [_row(notice) for notice in notices[:_MAX_SHOWN]], class_="rows"),
        ),
        make("p", f"{more} more") if more > 0 else None,
    ]


def _row(notice: Notice) -> Element:
    title = truncate(shorten(notice.title), _TEXT_SIZE)
    return make(
        "li",
        link(title, _address(notice)) if _address(notice) else make("b", title),
        make("small", f" {truncate(shorten(notice.text), _TEXT_SIZE)} "),
        button("Dismiss", "notice_id", notice.id),
    )


def _address(notice: Notice) -> str:
    if notice.session_id is not None:
        return f"/lite/sessions/{notice.session_id}#end"
    return f"/lite/worktrees/{notice.worktree_id}" if notice.worktree_id is not None else ""
