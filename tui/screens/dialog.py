"""Small dialogs: a confirmation, a line of text, a page to read."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.keys.names import parse_key
from tui.screens.closing import Closing, ScreenHost
from tui.terminal import screen_reader
from tui.terminal.screen_reader import Announcements
from tui.widgets.dialog_button import DialogButton, button_row
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from tui.screens.palette import Entry

R = TypeVar("R")


class Dialog(Closing[R | None], ModalScreen[R | None], Generic[R]):
    """A centered box; escape closes it without changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority over the focused field: text that arrived together with the key over a slow
        # line would otherwise be written into a field that is already closed.
        Binding("escape", "leave", "Cancel", show=False, priority=True),
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("ctrl+c", "app.help_quit", show=False),  # the only one of the app's keys
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-high")]  # noqa: RUF012 (as Textual has it)

    def palette_entries(self, query: str, style: Style) -> "Iterable[Entry]":
        """The command palette's entries for this dialog."""
        from tui.screens.palette_entries import dialog_entries

        return dialog_entries(self, self.press, query, style)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.box_title = title

    def compose(self) -> ComposeResult:
        """The box with its title around the widgets of `body`."""
        box = Vertical(*self.body(), classes="dialog")
        box.border_title = Content(self.box_title)
        yield box
        if screen_reader.is_enabled():
            yield Announcements()

    def body(self) -> list[Widget]:
        """Return the widgets in the box."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Close without changes."""
        self.dismiss(None)

    def press(self, name: str) -> None:
        """Simulate a key that the footer names."""
        if (key := parse_key(name)) is not None:
            cast("ScreenHost", self.app).press_key(key)

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked in the footer."""
        if isinstance(name := event.style.meta.get("press"), str):
            self.press(name)


class Confirm(Dialog[bool]):
    """A question with two buttons. Enter presses the focused one, `y` agrees, `n` cancels.

    Cancel has the focus at first, unless agreeing is harmless.

    Args:
        title: The dialog's title.
        sentence: The question.
        agree: Label of the button that agrees.
        cancel: Label of the button that cancels.
        harmless: Whether agreeing deletes, stops and exposes nothing.
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
        """The question, which can scroll, and the buttons, which are always visible."""
        agree = DialogButton(self._agree, "y", "agree")
        cancel = DialogButton(self._cancel, "esc", "leave")
        buttons = (agree, cancel) if self._harmless else (cancel, agree)
        sentence = Static(self.sentence, markup=False)
        return [
            VerticalScroll(sentence, classes="page", can_focus=False),
            button_row(*buttons),
        ]

    def action_agree(self) -> None:
        """Close with agreement."""
        self.dismiss(True)

    def action_scroll_sentence(self, rows: int) -> None:
        """Scroll a long question."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)


class AskText(Dialog[str]):
    """One line of text. Empty input cancels, unless `empty` describes its effect."""

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        sentence: str = "",
        placeholder: str = "",
        empty: str = "",
        verb: str = "save",
    ) -> None:
        super().__init__(title)
        self.text = value
        """The current text, saved or not."""
        self._sentence = sentence
        self._placeholder = placeholder
        self._empty = empty
        self._verb = verb

    def body(self) -> list[Widget]:
        """Sentence, text field and keys."""
        empty = (("empty", self._empty),) if self._empty else ()
        return [
            *([Static(self._sentence, markup=False, classes="words")] if self._sentence else []),
            TextField(
                self.text, placeholder=self._placeholder, select_on_focus=False, compact=True
            ),
            Static(keys_line(("enter", self._verb), *empty, ("esc", "cancel")), classes="keys"),
        ]

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.text = event.value

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self.dismiss(text if text or self._empty else None)


class Report(Dialog[str]):
    """A text with additional keys; the result is the key that was pressed."""

    def __init__(self, title: str, text: Content, *keys: tuple[str, str]) -> None:
        super().__init__(title)
        self.content = text
        self._keys = keys

    def body(self) -> list[Widget]:
        """The scrollable text and the keys."""
        return [
            VerticalScroll(Static(self.content, markup=False), classes="page"),
            Static(keys_line(*self._keys, ("esc", "close")), classes="keys"),
        ]

    def on_key(self, event: events.Key) -> None:
        """Close with the key, if it is one of the additional keys."""
        if any(event.key == known for known, _ in self._keys):
            event.stop()
            self.dismiss(event.key)
