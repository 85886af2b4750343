"""List pages: all sessions, those that need you first, and worktrees."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from model.base.plural import count
from model.domain.resources import ExecutionMode, Session, Worktree
from model.worktrees import require_worktree
from server.lite.html import Element, Node, make
from server.lite.layout import render_page
from server.lite.page_request import PageRequest, button, hidden, link, nav, shorten

T = TypeVar("T")

MODE_DESCRIPTIONS: Final[dict[ExecutionMode, str]] = {
    "plan": "proposes, and changes nothing",
    "build": "edits, and asks before commands",
    "yolo": "does everything without asking",
}

_PAGE_ROWS: Final = 20
"""Rows per page."""

_PROBLEM_LENGTH: Final = 500
"""Maximum characters of a problem."""

_STATUS_SIGNS: Final = {
    "needs you": "?",
    "failed": "✗",
    "finished, not read yet": "●",
    "running": "◐",
    "idle": "·",
}
"""In order of urgency."""

_REQUEST_LABELS: Final = {
    "plan": "has a plan",
    "question": "has a question",
    "permission": "asks for permission",
}

_CHECKS: Final = {"success": "✓", "failure": "✗", "error": "!", "pending": "…"}


def render_sessions(page_request: PageRequest, problems: Sequence[str]) -> str:
    """Problems of this Spinney, and all sessions, those that need you first."""
    state = page_request.state
    shown = sorted(filter(_make_filter(page_request), state.sessions.values()), key=_urgency)
    visible, links = _paginate(page_request, shown)
    waiting = [session for session in visible if session.status == "waiting"]
    rest = visible[len(waiting) :]
    empty_text = None
    if not any(not project.is_folder for project in state.projects.values()):
        empty_text = (
            "No projects yet. Add one in the terminal (f3), or run: spinney /path/to/repository"
        )
    elif not shown:
        empty_text = "No sessions yet. Create one in a worktree."
    return render_page(
        page_request,
        "Sessions",
        [make("p", shorten(problem, _PROBLEM_LENGTH), class_="bad") for problem in problems],
        make("p", empty_text) if empty_text else None,
        make("h2", "Needs you") if waiting else None,
        _session_list(page_request, waiting),
        make("h2", "Other sessions") if waiting and rest else None,
        _session_list(page_request, rest),
        links,
    )


def render_worktrees(page_request: PageRequest) -> str:
    """All worktrees with their git status, by project."""
    state = page_request.state
    projects = [project for project in state.projects.values() if not project.is_folder]
    projects.sort(key=lambda project: (project.order, project.added_at))
    all_worktrees = [
        worktree for project in projects for worktree in state.worktrees_of(project.id)
    ]
    visible, links = _paginate(page_request, all_worktrees)
    content: list[Node] = []
    for project in projects:
        rows = [_worktree_row(page_request, w) for w in visible if w.project_id == project.id]
        if rows:
            content += [make("h2", shorten(project.name)), make("ul", rows, class_="rows")]
    empty = (
        None
        if all_worktrees
        else make("p", "No worktrees yet. Create one in the terminal or the page.")
    )
    return render_page(page_request, "Worktrees", empty, content, links)


def render_worktree(page_request: PageRequest, worktree_id: str) -> str:
    """A worktree: git status, sessions, and a form for a new session."""
    worktree = require_worktree(page_request.state, worktree_id)
    project = page_request.state.projects.get(worktree.project_id)
    branch = f"detached at {worktree.detached_at[:7]}" if worktree.detached_at else worktree.branch
    sessions, links = _paginate(page_request, page_request.state.sessions_of(worktree.id))
    pr_url = worktree.pr_url
    return render_page(
        page_request,
        shorten(worktree.name),
        make(
            "p", f"{shorten(project.name) if project else ''} ▸ {shorten(branch)} ", _git(worktree)
        ),
        make("p", shorten(worktree.path, 300), class_="hint"),
        nav(link(shorten(pr_url, 200), pr_url)) if pr_url else None,
        make("h2", "Sessions") if sessions else None,
        _session_list(page_request, sessions),
        links,
        make("h2", "New session"),
        _new_session(page_request, worktree),
    )


def status_label(session: Session) -> str:
    """The status of a session in a word or two."""
    if session.status == "waiting":
        return "needs you"
    if session.status in ("running", "failed"):
        return session.status
    return "finished, not read yet" if session.unread else "idle"


def request_label(session: Session) -> str:
    """What a waiting session waits for."""
    return _REQUEST_LABELS.get(session.waiting_for or "", "needs you")


def make_select(name: str, options: dict[str, str], selected: str) -> Element:
    """Create a select field."""
    option_elements = [
        make("option", label, value=value, selected=value == selected)
        for value, label in options.items()
    ]
    return make("select", option_elements, name=name, id=name)


def mode_options() -> dict[str, str]:
    """The modes with descriptions."""
    return {name: f"{name}: {label}" for name, label in MODE_DESCRIPTIONS.items()}


def _new_session(page_request: PageRequest, worktree: Worktree) -> Element:
    typed = page_request.typed
    rows = page_request.workspace.catalog.backend_rows(demo=page_request.workspace.demo)
    agents = {"": "default", **{row.name: row.label for row in rows}}
    return page_request.make_form(
        f"/lite/worktrees/{worktree.id}/sessions",
        hidden("once", secrets.token_hex(16)),
        make("label", "First message", for_="message"),
        make("textarea", typed.get("message"), name="message", id="message", rows=4, cols=60),
        make("label", "Name", for_="name"),
        make("input", name="name", id="name", value=typed.get("name")),
        make("label", "Mode", for_="mode"),
        make_select("mode", mode_options(), typed.get("mode") or "plan"),
        make("label", "Agent", for_="backend"),
        make_select("backend", agents, typed.get("backend")),
        make("p", button("Create", class_="primary")),
    )


def _make_filter(page_request: PageRequest) -> Callable[[Session], bool]:
    worktrees = page_request.state.worktrees

    def is_visible(session: Session) -> bool:
        worktree = worktrees.get(session.worktree_id)
        is_archived = session.archived_at is not None
        return not is_archived and worktree is not None and worktree.archived_at is None

    return is_visible


def _urgency(session: Session) -> tuple[int, float]:
    return list(_STATUS_SIGNS).index(status_label(session)), -session.updated_at


def _session_list(page_request: PageRequest, sessions: Sequence[Session]) -> Node:
    rows = [make("li", _session_link(page_request, session)) for session in sessions]
    return make("ul", rows, class_="rows") if rows else None


def _session_link(page_request: PageRequest, session: Session) -> list[Node]:
    label = status_label(session)
    worktree, project = page_request.parents_of(session)
    parents = " ▸ ".join(shorten(parent.name, 40) for parent in (project, worktree) if parent)
    anchor = "asked" if session.request is not None else "end"
    detail = (
        request_label(session) if session.status == "waiting" else "" if label == "idle" else label
    )
    return [
        make("b", _STATUS_SIGNS[label], class_=label.split(",")[0].replace(" ", "-")),
        " ",
        link(shorten(session.name, 60), f"/lite/sessions/{session.id}#{anchor}"),
        f" {detail} " if detail else " ",
        make("small", parents),
    ]


def _worktree_row(page_request: PageRequest, worktree: Worktree) -> Element:
    waiting = [s for s in page_request.state.sessions_of(worktree.id) if s.status == "waiting"]
    branch = "" if worktree.branch == worktree.name else f" {shorten(worktree.branch, 40)}"
    return make(
        "li",
        link(shorten(worktree.name, 60), f"/lite/worktrees/{worktree.id}"),
        make("small", branch) if branch else None,
        make("b", f" {shorten(worktree.label.name, 50)}") if worktree.label else None,
        " ",
        _git(worktree),
        make("b", f" {len(waiting)} need you", class_="needs-you") if waiting else None,
    )


def _git(worktree: Worktree) -> Element:
    return make("span", " · ".join(_counts(worktree)), class_="git")


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
    if worktree.pr_number:
        status = worktree.cached_pr_status or ""
        checks = _CHECKS.get(worktree.cached_check_status or "", "")
        yield f"PR {worktree.pr_number} {status} {checks}".strip()


def _paginate(page_request: PageRequest, rows: Sequence[T]) -> tuple[Sequence[T], Element | None]:
    """The rows of the requested page, and links to the others."""
    text = page_request.query.get("page", "")
    last = max(0, (len(rows) - 1) // _PAGE_ROWS)
    number = min(int(text), last) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    links: list[Node] = [f"Page {number + 1} of {last + 1}"]
    if number:
        links += [" ", link("Previous", f"{page_request.path}?page={number - 1}")]
    if number < last:
        links += [" ", link("Next", f"{page_request.path}?page={number + 1}")]
    shown = rows[number * _PAGE_ROWS : (number + 1) * _PAGE_ROWS]
    return shown, nav(*links) if last else None
