"""The pages that lead to sessions: all of them, those that need somebody first, and worktrees."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from model.domain.resources import ExecutionMode, Session, Worktree
from model.worktrees import require_worktree
from server.lite.html import Element, Node, make
from server.lite.layout import page
from server.lite.page_request import Visit, button, hidden, link, short, way

T = TypeVar("T")

MODES: Final[dict[ExecutionMode, str]] = {
    "plan": "proposes, and changes nothing",
    "build": "edits, and asks before commands",
    "yolo": "does everything without asking",
}

_ROWS: Final = 20
"""Of a list on one page."""

_PROBLEM: Final = 500
"""Characters of a problem."""

_MARKS: Final = {
    "needs you": "?",
    "failed": "✗",
    "finished, not read yet": "●",
    "running": "◐",
    "idle": "·",
}
"""The strongest first."""

_ASKS: Final = {
    "plan": "has a plan",
    "question": "has a question",
    "permission": "asks for permission",
}

_CHECKS: Final = {"success": "✓", "failure": "✗", "error": "!", "pending": "…"}


def sessions_page(visit: Visit, problems: Sequence[str]) -> str:
    """What is wrong with Spinney itself, and every session, those that need somebody first."""
    state = visit.state
    shown = sorted(filter(_is_shown(visit), state.sessions.values()), key=_urgency)
    some, links = _some(visit, shown)
    waiting = [session for session in some if session.status == "waiting"]
    rest = some[len(waiting) :]
    nobody = None
    if not any(not project.is_folder for project in state.projects.values()):
        nobody = (
            "No projects yet. Add one in the terminal (f3), or run: spinney /path/to/repository"
        )
    elif not shown:
        nobody = "No sessions yet. Begin one in a worktree."
    return page(
        visit,
        "Sessions",
        [make("p", short(problem, _PROBLEM), class_="bad") for problem in problems],
        make("p", nobody) if nobody else None,
        make("h2", "Needs you") if waiting else None,
        _session_list(visit, waiting),
        make("h2", "The others") if waiting and rest else None,
        _session_list(visit, rest),
        links,
    )


def worktrees_page(visit: Visit) -> str:
    """Every worktree with what git says of it, by project."""
    state = visit.state
    projects = [project for project in state.projects.values() if not project.is_folder]
    projects.sort(key=lambda project: (project.order, project.added_at))
    every = [worktree for project in projects for worktree in state.worktrees_of(project.id)]
    some, links = _some(visit, every)
    content: list[Node] = []
    for project in projects:
        rows = [_worktree_row(visit, w) for w in some if w.project_id == project.id]
        if rows:
            content += [make("h2", short(project.name)), make("ul", rows, class_="rows")]
    empty = None if every else make("p", "No worktrees yet. Make one in the terminal or the page.")
    return page(visit, "Worktrees", empty, content, links)


def worktree_page(visit: Visit, worktree_id: str) -> str:
    """A worktree: git, its sessions, and the form that begins another one."""
    worktree = require_worktree(visit.state, worktree_id)
    project = visit.state.projects.get(worktree.project_id)
    branch = f"detached at {worktree.detached_at[:7]}" if worktree.detached_at else worktree.branch
    sessions, links = _some(visit, visit.state.sessions_of(worktree.id))
    address = worktree.pr_url
    return page(
        visit,
        short(worktree.name),
        make("p", f"{short(project.name) if project else ''} ▸ {short(branch)} ", _git(worktree)),
        make("p", short(worktree.path, 300), class_="hint"),
        way(link(short(address, 200), address)) if address else None,
        make("h2", "Sessions") if sessions else None,
        _session_list(visit, sessions),
        links,
        make("h2", "New session"),
        _new_session(visit, worktree),
    )


def mark(session: Session) -> str:
    """What a session is in one word or two."""
    if session.status == "waiting":
        return "needs you"
    if session.status in ("running", "failed"):
        return session.status
    return "finished, not read yet" if session.unread else "idle"


def asks(session: Session) -> str:
    """What a waiting session wants."""
    return _ASKS.get(session.waiting_for or "", "needs you")


def choice(name: str, options: dict[str, str], chosen: str) -> Element:
    """A field in which one of several is chosen."""
    made = [
        make("option", words, value=value, selected=value == chosen)
        for value, words in options.items()
    ]
    return make("select", made, name=name, id=name)


def mode_names() -> dict[str, str]:
    """The modes with what they let an agent do."""
    return {name: f"{name}: {words}" for name, words in MODES.items()}


def _new_session(visit: Visit, worktree: Worktree) -> Element:
    typed = visit.typed
    rows = visit.workspace.catalog.backend_rows(demo=visit.workspace.demo)
    agents = {"": "as usual", **{row.name: row.label for row in rows}}
    return visit.form(
        f"/lite/worktrees/{worktree.id}/sessions",
        hidden("once", secrets.token_hex(16)),
        make("label", "First message", for_="message"),
        make("textarea", typed.get("message"), name="message", id="message", rows=4, cols=60),
        make("label", "Name", for_="name"),
        make("input", name="name", id="name", value=typed.get("name")),
        make("label", "Mode", for_="mode"),
        choice("mode", mode_names(), typed.get("mode") or "plan"),
        make("label", "Agent", for_="backend"),
        choice("backend", agents, typed.get("backend")),
        make("p", button("Begin", class_="primary")),
    )


def _is_shown(visit: Visit) -> Callable[[Session], bool]:
    worktrees = visit.state.worktrees

    def is_shown(session: Session) -> bool:
        worktree = worktrees.get(session.worktree_id)
        put_away = session.archived_at is not None
        return not put_away and worktree is not None and worktree.archived_at is None

    return is_shown


def _urgency(session: Session) -> tuple[int, float]:
    return list(_MARKS).index(mark(session)), -session.updated_at


def _session_list(visit: Visit, sessions: Sequence[Session]) -> Node:
    rows = [make("li", _session_link(visit, session)) for session in sessions]
    return make("ul", rows, class_="rows") if rows else None


def _session_link(visit: Visit, session: Session) -> list[Node]:
    words = mark(session)
    worktree, project = visit.place(session)
    place = " ▸ ".join(short(each.name, 40) for each in (project, worktree) if each)
    anchor = "asked" if session.request is not None else "end"
    told = asks(session) if session.status == "waiting" else "" if words == "idle" else words
    return [
        make("b", _MARKS[words], class_=words.split(",")[0].replace(" ", "-")),
        " ",
        link(short(session.name, 60), f"/lite/sessions/{session.id}#{anchor}"),
        f" {told} " if told else " ",
        make("small", place),
    ]


def _worktree_row(visit: Visit, worktree: Worktree) -> Element:
    waiting = [s for s in visit.state.sessions_of(worktree.id) if s.status == "waiting"]
    branch = "" if worktree.branch == worktree.name else f" {short(worktree.branch, 40)}"
    return make(
        "li",
        link(short(worktree.name, 60), f"/lite/worktrees/{worktree.id}"),
        make("small", branch) if branch else None,
        make("b", f" {short(worktree.label.name, 50)}") if worktree.label else None,
        " ",
        _git(worktree),
        make("b", f" {len(waiting)} need you", class_="needs-you") if waiting else None,
    )


def _git(worktree: Worktree) -> Element:
    return make("span", " · ".join(_counts(worktree)), class_="git")


def _counts(worktree: Worktree) -> Iterator[str]:
    if worktree.status != "ready":
        words = {
            "creating": "being made",
            "removing": "being removed",
            "missing": "removed by hand",
        }
        yield words[worktree.status]
    more, less = worktree.cached_uncommitted_added, worktree.cached_uncommitted_removed
    if more or less:
        yield f"+{more or 0} −{less or 0}"
    if worktree.cached_ahead_count:
        yield f"{worktree.cached_ahead_count} ahead"
    if worktree.cached_behind_count:
        yield f"{worktree.cached_behind_count} behind"
    if worktree.cached_unpushed_count:
        yield f"{worktree.cached_unpushed_count} not pushed"
    if count := worktree.cached_conflict_count:
        yield f"{count} conflict{'' if count == 1 else 's'}"
    if worktree.pr_number:
        status = worktree.cached_pr_status or ""
        checks = _CHECKS.get(worktree.cached_check_status or "", "")
        yield f"PR {worktree.pr_number} {status} {checks}".strip()


def _some(visit: Visit, rows: Sequence[T]) -> tuple[Sequence[T], Element | None]:
    """The rows of the page that was asked for, and links to the others."""
    text = visit.query.get("page", "")
    last = max(0, (len(rows) - 1) // _ROWS)
    number = min(int(text), last) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    links: list[Node] = [f"Page {number + 1} of {last + 1}"]
    if number:
        links += [" ", link("Before", f"{visit.path}?page={number - 1}")]
    if number < last:
        links += [" ", link("More", f"{visit.path}?page={number + 1}")]
    shown = rows[number * _ROWS : (number + 1) * _ROWS]
    return shown, way(*links) if last else None
