"""The title line of the chat: the sessions of the worktree, the open one in bold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line
from tui.draw.status_icons import Mark, mark_of
from tui.widgets.line import Line, clickable

if TYPE_CHECKING:
    from model.domain.resources import Session

ROLE_COLORS = {
    Mark.IDLE: "$text-muted",
    Mark.CREATING: "$text-muted",
    Mark.RUNNING: "$accent",
    Mark.UNREAD: "$info",
    Mark.FAILED: "$error",
    Mark.NEEDS_YOU: "bold $warning",
}
LONGEST = 28


class SessionTabs(Line):
    """One word for each session; a click opens it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sessions: Sequence[Session] = ()
        self._opened: str | None = None

    def follow(self, sessions: "Sequence[Session]", opened: str | None) -> None:
        """Show these, the open one in sight."""
        self._sessions, self._opened = sessions, opened
        self.on_resize()

    def on_resize(self) -> None:
        """Show those that fit."""
        sessions, opened = self._sessions, self._opened
        position = next((n for n, s in enumerate(sessions) if s.id == opened), 0)
        # The open one stands first if what comes before it would push it out of sight.
        fitting = max(1, self.content_size.width // (LONGEST + 5))
        first = 0 if position < fitting else position
        parts: list[Content | str | tuple[str, str]] = []
        if first:
            parts.append((f"‹ {first}  ", "$text-muted"))
        shown = sessions[first:]
        longest = self._longest(shown)
        for session in shown:
            is_open = session.id == opened
            parts += [_tab(session, is_open, longest if is_open else LONGEST), "   "]
        self.show(Content.assemble(*parts))

    def _longest(self, shown: "Sequence[Session]") -> int:
        """Cells for the name of the open one: all that the others leave."""
        others = (
            _name(session, LONGEST).cell_length + 5
            for session in shown
            if session.id != self._opened
        )
        return max(LONGEST, self.content_size.width - sum(others) - 5)


def _tab(session: "Session", is_open: bool, longest: int) -> Content:
    mark = mark_of(session)
    tab = Content.assemble(
        (f"{mark.sign} ", ROLE_COLORS[mark]),
        _name(session, longest).stylize("bold" if is_open else "$text-muted"),
    )
    return clickable(tab, f"screen.open_session({session.id!r})")


def _name(session: "Session", longest: int) -> Content:
    return Content(clean_line(session.name) or "(no name)").truncate(longest, ellipsis=True)
