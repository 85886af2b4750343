"""The diff screen: a worktree's changes by file and side, kept up to date while it is open.

The actions of its keys are in `tui.diff.actions`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.style import Style
from textual.widget import Widget

from model.api.changes import Changes, FileDiff, get_file_diff, list_changed_files
from model.base.errors import SpinneyError
from model.domain import events as e
from model.richtext.diff_comments import (
    Comment,
    dump_comments,
    find_lost,
    load_comments,
    trim_context,
)
from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import DiffText, parse_diff
from model.richtext.highlight import highlight_code, language_for_path
from tui.composer.draft import Draft
from tui.desk import Desk
from tui.diff.bars import FOOTER, counts, own_keys, title, useless
from tui.diff.file_list import FileList
from tui.diff.state import SIDES, Side
from tui.diff.view import DiffView
from tui.keys.keymap import ACTIONS
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.terminal import screen_reader
from tui.terminal.capabilities import WIDE
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.resources import Worktree
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

DiffActionFunction = Callable[["Diff"], Coroutine[Any, Any, None]]

_SPLIT_WIDTH: Final = 130
"""Columns from which old and new are shown side by side, unless the user chose a layout."""
_DEBOUNCE: Final = 0.3
"""Seconds in which events about the worktree are combined."""
_EMPTY: Final[dict[Side, str]] = {
    "unstaged": "No unstaged changes. v shows the other sides.",
    "staged": "No staged changes. v shows the other sides, where s stages a file or a hunk.",
    "branch": "The branch has no commits beyond its base. v shows uncommitted changes.",
}


def _read_text(diff: FileDiff) -> DiffText:
    """Parse a diff, and load its language for highlighting; runs in a thread."""
    highlight_code("", language_for_path(diff.path))
    return parse_diff(diff.text)


@dataclass(slots=True)
class WorktreeComments:
    """Comments on a worktree's changes that are not sent yet; `None` before they are read."""

    comments: list[Comment] | None = None


class Diff(FullScreen):
    """Files on the left, the diff of one on the right."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("diff", "open_diff"),
        Binding("tab,shift+tab", "other_pane", show=False),
    ]
    LAST = ("diff_back", "help")
    AUTO_FOCUS = "#files"

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
        self.changes: Changes | None = None
        self.file_diff: FileDiff | None = None
        """The displayed diff; its hunk names identify hunks to stage."""
        self.lost: frozenset[Comment] = frozenset()
        """Comments whose lines no longer exist."""
        self._commented: dict[int, Comment] = {}
        """The comments on displayed rows, by row index."""
        self._wanted = path
        self._seeks = True
        """Whether to switch to the first side with the wanted file, or with any."""
        self._shown: tuple[Side, str, str] | None = None
        self._chosen_split: bool | None = None
        self._reading = asyncio.Lock()
        self._is_stale = False

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """The file list and the diff."""
        yield Horizontal(FileList(palette), DiffView(palette), id="diff-body")

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        without = useless(self)
        actions = (a for a in ACTIONS if a.scope == "diff" or a.id in ("help", "quit"))
        return action_entries((a for a in actions if a.id not in without), self, query, style)

    def on_mount(self) -> None:
        """Load the changes."""
        self.add_class("files-open")
        self.view.placeholder = "Loading …"
        self._update_title()
        self.load()

    @property
    def files(self) -> FileList:
        """The changed files."""
        return self.query_one(FileList)

    @property
    def view(self) -> DiffView:
        """The diff of one of them."""
        return self.query_one(DiffView)

    def recolor(self, palette: "Palette") -> None:
        """Redraw both panes in other colors."""
        self.files.set_palette(palette)
        self.view.set_palette(palette)

    # Reading ------------------------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Reload after events about the worktree; called at most once a frame."""
        if change.loaded or self.worktree.id in change.worktrees:
            worktree = change.state.worktrees.get(self.worktree.id)
            if worktree is None:
                self.dismiss(None)
                self.desk.say("The worktree was removed.")
                return
            self.worktree = worktree
        if change.loaded or any(map(self._concerns, change.events)):
            self._mark_stale()

    def _concerns(self, event: e.Event) -> bool:
        match event:
            case e.GitStatusUpdated() | e.TaskCompleted():
                return event.worktree_id == self.worktree.id
            case e.BlockChanged() | e.MessageCompleted():
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
            self.load()

    def load(self) -> None:
        """Reload the list and the displayed file."""
        self._is_stale = False
        self.run_worker(self.read(), exit_on_error=False)

    async def read(self) -> None:
        """Read the list, then the file under its cursor; unchanged parts are not redrawn."""
        async with self._reading:
            side = self.side
            try:
                changes = await self.desk.client.call(
                    list_changed_files, worktree_id=self.worktree.id, side=side
                )
            except SpinneyError as error:
                self.changes = None
                self.files.show([])
                self._show_nothing(error.message)
                return
            if side != self.side:
                return  # the user switched sides meanwhile; that side is read next
            self.changes = changes
            self.files.show(changes.files)
            if self._try_next_side():
                return
            self._update_title()
            await self._read_file()
        await self.update_lost_comments()

    def _try_next_side(self) -> bool:
        """Switch to the next side if this one lacks the wanted file; return whether it did."""
        path, index = self._wanted, SIDES.index(self.side) + 1
        seeks, self._seeks = self._seeks, False
        has = self.files.go_to(path) if path is not None else bool(self.files.files)
        if seeks and not has and index < len(SIDES):
            self._show_side(SIDES[index], seeks=True)
            return True
        self._wanted = None
        if seeks and not has:
            if path is not None:
                self.desk.say(f"'{path}' no longer has changes.")
            if self.side != SIDES[0] and not self.files.files:
                self._show_side(SIDES[0])
                return True
        return False

    async def _read_file(self) -> None:
        file, side = self.files.file, self.side
        if file is None:
            self._show_nothing(_EMPTY[side])
            return
        try:
            diff = await self.desk.client.call(
                get_file_diff, worktree_id=self.worktree.id, path=file.path, side=side
            )
        except SpinneyError as error:
            self._show_nothing(error.message)
            return
        key = (side, file.path, diff.digest)
        if key == self._shown or (self.files.file, self.side) != (file, side):
            return
        text = await asyncio.to_thread(_read_text, diff)
        is_same_file = self._shown is not None and self._shown[:2] == key[:2]
        self._shown, self.file_diff = key, diff
        placeholder = "" if text.rows else "The file is empty."
        self.view.show(text, file.path, placeholder=placeholder, reset=not is_same_file)
        self.mark_comments()
        self._update_title()

    def _show_nothing(self, reason: str) -> None:
        self._shown = self.file_diff = None
        self.view.show(DiffText(), "", placeholder=reason)
        self._update_title()

    @on(FileList.Moved)
    def _file_moved(self) -> None:
        if not self._is_shown():
            self.run_worker(self._read_file_alone(), exit_on_error=False)

    def _is_shown(self) -> bool:
        return self._shown is not None and self._shown[:2] == (self.side, self.path)

    async def _read_file_alone(self) -> None:
        async with self._reading:
            # While the cursor moves fast, only the last file is read.
            if not self._is_shown():
                await self._read_file()

    # Selection and comments ---------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The path of the selected file."""
        return self.files.file.path if self.files.file is not None else ""

    @property
    def is_in_files(self) -> bool:
        """Whether the list has the focus: then keys apply to a file, else to a hunk."""
        return self.focused is self.files

    @property
    def hunk(self) -> str | None:
        """The name of the selected hunk; `None` for the whole file."""
        index = self.view.hunk
        if self.is_in_files or index is None or self.file_diff is None:
            return None
        names = self.file_diff.hunks
        return names[index] if index < len(names) else None

    def rows_here(self) -> Sequence[DiffRow]:
        """Return the marked lines, the line under the cursor, or the hunk of its heading."""
        if rows := self.view.marked_rows:
            return rows
        if self.view.line is not None:
            return [self.view.line]
        index = self.view.hunk
        return trim_context(self.view.text.hunk_rows(index)) if index is not None else []

    @property
    def comment_here(self) -> Comment | None:
        """The comment on the line under the cursor, unless lines are marked."""
        return None if self.view.marked else self._commented.get(self.view.at)

    @property
    def comments(self) -> list[Comment]:
        """The mutable list of comments on the worktree's changes that are not sent yet."""
        draft = self.desk.drafts.get(WorktreeComments, self.worktree.id)
        if draft.comments is None:
            draft.comments = load_comments(self.desk.chat.drafts.get(self._draft_key).text)
        return draft.comments

    def keep_comments(self) -> None:
        """Save the comments across restarts, and update their marks."""
        self.desk.chat.drafts.set(self._draft_key, Draft(dump_comments(self.comments)))
        self.desk.chat.save_draft()
        if self.is_attached:
            self.mark_comments()

    @property
    def _draft_key(self) -> str:
        return f"comments-{self.worktree.id}"

    def mark_comments(self) -> None:
        """Mark the rows with comments; comments move with their lines."""
        rows, found = self.view.text.rows, dict[int, Comment]()
        for n, comment in enumerate(self.comments):
            places = comment.find_in(rows) if comment.path == self.path else None
            if places is not None:
                self.comments[n] = comment = comment.move_to(rows, places)
                found |= dict.fromkeys(places, comment)
        self._commented = found
        self.view.mark(found.keys())
        self._update_title()

    async def update_lost_comments(self) -> None:
        """Notify of comments whose lines are no longer on any side."""
        unseen = [comment for comment in self.comments if comment not in self._commented.values()]
        found = await self._lost(unseen) if unseen else frozenset[Comment]()
        news, self.lost = found - self.lost, found
        if news:
            places = ", ".join(sorted(comment.location for comment in news))
            key = self.desk.key_of("diff_comments")
            self.desk.say(f"Outdated comments, whose lines are gone: {places}. {key} shows them.")
        self._update_title()

    async def _lost(self, comments: Iterable[Comment]) -> frozenset[Comment]:
        """Return the comments whose lines are not on any side."""

        async def read_diff(path: str, side: str) -> str:
            diff = await self.desk.client.call(
                get_file_diff, worktree_id=self.worktree.id, path=path, side=cast("Side", side)
            )
            return diff.text

        return await find_lost(comments, SIDES, read_diff)

    # The bars -----------------------------------------------------------------------------------

    def _update_title(self) -> None:
        # With only one pane, the list with the name of the file is not visible.
        alone = self.has_class("narrow") and not self.has_class("files-open")
        sides = (self.side,) if alone or screen_reader.is_enabled() else SIDES
        left = title(self, sides, self.path if alone else "")
        self.query_one("#top", Line).show(left, counts(self))
        self.show_keys()

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        self.update_key_hints(FOOTER, first=own_keys(self), without=useless(self))

    def on_descendant_focus(self) -> None:
        """Show the key hints of the newly focused pane."""
        self.show_keys()

    # Actions ------------------------------------------------------------------------------------

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        if action_id in ("diff_back", "open_diff"):
            self._back(at_once=action_id == "open_diff")
            return
        self.desk.run_once(action_id, self.worktree.id, self._actions[action_id](self))

    def _back(self, *, at_once: bool) -> None:
        """Clear the marks, else return to the files if there is one pane, else close."""
        if self.view.marked and not at_once:
            self.view.clear_marks()
        elif self.has_class("narrow") and not self.is_in_files and not at_once:
            self.action_other_pane()
        else:
            self.dismiss(None)

    def action_show_side(self, side: Side) -> None:
        """Show another side."""
        if side != self.side:
            self._show_side(side)

    def _show_side(self, side: Side, *, seeks: bool = False) -> None:
        self.side, self._seeks = side, seeks
        self.load()
        self._update_title()

    def action_other_pane(self) -> None:
        """Switch between the files and the diff."""
        self.set_class(not self.is_in_files, "files-open")
        (self.view if self.is_in_files else self.files).focus()
        self._update_title()

    @on(FileList.Chosen)
    def _file_chosen(self) -> None:
        self.remove_class("files-open")
        self.view.focus()
        self._update_title()

    @on(DiffView.Marked)
    def _marked(self, event: DiffView.Marked) -> None:
        event.stop()
        self._update_title()

    def change_layout(self) -> None:
        """Switch between one and two columns until the screen is closed."""
        self._chosen_split = not self.view.is_split
        self.view.set_split(self._chosen_split)

    def on_resize(self, event: events.Resize) -> None:
        """Use one pane at a time on a narrow screen, two columns on a wide one."""
        width = event.size.width
        # Screen-reader mode shows one pane at a time, too.
        self.set_class(width < WIDE or screen_reader.is_enabled(), "narrow")
        self.set_class(width >= 180, "roomy")
        self._update_title()
        if self._chosen_split is None:
            self.view.set_split(width >= _SPLIT_WIDTH + 34 and not screen_reader.is_enabled())
