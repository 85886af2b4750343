"""The search in all that was said: quick as one types, newest first, as far back as one scrolls."""

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
from tui.draw.plain_markdown import words_of
from tui.screens.dialog import Dialog
from tui.tree.filter import occurrences
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.search import SearchHit
    from model.state import State

PAUSE: Final = 0.12
"""Seconds without a key until the search begins."""
PAGE: Final = 40
LIMIT: Final = 500
"""Hits at most; who looks for more finds it sooner with another word."""

Find = Callable[[str, str | None, int], Awaitable["Sequence[SearchHit]"]]
"""Searches: the words, the project (or `None` for all), how many at most."""


class Search(Dialog["SearchHit"]):
    """Type words, enter opens the message; tab searches this project alone or all of them.

    Args:
        find: Asks for messages.
        state: Where the names of worktrees and projects are read.
        project_id: The project that one is in.
        words: What is searched at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "change_scope", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-5)", show=False, priority=True),
        Binding("pagedown", "move(5)", show=False, priority=True),
    ]

    def __init__(
        self, find: Find, state: "Callable[[], State]", project_id: str | None, words: str = ""
    ) -> None:
        super().__init__("Search")
        self._find = find
        self._state = state
        self._project_id = project_id
        self._is_narrow = False
        self._words = words
        self._pause: Timer | None = None
        self._asked = PAGE
        self.hits: Sequence[SearchHit] = ()
        """What was found, newest first."""

    def body(self) -> list[Widget]:
        """Words, what was found, and keys."""
        self._note = Static("", markup=False, classes="note")
        self._list = OptionList(markup=False, compact=True, id="hits")
        self._list.can_focus = False
        self._keys = Static(classes="keys")
        words = TextField(
            self._words, placeholder="words that were said", select_on_focus=False, compact=True
        )
        return [words, self._note, self._list, self._keys]

    def on_mount(self) -> None:
        """Begin with what was searched before."""
        self.query_one(Input).cursor_position = len(self._words)
        self._tell("")
        if self._words:
            self._search(PAGE)

    # Asking -------------------------------------------------------------------------------------

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value == self._words:
            return
        self._words = event.value
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, lambda: self._search(PAGE))

    def action_change_scope(self) -> None:
        """This project alone, or all."""
        if self._project_id is not None:
            self._is_narrow = not self._is_narrow
            self._search(PAGE)

    def _search(self, limit: int) -> None:
        """Ask; what was asked before is given up."""
        self._asked = limit
        self._tell("Searching …" if self._words.strip() else "")
        answered = partial(self._answered, limit)  # is never begun where another follows at once
        self.run_worker(
            cast("WorkType[None]", answered), exclusive=True, group="search", exit_on_error=False
        )

    async def _answered(self, limit: int) -> None:
        words = self._words.strip()
        problem = ""
        hits: Sequence[SearchHit] = ()
        if words:
            try:
                project = self._project_id if self._is_narrow else None
                hits = await self._find(words, project, limit)
            except SpinneyError as error:
                problem = error.message
        at = self._list.highlighted or 0 if limit > PAGE else 0
        self.hits = hits
        self._list.clear_options()
        self._list.add_options([Option(self._row(hit)) for hit in hits])
        if hits:
            self._list.highlighted = min(at, len(hits) - 1)
        self._tell(problem)

    # Showing ------------------------------------------------------------------------------------

    def _tell(self, words: str) -> None:
        state = self._state()
        project = state.projects.get(self._project_id or "")
        everywhere = "all projects" if not self._is_narrow or project is None else project.name
        if not words and self._words.strip():
            more = len(self.hits) >= self._asked
            words = f"{len(self.hits)}{' or more' if more else ''} found" if self.hits else ""
            words = words or "No messages match"
        self._note.update(f"{words or 'Search'} in {clean_line(everywhere)}")
        scope = "all projects" if self._is_narrow else "this project only"
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
            self._snippet(words_of(clean_line(hit.snippet))),
        )

    def _snippet(self, text: str) -> Content:
        content = Content(f"  {text}")
        for word in self._words.split():
            for first, last in occurrences(word, text):
                content = content.stylize("bold $accent", first + 2, last + 2)
        return content

    # Choosing -----------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        """Mark another hit; near the last one, more are asked for."""
        if not self.hits:
            return
        at = min(max((self._list.highlighted or 0) + rows, 0), len(self.hits) - 1)
        self._list.highlighted = at
        if rows > 0 and at == len(self.hits) - 1 and self._asked <= len(self.hits) < LIMIT:
            self._search(min(self._asked + PAGE, LIMIT))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.hits:
            self.dismiss(self.hits[self._list.highlighted or 0])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.hits[event.option_index])
