"""The diff screen: a worktree's changes by file and side, kept up to date while it is open.

The actions of its keys are in `tui.diff.actions`.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.style import Style

from model.api.changes import ChangedFile, Changes, FileDiff, get_file_diff, list_changed_files
from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.domain.events.base import Event
from model.domain.events.landing import ReviewUpdated
from model.domain.events.messages import BlockChanged, MessageCompleted
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import GitStatusUpdated, WorktreeConflictsUpdated
from model.richtext.diff_comments import Comment, trim_context
from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import DiffText
from tui.desk import Desk
from tui.diff.bars import FOOTER, counts, own_keys, tabs, title, useless
from tui.diff.file_list import FileList
from tui.diff.follow_worktree import follow_worktree
from tui.diff.notes import Note
from tui.diff.overlaps import read_conflicts
from tui.diff.panes import DiffPanes
from tui.diff.pending_comments import PendingComments
from tui.diff.review import WorktreeReview
from tui.diff.sides import empty_sentence, put_conflicts_first
from tui.diff.state import SIDES
from tui.diff.view import DiffView
from tui.keys.keymap import ACTIONS
from tui.screens.full import bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.changes import Operation
    from model.domain.code_reviews import Finding
    from model.domain.worktrees import Worktree
    from tui.store.mirror import Change

DiffActionFunction = Callable[["Diff"], Coroutine[Any, Any, None]]

_DEBOUNCE: Final = 0.3
"""Seconds in which events about the worktree are combined."""


class Diff(DiffPanes):
    """The files of one side, and the diff of one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("diff", "open_diff")]
    LAST = ("diff_back", "help")

    def __init__(
        self,
        desk: Desk,
        worktree: "Worktree",
        actions: Mapping[str, DiffActionFunction],
        path: str | None = None,
    ) -> None:
        super().__init__(desk)
        self._actions = actions
        """The actions by their ids in the key map."""
        self.worktree = worktree
        self.side: Side = "unstaged"
        self.sides: dict[Side, Changes] = {}
        """The changes of each side, as far as they have been read."""
        self._conflicts: dict[str, str] = {}
        """Paths that would be in conflict, with the names of the worktrees and the base."""
        self.pending = PendingComments(desk, worktree.id, self.show_notes)
        self.review = WorktreeReview(desk, worktree.id, self.show_notes)
        self.undoing: Callable[[], Coroutine[Any, Any, None]] | None = None
        """Undoes the last action, unless that was a discard."""
        self._wanted = path
        self._seeks = True
        """Whether to switch to the first side with the wanted file, or with any."""
        self._is_stale = False
        self._counts_are_stale = True

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        without = useless(self)
        actions = (a for a in ACTIONS if a.scope == "diff" or a.id in ("help", "quit"))
        return action_entries((a for a in actions if a.id not in without), self, query, style)

    def on_mount(self) -> None:
        """Load the changes."""
        self.view.placeholder = "Loading …"
        self.update_bars()
        self.load()

    @property
    def changes(self) -> Changes | None:
        """The changes of the shown side."""
        return self.sides.get(self.side)

    # Reading ------------------------------------------------------------------------------------

    @property
    def source(self) -> Side:
        """The side."""
        return self.side

    @property
    def operation(self) -> "Operation | None":
        """The merge or rebase that stopped half-way."""
        return self.changes.operation if self.changes is not None else None

    async def fetch(self, file: ChangedFile) -> FileDiff:
        """Get the diff of a file on this side."""
        return await self.desk.client.call(
            get_file_diff, worktree_id=self.worktree.id, path=file.path, side=self.side
        )

    def nothing(self) -> str:
        """Why this side is empty, and what to do."""
        return empty_sentence(self.side, self.sides, self.desk.key_of)

    def no_rows(self, file: ChangedFile) -> str:
        """Say what is in conflict if there is no text to show."""
        if file.status != "conflicted":
            return super().no_rows(file)
        ours, theirs = self.desk.key_of("diff_ours"), self.desk.key_of("diff_theirs")
        if file.deleted_by == "theirs":
            return (
                "Theirs deleted this file, which ours changed. "
                f"{ours} keeps it, {theirs} deletes it."
            )
        return f"The file is now the same as ours. {ours} takes it, {theirs} takes theirs."

    def follow(self, change: "Change") -> None:
        """Reload after events about the worktree; called at most once a frame."""
        worktree = follow_worktree(self, self.worktree, change)
        if worktree is None:
            return
        self.worktree = worktree
        if change.loaded or any(map(self._concerns, change.events)):
            self._mark_stale()

    def _concerns(self, event: Event) -> bool:
        match event:
            case GitStatusUpdated() | TaskCompleted() | WorktreeConflictsUpdated():
                is_ours = event.worktree_id == self.worktree.id
                self._counts_are_stale |= is_ours
                return is_ours
            case ReviewUpdated():
                return event.worktree_id == self.worktree.id
            case BlockChanged() | MessageCompleted():
                session = self.desk.state.sessions.get(event.related_session_id or "")
                return session is not None and session.worktree_id == self.worktree.id
        return False

    def _mark_stale(self) -> None:
        if not self._is_stale:
            self._is_stale = True
            self.set_timer(_DEBOUNCE, self._load_stale)

    def _load_stale(self) -> None:
        if self._reading.locked():  # reading takes longer than the interval between events
            self.set_timer(_DEBOUNCE, self._load_stale)
        else:
            self._start_reading()

    def load(self) -> None:
        """Reload the list, the displayed file and the other sides' counts."""
        self._counts_are_stale = True
        self._start_reading()

    def _start_reading(self) -> None:
        self._is_stale = False
        self.run_worker(self.read(), exit_on_error=False)

    async def read_all(self) -> None:
        """Read the list, the file under its cursor, and the other sides' counts."""
        self._counts_are_stale = True
        await self.read()

    async def read(self) -> None:
        """Read the list, then the file under its cursor; unchanged parts are not redrawn."""
        async with self._reading:
            while not await self._read_side():
                pass
            if self.changes is not None:
                await self.read_file()
        if self._counts_are_stale and self.changes is not None:
            await self._read_other_sides()
        await self.review.read()
        if news := await self.pending.find_newly_lost():
            places = ", ".join(comment.location for comment in news)
            key = self.desk.key_of("diff_comments")
            self.desk.say(f"Outdated comments, whose lines are gone: {places}. {key} shows them.")
            self.update_bars()

    async def _read_side(self) -> bool:
        """Read the list of files; return whether this is the side to show."""
        side = self.side
        try:
            changes = await self._list(side)
        except SpinneyError as error:
            self.sides.pop(side, None)
            self.files.show([])
            self.show_nothing(error.message)
            return True
        if side != self.side:
            return False  # the user switched sides meanwhile
        before = self.sides.get(side)
        self.sides[side] = changes
        self._show_files(changes)
        if before is not None and before.operation is None and changes.operation is not None:
            if side != SIDES[0]:
                self.side = SIDES[0]
                return False
            self.files.go_to_first()
        if self._try_next_side():
            return False
        self.update_bars()
        return True

    def _show_files(self, changes: Changes) -> None:
        self.files.show(put_conflicts_first(changes.files))
        self.files.mark_viewed(self.review.list_viewed(self.side))

    async def _list(self, side: Side) -> Changes:
        return await self.desk.client.call(
            list_changed_files, worktree_id=self.worktree.id, side=side
        )

    async def _read_other_sides(self) -> None:
        """Read how many files the sides have that are not shown."""
        self._counts_are_stale = False
        for side in SIDES:
            if side != self.side:
                try:
                    self.sides[side] = await self._list(side)
                except SpinneyError:
                    self.sides.pop(side, None)  # shown with its reason when one goes there
        self._conflicts = await read_conflicts(self.desk, self.worktree)
        if self.is_attached:
            if not self.files.files and self.changes is not None:
                self.show_nothing(self.nothing())  # it names the other sides' counts
            self.update_bars()

    def _try_next_side(self) -> bool:
        """Switch to the next side if this one lacks the wanted file; return whether it did."""
        path, index = self._wanted, SIDES.index(self.side) + 1
        seeks, self._seeks = self._seeks, False
        has = self.files.go_to(path) if path is not None else bool(self.files.files)
        if seeks and not has and index < len(SIDES):
            self._seeks, self.side = True, SIDES[index]
            return True
        self._wanted = None
        if seeks and not has:
            if path is not None:
                self.desk.say(f"'{path}' no longer has changes.")
            if self.side != SIDES[0] and not self.files.files:
                self.side = SIDES[0]
                return True
        return False

    @on(FileList.ViewedToggled)
    def _toggle_viewed(self) -> None:
        if (path := self.path) and self._is_shown():
            is_viewed = path in self.files.viewed
            self.run_worker(self.review.toggle_viewed(path, self.side), exit_on_error=False)
            if not is_viewed:
                self.files.action_move(1)

    @on(DiffView.Finished)
    def _read_to_the_end(self) -> None:
        """Mark the file as viewed and go on with the next."""
        if self.path in self.files.viewed:
            self.files.action_move(1)
        else:
            self._toggle_viewed()

    # Selection and comments ---------------------------------------------------------------------

    @property
    def hunk(self) -> str | None:
        """The name of the selected hunk; `None` for the whole file."""
        index = self.view.hunk
        if self.is_in_files or index is None or self.file_diff is None:
            return None
        names = self.file_diff.hunks
        return names[index] if index < len(names) else None

    def rows_here(self) -> Sequence[DiffRow]:
        """Return the rows to comment on.

        The marked lines, the line under the cursor, or the changed lines of the hunk at its
        heading; in the list of files those of the first hunk.
        """
        if not self.is_in_files:
            if rows := self.view.marked_rows:
                return rows
            if self.view.line is not None:
                return [self.view.line]
        index = self.view.hunk if not self.is_in_files else None
        text = self.view.text
        return trim_context(text.hunk_rows(index or 0)) if text.heading_indices else ()

    @property
    def comment_here(self) -> Comment | None:
        """The comment under the cursor or on its line, unless lines are marked."""
        if self.view.marked or self.is_in_files:
            return None
        if self.view.note_here is not None:
            return self.pending.of_note(self.view.notes[self.view.note_here])
        return self.pending.at_row(self.view.at)

    @property
    def finding_here(self) -> "Finding | None":
        """The finding of a review under the cursor."""
        return None if self.is_in_files else self.review.of_note(self.view.note_under_cursor)

    @property
    def comments(self) -> list[Comment]:
        """The mutable list of comments on the worktree's changes that are not sent yet."""
        return self.pending.all

    @property
    def also_changed(self) -> str:
        """Where the shown file would be in conflict."""
        return self._conflicts.get(self.path or "", "")

    @property
    def lost(self) -> frozenset[Comment]:
        """Comments whose lines no longer exist."""
        return self.pending.lost

    def notes_in(self, text: DiffText) -> Sequence[Note]:
        """The comments, findings and verdicts on the selected file."""
        found = self.review.notes_in(text, self.path, self.side)
        return [*self.pending.notes_in(text, self.path), *found]

    def show_notes(self) -> None:
        """Show what is known of the review: notes under their lines, files viewed."""
        if self.is_attached:
            self.files.mark_viewed(self.review.list_viewed(self.side))
            self.view.annotate(self.notes_in(self.view.text))
            self.update_bars()

    # The bars -----------------------------------------------------------------------------------

    def update_bars(self) -> None:
        """Show title, sides and keys."""
        self.query_one("#top", Line).show(title(self), counts(self))
        self.query_one("#sides", Line).show(*tabs(self))
        self.show_keys()

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        self.update_key_hints(FOOTER, first=own_keys(self), without=useless(self))

    # Actions ------------------------------------------------------------------------------------

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        if action_id in ("diff_back", "open_diff"):
            self._back(at_once=action_id == "open_diff")
            return
        self.desk.run_once(action_id, self.worktree.id, self._actions[action_id](self))

    def _back(self, *, at_once: bool) -> None:
        """Clear the marks, else close."""
        if self.view.marked and not at_once:
            self.view.clear_marks()
        else:
            self.dismiss(None)

    def action_show_side(self, side: Side) -> None:
        """Show another side."""
        if side != self.side:
            self.side, self._seeks = side, False
            if (changes := self.changes) is not None:  # its files at once, then what is new
                self._show_files(changes)
            self._start_reading()
            self.update_bars()

    @on(DiffView.Marked)
    @on(DiffView.Moved)
    def _marked(self, event: DiffView.Marked | DiffView.Moved) -> None:
        event.stop()
        self.update_bars()

    @on(DiffView.Opened)
    def _opened(self) -> None:
        if self.view.note_here is not None:
            self.do("diff_comment")

    @on(DiffView.Removed)
    def _removed(self) -> None:
        if self.finding_here is not None:
            self.do("diff_dismiss")
        elif (comment := self.comment_here) is not None:
            self.remove_comment(comment)

    def remove_comment(self, comment: Comment) -> None:
        """Remove a comment; the next undo restores it."""
        at = self.comments.index(comment)
        del self.comments[at]
        self.pending.save()

        async def restore() -> None:
            self.comments.insert(at, comment)
            self.pending.save()

        self.undoing = restore
        self.desk.say(f"Removed the comment. {self.desk.key_of('diff_undo')} restores it.")
