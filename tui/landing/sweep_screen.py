"""The sweep: all worktrees with what they take on disk, to archive or delete many at once."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from model.api.landing import list_sweep
from model.base.amounts import format_size
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.keys.keymap import ACTIONS, BY_ID
from tui.landing.sweep_list import SweepList, loses_anything, total_size
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.domain.landing import Sweep, SweepRow, Swept
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

SweepActionFunction = Callable[["SweepScreen"], Coroutine[Any, Any, None]]

_PAGE_SIZE: Final = 25
"""Worktrees that are read at a time."""
FOOTER: Final = ("sweep_archive", "sweep_delete", "sweep_mark_safe", "sweep_scope")


class SweepScreen(FullScreen):
    """The worktrees of a project or of all; space marks, and the keys act on those marked."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sweep")]
    LAST = ("sweep_back", "help")
    AUTO_FOCUS = "#sweep"

    def __init__(
        self, desk: Desk, project_id: str | None, actions: Mapping[str, SweepActionFunction]
    ) -> None:
        super().__init__(desk)
        self.project_id = project_id
        """The project whose worktrees are shown; `None` for all."""
        self._own_project_id = project_id
        self._actions = actions
        """The actions by their ids in the key map."""
        self.known: Sweep | None = None
        """What was read last."""
        self._problem = ""

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """A line about all, the columns' heads and the rows."""
        yield Line(id="sides")
        yield Line(id="desk-heads")
        yield SweepList(palette)

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        actions = (*(a for a in ACTIONS if a.scope == "sweep"), BY_ID["help"], BY_ID["quit"])
        return action_entries(actions, self, query, style)

    def on_mount(self) -> None:
        """Read the worktrees, then their sizes, which takes longer."""
        self._show()
        self.load()

    @property
    def rows(self) -> SweepList:
        """The list."""
        return self.query_one(SweepList)

    @property
    def chosen(self) -> "list[SweepRow]":
        """The marked worktrees, or else the one under the cursor."""
        return self.rows.chosen

    def recolor(self, palette: "Palette") -> None:
        """Redraw the list in other colors."""
        self.rows.set_palette(palette)

    def follow(self, change: "Change") -> None:
        """Read again when worktrees come or go."""
        if change.loaded or change.before.worktrees.keys() != change.state.worktrees.keys():
            self.load()

    # Reading ------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read all again."""
        # A function, because a coroutine that is canceled before it began is reported.
        read = cast("WorkType[None]", self._read)
        self.run_worker(read, group="sweep", exclusive=True, exit_on_error=False)

    async def _read(self) -> None:
        try:
            for with_sizes in (False, True):
                read: set[str] = set()
                is_last = False
                while self._is_open and not is_last:
                    page = await self.desk.client.call(
                        list_sweep,
                        project_id=self.project_id,
                        with_sizes=with_sizes,
                        limit=_PAGE_SIZE,
                        offset=len(read),
                    )
                    read |= {row.worktree_id for row in page.rows}
                    is_last = not page.rows or len(read) >= page.total
                    self._add(page, read if is_last else None)
        except SpinneyError as error:
            self._problem = error.message
            self._show()

    def _add(self, page: "Sweep", all_ids: "set[str] | None") -> None:
        """Show a page, too; after the last one only the worktrees that there are."""
        before = self.known.rows if self.known is not None else []
        known = {row.worktree_id: row for row in before}
        for row in page.rows:
            old = known.get(row.worktree_id)
            size = row.size if row.size is not None or old is None else old.size
            known[row.worktree_id] = row.model_copy(update={"size": size})
        rows = [row for key, row in known.items() if all_ids is None or key in all_ids]
        rows.sort(key=lambda row: (loses_anything(row), -(row.size or 0), row.name))
        self.known = page.model_copy(update={"rows": rows})
        self._problem = ""
        self._show()

    async def read_losses(self) -> None:
        """Read what deleting each chosen worktree would lose now; a question states it. Raises
        `SpinneyError`.
        """
        if self.known is None:
            return
        chosen = {row.worktree_id for row in self.chosen}
        now = await self.desk.client.call(list_sweep, with_sizes=False, worktree_ids=sorted(chosen))
        fresh = {row.worktree_id: row for row in now.rows}
        rows = [
            fresh[row.worktree_id].model_copy(update={"size": row.size})
            if row.worktree_id in fresh
            else row
            for row in self.known.rows
            if row.worktree_id in fresh or row.worktree_id not in chosen
        ]
        self.known = self.known.model_copy(update={"rows": rows})
        self._show()

    def show_results(self, swept: "Sequence[Swept]") -> None:
        """Show what became of worktrees; those that are left keep their marks."""
        done = {one.worktree_id for one in swept if one.ok}
        messages = {one.worktree_id: (one.ok, clean_line(one.message)) for one in swept}
        self.rows.results = {**self.rows.results, **messages}
        self.rows.mark({key for key in self.rows.marked if key not in done})
        self.load()

    # Showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        rows = self.known.rows if self.known is not None else []
        projects = self.desk.state.projects
        ids = {row.project_id for row in rows}
        names = {key: clean_line(projects[key].name) if key in projects else "" for key in ids}
        self.rows.projects = names if len(ids) > 1 else {}
        self.rows.show(rows)
        self.rows.refresh()
        self.rows.show_empty(self._empty())
        self._show_bars()

    def _empty(self) -> str:
        if self._problem:
            return f"{self._problem} {self.desk.key_of('sweep_refresh')} reads it again."
        return "Loading …" if self.known is None else "There are no worktrees."

    def _show_bars(self) -> None:
        project = self.desk.state.projects.get(self.project_id or "")
        scope = clean_line(project.name) if project is not None else "all projects"
        title = Content.assemble(
            (f"{MARK} ", "bold $accent"), (scope, "bold $foreground"), ("  sweep", "$text-muted")
        )
        marked = ""
        if self.rows.marked:
            size = format_size(total_size(self.chosen))
            marked = f"{len(self.rows.marked)} marked, {size}"
        self.query_one("#top", Line).show(title, Content.styled(marked, "$accent"))
        self.query_one("#sides", Line).show(self._about_all())
        self.query_one("#desk-heads", Line).show(self.rows.heads)
        self.show_keys()

    def _about_all(self) -> Content:
        if self._problem and self.rows.items:
            return Content.styled(self._problem, "$error")
        if self.known is None or not self.known.rows:
            return Content("")
        rows = self.known.rows
        safe = [row for row in rows if not loses_anything(row)]
        parts = [f"{count(len(rows), 'worktree')}, {format_size(total_size(rows))}"]
        if any(row.size is None for row in rows):
            parts[0] += " …"
        if safe:
            parts.append(f"without a loss {len(safe)}, {format_size(total_size(safe))}")
        else:
            parts.append("each has something to lose")
        if self.known.free_bytes is not None:
            parts.append(f"{format_size(self.known.free_bytes)} free")
        return Content.styled(" · ".join(parts), "$text-muted")

    @on(SweepList.Moved)
    def _moved(self) -> None:
        self._show_bars()

    def on_resize(self) -> None:
        """Show the columns' heads as wide as the columns."""
        self.call_after_refresh(self._show_bars)

    @on(SweepList.Chosen)
    def _chosen(self) -> None:
        self.desk.say(
            f"{self.desk.key_of('sweep_archive')} archives, {self.desk.key_of('sweep_delete')} "
            "deletes, after a question."
        )

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        without = frozenset() if self._own_project_id is not None else frozenset({"sweep_scope"})
        if not self.rows.items:
            self.update_key_hints(("sweep_scope",), without=without)
            return
        self.update_key_hints(FOOTER, first=[("space", "mark")], without=without)

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        match action_id:
            case "sweep_back":
                self._back()
            case "sweep_refresh":
                self.load()
            case "sweep_mark_safe":
                safe = (row for row in self.rows.items if not loses_anything(row))
                self.rows.mark({row.worktree_id for row in safe})
            case "sweep_scope":
                self._change_scope()
            case _:
                self.desk.run_once(action_id, "sweep", self._actions[action_id](self))

    def _change_scope(self) -> None:
        if self._own_project_id is None:
            return
        self.project_id = None if self.project_id is not None else self._own_project_id
        self.known = None
        self._show()
        self.load()

    def _back(self) -> None:
        """Clear the marks, else close the screen."""
        if self.rows.marked:
            self.rows.mark(set())
        else:
            self.dismiss(None)
