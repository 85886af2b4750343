"""The dialog with the repository's stashes."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.amounts import format_age
from model.base.plural import count
from model.base.text import clean_line
from tui.draw.line_parts import one_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.api.stashes import Stash

What = Literal["create", "pop", "apply", "drop", "undo"]
Chosen = tuple[What, int]
"""What to do, and the stash's index in the list."""


class Stashes(Dialog[Chosen]):
    """Stashes, newest first.

    Args:
        stashes: The list.
        can_undo: Whether a stash was dropped that can be restored.
        at: The index of the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('create')", show=False),
        Binding("a", "choose('apply')", show=False),
        Binding("z", "choose('undo')", show=False),
        Binding("delete,backspace", "choose('drop')", show=False),
    ]

    def __init__(self, stashes: "Sequence[Stash]", *, can_undo: bool = False, at: int = 0) -> None:
        super().__init__("Stashes")
        self._stashes = stashes
        self._can_undo = can_undo
        self._at = at

    def body(self) -> list[Widget]:
        """The list, or why it is empty, and the keys."""
        keys = [("s", "stash all changes")]
        undo = [("z", "undo drop")] if self._can_undo else []
        if not self._stashes:
            empty = "No stash yet. A stash puts uncommitted changes aside until you want them back."
            line = keys_line(*keys, *undo, ("esc", "close"))
            return [Static(empty, classes="words"), Static(line, classes="keys")]
        options = [Option(self._row(stash)) for stash in self._stashes]
        own = [("enter", "bring back"), ("a", "bring back, keep it"), ("del", "drop")]
        rows = [keys_line(*own), keys_line(*keys, *undo, ("esc", "close"))]
        return [
            OptionList(*options, markup=False, compact=True),
            Static(Content("\n").join(rows), classes="keys"),
        ]

    def _row(self, stash: "Stash") -> Content:
        about = f"{format_age(stash.created_at, time.time())} · {clean_line(stash.branch)}"
        return Content.assemble(
            one_line(clean_line(stash.message) or "no message", 66),
            (f"\n  {one_line(about, 52)} · {count(stash.files, 'file')}", "$text-muted"),
        )

    def on_mount(self) -> None:
        """Restore the cursor."""
        for options in self.query(OptionList):
            options.highlighted = max(0, min(self._at, len(self._stashes) - 1))
            options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("pop")

    def action_choose(self, what: What) -> None:
        """Close with the action and the stash under the cursor."""
        options = next(iter(self.query(OptionList)), None)
        if what == "create" or (what == "undo" and self._can_undo):
            self.dismiss((what, 0))
        elif what != "undo" and options is not None:
            self.dismiss((what, options.highlighted or 0))
