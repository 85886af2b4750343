"""The dialog for a text of several lines that is checked when it is saved."""

from collections.abc import Callable
from typing import Any

from textual import on
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.screens import preferences_rows as rows
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


class EditText(Dialog[str]):
    """A text of several lines; `save` stores it, or raises `SpinneyError` if it is invalid."""

    CSS = """
    EditText .dialog MessageArea { max-height: 50vh; }
    EditText .dialog .problem { display: none; }
    EditText.objected .dialog .problem { display: block; }
    """

    def __init__(self, title: str, sentence: str, text: str, save: Callable[[str], Any]) -> None:
        super().__init__(title)
        self._sentence = sentence
        self._text = text
        self._save = save

    def body(self) -> list[Widget]:
        """Sentence, text, error and keys."""
        return [
            Static(self._sentence, markup=False, classes="words"),
            MessageArea(can_submit_empty=True),
            Static(classes="problem", markup=False),
            Static(
                keys_line(("enter", "save"), ("^j", "new line"), ("esc", "cancel")),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Focus the end of the text."""
        area = self.query_one(MessageArea)
        area.draft = Draft(self._text)
        area.focus()

    @on(MessageArea.Submitted)
    async def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        try:
            await self._save(event.text)
        except SpinneyError as error:
            self.add_class("objected")
            message = rows.explain_refusal(error.message)
            self.query_one(".problem", Static).update(message)
        else:
            self.dismiss(event.text)
