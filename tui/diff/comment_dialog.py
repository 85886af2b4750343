"""The dialogs for comments on a diff: editing one, and listing all to send."""

from collections.abc import Collection, Sequence
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.richtext.diff_comments import Comment
from tui.composer.message_area import MessageArea
from tui.draw.line_parts import one_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

Chosen = tuple[Literal["edit", "remove", "send"], int]
"""What to do, and the comment's index in the list."""


class EditComment(Dialog[str]):
    """The editor of a comment on some lines."""

    def __init__(self, comment: Comment, text: str) -> None:
        super().__init__(f"Comment on {comment.location}")
        self._comment = comment
        self.text = text
        """The current text, saved or not."""

    def body(self) -> list[Widget]:
        """The quoted lines, the text box and the keys."""
        quoted = self._comment.quoted
        excerpt = [one_line(line, 70) for line in quoted[:4]]
        more = [f"… {len(quoted) - 4} more lines"] if len(quoted) > 4 else []
        removes = (("empty", "remove"),) if self._comment.text else ()
        return [
            Static("\n".join([*excerpt, *more]), markup=False, classes="words"),
            MessageArea(
                placeholder="What should change?", can_submit_empty=bool(self._comment.text)
            ),
            Static(
                keys_line(("enter", "save"), ("^j", "line"), *removes, ("esc", "cancel")),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Focus the end of the text."""
        area = self.query_one(MessageArea)
        area.text = self.text
        area.move_cursor(area.document.end)
        area.focus()

    @on(MessageArea.Changed)
    def _changed(self) -> None:
        self.text = self.query_one(MessageArea).draft.text_to_send()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.dismiss(event.text.strip())


class Comments(Dialog[Chosen]):
    """The list of comments that are not sent yet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('send')", "Send", show=False),
        Binding("delete,backspace", "choose('remove')", "Remove", show=False),
    ]

    def __init__(self, comments: Sequence[Comment], lost: Collection[Comment], at: int = 0) -> None:
        super().__init__("Comments to send")
        self._comments = comments
        self._lost = lost
        self._at = at

    def body(self) -> list[Widget]:
        """The list and its keys."""
        options = [
            Option(
                Content.assemble(
                    (comment.location, "$accent"),
                    ("  outdated" if comment in self._lost else "", "$warning"),
                    f"\n  {one_line(comment.text, 66)}",
                )
            )
            for comment in self._comments
        ]
        keys = (("s", "send all to a session"), ("enter", "edit"), ("del", "remove"))
        return [
            OptionList(*options, markup=False, compact=True),
            Static(keys_line(*keys, ("esc", "back")), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Restore the cursor."""
        options = self.query_one(OptionList)
        options.highlighted = min(self._at, len(self._comments) - 1)
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("edit")

    def action_choose(self, what: Literal["edit", "remove", "send"]) -> None:
        """Close with the action and the comment under the cursor."""
        self.dismiss((what, self.query_one(OptionList).highlighted or 0))
