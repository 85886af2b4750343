"""The command palette's entries: the table of actions, and the sessions by their names."""

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from model.base.text import clean_line
from tui.diff import bars
from tui.keys.keymap import ACTIONS, Action, keys_of
from tui.keys.names import shown
from tui.keys.word_match import WordMatch
from tui.screens.dialog import keys_told
from tui.store.places import Place, project_of, shown_sessions, worktree_of

if TYPE_CHECKING:
    from model.domain.resources import Worktree
    from tui.diff.screen import Diff
    from tui.screens.dialog import Dialog
    from tui.shell.main_screen import MainScreen


_OF_WORKTREES = frozenset(
    (
        "open_diff", "commit", "push", "pull_base", "pull_request", "resolve_conflicts",
        "abort_merge", "link_pull_request", "cancel_git", "show_scripts", "run_script",
    )
)  # fmt: skip


_AFTER_ACTIONS = 0.5
"""An action is found before a session whose name has the same words."""


class ActionCommands(Provider):
    """Every action by its title, with its key."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self._actions():
            yield DiscoveryHit(
                self._title(action), partial(self._main.action_do, action.id), help=action.help
            )

    async def search(self, query: str) -> Hits:
        """Those that the query finds in their titles."""
        matcher = WordMatch(query, self.match_style)
        for action in self._actions():
            score = matcher.match(action.title)
            if score > 0:
                yield Hit(
                    score,
                    Content.assemble(matcher.highlight(action.title), self._key(action)),
                    partial(self._main.action_do, action.id),
                    text=action.title,
                    help=action.help,
                )

    @property
    def _main(self) -> "MainScreen":
        return cast("MainScreen", self.screen)

    def _actions(self) -> list[Action]:
        shown = (a for a in ACTIONS if a.in_palette and a.where not in ("canvas", "diff"))
        return [a for a in shown if _is_useful(a.id, self._main)]

    def _title(self, action: Action) -> Content:
        return Content.assemble(action.title, self._key(action))

    def _key(self, action: Action) -> tuple[str, str]:
        key = shown(keys_of(action.id, self._main.key_overrides))
        return (f"  {key}" if key else "", "$text-muted")


class SessionCommands(Provider):
    """Every session by its name; only once something is typed, for they may be many."""

    async def search(self, query: str) -> Hits:
        """Those that the query finds in their names."""
        main = cast("MainScreen", self.screen)
        if main.link is None:
            return
        matcher = WordMatch(query, self.match_style)
        for session in shown_sessions(main.state):
            name, place = clean_line(session.name), Place("session", session.id)
            if (score := matcher.match(name)) > 0:
                held_by = (project_of(place, main.state), worktree_of(place, main.state))
                yield Hit(
                    score - _AFTER_ACTIONS,
                    matcher.highlight(name),
                    partial(main.action_open_session, session.id),
                    text=name,
                    help=f"Open: {' ▸ '.join(clean_line(item.name) for item in held_by if item)}",
                )


class CanvasCommands(ActionCommands):
    """What can be done on the canvas."""

    def _actions(self) -> list[Action]:
        return [a for a in ACTIONS if a.where == "canvas" or a.id in ("canvas", "help", "quit")]


class DialogCommands(Provider):
    """What a dialog names at its foot."""

    async def discover(self) -> Hits:
        """All of it, in the order in which it stands there."""
        for key, words in keys_told(self.screen):
            yield DiscoveryHit(
                Content.assemble(_title(words), (f"  {key}", "$text-muted")),
                partial(self._dialog.press, key),
            )

    async def search(self, query: str) -> Hits:
        """What has the query in its words."""
        matcher = WordMatch(query, self.match_style)
        for key, words in keys_told(self.screen):
            if (score := matcher.match(_title(words))) > 0:
                label = Content.assemble(
                    matcher.highlight(_title(words)), (f"  {key}", "$text-muted")
                )
                yield Hit(score, label, partial(self._dialog.press, key), text=_title(words))

    @property
    def _dialog(self) -> "Dialog[Any]":
        return cast("Dialog[Any]", self.screen)


def _title(words: str) -> str:
    return words[:1].upper() + words[1:]


_OF_SESSIONS = (
    "choose_", "begin_afresh", "rename_session", "archive_session", "delete_session",
)  # fmt: skip


class DiffCommands(ActionCommands):
    """What can be done on the diff screen."""

    def _actions(self) -> list[Action]:
        without = bars.useless(cast("Diff", self.screen))
        here = (a for a in ACTIONS if a.where == "diff" or a.id in ("help", "quit"))
        return [a for a in here if a.id not in without]


def _is_useful(action_id: str, screen: "MainScreen") -> bool:
    """Whether the action has something to act on now."""
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


def _has_something_to_stop(screen: "MainScreen") -> bool:
    if screen.session is not None and screen.session.is_active:
        return True
    worktree = screen.worktree
    return worktree is not None and (
        worktree.running_scripts == ["setup"]
        or (screen.session is None and worktree.status == "creating")
    )


def _may_have_stopped(action_id: str, worktree: "Worktree") -> bool:
    """Whether a merge or rebase may have stopped here, by what git said last."""
    conflicts = worktree.cached_conflict_count
    if conflicts is None or conflicts > 0:
        return True
    # One whose conflicts are all solved, and that waits for its commit, can still be given up.
    changed = (worktree.cached_uncommitted_added, worktree.cached_uncommitted_removed)
    return action_id == "abort_merge" and changed != (0, 0)
