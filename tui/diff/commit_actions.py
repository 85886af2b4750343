"""What can be done with a commit in the log and where its changes are shown."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.dialog import Report

if TYPE_CHECKING:
    from model.api.history import Commit


async def show_message(desk: Desk, commit: "Commit") -> None:
    """Show the whole message of a commit."""
    lines = [commit.subject or "no message", "", *commit.body.strip().split("\n")]
    text = Content("\n".join(map(clean_line, lines)).strip())
    await desk.ask(Report(f"Commit {clean_line(commit.short_sha)}", text))


async def copy_hash(desk: Desk, commit: "Commit") -> None:
    """Copy the hash of a commit."""
    desk.host.copy(commit.sha)
