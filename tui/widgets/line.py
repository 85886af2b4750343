"""A row of text with a left and a right side, the base of the screen's bars."""

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

EMPTY = Content("")


def clickable(content: Content, action: str) -> Content:
    """Make `content` run an action of the screen when it is clicked.

    Unlike Textual's `@click` it does not look like a link.
    """
    return content.stylize(Style.from_meta({"action": action}))


class Line(Widget, can_focus=False):
    """A bar of one row. The right side has priority; the left side is truncated."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = EMPTY
        self._right = EMPTY

    def show(self, left: Content, right: Content = EMPTY) -> None:
        """Set both sides; redraws only if something changed."""
        if left.is_same(self._left) and right.is_same(self._right):
            return
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Content:
        """Render both sides, with a gap between them."""
        width = self.content_size.width
        right = self._right.truncate(width, ellipsis=True)
        available = max(0, width - right.cell_length - (2 if right.cell_length else 0))
        left = self._left.truncate(available, ellipsis=True)
        gap = max(0, width - left.cell_length - right.cell_length)
        return Content.assemble(left, " " * gap, right)

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked text."""
        action = event.style.meta.get("action")
        if isinstance(action, str):
            await self.screen.run_action(action)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the full width: the text never changes the layout."""
        return container.width

    @property
    def text(self) -> str:
        """The shown text, without styles."""
        return f"{self._left.plain} {self._right.plain}".strip()
