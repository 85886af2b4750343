"""Actions between Spinney and the agents' own screens: continue a conversation here, or there."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from model.api import foreign_sessions as commands
from model.base.amounts import format_age
from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import Report
from tui.screens.pick import Pick

if TYPE_CHECKING:
    from model.domain.foreign_sessions import ForeignSession


async def continue_foreign_session(desk: Desk) -> None:
    """Continue a conversation that was begun in an agent's own screen."""
    worktree = desk.worktree
    if worktree is None:
        desk.say("Open a worktree first.")
        return
    found: dict[str, ForeignSession] = {}

    async def load() -> Sequence[Choice]:
        listed = await desk.client.call(commands.list_foreign_sessions, worktree_id=worktree.id)
        found.update({f"{one.backend} {one.conversation_id}": one for one in listed.sessions})
        for problem in listed.problems:
            desk.say(problem, bad=True)
        if not found:
            raise SpinneyError(
                "No other conversation from an agent's own screen was found for this directory "
                "or its project."
            )
        return [_choice(key, one, worktree.path) for key, one in found.items()]

    chosen = await desk.ask(Pick("Continue a conversation from an agent's own screen", load))
    if chosen is None or chosen.value not in found:
        return
    one = found[chosen.value]
    session = await desk.client.call(
        commands.continue_foreign_session,
        worktree_id=worktree.id,
        backend=one.backend,
        conversation_id=one.conversation_id,
    )
    await desk.mirror.wait_for(lambda state: session.id in state.sessions)
    desk.open_session(session.id)


def _choice(key: str, one: "ForeignSession", path: str) -> Choice:
    details = [one.agent, one.origin, one.branch]
    if one.directory != path:
        details.append(f"in {Path(one.directory).name}, continued in a copy")
    details.append(format_age(one.updated_at, time.time()))
    return Choice(key, one.title, " · ".join(filter(None, details)))


async def continue_elsewhere(desk: Desk) -> None:
    """Show the command that continues the session in its agent's own screen, and copy it."""
    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    found = await desk.client.call(commands.get_resume_command, session_id=session.id)
    desk.host.copy(found.command)
    parts: list[str | tuple[str, str]] = [
        "Run this in a shell:\n\n",
        (clean_line(found.command), "$accent"),
        "\n\nIt is in the clipboard. The agent has ended here, so that both do not write. What is "
        "said there is added here with your next message.",
    ]
    if found.note:
        parts.append((f"\n\n{clean_line(found.note)}", "$warning"))
    await desk.ask(Report("Continue in the agent's own screen", Content.assemble(*parts)))
