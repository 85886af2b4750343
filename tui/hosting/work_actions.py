"""Actions of the screen with open work."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.api.hosting import get_work_text, start_work
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.hosting.start_dialog import StartWork
from tui.hosting.work_filters import ChooseFilters
from tui.hosting.work_list import describe_item, number_of, people_of, worktrees_of
from tui.hosting.work_screen import WorkScreen
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Report
from tui.screens.pick import Pick
from tui.screens.text_reader import ReaderText, TextReader
from tui.store.places import Place
from tui.transcript.targets import Target

if TYPE_CHECKING:
    from model.api.hosting import StartedWork
    from model.domain.hosting import WorkItem
    from model.domain.modes import ExecutionMode
    from model.domain.worktrees import Worktree
    from tui.hosting.work_screen import WorkActionFunction
    from tui.hosting.work_source import Entry


async def open_item(screen: WorkScreen) -> None:
    """Go to where the item is worked on; offer to begin if that is nowhere."""
    entry = screen.entry
    if entry is None:
        return
    if entry.item is None:
        await _show_problem(screen, entry)
        return
    trees = worktrees_of(entry.item, screen.desk.state)
    if not trees:
        await _start(screen, [entry])
    elif (tree := await _choose(screen, trees)) is not None:
        _go_to(screen, tree.id)


async def _show_problem(screen: WorkScreen, entry: "Entry") -> None:
    from textual.content import Content

    project = screen.desk.state.projects.get(entry.project_id)
    name = clean_line(project.name) if project is not None else "Project"
    await screen.desk.ask(Report(name, Content(entry.problem)))


async def _choose(screen: WorkScreen, trees: "list[Worktree]") -> "Worktree | None":
    if len(trees) == 1:
        return trees[0]
    choices = [Choice(tree.id, tree.name, tree.branch) for tree in trees]
    chosen = await screen.desk.ask(Choose("Worked on in several worktrees", choices))
    return next((tree for tree in trees if tree.id == chosen), None)


def _go_to(screen: WorkScreen, worktree_id: str) -> None:
    """Open the session at work in a worktree, or else the one used last, or the worktree."""
    desk = screen.desk
    sessions = desk.state.sessions_of(worktree_id)
    screen.dismiss(None)
    if sessions:
        best = max(sessions, key=lambda session: (session.is_active, session.updated_at))
        desk.open_session(best.id)
    else:
        desk.open_place(Place("worktree", worktree_id))
    desk.focus_chat()


async def start(screen: WorkScreen) -> None:
    """Begin work on all marked items, or on the one under the cursor."""
    await _start(screen, screen.work_list.chosen)


async def _start(screen: WorkScreen, entries: "list[Entry]") -> None:
    desk = screen.desk
    entries = [entry for entry in entries if entry.item is not None]
    if not entries:
        return

    async def start_one(
        entry: "Entry", investigate: bool, mode: "ExecutionMode | None"
    ) -> "StartedWork":
        if entry.item is None:
            raise SpinneyError(entry.problem)
        return await desk.client.call(
            start_work,
            project_id=entry.project_id,
            kind=entry.item.kind,
            item_id=entry.item.id,
            investigate=investigate,
            mode=mode,
        )

    project = desk.state.projects.get(entries[0].project_id)
    where = clean_line(project.name) if project is not None else "the project"
    used = list(desk.task_choices.values())
    mode = used[-1].mode if used else "plan"
    started = await desk.ask(StartWork(entries, where, start_one, mode))
    if not started:
        return
    if len(entries) == 1:
        await _open_started(screen, started[0])
        return
    screen.work_list.mark(set())
    screen.load()
    desk.say(f"{count(len(started), 'worktree')} of {len(entries)} created.")


async def _open_started(screen: WorkScreen, started: "StartedWork") -> None:
    desk, worktree_id = screen.desk, started.worktree.id
    screen.dismiss(None)
    if started.session is not None:
        session_id = started.session.id
        await desk.mirror.wait_for(lambda state: session_id in state.sessions)
        desk.open_session(session_id)
    else:
        await desk.mirror.wait_for(lambda state: worktree_id in state.worktrees)
        desk.open_place(Place("worktree", worktree_id))
    desk.focus_chat()


async def read(screen: WorkScreen) -> None:
    """Show the item with its comments; what the list has of it if those cannot be read."""
    desk, entry = screen.desk, screen.entry
    if entry is None or entry.item is None:
        return
    item = entry.item
    trees = ", ".join(tree.name for tree in worktrees_of(item, desk.state))
    note = f"worked on in {trees}" if trees else ""
    project_id = entry.project_id

    async def load() -> ReaderText:
        try:
            text = await desk.client.call(
                get_work_text, project_id=project_id, kind=item.kind, item_id=item.id
            )
        except SpinneyError as error:
            return ReaderText(_describe(item), f"Its comments could not be read: {error.message}")
        return ReaderText(text, note)

    keys = ("o", "page")
    reader = TextReader(number_of(item), lambda: desk.palette, load, desk.host.copy, keys)
    if await desk.ask(reader) == "o":
        await browse(screen)


def _describe(item: "WorkItem") -> str:
    """What a list has of an item."""
    facts = (("by", item.author), ("", describe_item(item)), ("assigned to", people_of(item)))
    lines = [f"{name} {value}".strip() for name, value in facts if value]
    body = getattr(item, "body", "")
    return "\n".join([item.title, *lines, item.url, *(["", body] if body else [])])


async def browse(screen: WorkScreen) -> None:
    """Open the item's page in the browser."""
    entry = screen.entry
    if entry is not None and entry.item is not None and entry.item.url:
        await screen.desk.open_targets([Target(href=entry.item.url)])


async def change_filters(screen: WorkScreen) -> None:
    """Choose state, labels and assignee of what is listed."""
    if not screen.tab.has_state:
        screen.desk.say("This list has what is open in all projects. Another one has filters.")
        return
    chosen = await screen.desk.ask(ChooseFilters(screen.tab, screen.filters))
    if chosen is not None:
        screen.show_filters(chosen, screen.project_id)


async def change_project(screen: WorkScreen) -> None:
    """Choose the project whose lists are shown."""
    projects = [each for each in screen.desk.state.projects.values() if not each.is_folder]
    choices = [Choice(each.id, each.name, each.path) for each in projects]
    chosen = await screen.desk.ask(Pick("Project", choices, screen.project_id))
    if chosen is not None:
        screen.show_filters(screen.filters, chosen.value)


WORK: "Mapping[str, WorkActionFunction]" = {
    "work_open": open_item,
    "work_start": start,
    "work_read": read,
    "work_browse": browse,
    "work_filter": change_filters,
    "work_project": change_project,
}
"""The actions of the screen by their ids."""
