"""What this Spinney is and what it has: version, programs, folders, problems, the log."""

import asyncio
import platform
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.api.doctor import BackendReport, Installation, get_installation, get_problems
from model.api.doctor import list_backends as list_backends_command
from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.dialog import Dialog, R
from tui.widgets.key_line import keys_line

NAME_WIDTH = 14
REMEDY_WIDTH = 56
"""Cells of a remedy in a row; in a terminal of 80 columns there are no more."""
_MARKS = {True: ("✓ ", "$success"), False: ("✗ ", "$error"), None: ("· ", "$text-muted")}
Part = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Found:
    """All that was found of an installation."""

    installation: Installation
    agents: list[BackendReport]
    problems: list[str]


async def look(desk: Desk) -> Found:
    """Look at programs and folders; takes some seconds at most. Raises `SpinneyError`."""
    installation, agents, problems = await asyncio.gather(
        desk.client.call(get_installation),
        desk.client.call(list_backends_command),
        desk.client.call(get_problems),
    )
    desk.set_agents(agents)
    return Found(installation, agents, problems)


def rows(found: Found, *, brief: bool = False) -> list[Part]:
    """A line for each program and folder, and below it the one command that mends it.

    `brief` leaves out where programs are, and folders that are in order.
    """
    parts: list[Part] = []
    machine = found.installation.findings
    programs = [f for f in machine if f.name in ("git", "gh")]
    for finding in programs:
        parts += _row(finding.ok, finding.name, finding.found, finding.fix, finding.remedy)
    for agent in found.agents:
        ok = agent.problem is None or (None if agent.program is None else False)
        parts += _row(ok, agent.label, _told(agent, brief), agent.fix, agent.problem or "")
    for finding in machine:
        if finding not in programs and not (brief and finding.ok):
            parts += _row(finding.ok, finding.name, finding.found, finding.fix, finding.remedy)
    return parts


def _told(agent: BackendReport, brief: bool) -> str:
    if agent.program is None:
        return "not installed"
    words = [agent.version or "version unknown"]
    words += ["not signed in"] if agent.signed_in is False else []
    return ", ".join(words) if brief else f"{', '.join(words)}  {agent.program}"


def _row(ok: bool | None, name: str, found: str, fix: str | None, remedy: str) -> list[Part]:
    mark, style = _MARKS[ok]
    parts: list[Part] = [(mark, style), (f"{clean_line(name):<{NAME_WIDTH}}", "bold")]
    parts.append((f"{clean_line(found)}\n", "" if ok else "$text-muted"))
    below = " " * (NAME_WIDTH + 2)
    if ok is not True and fix:
        parts += [below, (f"{clean_line(fix)}\n", "$accent")]
    elif ok is not True and remedy:
        # Wrapped here, so that it stays below the name also where a row ends.
        parts += [f"{below}{line}\n" for line in wrap(clean_line(remedy), REMEDY_WIDTH)]
    return parts


class Findings(Dialog[R]):
    """A page of what is found, looked at anew as often as one likes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "look", show=False)]

    def __init__(self, desk: Desk, title: str) -> None:
        super().__init__(title)
        self._desk = desk
        self.content = Content("")

    def page(self, *keys: tuple[str, str]) -> list[Widget]:
        """What was found, and keys."""
        return [
            VerticalScroll(Static(self.content, id="found", markup=False), classes="page"),
            Static(keys_line(*keys), classes="keys"),
        ]

    def told(self, found: Found) -> list[Part]:
        """What stands on the page."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Look."""
        self.show([("Looking at programs and folders …\n", "$text-muted")])
        self.action_look()

    def action_look(self) -> None:
        """Look anew, after something was installed."""
        self.run_worker(self._look(), exclusive=True)

    async def _look(self) -> None:
        try:
            found = await look(self._desk)
        except SpinneyError as error:
            self.show([error.message, "\n"])
        else:
            self.show(self.told(found))

    def show(self, parts: list[Part]) -> None:
        """Put this on the page."""
        self.content = Content.assemble(*parts)
        self.query_one("#found", Static).update(self.content)


class AboutScreen(Findings[None]):
    """The lines of `spinney doctor`, and what a report of a fault needs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "copy", show=False)]
    CSS = "AboutScreen > .dialog { width: 100; }"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, "About Spinney")

    def body(self) -> list[Widget]:
        """What was found, and keys."""
        return self.page(("↑ ↓", "scroll"), ("c", "copy"), ("r", "look again"), ("esc", "close"))

    def told(self, found: Found) -> list[Part]:
        """Version, programs, folders, the log and problems."""
        return [*_head(found), *rows(found), *_foot(found)]

    def action_copy(self) -> None:
        """Copy it all as text."""
        self._desk.host.copy(self.content.plain)


def _head(found: Found) -> list[Part]:
    from importlib.metadata import version

    python = f"Python {platform.python_version()}, Textual {version('textual')}"
    return [
        ("Spinney ", "bold $accent"),
        (f"{found.installation.version}", "bold"),
        (f"   {python}, {platform.system()}\n\n", "$text-muted"),
    ]


def _foot(found: Found) -> list[Part]:
    parts: list[Part] = ["\n", ("Log  ", "bold"), clean_line(found.installation.log)]
    parts += [("\n\nNo problem is known.", "$text-muted")] if not found.problems else []
    for number, problem in enumerate(found.problems):
        parts += [("\n\nProblems\n" if number == 0 else "\n", "bold"), f"• {clean_line(problem)}"]
    return parts
