"""What stands where a conversation would be, while there is none: a sentence and the key."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Step:
    """The next thing that a person can do."""

    title: str
    sentence: str
    offer: str = ""
    """What enter does, as `Add /path as a project`; empty where enter does nothing."""
    action: str = ""
    """The action that enter does."""
    more: tuple[tuple[str, str], ...] = ()
    """Further keys, and what they do."""


class Welcome(Static, can_focus=True):
    """One step at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "Do what is offered", show=False)
    ]

    class Accepted(Message):
        """Enter was pressed on an offer."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.step = Step("Spinney", "Starting …")

    def on_mount(self) -> None:
        """Show the first step."""
        self.show(self.step)

    def show(self, step: Step) -> None:
        """Show this step."""
        self.step = step
        parts: list[Content | str | tuple[str, str]] = [
            (step.title, "bold $accent"),
            "\n\n",
            step.sentence,
        ]
        if step.offer:
            parts += ["\n\n", (" enter ", "$on-accent on $accent"), f"  {step.offer}"]
        for number, (key, what) in enumerate(step.more):
            parts += ["\n\n" if number == 0 else "\n", (f"{key:>7}", "$accent"), f"  {what}"]
        self.update(Content.assemble(*parts))

    def action_accept(self) -> None:
        """Do what is offered."""
        if self.step.action:
            self.post_message(self.Accepted(self.step.action))

    def on_click(self) -> None:
        """A click takes the focus; the second one accepts."""
        self.focus()
