"""The first screen of a new installation: installed and missing programs, first steps."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.about import Findings, InstallationReport, Part, rows


class FirstRun(Findings[str]):
    """The findings. The result is the id of the next action, or `None`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "add", show=False),
        Binding("d", "dismiss('try_demo')", show=False),
        Binding("ctrl+q", "dismiss('quit')", show=False),
    ]
    CSS = "FirstRun > .dialog { width: 88; }"

    def __init__(self, desk: Desk, *, welcome: bool) -> None:
        super().__init__(desk, "Welcome to Spinney" if welcome else "Programs")
        self._welcome = welcome

    def body(self) -> list[Widget]:
        """The findings and the keys."""
        add = ("enter", "add it" if self._offers else "add a project")
        keys = [add] if self._welcome else []
        keys += [
            ("d", "try the demo"),
            ("r", "check again"),
            ("esc", "skip" if self._welcome else "close"),
        ]
        return self.page(*keys)

    @property
    def _offers(self) -> bool:
        return self._desk.offered is not None and not self._desk.state.projects

    def format_report(self, found: InstallationReport) -> list[Part]:
        """Return the programs, and what to do if no agent is installed."""
        return [*rows(found, brief=True), *self._advice(found)]

    def show(self, parts: list[Part]) -> None:
        """Display this content between the greeting and the hint at the demo."""
        trying: list[Part] = ["\nThe demo needs none of these: press ", ("d", "bold $accent"), "."]
        super().show([*self._greeting(), *parts, *trying])

    def _greeting(self) -> list[Part]:
        if not self._welcome:
            return []
        words = (
            "Run coding agents in parallel. Each works in its own git worktree, a separate "
            "directory and branch, so they don't get in each other's way. "
        )
        if self._offers:
            path = clean_line(str(self._desk.offered))
            return [words, "You are in the repository ", (path, "bold"), ".\n\n"]
        return [words, "Start by adding a git repository.\n\n"]

    def _advice(self, found: InstallationReport) -> list[Part]:
        if any(agent.problem is None for agent in found.agents):
            return []
        return [
            ("\nNo agent is ready to use. ", "$warning"),
            "You need one: run the command below its name, then press r.\n",
        ]

    def action_add(self) -> None:
        """Add the current repository, or ask for a path."""
        if self._welcome:
            self.dismiss("add_offered" if self._offers else "add_project")
