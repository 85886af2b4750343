"""The lines below the tree: the filter, or details of the row under the cursor."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from model.base.amounts import format_number
from model.base.plural import count
from model.base.text import clean_line
from tui.store.places import Place, get_worktree
from tui.tree.rows import repeats_name

if TYPE_CHECKING:
    from model.domain.projects import Project
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.state import State

_PATH_AT = 1
"""The line with the directory, whose end says most."""
HEIGHT = 3
"""Lines; in a low terminal only the first one is shown."""


class PlaceDetail(Widget, can_focus=False):
    """Branch and base, directory, session and usage of a worktree; of a project its directory."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[str, ...] = ()
        self._filter: tuple[str, ...] = ()

    def show(self, lines: tuple[str, ...], filter_lines: tuple[str, ...]) -> None:
        """Show these lines; `filter_lines` replace them while the tree is filtered."""
        if (lines, filter_lines) != (self._lines, self._filter):
            self._lines, self._filter = lines, filter_lines
            self.refresh()

    @property
    def text(self) -> str:
        """What is shown."""
        return "\n".join(self._filter or self._lines)

    def render(self) -> Content:
        """Render the lines, cut at the width; of a directory the end is kept."""
        width = self.content_size.width
        if self._filter and self.content_size.height < len(self._filter):
            return Content.styled(self._filter[-1], "$accent").truncate(width, ellipsis=True)
        if self._filter:
            return Content.styled("\n".join(self._filter), "$accent")
        if not self._lines:
            return Content()
        from tui.draw.line_parts import truncate_start  # the first frame has no lines

        kept = dict(enumerate(self._lines))
        if _PATH_AT in kept:
            kept[_PATH_AT] = truncate_start(kept[_PATH_AT], width)
        lines = [str(Content(line).truncate(width, ellipsis=True)) for line in kept.values()]
        return Content.styled("\n".join(lines), "$text-muted")


def describe_place(place: Place | None, state: "State", home: str) -> tuple[str, ...]:
    """The details of a place; `home` is written as `~`. Empty if it does not exist."""
    if place is None:
        return ()
    worktree = get_worktree(place, state)
    if worktree is None:
        project = state.projects.get(place.id)
        if project is None:
            return ()
        number = len(state.worktrees_of(project.id))
        return (
            count(number, "worktree") + _describe_found(project),
            _shorten(project.path, home),
        )
    project = state.projects.get(worktree.project_id)
    base = worktree.base_branch or (project.default_branch if project is not None else "")
    return (
        _branch_line(worktree, base) + _describe_conflicts(state, worktree, base),
        _shorten(worktree.path, home),
        _session_line(place, worktree, state.sessions_of(worktree.id)),
    )


def _describe_found(project: "Project") -> str:
    """What follows the number of a project's worktrees; empty unless others were found."""
    return f" · {project.outside_worktrees} found, /adopt" if project.outside_worktrees else ""


def _branch_line(worktree: "Worktree", base: str) -> str:
    line = clean_line(worktree.branch)
    if worktree.session_type != "base" and base and base != worktree.branch:
        line += f" ← {clean_line(base)}"
    if worktree.cached_conflict_count:
        line += f" · {count(worktree.cached_conflict_count, 'conflict')}"
    return line


def _describe_conflicts(state: "State", worktree: "Worktree", base: str) -> str:
    """What merging the worktree now would be in conflict with."""
    others = [state.worktrees[key] for key in worktree.conflicts_with if key in state.worktrees]
    names = [clean_line(other.name) for other in others]
    names += [clean_line(base)] * worktree.conflicts_with_base
    return f" · would conflict with {', '.join(names)}" if names else ""


def _session_line(place: Place, worktree: "Worktree", sessions: "list[Session]") -> str:
    """The port, the name of the session or the number of those below the row, and their tokens."""
    if place.kind == "session":
        sessions = [session for session in sessions if session.id == place.id]
    parts = [f"port {worktree.port}"] if worktree.port is not None else []
    if len(sessions) != 1:
        parts.append(count(len(sessions), "session"))
    elif not repeats_name(sessions[0].name, worktree.name):
        parts.append(clean_line(sessions[0].name))
    if tokens := sum(session.usage.total for session in sessions):
        parts.append(f"{format_number(tokens)} tokens")
    return " · ".join(parts)


def _shorten(path: str, home: str) -> str:
    shown = clean_line(path)
    return f"~{shown.removeprefix(home)}" if home and shown.startswith(f"{home}/") else shown
