"""The first screen of a new installation: what is there, what is missing, what to do first."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.about import Findings, Found, Part, rows


class FirstRun(Findings[str]):
    """What was found. The result is the action that is wanted next; none: to look around."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "add", show=False),
        Binding("ctrl+q", "dismiss('quit')", show=False),
    ]
    CSS = "FirstRun > .dialog { width: 88; }"

    def __init__(self, desk: Desk, *, welcome: bool) -> None:
        super().__init__(desk, "Welcome to Spinney" if welcome else "Programs")
        self._welcome = welcome

    def body(self) -> list[Widget]:
        """What was found, and keys."""
        add = ("enter", "add it" if self._offers else "add a project")
        keys = [add] if self._welcome else []
        keys += [("r", "look again"), ("esc", "look around" if self._welcome else "close")]
        return self.page(*keys)

    @property
    def _offers(self) -> bool:
        return self._desk.offered is not None and not self._desk.state.projects

    def told(self, found: Found) -> list[Part]:
        """Programs, and what to do about those that are missing."""
        return [*rows(found, brief=True), *self._advice(found)]

    def show(self, parts: list[Part]) -> None:
        """Put this on the page, between a greeting and the way without any program."""
        demo = ("spinney demo", "bold $accent")
        trying: list[Part] = ["\nTo try it without any of these, leave and run: ", demo]
        super().show([*self._greeting(), *parts, *trying])

    def _greeting(self) -> list[Part]:
        if not self._welcome:
            return []
        words = (
            "Agents work here side by side, each in a worktree of its own: a directory with a "
            "branch, so that none is in another's way. "
        )
        if self._offers:
            path = clean_line(str(self._desk.offered))
            return [words, "You are in a repository: ", (path, "bold"), "\n\n"]
        return [words, "It begins with a git repository.\n\n"]

    def _advice(self, found: Found) -> list[Part]:
        if any(agent.problem is None for agent in found.agents):
            return []
        return [
            ("\nNo agent can be used yet. ", "$warning"),
            "One is enough: run the command below its name, then press r.\n",
        ]

    def action_add(self) -> None:
        """Add the repository at hand, or one by its path."""
        if self._welcome:
            self.dismiss("add_offered" if self._offers else "add_project")
