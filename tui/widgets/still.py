"""A picture of the conversation that was open last, over the pane until the real one stands."""

from textual.strip import Strip
from textual.widget import Widget


class Still(Widget, can_focus=False):
    """Lines as they were drawn."""

    def __init__(self, lines: tuple[Strip, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = lines

    def render_line(self, y: int) -> Strip:
        """One of them."""
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        return self._lines[y].adjust_cell_length(width, self.rich_style)
