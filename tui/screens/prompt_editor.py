"""The editor of a magic prompt: its purpose, its variables, and the person's own text."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.screens.edit_text import EditText
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.api.preferences import MagicPrompt


class EditPrompt(EditText):
    """The text; where it is empty the built-in one applies, which is shown in its place."""

    CSS = """
    EditPrompt .dialog { width: 100; }
    EditPrompt .dialog #about { height: auto; max-height: 8; margin-bottom: 1; }
    EditPrompt.-low .dialog #about { max-height: 5; margin-bottom: 0; }
    EditPrompt .dialog MessageArea { min-height: 6; max-height: 40vh; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "insert_built_in", show=False, priority=True),
    ]

    def __init__(self, prompt: "MagicPrompt", text: str, save: Callable[[str], Any]) -> None:
        super().__init__(prompt.label, f"{prompt.purpose}.", text, save)
        self._prompt = prompt

    def body(self) -> list[Widget]:
        """Purpose, variables, text, error and keys."""
        sentence, _, problem, _ = super().body()
        prompt = self._prompt
        keys = [("enter", "save"), ("^j", "new line"), ("esc", "cancel")]
        if prompt.default:
            keys.insert(2, ("^o", "built-in text"))
        area = MessageArea(placeholder=prompt.default or "No text", can_submit_empty=True)
        about = VerticalScroll(Static(_describe(prompt), markup=False), id="about", can_focus=False)
        return [sentence, about, area, problem, Static(keys_line(*keys), classes="keys")]

    def action_insert_built_in(self) -> None:
        """Replace the text by the built-in one, to change it."""
        area = self.query_one(MessageArea)
        area.draft = Draft(self._prompt.default)
        area.focus()


def _describe(prompt: "MagicPrompt") -> Content:
    """Return the variables of a prompt, and what applies without a text."""
    parts: list[tuple[str, str]] = []
    if prompt.variables:
        width = max(len(variable.name) for variable in prompt.variables) + 4
        for variable in prompt.variables:
            name = f"{{{variable.name}}}"
            parts += [(f"{name:<{width}}", "bold"), (f"{variable.help}\n", "$text-muted")]
    else:
        parts.append(("It has no variables.\n", "$text-muted"))
    empty = "the built-in one applies" if prompt.default else "nothing is added"
    parts.append((f"Without a text of your own {empty}.", "$text-muted"))
    return Content.assemble(*parts)
