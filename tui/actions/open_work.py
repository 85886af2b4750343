"""The action that shows open work to begin from."""

from tui.desk import Desk


async def open_work(desk: Desk) -> None:
    """Show the issues and pull requests of all projects, and the lists of this one."""
    from tui.hosting.work_actions import WORK
    from tui.hosting.work_screen import WorkScreen

    project = desk.project
    if project is None or project.is_folder:
        project = next((p for p in desk.state.projects.values() if not p.is_folder), None)
    desk.show(WorkScreen(desk, WORK, project.id if project is not None else ""))
