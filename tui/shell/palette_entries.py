"""The command palette's entries on the main screen: applicable actions, and sessions by name."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.style import Style

from model.base.text import clean_line
from tui.keys.keymap import ACTIONS
from tui.keys.word_match import WordMatch
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.shell.selection import Selection
from tui.store.places import Place, get_project, get_worktree, list_shown_sessions

if TYPE_CHECKING:
    from model.domain.resources import Worktree

_OF_WORKTREES = frozenset(
    (
        "open_diff", "commit", "push", "pull_base", "pull_request", "resolve_conflicts",
        "abort_merge", "link_pull_request", "cancel_git", "show_scripts", "run_script",
    )
)  # fmt: skip


_OF_SESSIONS = (
    "choose_", "begin_afresh", "compact", "show_usage", "rename_session", "archive_session",
    "delete_session",
)  # fmt: skip

_AFTER_ACTIONS = 0.5
"""Score penalty of sessions, so that an action precedes a session with the same name."""


def main_entries(main: Selection, query: str, style: Style) -> Iterator[Entry]:
    """Every applicable action by its title, and if there is a query every session by its name."""
    shown = (a for a in ACTIONS if a.in_palette and a.scope not in ("canvas", "diff"))
    yield from action_entries((a for a in shown if _is_applicable(a.id, main)), main, query, style)
    if query and main.is_connected:
        yield from _session_entries(main, query, style)


def _session_entries(main: Selection, query: str, style: Style) -> Iterator[Entry]:
    matcher = WordMatch(query, style)
    for session in list_shown_sessions(main.state):
        name, place = clean_line(session.name), Place("session", session.id)
        if (score := matcher.match(name)) > 0:
            parents = (get_project(place, main.state), get_worktree(place, main.state))
            yield Entry(
                matcher.highlight(name),
                partial(main.open_session, session.id),
                f"Open: {' ▸ '.join(clean_line(item.name) for item in parents if item)}",
                score - _AFTER_ACTIONS,
            )


def _is_applicable(action_id: str, screen: Selection) -> bool:
    """Whether the action has a target in the current selection."""
    worktree = screen.worktree
    if action_id.startswith(_OF_SESSIONS):
        return screen.session is not None
    if action_id == "stop":
        return _has_something_to_stop(screen)
    if action_id in ("resolve_conflicts", "abort_merge"):
        return worktree is not None and _may_have_stopped(action_id, worktree)
    if action_id in ("take_back", "edit_queued", "remove_queued"):
        return screen.chat.is_complete and bool(screen.chat.queue.messages)
    if action_id == "review_plan":
        return screen.session is not None and screen.session.set_aside_plan is not None
    if action_id == "send_queued":
        return screen.chat.is_complete and screen.chat.queue.is_stopped
    if action_id == "recreate_worktree":
        return worktree is not None and worktree.status == "missing"
    if action_id == "clear_pull_request":
        return worktree is not None and worktree.pr_number is not None
    if action_id == "rename_folder":
        return screen.project is not None and screen.project.is_folder
    if action_id in ("project_settings", "move_project", "adopt_worktree"):
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
