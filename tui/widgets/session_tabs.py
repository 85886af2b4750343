"""The tab bar of the chat: the sessions of the worktree, the open one with a bar and in bold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line
from tui.draw.status_icons import StatusIcon, session_icon
from tui.widgets.line import Line, clickable

if TYPE_CHECKING:
    from textual.strip import Strip

    from model.domain.sessions import Session
    from tui.draw.motion import Motion

ROLE_COLORS = {
    StatusIcon.IDLE: "$text-muted",
    StatusIcon.CREATING: "$text-muted",
    StatusIcon.RUNNING: "$accent",
    StatusIcon.PAUSED: "$text-muted",
    StatusIcon.UNREAD: "$info",
    StatusIcon.FAILED: "$error",
    StatusIcon.NEEDS_YOU: "bold $warning",
}
MAX_NAME_WIDTH = 28
OPEN_MARK = "▌"


class SessionTabs(Line):
    """One tab per session; a click opens it."""

    def __init__(self, *, moves: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self.moves = moves
        """Whether the spinners of what runs turn."""
        self._sessions: Sequence[Session] = ()
        self._open_id: str | None = None
        self._motion: Motion | None = None

    def follow(self, sessions: "Sequence[Session]", open_id: str | None) -> None:
        """Show the tabs of these sessions; the open one is always visible."""
        self._sessions, self._open_id = sessions, open_id
        self.on_resize()
        self.wake()

    def wake(self) -> None:
        """Turn the spinners, if something runs."""
        if not self.moves or not self._running_count:
            return
        if self._motion is None:
            from tui.draw.motion import Motion  # not before the first frame

            self._motion = Motion(self, self._turn, lambda: None, moves=True)
        self._motion.wake()

    def _turn(self) -> int:
        """Draw the spinners again, unless a dialog is in front; how many there are."""
        running = self._running_count if self.app.screen is self.screen else 0
        if running:
            self.refresh()
        return running

    @property
    def _running_count(self) -> int:
        """How many of several sessions run: a single one has no tab."""
        icons = [session_icon(session) for session in self._sessions]
        return icons.count(StatusIcon.RUNNING) if len(icons) > 1 else 0

    def render_line(self, y: int) -> "Strip":
        """Draw the tabs, with the spinners where they are now."""
        line = super().render_line(y)
        return self._motion.draw(line) if self._motion is not None else line

    def on_resize(self) -> None:
        """Show the tabs that fit."""
        sessions, open_id = self._sessions, self._open_id
        position = next((n for n, s in enumerate(sessions) if s.id == open_id), 0)
        # The open one comes first if the tabs before it would push it out of view.
        fitting = max(1, self.content_size.width // (MAX_NAME_WIDTH + 5))
        first = 0 if position < fitting else position
        parts: list[Content | str | tuple[str, str]] = []
        if first:
            parts.append((f"‹ {first}  ", "$text-muted"))
        shown = sessions[first:]
        name_width = self._name_width(shown)
        for session in shown:
            is_open = session.id == open_id
            parts.append((OPEN_MARK, "$accent") if is_open else " ")
            parts += [_tab(session, is_open, name_width if is_open else MAX_NAME_WIDTH), "  "]
        self.show(Content.assemble(*parts))

    def _name_width(self, shown: "Sequence[Session]") -> int:
        """The width of the open session's name: everything that the others leave free."""
        others = (
            _name(session, MAX_NAME_WIDTH).cell_length + 5
            for session in shown
            if session.id != self._open_id
        )
        return max(MAX_NAME_WIDTH, self.content_size.width - sum(others) - 5)


def _tab(session: "Session", is_open: bool, name_width: int) -> Content:
    mark = session_icon(session)
    tab = Content.assemble(
        (f"{mark.symbol} ", ROLE_COLORS[mark]),
        _name(session, name_width).stylize("bold" if is_open else "$text-muted"),
    )
    return clickable(tab, f"screen.open_session({session.id!r})")


def _name(session: "Session", name_width: int) -> Content:
    return Content(clean_line(session.name) or "(no name)").truncate(name_width, ellipsis=True)
