"""Open work as a list: the issues and pull requests of all projects, each to be started."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aiohttp import web

from model.api.hosting import list_open_work, start_work
from model.base.errors import HTTP_STATUS, SpinneyError
from model.commands.dispatch import run
from model.domain.hosting import OpenPullRequest, OpenWorkItem, OpenWorkProblem
from server.lite.handlers import Handlers, html_response, redirect
from server.lite.html import Element, Node, make, truncate
from server.lite.layout import render_page
from server.lite.lists import make_select, mode_options, paginate
from server.lite.page_request import Form, PageRequest, button, link, shorten

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_PATH: Final = "/lite/open-work"
_TITLE_SIZE: Final = 100
"""Bytes of a title, as HTML."""
_NAME_LENGTH: Final = 30
_MAX_PLACES: Final = 2
"""Sessions or worktrees that are linked for each item."""
_MAX_PROBLEMS: Final = 5


class WorkRoutes:
    """The list, and the form that starts an item of it."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """Both."""
        return [
            web.get(_PATH, self._handlers.page(self._get)),
            web.post(f"{_PATH}/start", self._handlers.form(self._start)),
        ]

    async def _get(self, request: web.Request, page_request: PageRequest) -> str:
        """The open issues and pull requests of all projects; paginated with `page`."""
        return await render_work(page_request)

    async def _start(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Create a worktree from `item` with a session in `mode` that investigates."""
        project_id, _, rest = form.get("item").partition("/")
        kind, _, item_id = rest.partition("/")
        arguments = {
            "projectId": project_id,
            "kind": kind,
            "itemId": item_id,
            "mode": form.get("mode"),
        }
        try:
            started = await run(self._workspace, start_work, arguments)
        except SpinneyError as error:
            page = await render_work(page_request, error.message)
            return html_response(page, HTTP_STATUS[error.error_type])
        if started.session is None:
            return redirect(f"/lite/worktrees/{started.worktree.id}")
        return redirect(f"/lite/sessions/{started.session.id}#end")


async def render_work(page_request: PageRequest, problem: str = "") -> str:
    """The open issues and pull requests of all projects, with what works on each."""
    work = await run(page_request.workspace, list_open_work, {})
    visible, links = paginate(page_request, work.items)
    form = page_request.make_form(
        f"{_PATH}/start",
        make("label", "Mode of what is started", for_="mode"),
        make_select("mode", mode_options(), "plan"),
        make("ul", [make("li", _row(page_request, each)) for each in visible], class_="rows"),
    )
    return render_page(
        page_request,
        "Open work",
        make("p", shorten(problem, 500), class_="bad", role="alert") if problem else None,
        _problems(page_request, work.problems),
        form if work.items else make("p", "There is nothing here."),
        links,
    )


def _row(page_request: PageRequest, found: OpenWorkItem) -> Iterator[Node]:
    item = found.item
    number = f"PR {item.number}" if isinstance(item, OpenPullRequest) else f"#{item.number}"
    project = page_request.state.projects.get(found.project_id)
    facts = [shorten(project.name, _NAME_LENGTH) if project else ""]
    facts += [truncate(shorten(each, _NAME_LENGTH), 40) for each in item.assignees[:2]]
    yield make("b", truncate(shorten(item.title), _TITLE_SIZE))
    yield make("small", f" {' · '.join(filter(None, facts))} ")
    yield from _places(page_request, found)
    value = f"{found.project_id}/{item.kind}/{item.id}"
    yield button(f"Start {number}", "item", value)


def _places(page_request: PageRequest, found: OpenWorkItem) -> Iterator[Node]:
    """Links to the sessions that work on it, or to their worktrees."""
    state = page_request.state
    sessions = [state.sessions[one] for one in found.session_ids if one in state.sessions]
    for session in sessions[:_MAX_PLACES]:
        yield link(shorten(session.name, _NAME_LENGTH), f"/lite/sessions/{session.id}#end")
        yield " "
    known = [state.worktrees[one] for one in found.item.worktree_ids if one in state.worktrees]
    for worktree in [] if sessions else known[:_MAX_PLACES]:
        yield link(shorten(worktree.name, _NAME_LENGTH), f"/lite/worktrees/{worktree.id}")
        yield " "


def _problems(page_request: PageRequest, problems: list[OpenWorkProblem]) -> list[Element]:
    """Why the items of projects are missing."""
    shown: list[Element] = []
    for each in problems[:_MAX_PROBLEMS]:
        project = page_request.state.projects.get(each.project_id)
        name = shorten(project.name, _NAME_LENGTH) if project else "A project"
        shown.append(make("p", f"{name}: {shorten(each.message, 300)}", class_="bad"))
    return shown
