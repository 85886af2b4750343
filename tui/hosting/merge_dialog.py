"""The dialog that merges a pull request at its service: how, and when."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.text import clean_line, make_visible
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Pick
from tui.screens.pick_field import LABEL_WIDTH, PickField
from tui.widgets.dialog_button import DialogButton, button_row

if TYPE_CHECKING:
    from model.domain.hosting import MergeMethod, PullRequestDetails

_METHODS: "Final[dict[MergeMethod, tuple[str, str]]]" = {
    "merge": ("merge commit", "keeps all commits"),
    "squash": ("squash", "one commit of all changes"),
    "rebase": ("rebase", "puts the commits on top of the base"),
}


@dataclass(frozen=True, slots=True)
class MergeChoice:
    """How to merge."""

    method: "MergeMethod | None"
    auto: bool


class Merge(Dialog[MergeChoice]):
    """Method and time. Cancel has the focus at first; no letter merges, as letters choose."""

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "agree", show=False, priority=True),
    ]

    def __init__(self, details: "PullRequestDetails", preferred: "MergeMethod | None") -> None:
        super().__init__(f"Merge pull request #{details.number}")
        self._details = details
        self._methods = [Choice(name, *_METHODS[name]) for name in details.merge_methods]
        self._whens = _list_whens(details)
        self._preferred = preferred

    def body(self) -> list[Widget]:
        """What is merged where, the choices, and what cannot be undone."""
        details = self._details
        title, head, base = map(clean_line, (details.title, details.head, details.base))
        note = [make_visible(details.merge_note)] if details.merge_note else []
        undone = "This cannot be undone here: taking it back is a new pull request, a revert."
        sentences = "\n\n".join([f"{title}\n{head} → {base}", *note, undone])
        steps, whens = self._methods, self._whens
        present = next(
            (m for m in steps if m.value == self._preferred), steps[0] if steps else None
        )
        fields: list[Widget] = []
        if present is not None and len(steps) > 1 and not details.has_queue:
            fields.append(PickField("How", present, self._pick_method, steps=steps, id="method"))
        if len(whens) > 1:
            fields.append(PickField("When", whens[0], self._pick_when, steps=whens, id="when"))
        else:
            only = f"{'When':<{LABEL_WIDTH}}{whens[0].label}: {whens[0].description}"
            fields.append(Static(only, markup=False))
        buttons = DialogButton("cancel", "esc", "leave"), DialogButton("merge", "^g", "agree")
        return [Static(sentences, markup=False, classes="words"), *fields, button_row(*buttons)]

    def _pick_method(self, present: str, typed: str) -> Pick:
        return Pick("How", self._methods, present, typed=typed)

    def _pick_when(self, present: str, typed: str) -> Pick:
        return Pick("When", self._whens, present, typed=typed)

    @on(PickField.Submitted)
    def _submitted(self, event: PickField.Submitted) -> None:
        """Go on to the button, so that no field merges."""
        event.stop()
        list(self.query(DialogButton))[-1].focus()

    def action_agree(self) -> None:
        """Close with the choices."""
        allowed = self._details.merge_methods
        value = next((f.choice.value for f in self.query("#method").results(PickField)), "")
        method = next((each for each in allowed if each == value), allowed[0] if allowed else None)
        when = next((f.choice.value for f in self.query("#when").results(PickField)), "")
        self.dismiss(MergeChoice(method, auto=(when or self._whens[0].value) == "auto"))


def _list_whens(details: "PullRequestDetails") -> list[Choice]:
    """Return when it can be merged, the first one being the default."""
    if details.has_queue:
        now = Choice("now", "merge queue", "the queue tests and merges it in its turn")
    else:
        now = Choice("now", "now", "as it is")
    auto = Choice("auto", "automatically", "as soon as checks and reviews allow")
    if not details.can_auto_merge:
        return [now]
    return [now, auto] if details.can_merge else [auto]
