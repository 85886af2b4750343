"""Show why a line is there, and go to the message that made an agent write it."""

import time
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.amounts import format_age
from model.base.text import clean_line, make_visible
from tui.desk import Desk
from tui.screens.dialog import Report

if TYPE_CHECKING:
    from model.domain.line_origins import LineOrigin

_MAX_TEXT: Final = 4_000
"""Characters of a prompt or a plan that are shown."""


async def show_origin(desk: Desk, origin: "LineOrigin") -> None:
    """Show who wrote a line, when and why; enter goes to the message."""
    session = desk.state.sessions.get(origin.session_id or "")
    can_go = session is not None and bool(origin.message_id)
    keys = [("enter", "go to the message")] if can_go else []
    chosen = await desk.ask(Report("Why this line is here", _describe(desk, origin), *keys))
    if chosen == "enter" and session is not None and origin.message_id:
        desk.app.screen.dismiss(None)  # the screen below the dialog
        desk.open_session(session.id)
        await desk.conversation.reveal(session.id, origin.message_id)


def _describe(desk: Desk, origin: "LineOrigin") -> Content:
    age = format_age(origin.time, time.time())
    session = desk.state.sessions.get(origin.session_id or "")
    match origin.kind:
        case "turn":
            who = clean_line(origin.author or "An agent")
            where = f" in '{clean_line(session.name)}'" if session is not None else ""
            head = f"{who} wrote it{where}"
        case "edit":
            head = "A person or another program changed it"
        case _:
            head = f"{clean_line(origin.author or 'A person')} committed it"
    parts: list[Content | str | tuple[str, str]] = [
        (f"{clean_line(origin.text)[:200]}\n\n", "$text-muted"),
        (head, "bold $foreground"),
        (f"  {age}", "$text-muted"),
    ]
    if origin.commit:
        commit = f"{origin.commit[:10]} {clean_line(origin.summary or '')}"
        parts.append((f"\ncommit {commit}", "$text-muted"))
    for title, text in (("Prompt", origin.prompt), ("Plan", origin.plan)):
        if text:
            parts.append((f"\n\n{title}\n", "bold $foreground"))
            parts.append(make_visible(text[:_MAX_TEXT]) + ("…" if len(text) > _MAX_TEXT else ""))
    return Content.assemble(*parts)
