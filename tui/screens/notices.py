"""The inbox: what waits for the person, and what they should know, in one list."""

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.api.notices import dismiss_notice
from model.base.amounts import format_age
from model.base.text import clean_line
from model.domain.notices import Notice, sort_notices
from tui.desk import Desk
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from tui.store.mirror import Change

_MARKS = {
    "permission": ("?", "$warning"),
    "question": ("?", "$warning"),
    "plan": ("?", "$warning"),
    "finished": ("✓", "$success"),
    "review": ("✓", "$success"),
}
_BAD = ("✗", "$error")


class NoticesScreen(Dialog[Notice]):
    """Lists the standing notices and returns the one to open. Follows changes while it is open."""

    CSS = """
    NoticesScreen > .dialog { width: 100; max-width: 96%; }
    NoticesScreen .dialog OptionList { max-height: 20; }
    NoticesScreen .dialog #nothing { display: none; margin: 0 0 1 0; }
    NoticesScreen.-empty .dialog #nothing { display: block; }
    NoticesScreen.-empty .dialog OptionList { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "dismiss_notice", show=False),
        Binding("t", "test", show=False),
        Binding("p", "settings", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__("Notices")
        self._desk = desk

    def body(self) -> list[Widget]:
        """The list, what it says if nothing stands, and the keys."""
        keys = (
            ("enter", "open"), ("del", "dismiss"), ("t", "test"), ("p", "settings"),
            ("esc", "close"),
        )  # fmt: skip
        return [
            Static("Nothing waits for you.", id="nothing", markup=False),
            OptionList(markup=False, compact=True),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Fill the list, and follow the state."""
        self._desk.mirror.followers.append(self._follow)
        self._fill()
        notices = self.query_one(OptionList)
        notices.highlighted = 0 if notices.option_count else None
        notices.focus()

    def on_unmount(self) -> None:
        """Stop following."""
        self._desk.mirror.followers.remove(self._follow)

    def _follow(self, change: "Change") -> None:
        if change.before.notices is not change.state.notices:
            self._fill()

    def on_resize(self) -> None:
        """Fit the rows to the new width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        listed = self.query_one(OptionList)
        option = listed.highlighted_option
        present, position = (option.id if option else None), listed.highlighted or 0
        notices = sort_notices(self._desk.state.notices.values())
        listed.set_options([Option(self._row(each), id=each.id) for each in notices])
        ids = [each.id for each in notices]
        self.set_class(not ids, "-empty")
        if ids:
            # The cursor stays on its notice; if that is gone, in its place.
            there = ids.index(present) if present in ids else min(position, len(ids) - 1)
            listed.highlighted = there

    def _row(self, notice: Notice) -> Content:
        mark, color = _MARKS.get(notice.reason, _BAD)
        age = format_age(notice.created_at, time.time())
        parts = [
            (f"{mark} ", color),
            (clean_line(notice.title), "bold" if notice.request_id else ""),
            (f"  {age}", "$text-muted"),
        ]
        if notice.text:
            parts.append((f"  {clean_line(notice.text)}", "$text-muted"))
        return Content.assemble(*parts)

    @property
    def _notice(self) -> Notice | None:
        option = self.query_one(OptionList).highlighted_option
        return self._desk.state.notices.get(option.id or "") if option is not None else None

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._notice)

    def action_dismiss_notice(self) -> None:
        """Dismiss the notice under the cursor; one that waits for an answer stays."""
        if (notice := self._notice) is not None:
            self._desk.start(self._dismiss(notice.id))

    async def _dismiss(self, notice_id: str) -> None:
        await self._desk.client.call(dismiss_notice, notice_id=notice_id)

    def action_test(self) -> None:
        """Send a test notice to every channel that is set up."""
        self._desk.perform("test_notice")

    def action_settings(self) -> None:
        """Open the settings of notices in place of the list."""
        self.dismiss(None)
        self._desk.perform("notice_settings")
