"""Paused sessions and messages with a time."""

from model.api.command import command
from model.domain.messages import Message
from model.domain.sessions import Session


@command
async def resume_session(session_id: str) -> Session:
    """Let a paused session go on now: with the turn that was cut off, then with its queue.

    If the limit is still reached, it pauses again. A turn that succeeds shows that the limit is
    over: the account's other sessions then go on as well, one after another. Does nothing if the
    session is not paused. `stop_generation` ends a pause without going on.
    """


@command
async def set_resume_time(
    at: float | str | None, session_id: str | None = None, account: str | None = None
) -> list[Session]:
    """Set when a paused session goes on by itself, or all paused sessions of an `account`; `null`
    is not by itself. The result is the sessions that changed.

    `at` is in seconds since 1970, or a text such as `18:00`, `tomorrow 9:00`, `in 2 h`, `now`, or
    `reset` for the end of the limit as the agent's provider reported it. Sessions of one account go
    on one after another. The account is in a session's `pause`. A chosen time stays when the limit
    turns out to be over earlier.
    """


@command
async def set_send_time(session_id: str, message_id: str, at: float | str | None) -> Message:
    """Change when a queued message is sent; with `null`, as soon as it is its turn.

    `at` is as for `set_resume_time`; `reset` is the end of the limit that the account has reached,
    or else of its usage window that resets next.
    """
