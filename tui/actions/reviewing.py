"""Reviews by an agent, comparisons and release notes, outside of the diff screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from model.api.code_reviews import run_code_review, write_release_notes
from model.api.projects import get_project_branches
from model.base.text import clean_line, make_visible
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import AskText, Report
from tui.screens.pick import Pick

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree


async def code_review(desk: Desk) -> None:
    """Let an agent review the worktree's changes."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    started = await desk.client.call(run_code_review, worktree_id=worktree.id)
    key = desk.key_of("open_diff")
    desk.say(
        f"{clean_line(started.agent)} reviews the changes of '{clean_line(worktree.name)}'. {key} "
        "shows what it finds."
    )


async def compare(desk: Desk) -> None:
    """Compare the worktree with another one, a branch or a commit."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    project = desk.state.projects[worktree.project_id]

    async def load() -> Sequence[Choice]:
        others = [
            Choice(other.id, other.name, f"worktree on {other.branch}")
            for other in desk.state.worktrees_of(project.id)
            if other.id != worktree.id and other.status == "ready"
        ]
        branches = await desk.client.call(get_project_branches, project_id=project.id)
        return [*others, *(Choice(each.name, each.name, "branch") for each in branches)]

    title = f"Compare '{clean_line(worktree.name)}' with"
    chosen = await desk.ask(Pick(title, load, own="commit"))
    if chosen is not None:
        _show(desk, worktree, chosen)


def _show(desk: Desk, worktree: "Worktree", other: Choice) -> None:
    from tui.diff.compare_screen import CompareDiff

    known = desk.state.worktrees.get(other.value)
    name = known.name if known is not None else other.value
    names = (name, worktree.name)
    desk.show(CompareDiff(desk, worktree.project_id, other.value, worktree.id, names))


async def release_notes(desk: Desk) -> None:
    """Let an agent write release notes of the project, and offer to copy them."""
    project = desk.project
    if project is None:
        desk.say("Open a project first.")
        return
    since = await desk.ask(
        AskText(
            "Release notes",
            sentence="About the commits of the default branch after this tag or commit.",
            placeholder="tag or commit",
            empty="the newest tag",
            verb="write",
        )
    )
    if since is None:
        return
    desk.say("Writing the release notes …")
    notes = await desk.client.call(write_release_notes, project_id=project.id, since=since or None)
    after = f" since {clean_line(notes.since)}" if notes.since else ""
    text = Content(make_visible(notes.text))
    if await desk.ask(Report(f"Release notes{after}", text, ("c", "copy"))) == "c":
        desk.host.copy(notes.text)
        desk.say("Copied the release notes.")
