"""The queued messages of a session, in order; each can be edited or removed."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message as TextualMessage
from textual.style import Style
from textual.widget import Widget

from model.base.moments import format_moment
from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.messages import Message

ROWS: Final = 4
"""Visible messages."""


class Queue(Widget, can_focus=True):
    """One row per message, the next one to be sent first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter,e", "screen.do('edit_queued')", show=False, id="edit_queued"),
        Binding("t", "screen.do('schedule_queued')", show=False, id="schedule_queued"),
        Binding("delete,backspace", "screen.do('remove_queued')", show=False, id="remove_queued"),
        Binding("escape", "leave", show=False),
    ]

    DEFAULT_CSS = "Queue { height: auto; padding: 0 1; display: none; }"

    FOCUS_ON_CLICK = False  # after a click, typing continues in the message box

    class Typed(TextualMessage):
        """A printable key without a binding was pressed."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.messages: tuple[Message, ...] = ()
        self._send_label = ""
        self._can_steer = False
        self._selected = ""

    @property
    def selected_message(self) -> "Message | None":
        """The message that actions apply to: the newest, unless another one was selected.

        `None` if the selected one is not queued any more.
        """
        if not self.messages or (self._selected and self._selected not in self._ids):
            return None
        return self.messages[self._index]

    @property
    def message_to_steer(self) -> "Message | None":
        """The selected message, or the next one that was not sent into the turn yet."""
        if self.has_focus:
            return self.selected_message
        return next((message for message in self.messages if not message.steered), None)

    @property
    def _index(self) -> int:
        ids = self._ids
        return ids.index(self._selected) if self._selected in ids else len(ids) - 1

    @property
    def _ids(self) -> list[str]:
        return [message.id for message in self.messages]

    @property
    def is_stopped(self) -> bool:
        """Whether messages are queued and no running agent will get them."""
        waits = any(message.send_at is None for message in self.messages)
        return bool(self._send_label) and waits

    def follow(
        self, messages: "Sequence[Message]", send_label: str, *, can_steer: bool = False
    ) -> None:
        """Show the queued messages, and `send_label` ('send now') if no agent is running.

        With `can_steer`, a turn is running into which each can be sent.
        """
        shown = (self.messages, self._send_label, self._can_steer)
        if (tuple(messages), send_label, can_steer) == shown:
            return
        self._send_label, self._can_steer = send_label, can_steer
        has_more_rows = min(len(messages), ROWS) != min(len(self.messages), ROWS)
        self.messages = tuple(messages)
        self.display = bool(messages)
        if self.has_focus and self._selected not in self._ids:
            self.action_leave()  # otherwise the next key would apply to another message
        self.refresh(layout=has_more_rows)

    def on_focus(self) -> None:
        """Select the newest message."""
        self._selected = self.messages[-1].id if self.messages else ""
        self.refresh()

    def on_blur(self) -> None:
        """Clear the selection, so that actions apply to the newest message."""
        self._selected = ""
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Post letters without a binding as `Typed`, for the message box."""
        if event.character and event.is_printable and event.key not in self.screen.active_bindings:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))

    def action_choose(self, step: int) -> None:
        """Select the previous or next message."""
        index = min(max(self._index + step, 0), len(self.messages) - 1)
        self._selected = self.messages[index].id
        self.refresh()

    def action_leave(self) -> None:
        """Move the focus to the message box."""
        self.screen.query_one("#composer").focus()

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked text."""
        target = event.style.meta.get("queued")
        if isinstance(target, tuple):
            self._selected, action = target
            await self.screen.run_action(f"do('{action}')")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of visible messages."""
        return min(len(self.messages), ROWS)

    def render(self) -> Content:
        """Render the rows around the selected one; the last one counts hidden messages."""
        first = max(0, min(self._index - ROWS + 1, len(self.messages) - ROWS))
        if not self.has_focus:
            first = 0
        shown = self.messages[first : first + ROWS]
        more = len(self.messages) - first - len(shown)
        rows = [
            self._row(first + at, message, more if at == len(shown) - 1 else 0)
            for at, message in enumerate(shown)
        ]
        return Content("\n").join(rows)

    def _row(self, index: int, message: "Message", more: int) -> Content:
        width = self.content_size.width
        is_chosen = self.has_focus and index == self._index
        edit, when, remove = (
            ("enter edit", "t time", "del remove") if is_chosen else ("edit", "time", "remove")
        )
        is_next = message.send_at is None and self._is_first_without_time(index)
        send_label = f"{self._send_label}  " if self._send_label and is_next else ""
        steers = self._can_steer and not message.steered
        right = Content.assemble(
            self._link(message, send_label, "send_queued") if send_label else "",
            self._link(message, "send now  ", "send_now") if steers else "",
            (f"+{more} more  " if more else "", "$text-muted"),
            self._link(message, edit, "edit_queued"),
            "  ",
            self._link(message, when, "schedule_queued"),
            "  ",
            self._link(message, remove, "remove_queued"),
        )
        # A message may be a megabyte, but one row only shows its beginning.
        text = clean_line(message.text[:400]) or "[image]"
        left = Content.assemble(
            (f"{index + 1} ", "$accent"),
            (self._order_of(index, message), "$accent"),
            (text, "" if is_chosen else "$text-muted"),
        ).truncate(max(0, width - right.cell_length - 2), ellipsis=True, pad=True)
        line = Content.assemble(left, "  ", right)
        return line.stylize_before("on $panel") if is_chosen else line

    def _order_of(self, index: int, message: "Message") -> str:
        """When the message is sent, as far as that is worth a word."""
        if message.steered and self._can_steer:
            return "sent, not read yet  "
        if message.send_at is not None:
            return f"{format_moment(message.send_at, time.time())}  "
        return "next  " if self._is_first_without_time(index) else ""

    def _is_first_without_time(self, index: int) -> bool:
        return all(one.send_at is not None for one in self.messages[:index])

    def _link(self, message: "Message", label: str, action: str) -> Content:
        return Content.styled(label, "$text-muted").stylize(
            Style.from_meta({"queued": (message.id, action)})
        )
