"""The landing desk: the worktrees of a project, and what is next for each until it is merged."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from model.api.landing import get_landing_desk, get_train
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.landing import LandingUpdated, TrainUpdated
from tui.desk import Desk
from tui.keys.keymap import ACTIONS, BY_ID
from tui.landing.about_row import describe_row
from tui.landing.desk_list import DeskList
from tui.landing.train_words import describe_train
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.domain.landing import LandingDesk, LandingRow, Train
    from model.domain.projects import Project
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

LandingActionFunction = Callable[["LandingScreen"], Coroutine[Any, Any, None]]

FOOTER: Final = (
    "landing_land", "landing_diff", "landing_check", "landing_send", "landing_train",
    "landing_undo", "landing_pull_request", "landing_sweep",
)  # fmt: skip
"""The actions in the footer, the most useful first."""
_DEBOUNCE: Final = 0.3
"""Seconds in which changes of sessions and worktrees are combined."""


class LandingScreen(FullScreen):
    """The worktrees of one project; enter does what is next for the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("landing")]
    LAST = ("landing_back", "help")
    OPENED_BY = "show_landing"
    AUTO_FOCUS = "#desk"

    def __init__(
        self, desk: Desk, project: "Project", actions: Mapping[str, LandingActionFunction]
    ) -> None:
        super().__init__(desk)
        self.project = project
        self._actions = actions
        """The actions by their ids in the key map."""
        self.known: LandingDesk | None = None
        """What was read last."""
        self.train: Train | None = None
        """The project's newest train."""
        self._problem = ""
        """Why the desk could not be read."""
        self._is_stale = False
        self._is_reading = False
        self._will_load = False
        """Whether a timer is about to read it again."""

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """A line about all, the columns' heads, the rows, and what is known of one."""
        yield Line(id="sides")
        yield Line(id="desk-heads")
        yield DeskList(palette)
        yield Static(id="desk-about", markup=False)

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (*(a for a in ACTIONS if a.scope == "landing"), BY_ID["help"], BY_ID["quit"])
        return action_entries(actions, self, query, style)

    def on_mount(self) -> None:
        """Read the desk."""
        self._show()
        self.load()

    @property
    def rows(self) -> DeskList:
        """The list."""
        return self.query_one(DeskList)

    @property
    def row(self) -> "LandingRow | None":
        """The worktree under the cursor."""
        return self.rows.item

    @property
    def chosen(self) -> "list[LandingRow]":
        """The marked worktrees, or else the one under the cursor."""
        return self.rows.chosen

    @property
    def names(self) -> dict[str, str]:
        """The names of the project's worktrees by their ids."""
        trees = self.desk.state.worktrees.values()
        return {tree.id: tree.name for tree in trees if tree.project_id == self.project.id}

    # Following and reading ----------------------------------------------------------------------

    def recolor(self, palette: "Palette") -> None:
        """Redraw the list in other colors."""
        self.rows.set_palette(palette)

    def follow(self, change: "Change") -> None:
        """Read again what has changed; close if the project was removed."""
        if (project := change.state.projects.get(self.project.id)) is None:
            self.dismiss(None)
            self.desk.say("The project was removed.")
            return
        self.project = project
        for event in change.events:
            if isinstance(event, TrainUpdated) and event.project_id == project.id:
                self.train = event.train
                self._show()
        if change.loaded or any(map(self._concerns, change.events)):
            self.load()
        elif self._touches(change) and not self._will_load:
            self._will_load = True
            self.set_timer(_DEBOUNCE, self.load)

    def _concerns(self, event: Event) -> bool:
        return isinstance(event, LandingUpdated) and event.project_id == self.project.id

    def _touches(self, change: "Change") -> bool:
        """Whether a worktree of the project changed, or the status of a session in one."""
        changed = set(change.worktrees)
        for key in change.sessions:
            before, now = change.before.sessions.get(key), change.state.sessions.get(key)
            # While it works, a session changes several times a second.
            if before is None or now is None or before.status != now.status:
                changed |= {one.worktree_id for one in (before, now) if one is not None}
        trees = {**change.before.worktrees, **change.state.worktrees}
        found = (trees.get(worktree_id) for worktree_id in changed)
        return any(tree is not None and tree.project_id == self.project.id for tree in found)

    def load(self) -> None:
        """Read the desk again."""
        self._is_stale, self._will_load = True, False
        if not self._is_reading and self.is_attached:
            self._is_reading = True
            self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        call, project_id = self.desk.client.call, self.project.id
        try:
            while self._is_stale:
                self._is_stale = False
                self.known = await call(get_landing_desk, project_id=project_id)
                self.train = await call(get_train, project_id=project_id)
                self._problem = ""
        except SpinneyError as error:
            self._problem = error.message
        finally:
            self._is_reading = False
        if self._is_open:
            self._show()

    # Showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        rows = self.known.rows if self.known is not None else []
        self.rows.show_rows(rows, self.names)
        self.rows.show_empty(self._empty())
        self._show_bars()
        self._show_about()

    def _empty(self) -> str:
        if self._problem:
            key = self.desk.key_of("landing_refresh")
            return f"{self._problem} {key} reads it again."
        if self.known is None:
            return "Loading …"
        name, new = clean_line(self.project.name), self.desk.key_of("new_worktree")
        return (
            f"No worktree of {name} has anything to land. A worktree appears here with its first "
            f"change. esc goes back; there {new} creates a worktree."
        )

    def _show_bars(self) -> None:
        marked = f"{len(self.rows.marked)} marked" if self.rows.marked else ""
        title = Content.assemble(
            (f"{MARK} ", "bold $accent"),
            (clean_line(self.project.name), "bold $foreground"),
            ("  landing", "$text-muted"),
        )
        self.query_one("#top", Line).show(title, Content.styled(marked, "$accent"))
        self.query_one("#sides", Line).show(*self._about_all())
        self.query_one("#desk-heads", Line).show(self.rows.heads)
        self.show_keys()

    def _about_all(self) -> tuple[Content, Content]:
        """How many worktrees there are at each step, and where the train is."""
        # A train that has landed may have been taken back since.
        has_train = self.train is not None and self.train.status != "landed"
        train = Content(describe_train(self.train) if self.train and has_train else "")
        if self._problem and self.rows.items:
            return Content.styled(self._problem, "$error"), train
        steps = Counter(row.next for row in self.rows.items)
        parts = [f"{step} {number}" for step, number in steps.items()]
        total = f"{count(len(self.rows.items), 'worktree')}: " if parts else ""
        return Content.styled(total + " · ".join(parts), "$text-muted"), train

    def _show_about(self) -> None:
        about = describe_row(self.row, self.names) if self.row is not None else Content("")
        self.query_one("#desk-about", Static).update(about)

    @on(DeskList.Moved)
    def _moved(self) -> None:
        self._show_bars()
        self._show_about()

    def on_resize(self) -> None:
        """Show the columns' heads as wide as the columns."""
        self.call_after_refresh(self._show_bars)

    @on(DeskList.Chosen)
    def _chosen(self) -> None:
        self.do("landing_next")

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        if self.known is None or self.row is None:
            self.update_key_hints(("landing_undo", "landing_sweep"), without=self._useless())
            return
        chosen = self.chosen
        label = self.row.next if len(chosen) == 1 else f"next for {len(chosen)}"
        own = (("enter", label), ("space", "mark"))
        self.update_key_hints(FOOTER, first=own, without=self._useless())

    def _useless(self) -> frozenset[str]:
        useless: set[str] = set()
        if self.known is None or self.known.can_undo is None:
            useless.add("landing_undo")
        row = self.row
        if row is None:
            return frozenset(useless | set(FOOTER) - {"landing_undo", "landing_sweep"})
        if not row.check.has_script:
            useless.add("landing_check")
        if row.next not in ("resolve", "fix"):
            useless.add("landing_send")
        return frozenset(useless)

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        match action_id:
            case "landing_back":
                self._back()
            case "landing_refresh":
                self.load()
            case _:
                self.desk.run_once(action_id, self.project.id, self._actions[action_id](self))

    def _back(self) -> None:
        """Clear the marks, else close the screen."""
        if self.rows.marked:
            self.rows.mark(set())
        else:
            self.dismiss(None)
