"""A request that waits for the user: its form, and the keys that answer it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.style import Style

from tui.keys.names import spell_out
from tui.widgets.question_form import QuestionForm
from tui.widgets.request_card import request_content
from tui.widgets.request_choices import ChoiceList, make_choices

if TYPE_CHECKING:
    from model.domain.requests import Request

TITLES: Final = {"plan": "Plan", "permission": "Permission", "question": "Question"}
_ENTER_EFFECTS: Final = {
    "plan": "request this change",
    "permission": "deny with this reason",
    "question": "send as answer",
}
"""What enter does with a text in the message box."""


@dataclass
class PendingRequest:
    """A request with the user's input so far."""

    session_id: str
    request: "Request"
    form: QuestionForm | ChoiceList
    is_sent: bool = False
    """Whether an answer is being sent."""

    @classmethod
    def create(cls, session_id: str, request: "Request") -> "PendingRequest":
        """Create a request without input."""
        is_question = request.kind == "question"
        form = QuestionForm(request.questions) if is_question else make_choices(request)
        return cls(session_id, request, form)

    @property
    def unsent_answers(self) -> list[str]:
        """Answers written by the user that are lost if the request is withdrawn."""
        if self.is_sent or not isinstance(self.form, QuestionForm):
            return []
        return self.form.written

    @property
    def is_confirming(self) -> bool:
        """Whether the warning about yolo is shown, and waits for confirmation."""
        return isinstance(self.form, ChoiceList) and self.form.is_confirming

    def cancel_yolo(self) -> bool:
        """Take the warning about yolo back; whether it was shown."""
        was_confirming = self.is_confirming
        if isinstance(self.form, ChoiceList):
            self.form.is_confirming = False
        return was_confirming

    def render(self, *, is_armed: bool, with_keys: bool) -> tuple[Content, list[Content]]:
        """Render the text, which scrolls, and the choices below it, if they are not part of it."""
        rows = self.form.rows(is_armed=is_armed, with_keys=with_keys)
        if isinstance(self.form, QuestionForm):
            return Content("\n").join(rows), []
        return request_content(self.request), [] if self.is_sent else list(rows)

    def render_keys(
        self, *, is_escaping: bool, has_text: bool, is_for_this: bool, has_focus: bool
    ) -> Content:
        """Render the keys that answer the request.

        `is_escaping`: whether escape was pressed once; `has_text`: whether the message box has
        text; `is_for_this`: whether that text was written for this request; `has_focus`: whether
        the panel has focus.
        """
        if self.is_sent:
            return Content.styled("Sending your answer …", "$text-muted")
        if is_escaping:
            hint = _key_hint("esc", "again: set it aside, to approve later")
            return Content.assemble("The plan keeps waiting.  ", hint)
        if has_text and not has_focus:
            enter = "enter" if is_for_this else "enter twice"
            effect = _hint_text(enter, _ENTER_EFFECTS[self.request.kind])
            return Content.assemble(effect, "   ", _key_hint("tab", "choose above"))
        has_rows = not isinstance(self.form, QuestionForm) or self.form.has_rows
        keys = [_key_hint("↑ ↓", "move"), _key_hint("enter", "choose")] if has_rows else []
        if isinstance(self.form, QuestionForm) and self.form.has_one_before:
            keys.append(_key_hint("←", "previous question"))
        if has_focus:
            return Content.assemble(*keys, ("letters and digits choose", "$text-muted"))
        if has_rows:
            keys.append(_key_hint("tab", "by letter"))
        return Content.assemble(*keys, ("or write your answer below", "$text-muted"))


def _key_hint(key: str, label: str) -> Content:
    """A clickable key with its label."""
    return Content.assemble(_hint_text(key, label).stylize(Style.from_meta({"key": key})), "   ")


def _hint_text(key: str, label: str) -> Content:
    return Content.assemble((spell_out(key), "bold $accent"), (f" {label}", "$text-muted"))
