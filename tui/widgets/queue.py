"""The messages that wait behind a run, in their order: each can be changed or removed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message as TextualMessage
from textual.style import Style
from textual.widget import Widget

from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.resources import Message

ROWS: Final = 4
"""Messages that are shown at once."""


class Queue(Widget, can_focus=True):
    """One row for each message, the one that goes next first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter,e", "screen.do('edit_queued')", show=False, id="edit_queued"),
        Binding("delete,backspace", "screen.do('remove_queued')", show=False, id="remove_queued"),
        Binding("escape", "leave", show=False),
    ]

    DEFAULT_CSS = "Queue { height: auto; padding: 0 1; display: none; }"

    FOCUS_ON_CLICK = False  # who clicks on a word goes on typing into the message box

    class Typed(TextualMessage):
        """A printable key was pressed that does nothing here."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.messages: tuple[Message, ...] = ()
        self._offer = ""
        self._chosen = ""

    @property
    def chosen(self) -> "Message | None":
        """The message that actions are about: the newest, unless another one was chosen, which
        may not wait any more."""
        if not self.messages or (self._chosen and self._chosen not in self._ids):
            return None
        return self.messages[self._place]

    @property
    def _place(self) -> int:
        ids = self._ids
        return ids.index(self._chosen) if self._chosen in ids else len(ids) - 1

    @property
    def _ids(self) -> list[str]:
        return [message.id for message in self.messages]

    @property
    def is_stopped(self) -> bool:
        """Whether messages wait and no agent runs behind which they would go out."""
        return bool(self._offer) and bool(self.messages)

    def follow(self, messages: "Sequence[Message]", offer: str) -> None:
        """Show what waits now, and `offer` (“send now”) to send it where no agent runs."""
        if (tuple(messages), offer) == (self.messages, self._offer):
            return
        self._offer = offer
        has_more_rows = min(len(messages), ROWS) != min(len(self.messages), ROWS)
        self.messages = tuple(messages)
        self.display = bool(messages)
        if self.has_focus and self._chosen not in self._ids:
            self.action_leave()  # else the next key would be about another one
        self.refresh(layout=has_more_rows)

    def on_focus(self) -> None:
        """Mark the row that keys are about."""
        self._chosen = self.messages[-1].id if self.messages else ""
        self.refresh()

    def on_blur(self) -> None:
        """The newest is meant again."""
        self._chosen = ""
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """A letter that does nothing here belongs to the message box."""
        if event.character and event.is_printable and event.key not in self.screen.active_bindings:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))

    def action_choose(self, step: int) -> None:
        """The message before or after."""
        place = min(max(self._place + step, 0), len(self.messages) - 1)
        self._chosen = self.messages[place].id
        self.refresh()

    def action_leave(self) -> None:
        """Back to the message box."""
        self.screen.query_one("#composer").focus()

    async def on_click(self, event: events.Click) -> None:
        """Do what the clicked word stands for."""
        found = event.style.meta.get("queued")
        if isinstance(found, tuple):
            self._chosen, action = found
            await self.screen.run_action(f"do('{action}')")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row for each that is shown."""
        return min(len(self.messages), ROWS)

    def render(self) -> Content:
        """The rows around the chosen one; the last says how many more there are."""
        first = max(0, min(self._place - ROWS + 1, len(self.messages) - ROWS))
        if not self.has_focus:
            first = 0
        shown = self.messages[first : first + ROWS]
        more = len(self.messages) - first - len(shown)
        rows = [
            self._row(first + at, message, more if at == len(shown) - 1 else 0)
            for at, message in enumerate(shown)
        ]
        return Content("\n").join(rows)

    def _row(self, place: int, message: "Message", more: int) -> Content:
        width = self.content_size.width
        is_chosen = self.has_focus and place == self._place
        edit, remove = ("enter edit", "del remove") if is_chosen else ("edit", "remove")
        offer = f"{self._offer}  " if self._offer and place == 0 else ""
        right = Content.assemble(
            self._word(message, offer, "send_queued") if offer else "",
            (f"+{more} more  " if more else "", "$text-muted"),
            self._word(message, edit, "edit_queued"),
            "  ",
            self._word(message, remove, "remove_queued"),
        )
        # A message may be a megabyte, and one row shows its beginning.
        words = clean_line(message.text[:400]) or "[image]"
        left = Content.assemble(
            (f"{place + 1} ", "$accent"),
            ("next  " if place == 0 else "", "$accent"),
            (words, "" if is_chosen else "$text-muted"),
        ).truncate(max(0, width - right.cell_length - 2), ellipsis=True, pad=True)
        line = Content.assemble(left, "  ", right)
        return line.stylize_before("on $panel") if is_chosen else line

    def _word(self, message: "Message", word: str, action: str) -> Content:
        return Content.styled(word, "$text-muted").stylize(
            Style.from_meta({"queued": (message.id, action)})
        )
