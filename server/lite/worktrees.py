"""Pages of worktrees: the list, one of them with its sessions, and its changes."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from typing import Final

from yarl import URL

from model.api.changes import (
    ChangedFile,
    Changes,
    get_file_diff,
    list_changed_files,
)
from model.api.recovery import list_recovery_points
from model.api.scripts import get_listening_ports
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.changes import Side
from model.domain.projects import Project
from model.domain.recovery import RecoveryPoint
from model.domain.worktree_variables import PORT_COUNT
from model.domain.worktrees import Worktree
from model.worktrees import require_worktree
from server.lite.conflicts import conflicts_link
from server.lite.foreign_sessions import foreign_sessions_path
from server.lite.html import Element, Node, make
from server.lite.landing import desk_path, landing_path
from server.lite.layout import render_page
from server.lite.lists import make_select, mode_options, paginate, session_list
from server.lite.page_request import PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import paginate_text, query_number
from server.lite.pull_request import pull_request_path
from server.lite.sweep import SWEEP_PATH

DONE: Final = {
    "commit": "Committed.",
    "push": "Pushed.",
    "archive": "Archived. Its files stay.",
    "restore": "Restored.",
}
"""What the page of a worktree says after each form."""

_CHECKS: Final = {"success": "✓", "failure": "✗", "error": "!", "pending": "…"}
_SIDES: Final[dict[Side, str]] = {
    "unstaged": "Not staged",
    "staged": "Staged",
    "branch": "Committed on this branch",
}
_PATH_LENGTH: Final = 60
"""Characters shown of a path: its end."""
_MAX_POINTS: Final = 50
"""Recovery points on a page."""
_MAX_PROJECTS: Final = 50
"""Projects to choose from for a new worktree."""


async def render_worktrees(page_request: PageRequest) -> str:
    """All worktrees with their git status, by project; with `archived` what can be restored."""
    state, is_archive = page_request.state, "archived" in page_request.query
    projects = [project for project in state.projects.values() if not project.is_folder]
    projects.sort(key=lambda project: (project.order, project.added_at))
    all_worktrees = [
        worktree
        for project in projects
        for worktree in state.worktrees_of(project.id, archived=True)
        if (worktree.archived_at is not None) == is_archive
    ]
    visible, links = paginate(page_request, all_worktrees)
    content: list[Node] = []
    for project in projects:
        rows = [_worktree_row(page_request, w) for w in visible if w.project_id == project.id]
        if rows:
            content += [make("h2", shorten(project.name)), make("ul", rows, class_="rows")]
        if rows and not is_archive:
            content.append(nav(link("Landing", desk_path(project.id))))
        if any(map(_has_conflict, (w for w in visible if w.project_id == project.id))):
            content.append(conflicts_link(project.id))
    if is_archive:
        empty = None if all_worktrees else make("p", "No worktree is archived.")
        points = await _recovery_points(page_request)
        return render_page(page_request, "Archived worktrees", empty, content, links, points)
    return render_page(
        page_request,
        "Worktrees",
        None if all_worktrees else make("p", "No worktrees yet."),
        content,
        links,
        [make("h2", "New worktree"), _new_worktree(page_request, projects)] if projects else None,
        nav(
            link("Open work", "/lite/open-work"),
            " ",
            link("Sweep", SWEEP_PATH),
            " ",
            link("Archived worktrees", "/lite/worktrees?archived=1"),
        ),
    )


async def render_worktree(page_request: PageRequest, worktree_id: str) -> str:
    """A worktree: git status, sessions, and forms for a new session, push and archive."""
    worktree = require_worktree(page_request.state, worktree_id)
    project = page_request.state.projects.get(worktree.project_id)
    branch = f"detached at {worktree.detached_at[:7]}" if worktree.detached_at else worktree.branch
    is_archived = worktree.archived_at is not None
    sessions, links = paginate(
        page_request, page_request.state.sessions_of(worktree.id, archived=is_archived)
    )
    pr_url, done = worktree.pr_url, DONE.get(page_request.query.get("done", ""))
    return render_page(
        page_request,
        shorten(worktree.name),
        make("p", done, role="status") if done else None,
        make(
            "p", f"{shorten(project.name) if project else ''} ▸ {shorten(branch)} ", _git(worktree)
        ),
        make("p", shorten(worktree.path, 300), class_="hint"),
        await _ports(page_request, worktree),
        nav(link(shorten(pr_url, 200), pr_url)) if pr_url else None,
        None if is_archived else nav(*_ways(worktree)),
        conflicts_link(worktree.project_id) if _has_conflict(worktree) else None,
        make("h2", "Sessions") if sessions else None,
        session_list(page_request, sessions),
        links,
        _restore(page_request, worktree) if is_archived else _forms(page_request, worktree),
    )


def _ways(worktree: Worktree) -> Iterator[Node]:
    """Links to the other pages of a worktree."""
    yield link("Changes", f"{_url(worktree)}/changes")
    if worktree.session_type == "worktree":
        yield " "
        yield link("Land", landing_path(worktree.id))
    yield " "
    yield link("Conversations from elsewhere", foreign_sessions_path(worktree.id))
    if worktree.pr_url:
        yield " "
        yield link("Pull request", pull_request_path(worktree.id))


async def _ports(page_request: PageRequest, worktree: Worktree) -> Node:
    """The ports of a worktree, with links to those on which a program listens."""
    if worktree.port is None or worktree.status != "ready":
        return None
    arguments = {"worktreeId": worktree.id}
    listening = await run(page_request.workspace, get_listening_ports, arguments)
    links: list[Node] = []
    for port in listening:
        address = URL.build(scheme="http", host=page_request.host, port=port)
        links += [link(f":{port}", str(address)), " "]
    return [
        make("p", f"Ports {worktree.port}–{worktree.port + PORT_COUNT - 1}", class_="hint"),
        nav(*links) if links else None,
    ]


async def render_changes(page_request: PageRequest, worktree_id: str) -> str:
    """The changed files of a worktree, and a form to commit them; the diff of one with `file`."""
    worktree = require_worktree(page_request.state, worktree_id)
    if "file" in page_request.query:
        return await _render_diff(page_request, worktree)
    found = {side: await _list_changes(page_request, worktree, side) for side in _SIDES}
    rows = [(side, file) for side, changes in found.items() for file in changes.files]
    visible, links = paginate(page_request, rows)
    content: list[Node] = []
    for side, title in _SIDES.items():
        files = [_file_row(worktree, side, file) for other, file in visible if other == side]
        if files:
            content += [make("h2", title), make("ul", files, class_="rows")]
    can_commit = found["unstaged"].files or found["staged"].files
    return render_page(
        page_request,
        "Changes",
        nav(link(f"‹ {shorten(worktree.name)}", _url(worktree))),
        None if rows else make("p", "Nothing has changed."),
        content,
        links,
        _commit(page_request, worktree, found["unstaged"].message) if can_commit else None,
    )


async def _list_changes(page_request: PageRequest, worktree: Worktree, side: Side) -> Changes:
    arguments = {"worktreeId": worktree.id, "side": side}
    return await run(page_request.workspace, list_changed_files, arguments)


async def _render_diff(page_request: PageRequest, worktree: Worktree) -> str:
    wanted = page_request.query.get("side")
    side: Side = next((side for side in _SIDES if side == wanted), "unstaged")
    files = (await _list_changes(page_request, worktree, side)).files
    key = page_request.query["file"]
    path = next((file.path for file in files if _key(file.path) == key), None)
    if path is None:
        raise SpinneyError("This file has no changes any more.", "not_found")
    arguments = {"worktreeId": worktree.id, "path": path, "side": side}
    diff = await run(page_request.workspace, get_file_diff, arguments)
    return render_page(
        page_request,
        shorten(path, 200),
        nav(link("‹ Changes", f"{_url(worktree)}/changes")),
        paginate_text(diff.text, _diff_url(worktree, side, path), query_number(page_request, "at")),
    )


def _key(path: str) -> str:
    """Stands for a path in an address, where a long one would make the page too large."""
    return hashlib.sha256(path.encode(errors="replace")).hexdigest()[:16]


def _url(worktree: Worktree) -> str:
    return f"/lite/worktrees/{worktree.id}"


def _diff_url(worktree: Worktree, side: Side, path: str) -> str:
    return f"{_url(worktree)}/changes?side={side}&file={_key(path)}"


def _file_row(worktree: Worktree, side: Side, file: ChangedFile) -> Element:
    shown = f"…{file.path[-_PATH_LENGTH:]}" if len(file.path) > _PATH_LENGTH else file.path
    counts = f"+{file.added} −{file.removed}" if file.added is not None else "binary"
    return make(
        "li",
        link(shown, _diff_url(worktree, side, file.path)),
        make("span", f" {file.status} {counts}", class_="git"),
    )


def _commit(page_request: PageRequest, worktree: Worktree, prepared: str) -> Element:
    return page_request.make_form(
        f"{_url(worktree)}/commit",
        make("label", "Commit message", for_="message"),
        make(
            "textarea",
            page_request.typed.get("message") or prepared,
            name="message",
            id="message",
            rows=3,
            cols=60,
        ),
        make("p", button("Commit all changes", class_="primary")),
    )


def _forms(page_request: PageRequest, worktree: Worktree) -> list[Node]:
    url = _url(worktree)
    archive = page_request.make_form(f"{url}/archive", button("Archive this worktree"))
    push = page_request.make_form(f"{url}/push", button("Push")) if worktree.branch else None
    return [
        make("h2", "New session"),
        _new_session(page_request, worktree),
        make("h2", "Branch"),
        push,
        archive if worktree.session_type == "worktree" else None,
    ]


def _restore(page_request: PageRequest, worktree: Worktree) -> list[Node]:
    restore = page_request.make_form(
        f"{_url(worktree)}/restore", button("Restore", class_="primary")
    )
    return [make("p", "This worktree is archived."), restore]


async def _recovery_points(page_request: PageRequest) -> list[Node]:
    """The newest recovery points, each with a form that restores it."""
    offset = query_number(page_request, "points")
    page = {"limit": _MAX_POINTS + 1, "offset": offset}
    try:
        points = await run(page_request.workspace, list_recovery_points, page)
    except SpinneyError as error:
        return [make("p", shorten(error.message, 500), class_="bad", role="alert")]
    if not points:
        return []
    rows = [
        make(
            "li",
            make("b", shorten(point.name)),
            _describe_point(point),
            _restoring(page_request, point),
        )
        for point in points[:_MAX_POINTS]
    ]
    url = f"/lite/worktrees?archived=1&points={offset + _MAX_POINTS}"
    more = nav(link("Earlier ones", url)) if len(points) > _MAX_POINTS else None
    return [make("h2", "Deleted and discarded"), make("ul", rows, class_="rows"), more]


def _describe_point(point: RecoveryPoint) -> str:
    parts = [shorten(point.reason)]
    if not point.sessions_only:
        parts.append(count(point.files, "file"))
    parts.append(count(point.sessions, "session"))
    if point.left_out:
        parts.append(f"{point.left_out} not kept")
    parts.append(time.strftime("%Y-%m-%d %H:%M", time.localtime(point.created_at)))
    return f" {' · '.join(parts)}"


def _restoring(page_request: PageRequest, point: RecoveryPoint) -> Element:
    return page_request.make_form(
        "/lite/worktrees",
        hidden("sessions" if point.sessions_only else "recovery", point.recovery_id),
        hidden("once", secrets.token_hex(16)),
        button("Restore" if point.sessions_only else "Restore as a worktree"),
    )


def _new_worktree(page_request: PageRequest, projects: list[Project]) -> Element:
    typed = page_request.typed
    names = {project.id: shorten(project.name, 40) for project in projects[:_MAX_PROJECTS]}
    return page_request.make_form(
        "/lite/worktrees",
        hidden("once", typed.get("once") or secrets.token_hex(16)),
        make("label", "Project", for_="project"),
        make_select("project", names, typed.get("project") or next(iter(names))),
        make("label", "Existing branch (empty: a new branch)", for_="branch"),
        make("input", name="branch", id="branch", value=typed.get("branch")),
        _message_fields(page_request),
        make("p", button("Create", class_="primary")),
    )


def _new_session(page_request: PageRequest, worktree: Worktree) -> Element:
    return page_request.make_form(
        f"{_url(worktree)}/sessions",
        hidden("once", secrets.token_hex(16)),
        _message_fields(page_request),
        make("p", button("Create", class_="primary")),
    )


def _message_fields(page_request: PageRequest) -> list[Node]:
    typed = page_request.typed
    rows = page_request.workspace.catalog.backend_rows(demo=page_request.workspace.demo)
    agents = {"": "default", **{row.name: row.label for row in rows}}
    return [
        make("label", "First message", for_="message"),
        make("textarea", typed.get("message"), name="message", id="message", rows=4, cols=60),
        make("label", "Name", for_="name"),
        make("input", name="name", id="name", value=typed.get("name")),
        make("label", "Mode", for_="mode"),
        make_select("mode", mode_options(), typed.get("mode") or "plan"),
        make("label", "Agent", for_="backend"),
        make_select("backend", agents, typed.get("backend")),
    ]


def _worktree_row(page_request: PageRequest, worktree: Worktree) -> Element:
    waiting = [s for s in page_request.state.sessions_of(worktree.id) if s.status == "waiting"]
    branch = "" if worktree.branch == worktree.name else f" {shorten(worktree.branch, 40)}"
    needs = f" {len(waiting)} {'needs' if len(waiting) == 1 else 'need'} you"
    return make(
        "li",
        link(shorten(worktree.name, 60), _url(worktree)),
        make("small", branch) if branch else None,
        make("b", f" {shorten(worktree.label.name, 50)}") if worktree.label else None,
        " ",
        _git(worktree),
        make("b", needs, class_="needs-you") if waiting else None,
    )


def _git(worktree: Worktree) -> Element:
    return make("span", " · ".join(_counts(worktree)), class_="git")


def _has_conflict(worktree: Worktree) -> bool:
    """Whether merging it now would be in conflict with something."""
    return bool(worktree.conflicts_with) or worktree.conflicts_with_base


def _counts(worktree: Worktree) -> Iterator[str]:
    if worktree.status != "ready":
        labels = {
            "creating": "being created",
            "removing": "being removed",
            "missing": "directory missing",
        }
        yield labels[worktree.status]
    added, removed = worktree.cached_uncommitted_added, worktree.cached_uncommitted_removed
    if added or removed:
        yield f"+{added or 0} −{removed or 0}"
    if worktree.cached_ahead_count:
        yield f"{worktree.cached_ahead_count} ahead"
    if worktree.cached_behind_count:
        yield f"{worktree.cached_behind_count} behind"
    if worktree.cached_unpushed_count:
        yield f"{worktree.cached_unpushed_count} not pushed"
    if worktree.cached_conflict_count:
        yield count(worktree.cached_conflict_count, "conflict")
    if _has_conflict(worktree):
        partners = (
            [count(len(worktree.conflicts_with), "worktree")] if worktree.conflicts_with else []
        )
        partners += ["its base branch"] * worktree.conflicts_with_base
        yield f"would conflict with {' and '.join(partners)}"
    if worktree.pr_number:
        status = worktree.cached_pr_status or ""
        checks = _CHECKS.get(worktree.cached_check_status or "", "")
        yield f"PR {worktree.pr_number} {status} {checks}".strip()
