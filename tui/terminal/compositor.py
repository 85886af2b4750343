"""A compositor that renders only the rows that changed.

For any change Textual renders every row of every widget: a typed character costs as much as the
tree and the conversation beside it.
"""

from collections.abc import Iterable

from textual.geometry import Region
from textual.strip import Strip

from tui.terminal.textual_internals import Compositor


class RowCompositor(Compositor):
    """Textual's compositor, which requests only the needed rows of each widget."""

    def find_rows(self, wanted: Region) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield the visible rows of each widget in `wanted`, topmost widget first: region, rows."""
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            top, bottom = max(seen.y, wanted.y), min(seen.bottom, wanted.bottom)
            if top >= bottom or not seen.overlaps(wanted):
                continue
            rows = Region(seen.x, top, seen.width, bottom - top)
            yield rows, rows, widget.render_lines(rows.translate(-region.offset))
            if seen.contains_region(wanted):
                return  # it covers everything below
