"""The archive: worktrees and sessions that were put away, to be brought back or deleted."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.text import clean_line
from tui.screens.choose import Choice
from tui.screens.pick import Pick
from tui.store.places import ROOT, Place
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.state import State


@dataclass(frozen=True, slots=True)
class FromArchive(Choice):
    """What is wanted of an archived thing."""

    place: Place = ROOT
    deletes: bool = False


class Archive(Pick):
    """Type to narrow, enter to bring back, delete to be rid of it for good."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "delete_marked", show=False, priority=True)
    ]

    def __init__(self, state: "State") -> None:
        found = sorted(_archived(state), key=lambda entry: -entry[0])
        super().__init__("Archive", [entry for _, entry in found])

    def body(self) -> list[Widget]:
        """The list with keys of its own."""
        *rest, _ = super().body()
        keys = keys_line(("enter", "bring back"), ("del", "delete for good"), ("esc", "close"))
        return [*rest, Static(keys, classes="keys")]

    def empty(self) -> str:
        """What an empty archive says."""
        if self._typed:
            return super().empty()
        return "The archive is empty. What is archived (del on a row) can be found here."

    def action_delete_marked(self) -> None:
        """Delete the marked one; asked first."""
        marked = self.marked
        if isinstance(marked, FromArchive):
            self.dismiss(
                FromArchive(
                    marked.value, marked.label, marked.description, place=marked.place, deletes=True
                )
            )


def _archived(state: "State") -> Iterator[tuple[float, FromArchive]]:
    """When each was put away, and its entry; sessions of archived worktrees stay with them."""
    for worktree in state.worktrees.values():
        if worktree.archived_at is None:
            continue
        project = state.projects.get(worktree.project_id)
        count = len(state.sessions_of(worktree.id, archived=True))
        where = clean_line(project.name) if project else ""
        words = f"worktree of {where} · {counted(count, 'session')} · {_ago(worktree.archived_at)}"
        place = Place("worktree", worktree.id)
        yield worktree.archived_at, FromArchive(worktree.id, worktree.name, words, place=place)
    for session in state.sessions.values():
        worktree_of = state.worktrees.get(session.worktree_id)
        if session.archived_at is None or worktree_of is None or worktree_of.archived_at:
            continue
        said, ago = counted(session.message_count, "message"), _ago(session.archived_at)
        words = f"session in {worktree_of.name} · {said} · {ago}"
        place = Place("session", session.id)
        yield session.archived_at, FromArchive(session.id, session.name, words, place=place)


def counted(count: int, noun: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _ago(moment: float) -> str:
    seconds = max(0, int(time.time() - moment))
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit} ago"
    return "just now"
