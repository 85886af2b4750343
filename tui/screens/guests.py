"""The dialog with all guest links: what each one may, and the key that ends it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.amounts import format_age
from model.base.errors import SpinneyError
from model.base.moments import format_moment
from model.base.plural import count
from model.base.text import clean_line
from model.domain.guests import GuestAction, GuestLink
from tui.screens.dialog import Confirm, Dialog, Report
from tui.widgets.key_line import keys_line

_NO_LINKS: Final = (
    "No guest links. The command palette has “Share the session with a guest”, and the same for"
    " the project."
)


@dataclass(frozen=True, slots=True)
class GuestWork:
    """The operations on guest links."""

    load: Callable[[], Awaitable[Sequence[GuestLink]]]
    revoke: Callable[[str], Awaitable[None]]
    """Ends a link, by its id."""
    load_actions: Callable[[str | None], Awaitable[Sequence[GuestAction]]]
    """Loads what was done with a link, or with all."""
    now: Callable[[], float]


class GuestsScreen(Dialog[None]):
    """The links, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "revoke", show=False),
        Binding("enter", "show_actions", show=False, priority=True),
        Binding("a", "show_all_actions", show=False),
    ]

    def __init__(self, work: GuestWork, links: Sequence[GuestLink]) -> None:
        super().__init__("Guests")
        self._work = work
        self.links = list(links)

    def body(self) -> list[Widget]:
        """The list and its keys."""
        return [
            Static(_NO_LINKS, markup=False, classes="words"),
            OptionList(markup=False, compact=True),
            Static(classes="keys", markup=False),
        ]

    def on_mount(self) -> None:
        """Show the links."""
        self._show()
        self.query_one(OptionList).focus()

    async def reload(self) -> None:
        """Read the links again."""
        self.links = list(await self._work.load())
        self._show()

    def _show(self) -> None:
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        options.clear_options()
        options.add_options([Option(_row(link, self._work.now())) for link in self.links])
        options.display = bool(self.links)
        self.query_one(".words").display = not self.links
        if self.links:
            options.highlighted = min(at, len(self.links) - 1)
        of_link = [("enter", "what was done"), ("x", "end access")] if self.links else []
        keys = keys_line(*of_link, ("a", "all actions"), ("esc", "close"))
        self.query_one(".keys", Static).update(keys)

    @property
    def _marked(self) -> GuestLink | None:
        at = self.query_one(OptionList).highlighted
        return self.links[at] if at is not None and at < len(self.links) else None

    def action_revoke(self) -> None:
        """Ask, and end the access of the marked link."""
        link = self._marked
        if link is None:
            return
        question = f"End the access of “{link.name}”? Open pages of the guest are disconnected."
        confirm = Confirm("End access", question, "end access")
        self.app.push_screen(confirm, lambda agreed: self._revoke(link) if agreed else None)

    def _revoke(self, link: GuestLink) -> None:
        async def revoke() -> None:
            try:
                await self._work.revoke(link.id)
            except SpinneyError as error:
                self.notify(error.message, severity="error", markup=False)
            await self.reload()

        self.run_worker(revoke(), exit_on_error=False)

    def action_show_actions(self) -> None:
        """Show what was done with the marked link."""
        if self._marked is not None:
            self.run_worker(self._show_actions(self._marked.id), exit_on_error=False)

    def action_show_all_actions(self) -> None:
        """Show what all guests did."""
        self.run_worker(self._show_actions(None), exit_on_error=False)

    async def _show_actions(self, link_id: str | None) -> None:
        actions = await self._work.load_actions(link_id)
        lines = [_describe(action) for action in actions]
        text = Content("\n").join(lines) if lines else Content("Nothing was done yet.")
        await self.app.push_screen(Report("What guests did", text))


def _row(link: GuestLink, now: float) -> Content:
    is_over = link.expires_at <= now
    end = "ended" if is_over else f"until {format_moment(link.expires_at, now)}"
    age = format_age(link.last_used, now) if link.last_used else ""
    used = ("in use" if age == "now" else f"used {age} ago") if age else "not used yet"
    facts = f"{end} · {link.devices} of {count(link.max_devices, 'device')} · {used}"
    return Content.assemble(
        (clean_line(link.name), "$text-muted" if is_over else "bold"),
        f"  {link.role} of {clean_line(link.scope_name)}",
        (f"\n  {facts}", "$text-muted"),
    )


def _describe(action: GuestAction) -> Content:
    when = datetime.fromtimestamp(action.at).strftime("%d %b %H:%M")
    device = f", device {action.device}" if action.device > 1 else ""
    return Content.assemble(
        (f"{when}  ", "$text-muted"),
        (clean_line(action.name), "bold"),
        f"{device} {clean_line(action.action)}",
        ("" if action.ok else " (refused)", "$text-error"),
    )
