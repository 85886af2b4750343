"""The dialogs for findings of a review: editing one, and listing all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.text import clean_line, make_visible
from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.draw.line_parts import one_line
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.code_reviews import Finding, Severity

_TONES: "Final[dict[Severity, str]]" = {
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


@dataclass(frozen=True, slots=True)
class EditedFinding:
    """What a finding is to say; `None` for what stays as it is."""

    explanation: str | None
    suggestion: str | None
    severity: "Severity | None"


class EditFinding(Dialog[EditedFinding]):
    """What a finding says, how severe it is, and the lines that it suggests instead."""

    def __init__(self, finding: "Finding") -> None:
        super().__init__(f"{finding.severity}: {locate(finding)}")
        self._finding = finding
        self._suggestion = make_visible(finding.suggestion)
        self._severities = [Choice(name, name, color=tone) for name, tone in _TONES.items()]

    def body(self) -> list[Widget]:
        """The text, the suggested lines, the severity and the keys."""
        severities = self._severities
        present = next(one for one in severities if one.value == self._finding.severity)
        keys = (("enter", "save"), ("^j", "line"), ("tab", "next"), ("esc", "cancel"))
        return [
            MessageArea(placeholder="What is wrong?", id="explanation"),
            Static("Lines that should replace these:", classes="words"),
            MessageArea(placeholder="None suggested", id="suggestion", can_submit_empty=True),
            PickField("Severity", present, self._pick, steps=severities),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show both texts; focus the end of the first."""
        self.query_one("#suggestion", MessageArea).draft = Draft(self._suggestion)
        explanation = self.query_one("#explanation", MessageArea)
        explanation.draft = Draft(self._finding.explanation)
        explanation.focus()

    def _pick(self, present: str, typed: str) -> Pick:
        return Pick("Severity", self._severities, present, typed=typed)

    @on(MessageArea.Submitted)
    @on(PickField.Submitted)
    def _submitted(self, event: MessageArea.Submitted | PickField.Submitted) -> None:
        event.stop()
        explanation, suggestion = (
            self.query_one(f"#{name}", MessageArea).draft.text_to_send()
            for name in ("explanation", "suggestion")
        )
        if not explanation.strip():
            self.query_one("#explanation").focus()
            return
        value = self.query_one(PickField).choice.value
        severity = next(name for name in _TONES if name == value)
        finding = self._finding
        self.dismiss(
            EditedFinding(
                explanation.strip() if explanation != finding.explanation else None,
                suggestion if suggestion != self._suggestion else None,
                severity if severity != finding.severity else None,
            )
        )


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
