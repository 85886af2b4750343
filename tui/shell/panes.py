"""The main screen's panes: how wide the tree is, what is hidden, and what the side pane shows."""

from typing import TYPE_CHECKING, cast

from textual import events
from textual.widgets import Static

from tui.shell.connected_screen import ConnectedScreen
from tui.shell.startup import Startup
from tui.store.places import SIDE_CONTENTS, SideContent
from tui.terminal.capabilities import WIDE, size_problem

if TYPE_CHECKING:
    from tui.desk import Desk
    from tui.side.pane import SidePane

MIN_TREE, MIN_CHAT = 24, 50
"""Cells that the tree and the conversation keep when the edge between them is moved."""
MIN_SIDE, ROOMY = 150, 180
"""Columns from which on the side pane may be shown, and is shown unless it was hidden."""
LOW = 30
"""Rows below which the tree has one line of details."""


class Panes(ConnectedScreen):
    """A main screen whose panes fit the terminal."""

    startup: Startup
    _side: "SidePane | None" = None
    _fitted = 0, 0
    """The size that the panes fit now."""

    # The size -------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        """Hide the projects on a narrow screen; show a notice if it is too small for anything."""
        self._fit(*event.size)

    def _fit(self, width: int, height: int) -> None:
        if (width, height) == self._fitted:
            return
        self._fitted = width, height
        problem = size_problem(width, height)
        if problem is None and self.has_class("too-small"):
            self.call_after_refresh(self.focus_chat)  # hidden widgets lost the focus
        self._classify(width, height)
        self.query_one("#too-small", Static).update(problem or "")
        self._apply_tree_width()
        self._fit_side(width)

    def _classify(self, width: int, height: int) -> None:
        """Set the classes for this size at once: a change restyles everything on the screen."""
        classes = {
            "too-small": size_problem(width, height) is not None,
            # Screen-reader mode shows one pane at a time, too.
            "narrow": width < WIDE or self.terminal.screen_reader,
            "low": height < LOW,
        }
        self.update_classes(classes, animate=False)

    # The tree -------------------------------------------------------------------------------------

    def set_tree_width(self, width: int) -> None:
        """Give the tree this width, as far as both panes stay usable, and keep it."""
        if not self.has_class("narrow"):
            self.tree_width = max(MIN_TREE, min(width, self.size.width - MIN_CHAT))
            self._apply_tree_width()
            self.startup.save_soon()

    def _apply_tree_width(self) -> None:
        pane = self.query_one("#projects")
        wanted = None if self.has_class("narrow") else self.tree_width
        for name in ("width", "min_width", "max_width"):
            pane.styles.__setattr__(name, wanted)

    # The side pane ------------------------------------------------------------------------------

    def toggle_side(self) -> None:
        """Show changes, then a second session, then nothing in the side pane; and keep that."""
        if self.size.width < MIN_SIDE or self.terminal.screen_reader:
            self.say(f"The side pane needs a terminal of at least {MIN_SIDE} columns.")
            return
        at = SIDE_CONTENTS.index(self._find_side(self.size.width))
        self.side_wanted = SIDE_CONTENTS[(at + 1) % len(SIDE_CONTENTS)]
        self._fit_side(self.size.width)
        self.startup.save_soon()

    def _fit_side(self, width: int) -> None:
        wanted = self._find_side(width)
        is_shown = wanted != "hidden" and self.is_connected and self.mirror.is_loaded
        self.set_class(is_shown, "side")
        if is_shown and self._side is None:
            from tui.side.pane import SidePane  # after the first frame

            self._side = SidePane(cast("Desk", self))  # the main screen is one
            self.query_one("#body").mount(self._side)
        if self._side is not None:
            self._side.switch(wanted if is_shown else "hidden")
            if is_shown:
                self._side.read_soon()

    def _find_side(self, width: int) -> SideContent:
        """What the side pane shows on a screen of this width."""
        if width < MIN_SIDE or self.terminal.screen_reader:
            return "hidden"
        return self.side_wanted or ("changes" if width >= ROOMY else "hidden")
