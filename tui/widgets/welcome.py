"""The placeholder without a conversation: the next step as a sentence with its key."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.step = Step("Spinney", "Starting …")

    def on_mount(self) -> None:
        """Show the first step."""
        self.show(self.step)

    def show(self, step: Step) -> None:
        """Show a step."""
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
        """Accept the suggested action."""
        if self.step.action:
            self.post_message(self.Accepted(self.step.action))

    def on_click(self) -> None:
        """Take the focus."""
        self.focus()
