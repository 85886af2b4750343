"""Texts of the chat: the note above the message box, the placeholder in it, and notices."""

import time
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.requests import Request
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.state import State

HELD_NOTICE: Final = "The agent has a new request. Press enter again to answer it with this text."
"""Notice about a text that was written before the current request."""
WAITING_FOR_SETUP: Final = (
    "Waiting for the setup script. 'Send the queued messages now' in the palette sends it anyway."
)
_REVIEW_PLAN: Final = "Approve above, or say what should change"


def find_setup_hold(state: "State", session: "Session | None") -> str | None:
    """Why the session's first message waits for its worktree's setup, or `None`."""
    if session is None or not state.is_held(session):
        return None
    return state.worktrees[session.worktree_id].setup_hold


def held_notice(request: "Request | None") -> str:
    """The notice about a text that was written before the current request."""
    if request is not None:
        return HELD_NOTICE
    return "The request you were answering is gone. Press enter again to send this as a message."


def render_note(
    session: "Session",
    worktree: "Worktree | None",
    hold: str | None,
    scripts_key: str,
    now: float,
) -> Content:
    """The note above the message box; `hold` is why a queued message waits for the setup.

    `now` is in seconds since 1970.
    """
    if worktree is not None and worktree.status == "missing":
        missing = f"The directory is missing: {clean_line(worktree.path)}. "
        if worktree.session_type == "base":
            return Content.assemble((missing, "$error"), "Move it back to this path.")
        commands = "/recreate checks its branch out again, /archive archives the worktree."
        return Content.assemble((missing, "$error"), commands)
    if hold == "failed":
        failed = "The setup script failed, so your message waits. "
        return Content.assemble(
            (failed, "$error"), f"{scripts_key} shows its output and runs it again."
        )
    if hold == "running":
        return Content(f"Your message is sent after the setup; {scripts_key} shows its output.")
    if session.status == "paused" and session.pause is not None:
        from model.domain.pause_texts import describe_pause  # Not needed for the first frame.

        described = clean_line(describe_pause(session.pause, now))
        return Content.assemble(("Paused: ", "$warning"), described)
    if session.elsewhere_since is not None:
        since = time.strftime("%H:%M", time.localtime(session.elsewhere_since))
        return Content(
            f"Continued in the agent's own screen since {since}. Your next message reads what was "
            "said there."
        )
    return Content(f"While you were away: {session.recap}" if session.recap else "")


def placeholder(
    session: "Session",
    agent: str,
    *,
    steer_key: str,
    is_reviewing: bool,
    has_queue: bool,
    hold: str | None,
) -> str:
    """The placeholder of the message box.

    `steer_key`: the key that sends into the running turn; `is_reviewing`: whether a request is
    shown; `has_queue`: whether messages are queued; `hold`: why the first of them waits for the
    setup.
    """
    match session.status, session.waiting_for:
        case "running", _:
            return (
                f"Queue a message, or {steer_key}: send it now" if steer_key else "Queue a message…"
            )
        case "paused", _:
            return "Enter chooses when it continues, or queue a message…"
        case "waiting", "plan":
            return _REVIEW_PLAN
        case "waiting", "question":
            return "Answer above, or in your own words"
        case "waiting", "permission":
            return "Allow or deny above, or write what to do instead"
        case _ if is_reviewing:
            return _REVIEW_PLAN
        case _ if has_queue and hold == "running":
            return "Write another message; queued messages are sent after the setup"
        case _ if has_queue and hold == "failed":
            return "Enter sends queued messages anyway, or write another message"
        case _ if has_queue:
            return "Enter sends queued messages, or write another message"
        case _:
            return f"Message {clean_line(agent) or 'the agent'}"
