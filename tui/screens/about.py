"""The about screen: version, programs, folders, log and problems of this installation."""

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
"""Cells of a remedy per row, which fit into a terminal of 80 columns."""
_MARKS = {True: ("✓ ", "$success"), False: ("✗ ", "$error"), None: ("· ", "$text-muted")}
Part = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class InstallationReport:
    """The checks of an installation."""

    installation: Installation
    agents: list[BackendReport]
    problems: list[str]


async def check_installation(desk: Desk) -> InstallationReport:
    """Check programs and folders, which takes at most some seconds. Raises `SpinneyError`."""
    installation, agents, problems = await asyncio.gather(
        desk.client.call(get_installation),
        desk.client.call(list_backends_command),
        desk.client.call(get_problems),
    )
    desk.set_agents(agents)
    return InstallationReport(installation, agents, problems)


def rows(found: InstallationReport, *, brief: bool = False) -> list[Part]:
    """Return a line for each program and folder, with the command that fixes it below.

    `brief` omits the paths of programs, and folders without a problem.
    """
    parts: list[Part] = []
    machine = found.installation.findings
    programs = [f for f in machine if f.name in ("git", "gh", "glab")]
    for finding in programs:
        parts += _row(finding.ok, finding.name, finding.found, finding.fix, finding.remedy)
    for agent in found.agents:
        ok = agent.problem is None or (None if agent.program is None else False)
        parts += _row(ok, agent.label, _agent_status(agent, brief), agent.fix, agent.problem or "")
    for finding in machine:
        if finding not in programs and not (brief and finding.ok is not False):
            parts += _row(finding.ok, finding.name, finding.found, finding.fix, finding.remedy)
    return parts


def _agent_status(agent: BackendReport, brief: bool) -> str:
    if agent.program is None:
        return "not installed"
    status = [agent.version or "version unknown"]
    status += ["not signed in"] if agent.signed_in is False else []
    return ", ".join(status) if brief else f"{', '.join(status)}  {agent.program}"


def _row(ok: bool | None, name: str, found: str, fix: str | None, remedy: str) -> list[Part]:
    mark, style = _MARKS[ok]
    parts: list[Part] = [(mark, style), (f"{clean_line(name):<{NAME_WIDTH}}", "bold")]
    parts.append((f"{clean_line(found)}\n", "" if ok else "$text-muted"))
    below = " " * (NAME_WIDTH + 2)
    if ok is not True and fix:
        parts += [below, (f"{clean_line(fix)}\n", "$accent")]
    elif ok is not True and remedy:
        # Wrapped here, so that continuation lines are indented, too.
        parts += [f"{below}{line}\n" for line in wrap(clean_line(remedy), REMEDY_WIDTH)]
    return parts


class Findings(Dialog[R]):
    """A page of findings that can be refreshed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "refresh_findings", show=False)]

    def __init__(self, desk: Desk, title: str) -> None:
        super().__init__(title)
        self._desk = desk
        self.content = Content("")

    def page(self, *keys: tuple[str, str]) -> list[Widget]:
        """The findings and the keys."""
        return [
            VerticalScroll(Static(self.content, id="found", markup=False), classes="page"),
            Static(keys_line(*keys), classes="keys"),
        ]

    def format_report(self, found: InstallationReport) -> list[Part]:
        """Return the page's content."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Run the checks."""
        self.show([("Checking programs and folders …\n", "$text-muted")])
        self.action_refresh_findings()

    def action_refresh_findings(self) -> None:
        """Check again, for example after something was installed."""
        self.run_worker(self._refresh_findings(), exclusive=True)

    async def _refresh_findings(self) -> None:
        try:
            found = await check_installation(self._desk)
        except SpinneyError as error:
            self.show([error.message, "\n"])
        else:
            self.show(self.format_report(found))

    def show(self, parts: list[Part]) -> None:
        """Display this content."""
        self.content = Content.assemble(*parts)
        self.query_one("#found", Static).update(self.content)


class AboutScreen(Findings[None]):
    """The lines of `spinney doctor`, and everything else that a bug report needs."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "copy", show=False)]
    CSS = "AboutScreen > .dialog { width: 100; }"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, "About Spinney")

    def body(self) -> list[Widget]:
        """The findings and the keys."""
        return self.page(("↑ ↓", "scroll"), ("c", "copy"), ("r", "check again"), ("esc", "close"))

    def format_report(self, found: InstallationReport) -> list[Part]:
        """Return version, programs, folders, log and problems."""
        return [*_head(found), *rows(found), *_foot(found)]

    def action_copy(self) -> None:
        """Copy the page as text."""
        self._desk.host.copy(self.content.plain)


def _head(found: InstallationReport) -> list[Part]:
    from importlib.metadata import version

    python = f"Python {platform.python_version()}, Textual {version('textual')}"
    return [
        ("Spinney ", "bold $accent"),
        (f"{found.installation.version}", "bold"),
        (f"   {python}, {platform.system()}\n\n", "$text-muted"),
    ]


def _foot(found: InstallationReport) -> list[Part]:
    parts: list[Part] = ["\n", ("Log  ", "bold"), clean_line(found.installation.log)]
    parts += [("\n\nNo known problems.", "$text-muted")] if not found.problems else []
    for number, problem in enumerate(found.problems):
        parts += [("\n\nProblems\n" if number == 0 else "\n", "bold"), f"• {clean_line(problem)}"]
    return parts
