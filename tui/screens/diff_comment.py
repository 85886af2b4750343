"""Dialogs about comments on a difference: one is written, all are looked through and sent."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.diff_comments import Comment
from tui.line_parts import one_line
from tui.screens.dialog import Dialog, keys_line
from tui.widgets.composer import MessageArea

Chosen = tuple[Literal["edit", "remove", "send"], int]
"""What to do, and the comment's place in the list."""


class EditComment(Dialog[str]):
    """What one has to say of some lines."""

    def __init__(self, place: str, quoted: Sequence[str], text: str = "") -> None:
        super().__init__(f"Comment on {place}")
        self._quoted = quoted
        self._text = text

    def body(self) -> list[Widget]:
        """The lines, the box and the keys."""
        few = [one_line(line, 70) for line in self._quoted[:4]]
        more = [f"… {len(self._quoted) - 4} more lines"] if len(self._quoted) > 4 else []
        return [
            Static("\n".join([*few, *more]), markup=False, classes="words"),
            MessageArea(placeholder="What should be different?"),
            Static(
                keys_line(("enter", "keep it"), ("^j", "line"), ("esc", "cancel")), classes="keys"
            ),
        ]

    def on_mount(self) -> None:
        """Write at once."""
        area = self.query_one(MessageArea)
        area.text = self._text
        area.move_cursor(area.document.end)
        area.focus()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.dismiss(event.text.strip())


class Comments(Dialog[Chosen]):
    """All comments that wait to be sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('send')", "Send", show=False),
        Binding("delete,backspace", "choose('remove')", "Remove", show=False),
    ]

    def __init__(self, comments: Sequence[Comment], at: int = 0) -> None:
        super().__init__("Comments to send")
        self._comments = comments
        self._at = at

    def body(self) -> list[Widget]:
        """The list and its keys."""
        options = [
            Option(
                Content.assemble((comment.place, "$accent"), f"\n  {one_line(comment.text, 66)}")
            )
            for comment in self._comments
        ]
        keys = (("s", "send all to a session"), ("enter", "edit"), ("del", "remove"))
        return [
            OptionList(*options, markup=False, compact=True),
            Static(keys_line(*keys, ("esc", "back")), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Begin where one was."""
        options = self.query_one(OptionList)
        options.highlighted = min(self._at, len(self._comments) - 1)
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("edit")

    def action_choose(self, what: Literal["edit", "remove", "send"]) -> None:
        """Close with what is to be done."""
        self.dismiss((what, self.query_one(OptionList).highlighted or 0))
