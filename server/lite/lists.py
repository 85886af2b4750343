"""The list of all sessions, those that need you first, and what lists share."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar
from urllib.parse import urlencode

from model.domain.modes import ExecutionMode
from model.domain.sessions import Session
from server.lite.html import Element, Node, make
from server.lite.layout import render_page
from server.lite.notices import notice_list
from server.lite.page_request import PageRequest, link, nav, shorten

T = TypeVar("T")

MODE_DESCRIPTIONS: Final[dict[ExecutionMode, str]] = {
    "plan": "proposes, and changes nothing",
    "build": "edits, and asks before most commands",
    "yolo": "does everything without asking",
}

PAGE_ROWS: Final = 20
"""Rows per page."""

_PROBLEM_LENGTH: Final = 500
"""Maximum characters of a problem."""

_STATUS_SIGNS: Final = {
    "needs you": "?",
    "failed": "✗",
    "finished, not read yet": "●",
    "paused": "‖",
    "running": "◐",
    "idle": "·",
}
"""In order of urgency."""

_REQUEST_LABELS: Final = {
    "plan": "has a plan",
    "question": "has a question",
    "permission": "asks for permission",
}


def render_sessions(page_request: PageRequest, problems: Sequence[str]) -> str:
    """Problems of this Spinney, and all sessions, those that need you first."""
    state = page_request.state
    shown = sorted(filter(_make_filter(page_request), state.sessions.values()), key=_urgency)
    visible, links = paginate(page_request, shown)
    waiting = [session for session in visible if session.status == "waiting"]
    rest = visible[len(waiting) :]
    notices = notice_list(page_request)
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
        session_list(page_request, waiting),
        notices,
        make("h2", "Other sessions") if rest and (waiting or notices) else None,
        session_list(page_request, rest),
        links,
    )


def status_label(session: Session) -> str:
    """The status of a session in a word or two."""
    if session.status == "waiting":
        return "needs you"
    if session.status in ("running", "failed", "paused"):
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


def _make_filter(page_request: PageRequest) -> Callable[[Session], bool]:
    worktrees = page_request.state.worktrees

    def is_visible(session: Session) -> bool:
        worktree = worktrees.get(session.worktree_id)
        is_archived = session.archived_at is not None
        return not is_archived and worktree is not None and worktree.archived_at is None

    return is_visible


def _urgency(session: Session) -> tuple[int, float]:
    return list(_STATUS_SIGNS).index(status_label(session)), -session.updated_at


def session_list(page_request: PageRequest, sessions: Sequence[Session]) -> Node:
    """Links to sessions with what they need or do."""
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


def paginate(page_request: PageRequest, rows: Sequence[T]) -> tuple[Sequence[T], Element | None]:
    """The rows of the requested page, and links to the others."""
    number, links = paginate_total(page_request, len(rows))
    return rows[number * PAGE_ROWS : (number + 1) * PAGE_ROWS], links


def paginate_total(page_request: PageRequest, total: int) -> tuple[int, Element | None]:
    """The number of the requested page of `total` rows, from 0, and links to the others, which keep
    the rest of the query but the notice of what was done.
    """
    kept = {name: page_request.query[name] for name in page_request.query if name != "done"}

    def link_to(text: str, number: int) -> Element:
        query = urlencode({**kept, "page": number}, errors="replace")
        return link(text, f"{page_request.path}?{query}")

    text = page_request.query.get("page", "")
    last = max(0, (total - 1) // PAGE_ROWS)
    number = min(int(text), last) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    links: list[Node] = [f"Page {number + 1} of {last + 1}"]
    if number:
        links += [" ", link_to("Previous", number - 1)]
    if number < last:
        links += [" ", link_to("Next", number + 1)]
    return number, nav(*links) if last else None
