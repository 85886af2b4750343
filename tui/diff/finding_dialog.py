"""The editor of a finding of a review."""

from typing import TYPE_CHECKING, Final

from textual import on
from textual.widget import Widget
from textual.widgets import Static

from model.base.text import clean_line
from tui.composer.message_area import MessageArea
from tui.draw.line_parts import one_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.code_reviews import Finding

_SHOWN: Final = 6
"""Lines of a suggestion."""


class EditFinding(Dialog[str]):
    """What a finding says, and the change that it suggests."""

    def __init__(self, finding: "Finding") -> None:
        lines = f"{finding.first_line}"
        if finding.last_line > finding.first_line:
            lines += f"-{finding.last_line}"
        super().__init__(f"{finding.severity}: {clean_line(finding.path)}:{lines}")
        self._finding = finding

    def body(self) -> list[Widget]:
        """The suggestion, the text box and the keys."""
        suggested = self._finding.suggestion.splitlines()
        excerpt = [one_line(line, 70) for line in suggested[:_SHOWN]]
        more = [f"… {len(suggested) - _SHOWN} more lines"] if len(suggested) > _SHOWN else []
        shown = "\n".join(["Suggested:", *excerpt, *more])
        return [
            *([Static(shown, markup=False, classes="words")] if suggested else []),
            MessageArea(placeholder="What is wrong?"),
            Static(keys_line(("enter", "save"), ("^j", "line"), ("esc", "cancel")), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Focus the end of the text."""
        area = self.query_one(MessageArea)
        area.text = self._finding.explanation
        area.move_cursor(area.document.end)
        area.focus()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.dismiss(event.text.strip())
