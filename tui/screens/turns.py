"""The dialog with the turns of a session."""

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
    from model.api.turns import TurnSummary

What = Literal["diff", "undo", "redo", "fork", "edit", "more"]
Chosen = tuple[What, int]
"""What to do, and the turn's index in the list."""

_UNDONE = {
    "files": "files undone",
    "conversation": "taken back, files kept",
    "both": "undone",
}


class Turns(Dialog[Chosen]):
    """Turns, newest first: their diffs, undo, fork, edit and send again.

    Args:
        turns: The list; if its last one is not the first of the session, more can be loaded.
        at: The index of the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "choose('undo')", show=False),
        Binding("r", "choose('redo')", show=False),
        Binding("f", "choose('fork')", show=False),
        Binding("e", "choose('edit')", show=False),
    ]

    def __init__(self, turns: "Sequence[TurnSummary]", at: int = 0) -> None:
        super().__init__("Turns")
        self._turns = turns
        self._at = at

    def body(self) -> list[Widget]:
        """The list and its keys."""
        options = [Option(_row(turn)) for turn in self._turns]
        if self._turns and self._turns[-1].number > 1:
            options.append(Option(f"     load {count(self._turns[-1].number - 1, 'earlier turn')}"))
        own = keys_line(("enter", "diff"), ("u", "undo"), ("r", "redo"))
        more = keys_line(("e", "edit and resend"), ("f", "fork"), ("esc", "close"))
        return [
            OptionList(*options, markup=False, compact=True),
            Static(Content("\n").join([own, more]), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Restore the cursor."""
        options = self.query_one(OptionList)
        options.highlighted = max(0, min(self._at, len(self._turns) - 1))
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("diff")

    def action_choose(self, what: What) -> None:
        """Close with the action and the turn under the cursor."""
        at = self.query_one(OptionList).highlighted or 0
        self.dismiss((what if at < len(self._turns) else "more", at))


def _row(turn: "TurnSummary") -> Content:
    if turn.ended_at is None:
        about = ["running"]
    else:
        about = [format_age(turn.ended_at, time.time()), _describe_files(turn)]
    if turn.undone is not None:
        about.append(_UNDONE[turn.undone])
    prompt = clean_line(turn.prompt) or "The agent began by itself"
    return Content.assemble(
        (f"{turn.number:>3}  ", "$text-muted"),
        (one_line(prompt, 60), "$text-muted strike" if turn.undone == "both" else ""),
        (f"\n     {' · '.join(about)}", "$text-muted"),
    )


def _describe_files(turn: "TurnSummary") -> str:
    if not turn.files:
        return "not recorded" if turn.problem else "no changes"
    added = sum(file.added or 0 for file in turn.files)
    removed = sum(file.removed or 0 for file in turn.files)
    others = sum(file.others for file in turn.files)
    shared = f" · {others} by others" if others else ""
    return f"{count(len(turn.files), 'file')} +{added} −{removed}{shared}"
