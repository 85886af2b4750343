"""The train of a project: starting it, how far its worktrees are, and landing what is ready."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from model.api.command import Command
from model.api.landing import (
    discard_train,
    get_landing_desk,
    get_train,
    get_train_output,
    land_train,
    start_train,
    stop_train,
)
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.landing import LandingRow, Train, TrainCar
from model.domain.projects import Project
from model.worktrees import require_project
from server.lite.handlers import Handlers, redirect, refuse_form
from server.lite.html import Element, Node, make, truncate
from server.lite.landing import AFTER, METHODS, desk_path, landing_path, train_path
from server.lite.layout import render_page
from server.lite.lists import make_select, paginate
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import paginate_text, query_number

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_PATH: Final = "/lite/projects/{project_id}/train"
_REFRESH: Final = 5
"""Seconds after which the page of a running train is loaded again, if that is wished."""
_NAME_LENGTH: Final = 40
_MAX_FILES: Final = 3
"""Files in conflict that are named for each worktree."""
_CARS: Final = {
    "waiting": "waits",
    "merging": "is being brought in",
    "checking": "is being checked",
    "ready": "ready",
    "conflict": "in conflict",
    "failed": "failed",
    "left_out": "left out",
}
_STATES: Final = {
    "running": "It runs. '{base}' stays where it is until you land.",
    "ready": "It has ended. '{base}' has not been touched yet.",
    "stopped": "It stopped. '{base}' has not been touched.",
    "landed": "It landed on '{base}'.",
    "outdated": "'{base}' or a branch has moved since. Run it again.",
    "failed": "It failed. Run it again.",
}


class TrainRoutes:
    """The page of the train of a project, and its forms."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        form = self._handlers.form
        return [
            web.get(_PATH, self._handlers.page(self._get)),
            web.post(f"{_PATH}/start", form(self._start)),
            web.post(f"{_PATH}/again", form(self._start_again)),
            web.post(f"{_PATH}/stop", form(self._stop)),
            web.post(f"{_PATH}/land", form(self._land)),
            web.post(f"{_PATH}/discard", form(self._discard)),
        ]

    async def _get(self, request: web.Request, page_request: PageRequest) -> str:
        """The train of a project, or the form to start one, as with `new`; paginated with `page`.

        With `output`, a worktree, that of the check after it. With `every`, browsers reload the
        page every 5 seconds while the train is running.
        """
        return await render_train(page_request, request.match_info["project_id"])

    async def _start(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Start a train of each `worktree` in this order, by `method`; `check` after each.

        With `keep_going` it goes on without one that fails.
        """
        arguments = {
            "projectId": request.match_info["project_id"],
            "worktreeIds": list(form.all("worktree")),
            "withCheck": bool(form.get("check")),
            "keepGoing": bool(form.get("keep_going")),
            **({"method": form.get("method")} if form.get("method") else {}),
        }
        return await self._run(request, page_request, form, start_train, arguments)

    async def _start_again(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Start the same train again."""
        project_id = request.match_info["project_id"]
        train = await run(self._workspace, get_train, {"projectId": project_id})
        if train is None or train.id != form.get("train_id"):
            raise SpinneyError("This train was replaced or discarded.", "not_found")
        arguments = {
            "projectId": project_id,
            "worktreeIds": [car.worktree_id for car in train.cars],
            "withCheck": train.with_check,
            "keepGoing": train.keep_going,
            "method": train.method,
        }
        return await self._run(request, page_request, form, start_train, arguments)

    async def _stop(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Stop the train `train_id`; what is ready can land."""
        return await self._run(request, page_request, form, stop_train, _train_id(form))

    async def _land(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Land what is ready of `train_id`; `after`, `delete_remote_branch`."""
        arguments = {
            **_train_id(form),
            "after": form.get("after"),
            "deleteRemoteBranch": bool(form.get("delete_remote_branch")),
        }
        return await self._run(request, page_request, form, land_train, arguments, "?done=land")

    async def _discard(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Forget the train `train_id`; branches and base stay as they are."""
        return await self._run(
            request, page_request, form, discard_train, _train_id(form), "?done=discard"
        )

    async def _run(
        self,
        request: web.Request,
        page_request: PageRequest,
        form: Form,
        command: Command[..., Any],
        arguments: dict[str, Any],
        to_desk: str = "",
    ) -> web.Response:
        """Run a command; leads to the desk with the query `to_desk`, without one to the train."""
        project_id = request.match_info["project_id"]
        try:
            await run(self._workspace, command, arguments)
        except SpinneyError as error:
            return await refuse_form(page_request, form, error, render_train, project_id)
        return redirect(desk_path(project_id) + to_desk if to_desk else train_path(project_id))


async def render_train(page_request: PageRequest, project_id: str) -> str:
    """The train of a project, or the form to start one."""
    project = require_project(page_request.state, project_id)
    train = await run(page_request.workspace, get_train, {"projectId": project.id})
    is_new = "new" in page_request.query or "method" in page_request.typed
    if train is not None and "output" in page_request.query:
        return await _render_output(page_request, train)
    if train is None or (is_new and train.status != "running"):
        return await _render_new(page_request, project)
    is_refreshing = train.status == "running" and "every" in page_request.query
    url = train_path(project.id)
    visible, links = paginate(page_request, list(enumerate(train.cars, 1)))
    cars = [make("li", _car(page_request, train, car)) for _, car in visible]
    beat = "0" if page_request.query.get("beat") == "1" else "1"
    return render_page(
        page_request,
        f"Train onto {shorten(train.base, _NAME_LENGTH)}",
        nav(link("‹ Landing", desk_path(project.id))),
        make("p", _STATES[train.status].format(base=shorten(train.base)), role="status"),
        make("p", shorten(train.error, 500), class_="bad") if train.error else None,
        _refresh_links(train, url, is_refreshing=is_refreshing),
        make("ol", cars, start=visible[0][0] if visible else None),
        links,
        list(_forms(page_request, train)),
        refresh=f"{_REFRESH};url={url}?every=1&beat={beat}" if is_refreshing else "",
    )


async def _render_new(page_request: PageRequest, project: Project) -> str:
    """The worktrees that can be brought in, those that are suggested first, and in that order."""
    desk = await run(page_request.workspace, get_landing_desk, {"projectId": project.id})
    suggested = {worktree_id: at for at, worktree_id in enumerate(desk.suggested_train)}
    rows = sorted(
        (row for row in desk.rows if row.ahead and row.merged is None),
        key=lambda row: suggested.get(row.worktree_id, len(suggested)),
    )
    visible, links = paginate(page_request, rows)
    typed = page_request.typed
    chosen = set(typed.all("worktree")) if typed.fields else set(suggested)
    method = typed.get("method") or project.landing_method
    form = page_request.make_form(
        f"{train_path(project.id)}/start",
        [_choice(row, is_chosen=row.worktree_id in chosen) for row in visible],
        make("label", "Method", for_="method"),
        make_select("method", METHODS, method or page_request.state.preferences.landing_method),
        make(
            "label",
            make("input", type="checkbox", name="check", value="1", checked=True),
            "Run the check after each",
        ),
        make(
            "label",
            make("input", type="checkbox", name="keep_going", value="1"),
            "Leave out one that fails, and go on",
        ),
        make("p", button("Start the train", class_="primary")),
    )
    return render_page(
        page_request,
        f"Train: {shorten(project.name)}",
        nav(link("‹ Landing", desk_path(project.id))),
        make(
            "p",
            "Each is brought in on top of the one before it, beside all checkouts. The base branch "
            "stays where it is until you land them.",
        ),
        form if rows else make("p", "No worktree has commits to land."),
        make("p", "A train has the worktrees of one page.", class_="hint") if links else None,
        links,
    )


def _choice(row: LandingRow, *, is_chosen: bool) -> Element:
    box = make("input", type="checkbox", name="worktree", value=row.worktree_id, checked=is_chosen)
    reason = make("small", f" {row.next}: {truncate(shorten(row.reason, 120), 120)}")
    return make("label", box, shorten(row.name, _NAME_LENGTH), reason)


def _car(page_request: PageRequest, train: Train, car: TrainCar) -> Iterator[Node]:
    worktree = page_request.state.worktrees.get(car.worktree_id)
    name = shorten(worktree.name if worktree else car.branch, _NAME_LENGTH)
    is_stopped = car.status in ("conflict", "failed")
    yield link(name, landing_path(car.worktree_id)) if worktree else name
    yield " "
    yield make("b", _CARS[car.status], class_="bad") if is_stopped else _CARS[car.status]
    if car.check != "none" or car.status == "checking":
        yield ", "
        address = f"{train_path(train.project_id)}?output={car.worktree_id}"
        yield link("check" if car.check == "none" else f"check {car.check}", address)
    if is_stopped and car.error:
        yield f": {truncate(shorten(car.error, 300), 300)}"
    if car.conflicts:
        more = len(car.conflicts) - _MAX_FILES
        yield f" in {', '.join(shorten(path, 80) for path in car.conflicts[:_MAX_FILES])}"
        yield f" and {count(more, 'more file')}" if more > 0 else None


def _refresh_links(train: Train, url: str, *, is_refreshing: bool) -> Element | None:
    if train.status != "running":
        return None
    if is_refreshing:
        return nav(link("Stop refreshing", url))
    return nav(link("Look again", url), " ", link("Refresh every 5 seconds", f"{url}?every=1"))


def _forms(page_request: PageRequest, train: Train) -> Iterator[Node]:
    """What can be done with the train now."""
    path, train_id = train_path(train.project_id), hidden("train_id", train.id)
    ready = sum(car.status == "ready" for car in train.cars)
    if train.status == "running":
        yield page_request.make_form(f"{path}/stop", train_id, button("Stop"))
    elif train.status in ("ready", "stopped") and ready:
        yield _land(page_request, train, ready)
    if train.status not in ("running", "landed"):
        yield page_request.make_form(f"{path}/again", train_id, button("Run it again"))
    if train.status != "running":
        yield nav(link("Choose other worktrees", f"{path}?new=1"))
    label = "Close" if train.status == "landed" else "Discard the train"
    yield page_request.make_form(f"{path}/discard", train_id, button(label))


def _land(page_request: PageRequest, train: Train, ready: int) -> Element:
    after = page_request.typed.get("after") or page_request.state.preferences.after_landing
    whole = "all" if ready == len(train.cars) else f"{ready} of {len(train.cars)}"
    remote = make("input", type="checkbox", name="delete_remote_branch", value="1")
    return page_request.make_form(
        f"{train_path(train.project_id)}/land",
        hidden("train_id", train.id),
        make("label", "The worktrees afterwards", for_="after"),
        make_select("after", AFTER, after),
        make("label", remote, "If they are deleted, their branches on the remote, too"),
        make("p", button(f"Land {whole} on {shorten(train.base, _NAME_LENGTH)}", class_="primary")),
    )


async def _render_output(page_request: PageRequest, train: Train) -> str:
    worktree_id = page_request.query["output"]
    arguments = {"trainId": train.id, "worktreeId": worktree_id}
    output = await run(page_request.workspace, get_train_output, arguments)
    car = next(car for car in train.cars if car.worktree_id == worktree_id)
    address = f"{train_path(train.project_id)}?output={worktree_id}"
    return render_page(
        page_request,
        f"Check after {shorten(car.branch)}",
        nav(link("‹ Train", train_path(train.project_id))),
        paginate_text(output.message, address, query_number(page_request, "at")),
    )


def _train_id(form: Form) -> dict[str, Any]:
    return {"trainId": form.get("train_id")}
