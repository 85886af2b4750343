"""Which keys count while an earlier press of theirs is still being carried out.

A key that is held, or pressed twice in one piece over a slow line, would push twice or put two
dialogs over each other; only of those named here every press counts.
"""

from collections.abc import Hashable
from typing import Final

REPEATABLE: Final = frozenset(
    {
        "cycle_mode", "next_waiting", "previous_session", "next_session", "move_up", "move_down",
        "find_next", "find_previous", "take_back", "remove_queued", "canvas_layout",
        "diff_mark", "diff_next_side", "diff_layout", "diff_next_hunk", "diff_previous_hunk",
    }
)  # fmt: skip
"""Actions that step, so that two presses are two steps."""


def once(action_id: str, place: Hashable) -> Hashable:
    """What `Link.start` takes for an action at a place: None where every press counts."""
    return None if action_id in REPEATABLE else (action_id, place)
