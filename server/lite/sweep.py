"""The sweep: all worktrees with their size and what would be lost, to archive or delete several."""

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from model.api.landing import list_sweep, sweep_worktrees
from model.base.amounts import format_age, format_size
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.landing import Sweep, SweepRow, Swept
from model.worktrees import require_project
from server.lite.handlers import Handlers, html_response, redirect
from server.lite.html import Element, Node, make, truncate
from server.lite.layout import render_page
from server.lite.lists import PAGE_ROWS, paginate_total
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import query_number

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

SWEEP_PATH: Final = "/lite/sweep"
_PROJECT: Final = "/lite/projects/{project_id}/sweep"
_NAME_LENGTH: Final = 40
_LOSS_LENGTH: Final = 120
_MAX_LISTED: Final = 5
"""What else would be lost of one worktree that is named."""
_MERGED: Final = {
    "commits": "merged",
    "squash": "merged by squash",
    "content": "nothing differs",
    "pull_request": "pull request merged",
}


class SweepRoutes:
    """The list of all projects and that of one, and the form with the chosen worktrees."""

    def __init__(self, workspace: "Workspace", handlers: Handlers) -> None:
        self._workspace = workspace
        self._handlers = handlers

    def routes(self) -> list[web.RouteDef]:
        """All of them."""
        page, form = self._handlers.page, self._handlers.form
        return [
            web.get(SWEEP_PATH, page(self._get)),
            web.get(_PROJECT, page(self._get_project)),
            web.post(SWEEP_PATH, form(self._sweep)),
        ]

    async def _get(self, request: web.Request, page_request: PageRequest) -> str:
        """All worktrees, the oldest first; on each `page` those without a loss come first.

        With `sizes` those that are not known are measured.
        """
        return await render_sweep(page_request)

    async def _get_project(self, request: web.Request, page_request: PageRequest) -> str:
        """The worktrees of a project in the same way."""
        project = require_project(page_request.state, request.match_info["project_id"])
        return await render_sweep(page_request, project.id)

    async def _sweep(
        self, request: web.Request, page_request: PageRequest, form: Form
    ) -> web.Response:
        """Ask whether to `archive` or `delete` each `worktree`, as `action`; with `sure` do it.

        `force`, `delete_remote_branch`. Responds with what became of each.
        """
        chosen = set(form.all("worktree"))
        if not chosen:
            return redirect(SWEEP_PATH)
        rows = (await _list(page_request, worktreeIds=sorted(chosen))).rows
        if not form.get("sure"):
            return html_response(_render_question(page_request, rows, form.get("action")))
        arguments = {
            "worktreeIds": list(form.all("worktree")),
            "action": form.get("action"),
            "force": bool(form.get("force")),
            "deleteRemoteBranch": bool(form.get("delete_remote_branch")),
        }
        names = {row.worktree_id: row.name for row in rows}
        swept = await run(self._workspace, sweep_worktrees, arguments)
        return html_response(_render_results(page_request, swept, names))


def sweep_path(project_id: str) -> str:
    """The address of a project's sweep."""
    return _PROJECT.format(project_id=project_id)


async def render_sweep(page_request: PageRequest, project_id: str | None = None) -> str:
    """The worktrees of a project, or of all, to choose from."""
    scope = {} if project_id is None else {"projectId": project_id}
    wants_sizes = "sizes" in page_request.query
    offset = query_number(page_request, "page") * PAGE_ROWS
    page = {"limit": PAGE_ROWS, "offset": offset, "withSizes": wants_sizes}
    sweep = await _list(page_request, **scope, **page)
    rows = sweep.rows
    _, links = paginate_total(page_request, sweep.total)
    is_unmeasured = any(row.size is None for row in rows) and not wants_sizes
    form = page_request.make_form(
        SWEEP_PATH,
        [_choice(page_request, row, shows_project=project_id is None) for row in rows],
        make(
            "p",
            button("Archive …", "action", "archive"),
            button("Delete …", "action", "delete", class_="danger"),
        ),
    )
    return render_page(
        page_request,
        "Sweep",
        nav(link("‹ Worktrees", "/lite/worktrees")),
        nav(link("Measure their sizes", f"{page_request.path}?sizes=1")) if is_unmeasured else None,
        form if rows else make("p", "No worktrees yet."),
        links,
    )


async def _list(page_request: PageRequest, **arguments: Any) -> Sweep:
    return await run(page_request.workspace, list_sweep, {"withSizes": False, **arguments})


def _choice(page_request: PageRequest, row: SweepRow, *, shows_project: bool) -> Element:
    project = page_request.state.projects.get(row.project_id)
    facts = [shorten(project.name, 30)] if shows_project and project else []
    if row.size is not None:
        facts.append(format_size(row.size))
    if row.last_used_at:
        facts.append(f"used {format_age(row.last_used_at, time.time())}")
    facts += ["archived"] if row.archived else []
    facts.append(_MERGED[row.merged] if row.merged else "not merged")
    facts += ["its base has taken its changes back"] if row.reverted else []
    box = make("input", type="checkbox", name="worktree", value=row.worktree_id)
    losses = _losses(row)
    return make(
        "label",
        box,
        make("b", shorten(row.name, _NAME_LENGTH)),
        make(
            "small",
            f" {' · '.join(facts)}",
            make("span", f" · {', '.join(losses)}", class_="bad") if losses else None,
        ),
    )


def _losses(row: SweepRow) -> list[str]:
    """What would be lost or interrupted."""
    losses = ["a session or script is at work"] if row.is_running else []
    if row.uncommitted:
        losses.append(count(row.uncommitted, "uncommitted file"))
    if row.unpushed and row.merged is None:
        losses.append(f"{count(row.unpushed, 'commit')} that nothing else has")
    shown = [shorten(each, _LOSS_LENGTH) for each in row.besides[:_MAX_LISTED]]
    more = len(row.besides) - len(shown)
    return [*losses, *shown, *([f"{more} more"] if more else [])]


def _render_question(page_request: PageRequest, rows: Sequence[SweepRow], action: str) -> str:
    if action not in ("archive", "delete"):
        raise SpinneyError("Choose whether to archive or to delete them.")
    if not rows:
        raise SpinneyError("These worktrees do not exist any more.", "not_found")
    is_deletion = action == "delete"
    losing = [row for row in rows if _losses(row)]
    items = [
        make("li", make("b", shorten(row.name, _NAME_LENGTH)), f" {', '.join(_losses(row))}")
        for row in rows
    ]
    what = (
        "Their directories and branches are deleted; a recovery point of each is kept for a while. "
        "Not kept: files ignored by git, and the contents of repositories inside."
        if is_deletion
        else "Their files and sessions are kept, and you can restore them."
    )
    verb = "Delete" if is_deletion else "Archive"
    return render_page(
        page_request,
        f"{verb} {count(len(rows), 'worktree')}?",
        nav(link("‹ Sweep", SWEEP_PATH)),
        make("ul", items),
        make("p", what),
        page_request.make_form(
            SWEEP_PATH,
            hidden("sure", "1"),
            hidden("action", action),
            [hidden("worktree", row.worktree_id) for row in rows],
            _tick("force", f"Those with work that is named here, too ({len(losing)})")
            if losing
            else None,
            _tick("delete_remote_branch", "Their branches on the remote, too")
            if is_deletion
            else None,
            make("p", button(verb, class_="danger" if is_deletion else "primary")),
        ),
    )


def _tick(name: str, text: str) -> Element:
    return make("label", make("input", type="checkbox", name=name, value="1"), text)


def _render_results(
    page_request: PageRequest, swept: Sequence[Swept], names: dict[str, str]
) -> str:
    items = []
    for each in swept:
        name = shorten(names.get(each.worktree_id, ""), _NAME_LENGTH)
        message = truncate(shorten(each.message, 300), 300)
        named: Node = None if f"'{name}'" in message else make("b", f"{name}: ")
        text = make("span", message, class_=None if each.ok else "bad")
        restore = button("Restore", "recovery", each.recovery_id) if each.recovery_id else None
        items.append(make("li", named, text, " ", restore))
    done = sum(each.ok for each in swept)
    return render_page(
        page_request,
        f"Done with {done} of {count(len(swept), 'worktree')}",
        nav(link("‹ Sweep", SWEEP_PATH)),
        page_request.make_form(
            "/lite/worktrees",
            hidden("once", secrets.token_hex(16)),
            make("ul", items, class_="rows"),
        ),
    )
