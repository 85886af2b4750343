"""The rule at the right of the tree, which the mouse drags."""

from textual import events
from textual.message import Message
from textual.widget import Widget


class MovableEdge(Widget):
    """A widget whose right border is dragged to change its width."""

    class Resized(Message):
        """The edge was dragged to this width in cells."""

        def __init__(self, width: int) -> None:
            super().__init__()
            self.width = width

    _is_dragging = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the edge."""
        if event.x == self.outer_size.width - 1:
            self._is_dragging = True
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the edge."""
        if self._is_dragging:
            self.post_message(self.Resized(int(event.screen_x) + 1))
            event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of the edge."""
        if self._is_dragging:
            self._is_dragging = False
            self.release_mouse()
            event.stop()
