"""Leaves out the painting of frames, and fails a test that would look at one.

What a test reads with `tests.tui.reading` is rendered when it asks for it, so most tests need no
frames, which take a quarter of the time of a test.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from textual._compositor import Compositor
from textual._context import active_app

render_update: Final = Compositor.render_update


def skip_frame(compositor: Compositor, full: bool = False, *given: Any, **named: Any) -> Any:
    """Replaces `Compositor.render_update`."""
    if full:  # a screenshot, not a frame
        return render_update(compositor, True, *given, **named)
    observed = ", ".join(sorted(set(_find_observed(compositor))))
    assert not observed, f"{observed}: nothing is painted unless the test is marked `painted`"
    compositor._dirty_regions.clear()
    return None


def _find_observed(compositor: Compositor) -> Iterator[str]:
    """What the test has replaced to see what is painted, or how often."""
    app: Any = active_app.get()
    if getattr(app, "painter", None) is not None:
        yield "a painter"
    if _is_of_tests(app._display):
        yield "_display"
    for widget in compositor.visible_widgets:
        for name in ("render_lines", "render_line"):
            if _is_of_tests(getattr(widget, name)) and not _is_of_tests(type(widget)):
                yield name
    if inspect.isfunction(sys.getprofile()):
        yield "counted calls"


def _is_of_tests(defined: Callable[..., Any]) -> bool:
    return getattr(defined, "__module__", "").startswith("tests.")
