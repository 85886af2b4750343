"""Open work: issues and pull requests of all projects, and the lists of one, to begin from.

The actions of its keys are in `tui.hosting.work_actions`.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line, make_visible
from tui.desk import Desk
from tui.hosting.work_list import WorkList
from tui.hosting.work_reader import WorkReader
from tui.hosting.work_source import TABS, Entry, Tab, WorkFilters, WorkRequest
from tui.keys.keymap import ACTIONS, BY_ID
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry as PaletteEntry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line, clickable
from tui.widgets.text_field import TextField
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

WorkActionFunction = Callable[["WorkScreen"], Coroutine[Any, Any, None]]

SEARCH_DELAY: Final = 0.5
"""Seconds without a key until the service is asked: it allows some thirty searches a minute."""
_NEAR_END: Final = 20
"""Rows before the end at which the next page is read."""
_WIDE: Final = 110
"""Columns from which the lists are named in full."""
_FOOTER: Final = (
    "work_start", "work_next_tab", "work_filter", "work_project", "work_read", "work_browse",
    "work_refresh",
)  # fmt: skip


class WorkFilterField(TextField):
    """The filter above the list, which keeps the keys that move the cursor there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.move(-1)", show=False),
        Binding("down", "screen.move(1)", show=False),
        Binding("pageup", "screen.move(-10)", show=False),
        Binding("pagedown", "screen.move(10)", show=False),
    ]


class WorkScreen(FullScreen):
    """The lists. Letters filter, space marks, enter goes to where an item is worked on."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("work")]
    LAST = ("work_back", "help")
    OPENED_BY = "open_work"
    AUTO_FOCUS = "#work"

    def __init__(
        self, desk: Desk, actions: Mapping[str, WorkActionFunction], project_id: str
    ) -> None:
        super().__init__(desk)
        self.tab: Tab = TABS[0]
        self.project_id = project_id
        """The project of all lists but the first; '' if there is none."""
        self.filters = WorkFilters()
        self._actions = actions
        self._reader = WorkReader(desk.client, self._show)
        self._debounce: Timer | None = None
        self._shown = 0
        """Items that match the filter."""

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """The names of the lists, the filter, what went wrong, and the list."""
        yield Line(id="sides")
        yield WorkFilterField(
            id="work-filter", placeholder="type to filter", select_on_focus=False, compact=True
        )
        yield Static("", id="notice", markup=False)
        yield WorkList(palette, lambda: self.desk.state)

    def palette_entries(self, query: str, style: Style) -> "Iterable[PaletteEntry]":
        """The command palette's entries on this screen."""
        actions = (*(a for a in ACTIONS if a.scope == "work"), BY_ID["help"], BY_ID["quit"])
        return action_entries(actions, self, query, style)

    def on_mount(self) -> None:
        """Read the first list."""
        self.load()

    @property
    def work_list(self) -> WorkList:
        """The rows."""
        return self.query_one(WorkList)

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.work_list.item

    @property
    def _field(self) -> WorkFilterField:
        return self.query_one(WorkFilterField)

    @property
    def query_text(self) -> str:
        """The filter."""
        return self._field.value

    # Reading ------------------------------------------------------------------------------------

    def load(self, *, search: str = "", refresh: bool = False) -> None:
        """Read the list from its beginning."""
        if self.tab.id != "all" and not self.project_id:
            self._reader.stop()
            self._say("Add a project first: its issues are listed here.")
            return
        wanted = WorkRequest(self.tab, self.project_id, search, self.filters)
        self._start(self._reader.read_first(wanted, refresh=refresh))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except SpinneyError as error:
                key = self.desk.key_of("work_refresh")
                self._say(f"{error.message} {key} tries again.", bad=True)

        self.run_worker(guarded(), group="read", exclusive=True, exit_on_error=False)
        self._show()

    def _show(self) -> None:
        """Show what was read, as far as it matches the filter."""
        if not self.is_attached:
            return
        reader = self._reader
        words = [
            word
            for word in self.query_text.casefold().split()
            if word not in reader.search.casefold().split()
        ]
        entries: Sequence[Entry] = reader.entries
        if words:
            text = self.work_list.search_text
            entries = [each for each in entries if all(word in text(each) for word in words)]
        self.work_list.show_entries(entries, with_projects=self.tab.id == "all")
        if not reader.failed:
            self._say("" if entries else self._describe_nothing())
        self._shown = sum(entry.item is not None for entry in entries)
        self._show_bars()

    def _describe_nothing(self) -> str:
        reader = self._reader
        if reader.is_reading:
            return f"Searching for '{reader.search}' …" if reader.search else "Loading …"
        if self.query_text:
            return f"Nothing matches '{self.query_text}'. Press backspace to change the filter."
        if self.tab.id == "all":
            return "No project with a remote at a hosting service has open issues or pull requests."
        return "There is nothing here."

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        reader = self._reader
        if self._debounce is not None:
            self._debounce.stop()
        words = self.query_text.casefold().split()
        if not set(reader.search.casefold().split()) <= set(words):
            self.load()  # what the service found is too little for this filter
        self._show()
        if words and self.tab.has_search:
            self._debounce = self.set_timer(SEARCH_DELAY, self._search)

    def _search(self) -> None:
        """Let the service search, if what was read may lack something."""
        query = self.query_text.strip()
        lacks = not self._reader.is_complete or not self.work_list.items
        if query and query != self._reader.search and lacks:
            self.load(search=query)

    @on(WorkList.Moved)
    def _moved(self) -> None:
        self._show_bars()
        reader = self._reader
        near = self.work_list.here >= len(self.work_list.items) - _NEAR_END
        # For a filter the service searches, which finds more than the next page.
        searches = self.tab.has_search and self.query_text.strip() != reader.search
        if near and not searches and not reader.is_complete and not reader.is_reading:
            self._start(self._reader.read_next())

    # Following the mirror ------------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Show where items are worked on; read again when a worktree came or went."""
        if change.loaded or change.projects:
            self.load()
        elif {id in change.state.worktrees for id in change.worktrees} != {
            id in change.before.worktrees for id in change.worktrees
        }:
            self.load(search=self._reader.search)
        elif change.worktrees or change.sessions:
            self.work_list.refresh()

    def recolor(self, palette: "Palette") -> None:
        """Redraw the list in other colors."""
        self.work_list.set_palette(palette)

    # Bars ---------------------------------------------------------------------------------------

    def _say(self, sentence: str, *, bad: bool = False) -> None:
        notice = self.query_one("#notice", Static)
        notice.update(make_visible(sentence))
        notice.set_class(bad, "problem")
        notice.display = bool(sentence)

    def _show_bars(self) -> None:
        left = [(f"{MARK} Open work", "bold $accent")]
        project = self.desk.state.projects.get(self.project_id)
        if self.tab.id == "all":
            left.append(("  all projects", "$text-muted"))
        elif project is not None:
            left.append((f"  {clean_line(project.name)}", "bold $foreground"))
        left.append((f"  {self.filters.describe(self.tab)}", "$text-muted"))
        right = Content.styled(self._count(), "$text-muted")
        self.query_one("#top", Line).show(Content.assemble(*left), right)
        self.query_one("#sides", Line).show(self._tabs())
        self.show_keys()

    def _count(self) -> str:
        """Return how much is listed and marked, and of how many projects nothing is known."""
        reader = self._reader
        unread = sum(entry.item is None for entry in reader.entries)
        total = f"{len(reader.entries) - unread}{'' if reader.is_complete else ' or more'}"
        return " · ".join(
            [
                *["reading …"] * bool(reader.is_reading and reader.entries),
                *[f"{len(self.work_list.marked)} marked"] * bool(self.work_list.marked),
                *[f"{count(unread, 'project')} not read"] * bool(unread),
                f"{self._shown} of {total}" if self.query_text else total,
            ]
        )

    def _tabs(self) -> Content:
        is_wide = self.size.width >= _WIDE
        parts = []
        for tab in TABS:
            name = tab.title if is_wide else tab.short
            is_here = tab is self.tab
            label = Content.styled(
                f"[{name}]" if is_here else f" {name} ",
                "bold $accent" if is_here else "$text-muted",
            )
            parts.append(clickable(label, f"screen.show_tab('{tab.id}')"))
        return Content.assemble(*parts)

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        entry = self.entry
        trees = entry.item.worktree_ids if entry is not None and entry.item is not None else ()
        label = "go there" if trees else "begin" if entry is not None and entry.item else ""
        first = [("enter", label)] * bool(label)
        first += [("space", "mark")] if self.work_list.has_focus else []
        without = {"work_project"} if self.tab.id == "all" else set()
        without |= {"work_filter"} if not (self.tab.has_state or self.tab.has_people) else set()
        without |= {"work_start", "work_read", "work_browse"} if not label else set()
        self.update_key_hints(_FOOTER, first=first, without=frozenset(without))

    def on_resize(self) -> None:
        """Fit the names of the lists."""
        self.call_after_refresh(self._show)

    def on_descendant_focus(self) -> None:
        """Show the keys of the field or of the list."""
        self.show_keys()

    # Keys ---------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Write a letter that was typed in the list into the filter."""
        if not self.work_list.has_focus:
            return
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            self._field.focus()
            self._field.cursor_position = len(self.query_text)
            self._field.insert_text_at_cursor(event.character)
        elif event.key == "backspace":
            event.stop()
            self._field.value = self.query_text[:-1]

    def action_move(self, by: int) -> None:
        """Go from the filter to the list."""
        self.work_list.focus()
        self.work_list.action_move(by)

    def action_show_tab(self, tab_id: str) -> None:
        """Show a list."""
        self._go_to(next(tab for tab in TABS if tab.id == tab_id))

    def _go_to(self, tab: Tab) -> None:
        if tab is not self.tab:
            self.tab = tab
            self._reader.clear()
            self.work_list.mark(set())
            self._field.value = ""
            self.load()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose()

    @on(WorkList.Chosen)
    def _choose(self) -> None:
        if self.entry is not None:
            self._run("work_open")

    def show_filters(self, filters: WorkFilters, project_id: str) -> None:
        """List with other filters, or those of another project."""
        if (filters, project_id) != (self.filters, self.project_id):
            self.filters, self.project_id = filters, project_id
            self._reader.clear()
            self.work_list.mark(set())
            self.load(search=self._reader.search)

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        match action_id:
            case "work_back":
                self._back()
            case "work_refresh":
                self.load(search=self._reader.search, refresh=True)
            case "work_next_tab" | "work_previous_tab":
                step = 1 if action_id == "work_next_tab" else -1
                self._go_to(TABS[(TABS.index(self.tab) + step) % len(TABS)])
            case _:
                self._run(action_id)

    def _back(self) -> None:
        """Clear the filter, else the marks, else close the screen."""
        if self.query_text:
            self._field.value = ""
            self.work_list.focus()
        elif not self.work_list.has_focus:
            self.work_list.focus()
        elif self.work_list.marked:
            self.work_list.mark(set())
            self._show()
        else:
            self.dismiss(None)

    def _run(self, action_id: str) -> None:
        self.desk.run_once(action_id, self, self._actions[action_id](self))
