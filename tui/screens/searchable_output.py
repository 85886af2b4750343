"""Rows of text in which a text can be found."""

from rich.style import Style
from textual.strip import Strip

from tui.draw.colors import Palette
from tui.screens.tool_output import OutputView


class SearchableOutput(OutputView):
    """Output with a current match, which is reversed."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self.found: int | None = None
        """The row of the current match."""

    def find(self, text: str, step: int) -> bool:
        """Go to the next row below (1) or above (-1) that contains the text, ignoring case.

        Without a match before it begins at the end. Returns whether there is such a row.
        """
        at, wanted = self.found, text.casefold()
        if at is None:
            at = len(self.strip_rows)
        for row in range(at + 1, len(self.strip_rows)) if step > 0 else range(at)[::-1]:
            if wanted in self.strip_rows[row].text.casefold():
                self.found = row
                middle = max(0, row - self.size.height // 2)
                self.scroll_to(y=middle, animate=False, immediate=True)
                self.refresh()
                return True
        return False

    def render_line(self, y: int) -> Strip:
        """Render a row; the current match is reversed."""
        strip = super().render_line(y)
        is_found = self.found is not None and y + self.scroll_offset.y == self.found
        return strip.apply_style(Style(reverse=True)) if is_found else strip
