"""Opens what a message names: a file in the editor or the diff, a web page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.base.text import clean_line
from tui.actions.changes import open_diff
from tui.actions.editor import open_file
from tui.actions.links import open_link
from tui.desk import Desk
from tui.screens.choose import Choice, Choose

if TYPE_CHECKING:
    from tui.transcript.targets import Target


async def open_one(desk: Desk, targets: "Sequence[Target]") -> None:
    """Open one of the files and pages named in a message; ask which if there are several."""
    if not targets:
        desk.say("This message names no file with a line number and no web page.")
        return
    at: str | None = "0"
    if len(targets) > 1:
        choices = [Choice(str(n), clean_line(each.label)) for n, each in enumerate(targets)]
        at = await desk.ask(Choose("Open", choices))
    if at is None:
        return
    target = targets[int(at)]
    if target.in_diff:
        await open_diff(desk, _inside(desk, target.path))
    elif target.href:
        await open_link(desk, target.href)
    else:
        await open_file(desk, target.path, target.line, target.containing)


def _inside(desk: Desk, path: str) -> str:
    """Return the path relative to the worktree, as git writes it."""
    root = desk.worktree.path.rstrip("/") if desk.worktree is not None else ""
    return path.removeprefix(f"{root}/").removeprefix("./")
