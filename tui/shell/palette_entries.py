"""The command palette's entries on the main screen: applicable actions, and sessions by name."""

import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from textual.style import Style

from model.base.amounts import format_age
from model.base.text import clean_line
from tui.draw.status_icons import waiting_reason
from tui.keys.keymap import ACTIONS
from tui.keys.word_match import WordMatch
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.shell.selection import Selection
from tui.store.places import Place, get_project, get_worktree, list_shown_sessions

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree


_OF_WORKTREES = frozenset(
    (
        "open_diff", "commit", "push", "pull_base", "pull_request", "resolve_conflicts",
        "abort_merge", "land", "log", "stash", "link_pull_request", "cancel_git", "show_scripts",
        "run_script", "code_review", "compare", "open_port",
    )
)  # fmt: skip


_OF_PROJECTS = ("show_landing", "show_train", "release_notes")


_OF_SESSIONS = (
    "choose_", "begin_afresh", "compact", "set_budget_of_session", "rename_session",
    "archive_session", "delete_session", "continue_elsewhere",
)  # fmt: skip

_SCOPES = ("everywhere", "message box", "projects")
"""Where the actions of the main screen work."""
_AFTER_ACTIONS = 0.5
"""Score penalty of sessions, so that an action precedes a session with the same name."""
_MAX_RECENT = 3
"""Sessions that precede the actions while nothing is typed."""
_RECENCY = 0.4
"""Score of the session opened last; less than a letter that matches."""


def main_entries(main: Selection, query: str, style: Style) -> Iterator[Entry]:
    """Every applicable action by its title, and the sessions by their names.

    Without a query only the sessions opened last, first of all.
    """
    shown = (a for a in ACTIONS if a.in_palette and a.scope in _SCOPES)
    yield from action_entries((a for a in shown if _is_applicable(a.id, main)), main, query, style)
    if not main.is_connected:
        return
    found = _find_sessions(main, query, style, 0.0 if not query else -_AFTER_ACTIONS)
    if query:
        yield from (entry for _, entry in found)
    else:
        opened = set(main.recent_sessions)
        recent = (entry for session, entry in found if session.id in opened)
        yield from islice(recent, _MAX_RECENT)


def session_entries(main: Selection, query: str, style: Style) -> Iterator[Entry]:
    """The sessions whose names match, all without a query: those opened last first."""
    for _, entry in _find_sessions(main, query, style):
        yield entry


def _find_sessions(
    main: Selection, query: str, style: Style, handicap: float = 0.0
) -> Iterator[tuple["Session", Entry]]:
    """The sessions that match, but for the open one; those opened last first, then the newest."""
    matcher = WordMatch(query, style)
    order = {session_id: number for number, session_id in enumerate(main.recent_sessions)}
    sessions = list_shown_sessions(main.state)
    sessions.sort(key=lambda session: order.get(session.id, len(order)))
    for number, session in enumerate(sessions):
        if main.session is not None and session.id == main.session.id:
            continue
        place = Place("session", session.id)
        worktree, project = get_worktree(place, main.state), get_project(place, main.state)
        names = [clean_line(item.name) for item in (worktree, session) if item is not None]
        title = " ▸ ".join(dict.fromkeys(names))
        score = matcher.match(title)
        if score > 0 or not query:
            score += handicap + _RECENCY / (number + 1)
            where = f"{clean_line(project.name)} · " if project is not None else ""
            label = matcher.highlight(title)
            open_it = partial(main.open_session, session.id)
            yield session, Entry(label, open_it, where + _state_of(session), score)


def _state_of(session: "Session") -> str:
    reason = waiting_reason(session)
    state = reason or session.status if session.status in ("running", "failed", "paused") else ""
    return state or format_age(session.updated_at, time.time())


def _is_applicable(action_id: str, screen: Selection) -> bool:
    """Whether the action has a target in the current selection."""
    worktree = screen.worktree
    if action_id.startswith(_OF_SESSIONS):
        return screen.session is not None
    if action_id == "stop":
        return _has_something_to_stop(screen)
    if action_id in ("resolve_conflicts", "abort_merge"):
        return worktree is not None and _may_have_stopped(action_id, worktree)
    if action_id in ("take_back", "edit_queued", "remove_queued", "schedule_queued"):
        return screen.chat.is_complete and bool(screen.chat.queue.messages)
    if action_id == "continue_foreign_session":
        return worktree is not None and worktree.status == "ready"
    if action_id == "send_now":
        return screen.session is not None and screen.session.is_active
    if action_id == "review_plan":
        return screen.session is not None and screen.session.set_aside_plan is not None
    if action_id == "continue_session":
        return screen.session is not None and screen.session.pause is not None
    if action_id == "send_queued":
        return screen.chat.is_complete and screen.chat.queue.is_stopped
    if action_id == "recreate_worktree":
        return worktree is not None and worktree.status == "missing"
    if action_id == "clear_pull_request":
        return worktree is not None and worktree.pr_number is not None
    if action_id == "rename_folder":
        return screen.project is not None and screen.project.is_folder
    if action_id in (*_OF_PROJECTS, "project_settings", "move_project", "adopt_worktree"):
        return screen.project is not None
    if action_id in ("start_server", "stop_server"):
        return bool(screen.server_address) is (action_id == "stop_server")
    if action_id == "stop_script":
        return worktree is not None and bool(worktree.running_scripts)
    if action_id in _OF_WORKTREES or ("worktree" in action_id and action_id != "new_worktree"):
        return worktree is not None
    return True


def _has_something_to_stop(screen: Selection) -> bool:
    if screen.session is not None and screen.session.is_active:
        return True
    worktree = screen.worktree
    return worktree is not None and (
        worktree.running_scripts == ["setup"]
        or (screen.session is None and worktree.status == "creating")
    )


def _may_have_stopped(action_id: str, worktree: "Worktree") -> bool:
    """Whether a merge or rebase may have stopped here, by the last known git status."""
    conflicts = worktree.cached_conflict_count
    if conflicts is None or conflicts > 0:
        return True
    # A merge with all conflicts resolved but not yet committed can still be aborted.
    changed = (worktree.cached_uncommitted_added, worktree.cached_uncommitted_removed)
    return action_id == "abort_merge" and changed != (0, 0)
