"""The dialogs for findings of a review: editing one, and listing all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.text import clean_line
from tui.composer.message_area import MessageArea
from tui.draw.line_parts import one_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.code_reviews import Finding

_SHOWN: Final = 6
"""Lines of a suggestion."""


_TONES: Final = {
    "critical": "$text-error",
    "major": "$text-warning",
    "minor": "$text-accent",
    "note": "$text-muted",
}

Chosen = tuple[Literal["show", "fix", "dismiss"], int]
"""What to do, and the finding's index in the list."""


def locate(finding: "Finding") -> str:
    """Return `file:line` or `file:first-last`."""
    more = f"-{finding.last_line}" if finding.last_line > finding.first_line else ""
    return f"{clean_line(finding.path)}:{finding.first_line}{more}"


class EditFinding(Dialog[str]):
    """What a finding says, and the change that it suggests."""

    def __init__(self, finding: "Finding") -> None:
        super().__init__(f"{finding.severity}: {locate(finding)}")
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


class Findings(Dialog[Chosen]):
    """All findings of the newest review, with those that were dismissed or sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('fix')", "Send", show=False),
        Binding("delete,backspace", "choose('dismiss')", "Dismiss", show=False),
    ]

    def __init__(self, findings: "Sequence[Finding]", summary: str, at: int = 0) -> None:
        super().__init__("Findings")
        self._findings = findings
        self._summary = summary
        self._at = at

    def body(self) -> list[Widget]:
        """The summary, the list and its keys."""
        summary = [Static(self._summary, markup=False, classes="words")] if self._summary else []
        keys = (("enter", "show"), ("s", "send to a session"), ("del", "dismiss, restore"))
        return [
            *summary,
            OptionList(*map(_make_option, self._findings), markup=False, compact=True),
            Static(keys_line(*keys, ("esc", "back")), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Restore the cursor."""
        options = self.query_one(OptionList)
        options.highlighted = min(self._at, len(self._findings) - 1)
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("show")

    def action_choose(self, what: Literal["show", "fix", "dismiss"]) -> None:
        """Close with the action and the finding under the cursor."""
        self.dismiss((what, self.query_one(OptionList).highlighted or 0))


def _make_option(finding: "Finding") -> Option:
    state = "" if finding.state == "open" else f"  {finding.state}"
    outdated = "  outdated" if finding.is_outdated else ""
    return Option(
        Content.assemble(
            (finding.severity, _TONES[finding.severity]),
            f"  {locate(finding)}",
            (f"{state}{outdated}", "$text-muted"),
            f"\n  {one_line(finding.explanation, 66)}",
        )
    )
