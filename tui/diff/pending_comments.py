"""Comments on a worktree's changes that are not sent yet; they survive a restart."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from model.api.changes import get_file_diff
from model.richtext.diff_comments import Comment, dump_comments, find_lost, load_comments
from tui.composer.draft import Draft
from tui.desk import Desk
from tui.diff.notes import Note
from tui.diff.state import SIDES

if TYPE_CHECKING:
    from model.domain.changes import Side
    from model.richtext.diff_text import DiffText


@dataclass(slots=True)
class WorktreeComments:
    """Comments on a worktree's changes that are not sent yet; `None` before they are read."""

    comments: list[Comment] | None = None


class PendingComments:
    """The comments of one worktree, and where they stand in the diff that is shown."""

    def __init__(self, desk: Desk, worktree_id: str, changed: Callable[[], None]) -> None:
        self._desk = desk
        self._worktree_id = worktree_id
        self._changed = changed
        self._shown: dict[Note, Comment] = {}
        self.lost: frozenset[Comment] = frozenset()
        """Comments whose lines no longer exist."""

    @property
    def all(self) -> list[Comment]:
        """The mutable list of comments."""
        draft = self._desk.drafts.get(WorktreeComments, self._worktree_id)
        if draft.comments is None:
            draft.comments = load_comments(self._desk.chat.drafts.get(self._draft_key).text)
        return draft.comments

    @property
    def _draft_key(self) -> str:
        return f"comments-{self._worktree_id}"

    def save(self) -> None:
        """Keep the comments across restarts, and show them again."""
        self._desk.chat.drafts.set(self._draft_key, Draft(dump_comments(self.all)))
        self._desk.chat.save_draft()
        self._changed()

    def notes_in(self, text: "DiffText", path: str) -> list[Note]:
        """The comments on a file as notes; comments move with their lines."""
        self._shown = dict(self._find(text, path))
        return [*self._shown]

    def _find(self, text: "DiffText", path: str) -> Iterator[tuple[Note, Comment]]:
        for n, comment in enumerate(self.all):
            places = comment.find_in(text.rows) if comment.path == path else None
            if places is not None:
                self.all[n] = comment = comment.move_to(text.rows, places)
                yield Note(places, "you", comment.text), comment

    def of_note(self, note: Note) -> Comment | None:
        """The comment that a note shows."""
        return self._shown.get(note)

    def at_row(self, at: int) -> Comment | None:
        """The comment on a row of the text."""
        return next((each for note, each in self._shown.items() if at in note.places), None)

    async def find_newly_lost(self) -> list[Comment]:
        """Find the comments whose lines are no longer on any side; return those not known yet."""
        shown = self._shown.values()
        unseen = [comment for comment in self.all if comment not in shown]
        found = await find_lost(unseen, SIDES, self._read_diff) if unseen else frozenset[Comment]()
        news, self.lost = found - self.lost, found
        return sorted(news, key=lambda comment: comment.location)

    async def _read_diff(self, path: str, side: str) -> str:
        diff = await self._desk.client.call(
            get_file_diff, worktree_id=self._worktree_id, path=path, side=cast("Side", side)
        )
        return diff.text
