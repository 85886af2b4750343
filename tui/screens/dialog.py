"""Small dialogs: a question with two answers, one line of text, a page to read."""

from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

R = TypeVar("R")


def keys_line(*keys: tuple[str, str]) -> Content:
    """`enter send   esc cancel`, for the foot of a dialog."""
    parts: list[tuple[str, str]] = []
    for key, words in keys:
        parts += [(key, "bold $accent"), (f" {words}   ", "$text-muted")]
    return Content.assemble(*parts)


class Dialog(ModalScreen[R | None], Generic[R]):
    """A box in the middle; escape leaves it and changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", show=False),
        # At once, and not after the field that has the focus: what was typed on, and came with the
        # tab in one piece over a slow line, would be written into the field before.
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-high")]  # noqa: RUF012 (as Textual has it)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.box_title = title

    def compose(self) -> ComposeResult:
        """The box with its title around what `body` gives."""
        box = Vertical(*self.body(), classes="dialog")
        box.border_title = Content(self.box_title)
        yield box

    def body(self) -> list[Widget]:
        """What stands in the box."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)


class Confirm(Dialog[bool]):
    """A sentence, `y` or enter to do it, escape or `n` to leave it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", show=False),
        Binding("n", "leave", show=False),
    ]

    def __init__(self, title: str, sentence: str, agree: str, *, enter: bool = True) -> None:
        super().__init__(title)
        self.sentence = sentence
        self.agree = agree
        self._enter = enter

    def body(self) -> list[Widget]:
        """Sentence and keys."""
        key = "y or enter" if self._enter else "y"
        return [
            Static(self.sentence, markup=False),
            Static(keys_line((key, self.agree), ("esc", "cancel")), classes="keys"),
        ]

    def key_enter(self) -> None:
        """Agree, unless something would be lost."""
        if self._enter:
            self.dismiss(True)

    def action_agree(self) -> None:
        """Do it."""
        self.dismiss(True)


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
            Input(self._value, placeholder=self._placeholder, select_on_focus=False, compact=True),
            Static(keys_line(("enter", "take it"), *empty, ("esc", "cancel")), classes="keys"),
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

    def on_key(self, event: object) -> None:
        """Close with one of the keys."""
        key = getattr(event, "key", "")
        if any(key == known for known, _ in self._keys):
            self.dismiss(key)
