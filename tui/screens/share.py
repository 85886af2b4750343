"""The dialog that shares a session or a project: the terms of a guest link, and then the link."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.text import clean_line
from model.domain.guests import ROLES, GuestRole
from model.domain.modes import ExecutionMode
from tui.screens.dialog import AskText, Dialog
from tui.screens.server_qr import QrScreen
from tui.widgets.key_line import keys_line

T = TypeVar("T")

HOURS: Final = (1, 8, 24, 168, 720)
DEVICES: Final = (1, 2, 5, 20, 100)
MODES: Final[tuple[ExecutionMode, ...]] = ("plan", "build", "yolo")

_ROLE_TEXTS: Final[dict[GuestRole, str]] = {
    "viewer": "reads",
    "approver": "also answers what the agent asks",
    "driver": "also sends messages, and stops",
}
_TIME_TEXTS: Final = {1: "1 hour", 8: "8 hours", 24: "1 day", 168: "1 week", 720: "30 days"}


@dataclass(frozen=True, slots=True)
class ShareTerms:
    """What a guest may do, and for how long."""

    role: GuestRole = "viewer"
    name: str = ""
    hours: int = 24
    max_devices: int = 1
    max_mode: ExecutionMode = "build"


class ShareDialog(Dialog[ShareTerms]):
    """The terms, each of which a key changes; enter makes the link."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "share", show=False),
        Binding("r", "change_role", show=False),
        Binding("t", "change_time", show=False),
        Binding("d", "change_devices", show=False),
        Binding("m", "change_mode", show=False),
        Binding("n", "change_name", show=False),
    ]

    def __init__(self, scope: str, sentence: str) -> None:
        super().__init__(f"Share “{clean_line(scope)}”")
        self._sentence = sentence
        self.terms = ShareTerms()

    def body(self) -> list[Widget]:
        """What is shared, the terms, and the keys."""
        return [
            Static(self._sentence, markup=False, classes="words"),
            VerticalScroll(Static(id="terms", markup=False), classes="page", can_focus=False),
            Static(classes="keys", markup=False),
        ]

    def on_mount(self) -> None:
        """Show the terms."""
        self._show()

    def action_share(self) -> None:
        """Close with the terms."""
        self.dismiss(self.terms)

    def action_change_role(self) -> None:
        """Choose the next role."""
        self._change(role=_next(ROLES, self.terms.role))

    def action_change_time(self) -> None:
        """Choose the next duration."""
        self._change(hours=_next(HOURS, self.terms.hours))

    def action_change_devices(self) -> None:
        """Choose the next number of devices."""
        self._change(max_devices=_next(DEVICES, self.terms.max_devices))

    def action_change_mode(self) -> None:
        """Choose the next mode."""
        if self.terms.role != "viewer":
            self._change(max_mode=_next(MODES, self.terms.max_mode))

    def action_change_name(self) -> None:
        """Ask for whom the link is."""
        asked = AskText("For whom is the link?", self.terms.name, empty="no name")
        self.app.push_screen(asked, self._rename)

    def _rename(self, name: str | None) -> None:
        if name is not None:
            self._change(name=name)

    def _change(self, **terms: object) -> None:
        self.terms = replace(self.terms, **terms)  # type: ignore[arg-type] # names of its fields
        self._show()

    def _show(self) -> None:
        terms, is_viewer = self.terms, self.terms.role == "viewer"
        rows = [
            ("For", clean_line(terms.name) or "not named", ""),
            ("Role", terms.role, _ROLE_TEXTS[terms.role]),
            ("Ends after", _TIME_TEXTS[terms.hours], ""),
            ("Devices", str(terms.max_devices), "that can open the link"),
        ]
        if not is_viewer:
            rows.append(("Highest mode", terms.max_mode, "that the guest can set or approve"))
        lines = [_row(*row) for row in rows]
        self.query_one("#terms", Static).update(Content("\n").join(lines))
        mode = [] if is_viewer else [("m", "mode")]
        first = [("n", "name"), ("r", "role"), ("t", "time"), ("d", "devices"), *mode]
        keys = (keys_line(*first), keys_line(("enter", "make a link"), ("esc", "cancel")))
        self.query_one(".keys", Static).update(Content("\n").join(keys))


class GuestLinkScreen(Dialog[None]):
    """A new guest link, which is shown once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", show=False),
        Binding("q", "qr_code", show=False),
    ]

    def __init__(self, url: str, hint: str, copy: Callable[[str], None]) -> None:
        super().__init__("Guest link")
        self.url = url
        self._hint = hint
        self._copy = copy

    def body(self) -> list[Widget]:
        """The link, what to know of it, and the keys."""
        text = Content.assemble(
            (self.url, "bold $accent"),
            "\n\nIt is shown only now, and works for those who open it first.",
            (f"\n\n{self._hint}" if self._hint else "", "$text-warning"),
        )
        return [
            VerticalScroll(Static(text, markup=False), classes="page"),
            Static(keys_line(("c", "copy"), ("q", "QR code"), ("esc", "close")), classes="keys"),
        ]

    def action_copy(self) -> None:
        """Copy the link."""
        self._copy(self.url)

    def action_qr_code(self) -> None:
        """Show the link as a QR code."""
        self.app.push_screen(QrScreen({"The code is the guest link.": self.url}))


def _next(values: Sequence[T], present: T) -> T:
    return values[(values.index(present) + 1) % len(values)]


def _row(label: str, value: str, text: str) -> Content:
    return Content.assemble(
        (f"{label:<13}", "$text-muted"),
        (value, "bold"),
        (f"  {text}" if text else "", "$text-muted"),
    )
