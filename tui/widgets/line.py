"""One row of text with a left and a right side: the bars of the screen are made of it."""

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

EMPTY = Content("")


def clickable(content: Content, action: str) -> Content:
    """`content`, which does an action of the screen when it is clicked.

    Unlike Textual's own `@click` it does not look like a link.
    """
    return content.stylize(Style.from_meta({"action": action}))


class Line(Widget, can_focus=False):
    """A bar of one row. The right side keeps its place; the left side is cut to fit."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = EMPTY
        self._right = EMPTY

    def show(self, left: Content, right: Content = EMPTY) -> None:
        """Show these; drawn again only if something is different."""
        if left.is_same(self._left) and right.is_same(self._right):
            return
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Content:
        """Both sides, with the gap between them."""
        width = self.content_size.width
        right = self._right.truncate(width, ellipsis=True)
        room = max(0, width - right.cell_length - (2 if right.cell_length else 0))
        left = self._left.truncate(room, ellipsis=True)
        gap = max(0, width - left.cell_length - right.cell_length)
        return Content.assemble(left, " " * gap, right)

    async def on_click(self, event: events.Click) -> None:
        """Do what the clicked word stands for."""
        action = event.style.meta.get("action")
        if isinstance(action, str):
            await self.screen.run_action(action)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """All there is: the text never changes the layout."""
        return container.width

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return f"{self._left.plain} {self._right.plain}".strip()
