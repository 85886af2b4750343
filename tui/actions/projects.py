"""Actions about projects, and about the agents of this machine."""

from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from model.commands.doctor import BackendReport, list_backends
from model.commands.projects import add_project as add_project_command
from model.commands.projects import remove_project as remove_project_command
from model.errors import SpinneyError
from tui.places import Place
from tui.screens.dialog import AskText, Confirm, Report
from tui.steps import is_project

if TYPE_CHECKING:
    from tui.screens.main import MainScreen


async def add_project(screen: "MainScreen") -> None:
    """Ask for a path until one is a repository, or nobody wants to any more."""
    is_known = is_project(screen.state, screen.offered) is not None
    value, problem = "" if is_known else str(screen.offered or ""), ""
    while True:
        given = await screen.app.push_screen_wait(
            AskText(
                "Add a project",
                value,
                sentence=problem or "The path of a git repository on this machine.",
                placeholder="~/code/my-repository",
            )
        )
        if given is None:
            return
        try:
            await _add(screen, given)
            return
        except SpinneyError as error:
            value, problem = given, error.message


async def add_offered(screen: "MainScreen") -> None:
    """Add the repository that Spinney was started in."""
    if screen.offered is not None:
        await _add(screen, str(screen.offered))


async def _add(screen: "MainScreen", path: str) -> None:
    project = await screen.client.call(add_project_command, path=_without_tilde(path))
    await screen.mirror.until(lambda state: project.id in state.projects)
    screen.open_place(Place("project", project.id))


def _without_tilde(path: str) -> str:
    # What else a path leaves open is for the model, which may be on another machine.
    return str(Path(path).expanduser()) if path.startswith("~") else path


async def remove_project(screen: "MainScreen") -> None:
    """Take a project out of the list."""
    project = screen.project
    if project is None:
        screen.say("Open or point at a project first.")
        return
    sentence = (
        f"Show “{project.name}” no more? Its sessions and their messages go; "
        "no file and no branch is deleted."
    )
    if await screen.app.push_screen_wait(
        Confirm("Remove the project", sentence, "remove", enter=False)
    ):
        await screen.client.call(remove_project_command, project_id=project.id)


async def check_agents(screen: "MainScreen") -> None:
    """Look for every agent program and say what was found."""
    screen.say("Looking for agents …")
    reports = await screen.client.call(list_backends)
    screen.agents_found(reports)
    await screen.app.push_screen_wait(Report("Agents", report_text(reports)))


def report_text(reports: list[BackendReport]) -> Content:
    """One paragraph for each agent."""
    parts: list[str | tuple[str, str]] = []
    for number, report in enumerate(reports):
        parts.append("\n\n" if number else "")
        good = report.problem is None
        parts += [("✓ " if good else "✗ ", "$success" if good else "$error")]
        parts += [(report.label, "bold"), f"  {report.version or ''}"]
        if report.program:
            parts.append((f"  {report.program}", "$text-muted"))
        if report.problem:
            parts.append(f"\n  {report.problem}")
    return Content.assemble(*parts)
