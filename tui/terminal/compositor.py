"""Puts a screen together from those rows of its widgets that are drawn anew, and from no others.

For whatever has changed Textual goes through every row of every widget: a typed character costs as
much as the tree and the conversation beside it.
"""

from collections.abc import Iterable

from textual.geometry import Region
from textual.strip import Strip

from tui.terminal.textual_internals import Compositor


class RowCompositor(Compositor):
    """Textual's, which asks widgets only for the rows that are wanted of them."""

    def find_rows(self, wanted: Region) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """What is in sight of each widget, the uppermost first: where it is, and its rows."""
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            top, bottom = max(seen.y, wanted.y), min(seen.bottom, wanted.bottom)
            if top >= bottom or not seen.overlaps(wanted):
                continue
            rows = Region(seen.x, top, seen.width, bottom - top)
            yield rows, rows, widget.render_lines(rows.translate(-region.offset))
            if seen.contains_region(wanted):
                return  # nothing is seen through it
