"""The diff screen: what a worktree changes, by file, on three sides; kept true while it is open.

What its keys do with the changes is in `tui.diff.actions`.
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
from tui.terminal import plain
from tui.terminal.capabilities import WIDE
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.resources import Worktree
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

DiffAction = Callable[["Diff"], Coroutine[Any, Any, None]]

_SPLIT_WIDTH: Final = 130
"""Columns from which two versions stand beside each other, unless a person chose."""
_PAUSE: Final = 0.3
"""Seconds in which events about the worktree are taken as one."""
_EMPTY: Final[dict[Side, str]] = {
    "unstaged": "Nothing is changed that is not staged. v shows the other sides.",
    "staged": "Nothing is staged. v shows the other sides; s there stages a file or a hunk.",
    "branch": "The branch has no commits that its base lacks. v shows what is not committed.",
}


def _read_text(diff: FileDiff) -> DiffText:
    """In a thread; the language is loaded there, too, before the first row needs its colours."""
    highlight_code("", language_for_path(diff.path))
    return parse_diff(diff.text)


@dataclass(slots=True)
class WorktreeComments:
    """Comments on a worktree's changes that are not sent yet; `None`: not read yet."""

    comments: list[Comment] | None = None


class Diff(FullScreen):
    """Files on the left, the difference of one on the right."""

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
        actions: Mapping[str, DiffAction],
        path: str | None = None,
    ) -> None:
        super().__init__(desk)
        self._actions = actions
        """By the ids of the key map; what they change is read again."""
        self.worktree = worktree
        self.side: Side = "unstaged"
        self.changes: Changes | None = None
        self.file_diff: FileDiff | None = None
        """What is shown; its names are what hunks are staged by."""
        self.lost: frozenset[Comment] = frozenset()
        """Comments whose lines are gone."""
        self._commented: dict[int, Comment] = {}
        """What was said of the rows that are shown, by their places."""
        self._wanted = path
        self._seeks = True
        """Whether the first side is looked for that has the file, or any."""
        self._shown: tuple[Side, str, str] | None = None
        self._chosen_split: bool | None = None
        self._reading = asyncio.Lock()
        self._is_stale = False

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """Files and difference."""
        yield Horizontal(FileList(palette), DiffView(palette), id="diff-body")

    def palette_entries(self, words: str, style: Style) -> Iterable[Entry]:
        """What the command palette shows here."""
        without = useless(self)
        found = (a for a in ACTIONS if a.where == "diff" or a.id in ("help", "quit"))
        return action_entries((a for a in found if a.id not in without), self, words, style)

    def on_mount(self) -> None:
        """Read what there is."""
        self.add_class("files-open")
        self.view.said = "Reading …"
        self._entitle()
        self.load()

    @property
    def files(self) -> FileList:
        """The changed files."""
        return self.query_one(FileList)

    @property
    def view(self) -> DiffView:
        """The difference of one of them."""
        return self.query_one(DiffView)

    def recolor(self, palette: "Palette") -> None:
        """Draw both panes in other colours."""
        self.files.set_palette(palette)
        self.view.set_palette(palette)

    # Reading ------------------------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Read anew when something happened to the worktree; called at most once a frame."""
        if change.loaded or self.worktree.id in change.worktrees:
            known = change.state.worktrees.get(self.worktree.id)
            if known is None:
                self.dismiss(None)
                self.desk.say("The worktree is gone.")
                return
            self.worktree = known
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
            self.set_timer(_PAUSE, self._load_stale)

    def _load_stale(self) -> None:
        if self._reading.locked():  # it takes longer than events take to come
            self.set_timer(_PAUSE, self._load_stale)
        else:
            self.load()

    def load(self) -> None:
        """Read the list and the file that is shown."""
        self._is_stale = False
        self.run_worker(self.read(), exit_on_error=False)

    async def read(self) -> None:
        """Read the list, then the file under its cursor; what did not change stays as it is."""
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
                return  # somebody looks elsewhere by now, and that is read next
            self.changes = changes
            self.files.show(changes.files)
            if self._goes_on_looking():
                return
            self._entitle()
            await self._read_file()
        await self.look_for_lost()

    def _goes_on_looking(self) -> bool:
        """Whether the file that this was opened for is looked for on the next side."""
        path, place = self._wanted, SIDES.index(self.side) + 1
        seeks, self._seeks = self._seeks, False
        has = self.files.go_to(path) if path is not None else bool(self.files.files)
        if seeks and not has and place < len(SIDES):
            self._look_at(SIDES[place], seeks=True)
            return True
        self._wanted = None
        if seeks and not has:
            if path is not None:
                self.desk.say(f"'{path}' has no changes any more.")
            if self.side != SIDES[0] and not self.files.files:
                self._look_at(SIDES[0])
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
        said = "" if text.rows else "The file is empty."
        self.view.show(text, file.path, said=said, anew=not is_same_file)
        self.mark_comments()
        self._entitle()

    def _show_nothing(self, said: str) -> None:
        self._shown = self.file_diff = None
        self.view.show(DiffText(), "", said=said)
        self._entitle()

    @on(FileList.Moved)
    def _file_moved(self) -> None:
        if not self._is_shown():
            self.run_worker(self._read_file_alone(), exit_on_error=False)

    def _is_shown(self) -> bool:
        return self._shown is not None and self._shown[:2] == (self.side, self.path)

    async def _read_file_alone(self) -> None:
        async with self._reading:
            # Of the files that the cursor ran past only the last one is read.
            if not self._is_shown():
                await self._read_file()

    # What is here -------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The file that is chosen."""
        return self.files.file.path if self.files.file is not None else ""

    @property
    def is_in_files(self) -> bool:
        """Whether the keys go to the list: then they mean a file, and else a hunk."""
        return self.focused is self.files

    @property
    def hunk(self) -> str | None:
        """The name of the hunk that is meant; None: the file as a whole."""
        place = self.view.hunk
        if self.is_in_files or place is None or self.file_diff is None:
            return None
        names = self.file_diff.hunks
        return names[place] if place < len(names) else None

    def rows_here(self) -> Sequence[DiffRow]:
        """The lines that are marked, that under the cursor, or the hunk whose heading it is on."""
        if rows := self.view.marked_rows:
            return rows
        if self.view.line is not None:
            return [self.view.line]
        place = self.view.hunk
        return trim_context(self.view.text.hunk_rows(place)) if place is not None else []

    @property
    def comment_here(self) -> Comment | None:
        """What was said of the line under the cursor, unless other lines are marked."""
        return None if self.view.marked else self._commented.get(self.view.at)

    @property
    def comments(self) -> list[Comment]:
        """What was said of the worktree's changes and is not sent yet; the list itself."""
        found = self.desk.drafts.of(WorktreeComments, self.worktree.id)
        if found.comments is None:
            found.comments = load_comments(self.desk.chat.drafts.of(self._draft_key).text)
        return found.comments

    def keep_comments(self) -> None:
        """Keep them over the end of the program, and mark them anew."""
        self.desk.chat.drafts.keep(self._draft_key, Draft(dump_comments(self.comments)))
        self.desk.chat.keep_draft()
        if self.is_attached:
            self.mark_comments()

    @property
    def _draft_key(self) -> str:
        return f"comments-{self.worktree.id}"

    def mark_comments(self) -> None:
        """Mark the rows that something was said of; what was said moves with its lines."""
        rows, found = self.view.text.rows, dict[int, Comment]()
        for n, comment in enumerate(self.comments):
            places = comment.find_in(rows) if comment.path == self.path else None
            if places is not None:
                self.comments[n] = comment = comment.move_to(rows, places)
                found |= dict.fromkeys(places, comment)
        self._commented = found
        self.view.mark(found.keys())
        self._entitle()

    async def look_for_lost(self) -> None:
        """Tell of comments whose lines are on no side of the changes any more."""
        unseen = [comment for comment in self.comments if comment not in self._commented.values()]
        found = await self._lost(unseen) if unseen else frozenset[Comment]()
        news, self.lost = found - self.lost, found
        if news:
            places = ", ".join(sorted(comment.location for comment in news))
            key = self.desk.key_of("diff_comments")
            self.desk.say(f"The lines of a comment are gone: {places}. It is kept; {key} shows it.")
        self._entitle()

    async def _lost(self, comments: Iterable[Comment]) -> frozenset[Comment]:
        """Those of the comments whose lines are on no side of the changes."""

        async def read_diff(path: str, side: str) -> str:
            diff = await self.desk.client.call(
                get_file_diff, worktree_id=self.worktree.id, path=path, side=cast("Side", side)
            )
            return diff.text

        return await find_lost(comments, SIDES, read_diff)

    # The bars -----------------------------------------------------------------------------------

    def _entitle(self) -> None:
        # Where only one pane has room, the name of the file that it shows is not in sight.
        alone = self.has_class("narrow") and not self.has_class("files-open")
        sides = (self.side,) if alone or plain.is_on() else SIDES
        left = title(self, sides, self.path if alone else "")
        self.query_one("#top", Line).show(left, counts(self))
        self.show_keys()

    def show_keys(self) -> None:
        """Name the keys that are of use now."""
        self.update_key_hints(FOOTER, first=own_keys(self), without=useless(self))

    def on_descendant_focus(self) -> None:
        """Other keys matter in another pane."""
        self.show_keys()

    # What people do -----------------------------------------------------------------------------

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        if action_id in ("diff_back", "open_diff"):
            self._back(at_once=action_id == "open_diff")
            return
        self.desk.run_once(action_id, self.worktree.id, self._actions[action_id](self))

    def _back(self, *, at_once: bool) -> None:
        """Escape unmarks, leads to the files where there is room for one pane, then away."""
        if self.view.marked and not at_once:
            self.view.let_go()
        elif self.has_class("narrow") and not self.is_in_files and not at_once:
            self.action_other_pane()
        else:
            self.dismiss(None)

    def action_look_at(self, side: Side) -> None:
        """Show another side."""
        if side != self.side:
            self._look_at(side)

    def _look_at(self, side: Side, *, seeks: bool = False) -> None:
        self.side, self._seeks = side, seeks
        self.load()
        self._entitle()

    def action_other_pane(self) -> None:
        """From the files to the difference and back."""
        self.set_class(not self.is_in_files, "files-open")
        (self.view if self.is_in_files else self.files).focus()
        self._entitle()

    @on(FileList.Chosen)
    def _file_chosen(self) -> None:
        self.remove_class("files-open")
        self.view.focus()
        self._entitle()

    @on(DiffView.Marked)
    def _marked(self, event: DiffView.Marked) -> None:
        event.stop()
        self._entitle()

    def change_layout(self) -> None:
        """Two columns, or one; it stays so until the screen is left."""
        self._chosen_split = not self.view.is_split
        self.view.set_split(self._chosen_split)

    def on_resize(self, event: events.Resize) -> None:
        """One pane at a time where there is little room, two columns where there is much."""
        width = event.size.width
        # For ears there is one thing at a time, too.
        self.set_class(width < WIDE or plain.is_on(), "narrow")
        self.set_class(width >= 180, "roomy")
        self._entitle()
        if self._chosen_split is None:
            self.view.set_split(width >= _SPLIT_WIDTH + 34 and not plain.is_on())
