"""The placeholder without a conversation: the next step as a sentence with its key."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.terminal import screen_reader

Part = Content | str | tuple[str, str]


MARK = (
    "      ▲",
    "     ▟█▙      ▲",
    "    ▟███▙    ▟█▙",
    "   ▟█████▙  ▟███▙",
    "      █       █",
)
"""Two firs, as in the icon; the trunks are its last line."""
MARK_HEIGHT = 26
"""Rows of the pane from which on the mark is shown."""


@dataclass(frozen=True, slots=True)
class Step:
    """A suggested next step."""

    title: str
    sentence: str
    offer: str = ""
    """What enter does, such as `Add /path as a project`; empty if enter does nothing."""
    action: str = ""
    """The action that enter runs."""
    more: tuple[tuple[str, str], ...] = ()
    """More keys, and what they do."""
    letters: tuple[tuple[str, str, str], ...] = ()
    """Letters that act here, where nothing can be written: the letter, what it does, its action."""
    recent: tuple[tuple[str, str, str], ...] = ()
    """Sessions that digits open: id, name, and state or age."""


class Welcome(Static, can_focus=True):
    """Shows one step at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "Accept the suggestion", show=False)
    ]

    class Accepted(Message):
        """The suggested action was accepted."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    class Opened(Message):
        """A recent session was chosen."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.step = Step("Spinney", "Starting …")

    def on_mount(self) -> None:
        """Show the first step."""
        self.show(self.step)

    def on_resize(self) -> None:
        """Show the mark if there is room for it."""
        self.show(self.step)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Fill the key of the suggestion only while it is accepted by it."""
        super().watch_has_focus(has_focus)
        self.show(self.step)

    def show(self, step: Step) -> None:
        """Show a step."""
        self.step = step
        parts: list[Part] = []
        if self.size.height >= MARK_HEIGHT and not screen_reader.is_enabled():
            *trees, trunks = MARK
            parts += [("\n".join(trees), "$accent"), (f"\n{trunks}\n\n", "$text-muted")]
        parts += [(step.title, "bold $accent" if self.has_focus else "bold")]
        parts += ["\n\n", step.sentence]
        for number, (_, name, note) in enumerate(step.recent, 1):
            parts += ["\n\n" if number == 1 else "\n", (f"{number:>7}", "$accent"), f"  {name}"]
            parts.append((f"  {note}", "$text-muted"))
        if step.offer:
            badge = "$on-accent on $accent" if self.has_focus else "$accent"
            parts += ["\n\n", (" enter ", badge), f"  {step.offer}"]
        more = [*((letter, what) for letter, what, _ in step.letters), *step.more]
        for number, (key, what) in enumerate(more):
            parts += ["\n\n" if number == 0 else "\n", (f"{key:>7}", "$accent"), f"  {what}"]
        self.update(Content.assemble(*parts), layout=False)  # it fills its place

    def on_key(self, event: events.Key) -> None:
        """Act on the letters and digits that the step offers."""
        action = next((act for letter, _, act in self.step.letters if letter == event.key), None)
        if action is not None:
            event.stop()
            self.post_message(self.Accepted(action))
        elif event.key.isdigit() and 0 < int(event.key) <= len(self.step.recent):
            event.stop()
            self.post_message(self.Opened(self.step.recent[int(event.key) - 1][0]))

    def action_accept(self) -> None:
        """Accept the suggested action."""
        if self.step.action:
            self.post_message(self.Accepted(self.step.action))

    def on_click(self) -> None:
        """Take the focus."""
        self.focus()
