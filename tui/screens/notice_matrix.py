"""Which channels carry what: reasons in rows, channels in columns."""

from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.api.notices import list_notice_channels
from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.notices import (
    CHANNEL_LABELS,
    CHANNELS,
    REASONS,
    ChannelStatus,
    NoticeChannel,
    NoticeReason,
)
from model.preferences.fields import PreferenceField, entry_label
from tui.desk import Desk
from tui.screens import preferences_rows as rows
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

_LABEL_WIDTH = 14
_COLUMN_WIDTH = 10


class NoticeMatrix(Dialog[None]):
    """The preference `notify_matrix`; a change is saved at once."""

    CSS = """
    NoticeMatrix > .dialog { width: 80; max-width: 100%; padding: 0 1; }
    NoticeMatrix .dialog #channels { padding: 0; }
    NoticeMatrix .dialog #about { margin: 1 0 0 0; height: auto; min-height: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False, priority=True),
        Binding("right", "move(1)", show=False, priority=True),
        Binding("space", "switch", show=False),
        Binding("delete", "reset", show=False),
        Binding("t", "test", show=False),
    ]

    def __init__(self, desk: Desk, field: PreferenceField) -> None:
        super().__init__(field.label)
        self._desk = desk
        self._field = field
        self._column = 0
        self._channels: dict[str, ChannelStatus] = {}
        self._wanted: dict[NoticeReason, list[NoticeChannel]] = {}
        """Values that are not confirmed yet: keys can be pressed faster."""

    def body(self) -> list[Widget]:
        """Channels, reasons, what the channel under the cursor is, and keys."""
        keys = (
            ("← → ↑ ↓", "move"), ("space", "on or off"), ("del", "default"), ("t", "test"),
            ("esc", "close"),
        )  # fmt: skip
        return [
            Static(id="channels", markup=False),
            OptionList(markup=False, compact=True),
            Static(id="about", markup=False),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show the matrix, and follow what any client changes."""
        self._desk.host.preferences_changed.subscribe(self, lambda _: self._fill())
        self._fill()
        reasons = self.query_one(OptionList)
        reasons.highlighted = 0
        reasons.focus()
        self._desk.start(self._read_channels())

    async def _read_channels(self) -> None:
        channels = await self._desk.client.call(list_notice_channels)
        self._channels = {each.name: each for each in channels or ()}
        if self.is_mounted:
            self._fill()

    @property
    def _values(self) -> dict[NoticeReason, list[NoticeChannel]]:
        return {**self._desk.state.preferences.notify_matrix, **self._wanted}

    @property
    def _reason(self) -> NoticeReason:
        return REASONS[self.query_one(OptionList).highlighted or 0]

    def _fill(self) -> None:
        self.query_one("#channels", Static).update(self._header())
        reasons = self.query_one(OptionList)
        if not reasons.option_count:
            reasons.add_options([Option(self._row(each), id=each) for each in REASONS])
        for reason in REASONS:
            reasons.replace_option_prompt(reason, self._row(reason))
        self.query_one("#about", Static).update(self._describe(CHANNELS[self._column]))

    def _header(self) -> Content:
        parts: list[tuple[str, str]] = [(" " * _LABEL_WIDTH, "")]
        for n, name in enumerate(CHANNELS):
            style = "bold underline" if n == self._column else "$text-muted"
            label = CHANNEL_LABELS[name]
            parts += [(label, style), (" " * (_COLUMN_WIDTH - len(label)), "")]
        return Content.assemble(*parts)

    def _row(self, reason: NoticeReason) -> Content:
        chosen, is_here = self._values[reason], reason == self._reason
        parts: list[tuple[str, str]] = [(f"{entry_label(reason):<{_LABEL_WIDTH}}", "")]
        for n, name in enumerate(CHANNELS):
            style = "bold reverse" if is_here and n == self._column else ""
            box = "[x]" if name in chosen else "[ ]"
            parts += [(box, style), (" " * (_COLUMN_WIDTH - len(box)), "")]
        return Content.assemble(*parts)

    def _describe(self, name: NoticeChannel) -> Content:
        status = self._channels.get(name)
        if status is None:
            return Content("")
        if status.problem is not None:
            text = f"The last notice could not be sent: {clean_line(status.problem)}."
            return Content.styled(text, "$error")
        state = "set up" if status.is_ready else "not set up yet"
        return Content.assemble(
            (f"{status.label}: {state}. ", "bold"), (status.hint, "$text-muted")
        )

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._fill()

    def action_move(self, step: int) -> None:
        """Move to another channel."""
        self._column = (self._column + step) % len(CHANNELS)
        self._fill()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_switch()

    def action_switch(self) -> None:
        """Switch the channel under the cursor on or off for the reason under it."""
        chosen, name = self._values[self._reason], CHANNELS[self._column]
        self._save(
            self._reason,
            [each for each in CHANNELS if (each in chosen) != (each == name)],
        )

    def action_reset(self) -> None:
        """Reset the reason under the cursor to its default."""
        self._save(self._reason, self._field.default[self._reason])

    def _save(self, reason: NoticeReason, channels: list[NoticeChannel]) -> None:
        self._wanted[reason] = channels
        self._fill()
        self._desk.start(self._send(reason, channels))

    async def _send(self, reason: NoticeReason, channels: list[NoticeChannel]) -> None:
        changes: dict[str, Any] = {self._field.key: {reason: channels}}
        try:
            await self._desk.client.call(update_preferences, changes=changes)
        except SpinneyError as error:
            self._desk.say(rows.explain_refusal(error.message), bad=True)
        finally:
            if self._wanted.get(reason) == channels:
                del self._wanted[reason]
            if self.is_mounted:
                self._fill()

    def action_test(self) -> None:
        """Send a test notice to every channel that is set up."""
        self._desk.perform("test_notice")
