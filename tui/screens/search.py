"""The search dialog for all messages: live results, newest first, more on scrolling."""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.draw.plain_markdown import strip_markdown
from tui.screens.dialog import Dialog
from tui.tree.filter import find_occurrences
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.search import SearchHit
    from model.state import State

DEBOUNCE: Final = 0.12
"""Seconds without a key until the search starts."""
PAGE: Final = 40
LIMIT: Final = 500
"""Most hits; a more specific query finds older ones."""

Find = Callable[[str, str | None, int], Awaitable["Sequence[SearchHit]"]]
"""Searches for a query in a project (`None` for all) and returns at most so many hits."""


class Search(Dialog["SearchHit"]):
    """Enter opens the message; tab switches between this project and all.

    Args:
        find: Searches messages.
        state: Returns the state with the names of worktrees and projects.
        project_id: The current project.
        query: The initial query.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "change_scope", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-5)", show=False, priority=True),
        Binding("pagedown", "move(5)", show=False, priority=True),
    ]

    def __init__(
        self, find: Find, state: "Callable[[], State]", project_id: str | None, query: str = ""
    ) -> None:
        super().__init__("Search")
        self._find = find
        self._state = state
        self._project_id = project_id
        self._in_project = False
        self._query = query
        self._debounce: Timer | None = None
        self._limit = PAGE
        self.hits: Sequence[SearchHit] = ()
        """The results, newest first."""

    def body(self) -> list[Widget]:
        """Query, results and keys."""
        self._note = Static("", markup=False, classes="note")
        self._list = OptionList(markup=False, compact=True, id="hits")
        self._list.can_focus = False
        self._keys = Static(classes="keys")
        field = TextField(
            self._query, placeholder="Search messages", select_on_focus=False, compact=True
        )
        return [field, self._note, self._list, self._keys]

    def on_mount(self) -> None:
        """Run the initial query, if any."""
        self.query_one(Input).cursor_position = len(self._query)
        self._show_status("")
        if self._query:
            self._search(PAGE)

    # Searching ----------------------------------------------------------------------------------

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == self._query:
            return
        self._query = event.value
        if self._debounce is not None:
            self._debounce.stop()
        self._debounce = self.set_timer(DEBOUNCE, lambda: self._search(PAGE))

    def action_change_scope(self) -> None:
        """Switch between this project and all."""
        if self._project_id is not None:
            self._in_project = not self._in_project
            self._search(PAGE)

    def _search(self, limit: int) -> None:
        """Start a search, replacing an earlier one."""
        self._limit = limit
        self._show_status("Searching …" if self._query.strip() else "")
        search = partial(self._run_search, limit)  # not started if another one follows at once
        self.run_worker(
            cast("WorkType[None]", search), exclusive=True, group="search", exit_on_error=False
        )

    async def _run_search(self, limit: int) -> None:
        query = self._query.strip()
        problem = ""
        hits: Sequence[SearchHit] = ()
        if query:
            try:
                project = self._project_id if self._in_project else None
                hits = await self._find(query, project, limit)
            except SpinneyError as error:
                problem = error.message
        at = self._list.highlighted or 0 if limit > PAGE else 0
        self.hits = hits
        self._list.clear_options()
        self._list.add_options([Option(self._row(hit)) for hit in hits])
        if hits:
            self._list.highlighted = min(at, len(hits) - 1)
        self._show_status(problem)

    # Display ------------------------------------------------------------------------------------

    def _show_status(self, status: str) -> None:
        state = self._state()
        project = state.projects.get(self._project_id or "")
        scope_name = "all projects" if not self._in_project or project is None else project.name
        if not status and self._query.strip():
            more = len(self.hits) >= self._limit
            status = f"{len(self.hits)}{' or more' if more else ''} found" if self.hits else ""
            status = status or "No messages match"
        self._note.update(f"{status or 'Search'} in {clean_line(scope_name)}")
        scope = "all projects" if self._in_project else "this project only"
        tab = (("tab", scope),) if project is not None else ()
        self._keys.update(keys_line(("↑ ↓", "move"), ("enter", "open"), *tab, ("esc", "close")))

    def _row(self, hit: "SearchHit") -> Content:
        state = self._state()
        worktree = state.worktrees.get(hit.session.worktree_id)
        project = state.projects.get(worktree.project_id) if worktree else None
        where = " · ".join(clean_line(item.name) for item in (project, worktree) if item)
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(hit.timestamp))
        who = "you" if hit.role == "user" else "agent"
        away = (
            " · archived" if hit.session.archived_at or (worktree and worktree.archived_at) else ""
        )
        return Content.assemble(
            (clean_line(hit.session.name) or "(no name)", "bold"),
            (f"  {where} · {who} · {day}{away}\n", "$text-muted"),
            self._snippet(strip_markdown(clean_line(hit.snippet))),
        )

    def _snippet(self, text: str) -> Content:
        content = Content(f"  {text}")
        for word in self._query.split():
            for first, last in find_occurrences(word, text):
                content = content.stylize("bold $accent", first + 2, last + 2)
        return content

    # Choosing -----------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        """Select another hit; request more at the last one."""
        if not self.hits:
            return
        at = min(max((self._list.highlighted or 0) + rows, 0), len(self.hits) - 1)
        self._list.highlighted = at
        if rows > 0 and at == len(self.hits) - 1 and self._limit <= len(self.hits) < LIMIT:
            self._search(min(self._limit + PAGE, LIMIT))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.hits:
            self.dismiss(self.hits[self._list.highlighted or 0])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.hits[event.option_index])
