"""The log: the commits of a worktree's branch, to read, amend and fix up."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import events, on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from model.api.history import Commit, list_commit_files, list_commits
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import GitStatusUpdated
from tui.desk import Desk
from tui.diff.commit_list import CommitList
from tui.diff.commit_preview import CommitPreview
from tui.diff.commit_screen import CommitDiff
from tui.diff.follow_worktree import follow_worktree
from tui.keys.keymap import ACTIONS, BY_ID
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.terminal import screen_reader
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from textual.worker import WorkType

    from model.domain.worktrees import Worktree
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

    LogActionFunction = Callable[["Log"], Coroutine[Any, Any, None]]

_PAGE: Final = 100
_SETTLED: Final = 0.05
"""Seconds without another move after which the files of a commit are read."""
_WITH_PREVIEW: Final = 150
"""Columns from which the commit under the cursor is shown beside the list."""
_FOOTER: Final = ("log_amend", "log_fixup", "log_push", "log_message", "log_copy")


class Log(FullScreen):
    """The commits, newest first; enter shows the changes of one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("log")]
    LAST = ("log_back", "help")
    AUTO_FOCUS = "#commits"

    def __init__(
        self, desk: Desk, worktree: "Worktree", actions: "Mapping[str, LogActionFunction]"
    ) -> None:
        super().__init__(desk)
        self.worktree = worktree
        self._actions = actions
        self._is_complete = False
        """Whether the oldest commit is in the list."""
        self._is_reading = False
        self._is_stale = False
        """Whether something changed while commits were read."""

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """A line about the branch, the commits, and what is known of one."""
        yield Line(id="sides")
        yield Container(CommitList(palette), CommitPreview(), id="log-body")

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (*(a for a in ACTIONS if a.scope == "log"), BY_ID["help"], BY_ID["quit"])
        return action_entries(actions, self, query, style)

    def on_mount(self) -> None:
        """Load the newest commits."""
        self._show_bars("Loading …")
        self.load()

    @property
    def commits(self) -> CommitList:
        """The list."""
        return self.query_one(CommitList)

    @property
    def commit(self) -> Commit | None:
        """The commit under the cursor."""
        return self.commits.item

    def recolor(self, palette: "Palette") -> None:
        """Redraw the list in other colors."""
        self.commits.set_palette(palette)

    def follow(self, change: "Change") -> None:
        """Reload when git's status changed; close if the worktree is gone."""
        worktree = follow_worktree(self, self.worktree, change)
        if worktree is None:
            return
        self.worktree = worktree
        if change.loaded or any(map(self._concerns, change.events)):
            self.load()

    def _concerns(self, event: Event) -> bool:
        match event:
            case GitStatusUpdated() | TaskCompleted():
                return event.worktree_id == self.worktree.id
        return False

    # Reading ------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the commits that are in the list again."""
        self._is_stale = True
        self._start_reading()

    def _start_reading(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        """Read all commits of the list again if something changed, else the page after them."""
        try:
            while self._is_stale:
                self._is_stale = False
                await self._read_pages([], len(self.commits.items))
            if self._is_near_end and not self._is_complete:
                known = self.commits.items
                await self._read_pages(known, len(known) + 1)
            self._show_bars(self._about())
        except SpinneyError as error:
            self._show_bars(error.message)
        finally:
            self._is_reading = False

    async def _read_pages(self, known: Sequence[Commit], wanted: int) -> None:
        """Read the commits after these, page by page, until there are as many as wanted."""
        commits, is_complete = [*known], False
        while not is_complete and (len(commits) < wanted or not commits):
            page = await self.desk.client.call(
                list_commits, worktree_id=self.worktree.id, limit=_PAGE, offset=len(commits)
            )
            commits += page
            is_complete = len(page) < _PAGE
        self._is_complete = is_complete
        self.commits.show(commits)

    def _about(self) -> str:
        if not self.commits.items:
            return "There are no commits yet."
        own = [commit for commit in self.commits.items if not commit.is_in_base]
        unpushed = sum(not commit.is_pushed for commit in own)
        base = clean_line(self.worktree.base_branch or self._default_branch).removeprefix("origin/")
        if not own:
            return f"No commits beyond {base} yet. Below are those of {base}."
        rest = f", {unpushed} of them not pushed" if unpushed else ", all pushed"
        at_least = "" if self._is_complete or len(own) < len(self.commits.items) else "at least "
        return f"{at_least}{count(len(own), 'commit')} since {base}{rest}"

    @property
    def _default_branch(self) -> str:
        project = self.desk.state.projects.get(self.worktree.project_id)
        return project.default_branch if project is not None else ""

    @on(CommitList.Moved)
    def _moved(self) -> None:
        self.show_keys()
        self._show_preview()
        if self._is_near_end and not self._is_complete:
            self._start_reading()

    def on_resize(self, event: events.Resize) -> None:
        """Show the commit beside the list where there is room."""
        # A screen reader reads whole rows, so there nothing is beside the list.
        has_room = event.size.width >= _WITH_PREVIEW and not screen_reader.is_enabled()
        self.set_class(has_room, "with-preview")
        self._show_preview()

    def _show_preview(self) -> None:
        if self.has_class("with-preview"):
            self.query_one(CommitPreview).show(self.commit)
            # A function, because a coroutine that is canceled before it began is reported.
            read = cast("WorkType[None]", self._read_preview)
            self.run_worker(read, group="preview", exclusive=True)

    async def _read_preview(self) -> None:
        if (commit := self.commit) is None:
            return
        await asyncio.sleep(_SETTLED)
        with suppress(SpinneyError):  # what is wrong is said where the commit is opened
            files = await self.desk.client.call(
                list_commit_files, worktree_id=self.worktree.id, sha=commit.sha
            )
            self.query_one(CommitPreview).show(commit, files)

    @property
    def _is_near_end(self) -> bool:
        return self.commits.here >= len(self.commits.items) - 20

    @on(CommitList.Chosen)
    def _open(self) -> None:
        if self.commit is not None:
            self.desk.show(CommitDiff(self.desk, self.worktree, self.commit))

    # Bars and actions ---------------------------------------------------------------------------

    def _show_bars(self, about: str) -> None:
        title = Content.assemble(
            (f"{MARK} ", "bold $accent"),
            (clean_line(self.worktree.name), "bold $foreground"),
            ("  commits", "$text-muted"),
        )
        self.query_one("#top", Line).show(title)
        self.query_one("#sides", Line).show(Content.styled(about, "$text-muted"))
        self.show_keys()

    def show_keys(self) -> None:
        """Show the keys."""
        if self.commit is None:
            self.update_key_hints(())
            return
        is_fixed = self.commit.is_pushed or self.commit.is_in_base
        is_pushed = self.worktree.cached_unpushed_count == 0
        without = frozenset(["log_fixup"] * is_fixed + ["log_push"] * is_pushed)
        self.update_key_hints(_FOOTER, first=[("enter", "show")], without=without)

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        if action_id == "log_back":
            self.dismiss(None)
        else:
            self.desk.run_once(action_id, self.worktree.id, self._actions[action_id](self))
