"""The archive: archived worktrees and sessions and recovery points, to restore or delete."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.plural import count
from model.base.text import clean_line
from tui.keys.keymap import make_bindings
from tui.screens.choose import Choice
from tui.screens.pick import Pick
from tui.store.places import ROOT, Place
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.recovery import RecoveryPoint
    from model.state import State


@dataclass(frozen=True, slots=True)
class FromArchive(Choice):
    """An archived item or a recovery point, and whether to delete or restore it."""

    place: Place = ROOT
    point: "RecoveryPoint | None" = None
    deletes: bool = False
    is_more: bool = False
    """Whether it stands for the recovery points that were not read yet."""


class Archive(Pick):
    """Filter by typing, enter restores, delete deletes permanently."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "delete_marked", show=False, priority=True),
        *make_bindings(only=("show_landing", "open_work")),
    ]

    def __init__(
        self,
        state: "State",
        points: "Sequence[RecoveryPoint]",
        perform: Callable[[str], None],
        *,
        has_more: bool = False,
    ) -> None:
        self._perform = perform
        """Runs an action of the key map."""
        found = [*_archived(state), *_recoverable(state, points)]
        entries = sorted(found, key=lambda entry: -entry[0])
        more = [FromArchive("more", "Load more recovery points", is_more=True)] if has_more else []
        super().__init__("Archive", [*(entry for _, entry in entries), *more])

    def body(self) -> list[Widget]:
        """The list with its own keys."""
        *rest, _ = super().body()
        keys = keys_line(("enter", "restore"), ("del", "delete"), ("esc", "close"))
        return [*rest, Static(keys, classes="keys")]

    def empty(self) -> str:
        """The text of an empty archive."""
        if self._typed:
            return super().empty()
        return "The archive is empty. Press del on a row to archive it."

    def action_do(self, action_id: str) -> None:
        """Go to another screen by its key."""
        self.dismiss(None)
        self._perform(action_id)

    def action_delete_marked(self) -> None:
        """Delete the selected item; the caller asks for confirmation."""
        marked = self.marked
        if isinstance(marked, FromArchive) and not marked.is_more:
            self.dismiss(replace(marked, deletes=True))


def _archived(state: "State") -> Iterator[tuple[float, FromArchive]]:
    """Yield each item with the time it was archived; not sessions of archived worktrees."""
    for worktree in state.worktrees.values():
        if worktree.archived_at is None:
            continue
        project = state.projects.get(worktree.project_id)
        sessions = count(len(state.sessions_of(worktree.id, archived=True)), "session")
        where = clean_line(project.name) if project else ""
        about = f"worktree of {where} · {sessions} · {_ago(worktree.archived_at)}"
        place = Place("worktree", worktree.id)
        yield worktree.archived_at, FromArchive(worktree.id, worktree.name, about, place=place)
    for session in state.sessions.values():
        worktree_of = state.worktrees.get(session.worktree_id)
        if session.archived_at is None or worktree_of is None or worktree_of.archived_at:
            continue
        messages, ago = count(session.message_count, "message"), _ago(session.archived_at)
        about = f"session in {worktree_of.name} · {messages} · {ago}"
        place = Place("session", session.id)
        yield session.archived_at, FromArchive(session.id, session.name, about, place=place)


def _recoverable(
    state: "State", points: Sequence["RecoveryPoint"]
) -> Iterator[tuple[float, FromArchive]]:
    """Yield each recovery point with its time."""
    for point in points:
        project = state.projects.get(point.project_id)
        parts = [point.reason, project.name if project else ""]
        if not point.sessions_only:
            parts.append(count(point.files, "file"))
        parts.append(f"{point.size_bytes / 1e6:.1f} MB")
        if point.sessions and point.kind != "delete session":
            parts.append(count(point.sessions, "session"))
        if point.left_out:
            parts.append(f"{point.left_out} not kept")
        if point.branch and point.branch != point.name:
            parts.append(point.branch)
        about = " · ".join(clean_line(part) for part in [*parts, _ago(point.created_at)] if part)
        yield point.created_at, FromArchive(point.recovery_id, point.name, about, point=point)


def _ago(moment: float) -> str:
    seconds = max(0, int(time.time() - moment))
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit} ago"
    return "just now"
