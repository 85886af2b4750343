"""Small dialogs: a question with two answers, one line of text, a page to read."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.keys.names import pressed
from tui.screens.closing import Closing
from tui.terminal import plain
from tui.terminal.plain import Announcements
from tui.widgets.dialog_button import DialogButton, button_row
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from tui.screens.palette import Entry

R = TypeVar("R")


class Dialog(Closing[R | None], ModalScreen[R | None], Generic[R]):
    """A box in the middle; escape leaves it and changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, and not after the field that has the focus: what was typed on, and came with the
        # key in one piece over a slow line, would be written into a field that was left already.
        Binding("escape", "leave", "Cancel", show=False, priority=True),
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("ctrl+c", "app.help_quit", show=False),  # of the app's keys it has none else
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-high")]  # noqa: RUF012 (as Textual has it)

    def palette_entries(self, words: str, style: Style) -> "Iterable[Entry]":
        """What the command palette shows here."""
        from tui.screens.palette_entries import dialog_entries

        return dialog_entries(self, self.press, words, style)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.box_title = title

    def compose(self) -> ComposeResult:
        """The box with its title around what `body` gives."""
        box = Vertical(*self.body(), classes="dialog")
        box.border_title = Content(self.box_title)
        yield box
        if plain.is_on():
            yield Announcements()

    def body(self) -> list[Widget]:
        """What stands in the box."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)

    def press(self, name: str) -> None:
        """Press a key that the foot names."""
        if (key := pressed(name)) is not None:
            self.app.post_message(key.set_sender(self.app))

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked at the foot."""
        if isinstance(name := event.style.meta.get("press"), str):
            self.press(name)


class Confirm(Dialog[bool]):
    """A question and its two answers, side by side. Enter takes the one that has the focus.

    That is the one that changes nothing, unless agreeing is harmless. `y` agrees, `n` does not.

    Args:
        title: What it is about.
        sentence: The question.
        agree: What agreeing does.
        cancel: What the other answer does.
        harmless: Nothing is deleted, stopped or opened to others by agreeing.
    """

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", show=False),
        Binding("n", "leave", show=False),
        Binding("up", "scroll_sentence(-1)", show=False),
        Binding("down", "scroll_sentence(1)", show=False),
    ]

    def __init__(
        self,
        title: str,
        sentence: str,
        agree: str,
        *,
        cancel: str = "cancel",
        harmless: bool = False,
    ) -> None:
        super().__init__(title)
        self.sentence = sentence
        self._agree = agree
        self._cancel = cancel
        self._harmless = harmless

    def body(self) -> list[Widget]:
        """The question, scrolled where it is long, and the answers, which are always seen."""
        agree = DialogButton(self._agree, "y", "agree")
        cancel = DialogButton(self._cancel, "esc", "leave")
        answers = (agree, cancel) if self._harmless else (cancel, agree)
        sentence = Static(self.sentence, markup=False)
        return [
            VerticalScroll(sentence, classes="page", can_focus=False),
            button_row(*answers),
        ]

    def action_agree(self) -> None:
        """Do it."""
        self.dismiss(True)

    def action_scroll_sentence(self, rows: int) -> None:
        """Show what else a long question says."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)


class AskText(Dialog[str]):
    """One line of text. An empty one changes nothing, unless `empty` says what it does."""

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        sentence: str = "",
        placeholder: str = "",
        empty: str = "",
    ) -> None:
        super().__init__(title)
        self._value = value
        self._sentence = sentence
        self._placeholder = placeholder
        self._empty = empty

    def body(self) -> list[Widget]:
        """Sentence, line and keys."""
        empty = (("empty", self._empty),) if self._empty else ()
        return [
            *([Static(self._sentence, markup=False, classes="words")] if self._sentence else []),
            TextField(
                self._value, placeholder=self._placeholder, select_on_focus=False, compact=True
            ),
            Static(keys_line(("enter", "save"), *empty, ("esc", "cancel")), classes="keys"),
        ]

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        words = event.value.strip()
        self.dismiss(words if words or self._empty else None)


class Report(Dialog[str]):
    """Something to read, with keys that do more; the result is the key that was pressed."""

    def __init__(self, title: str, text: Content, *keys: tuple[str, str]) -> None:
        super().__init__(title)
        self.content = text
        self._keys = keys

    def body(self) -> list[Widget]:
        """The text, scrolled with the usual keys."""
        return [
            VerticalScroll(Static(self.content, markup=False), classes="page"),
            Static(keys_line(*self._keys, ("esc", "close")), classes="keys"),
        ]

    def on_key(self, event: events.Key) -> None:
        """Close with one of the keys."""
        if any(event.key == known for known, _ in self._keys):
            event.stop()
            self.dismiss(event.key)
