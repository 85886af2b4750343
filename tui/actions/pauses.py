"""Actions on paused sessions, and on messages that are sent at a time."""

import time
from typing import Final

from model.api import limits as commands
from model.api.sessions import stop_generation
from model.base.errors import SpinneyError
from model.base.moments import format_moment, parse_moment
from model.base.plural import count
from model.domain.pause_texts import describe_resumption
from model.domain.sessions import Session
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText

_RESET: Final = "reset"
_NEVER: Final = "never"
_EXAMPLES: Final = "18:00, tomorrow 9:00 or in 2 h"
_MOST_WORDS: Final = 4
"""Words of a time at the beginning of a line, such as `in 1 h 30m`."""


async def continue_session(desk: Desk) -> None:
    """Choose when the paused session continues, or all of its account."""
    session = desk.session
    if session is None or session.pause is None:
        desk.say("This session is not paused.")
        return
    chosen = await desk.ask(Choose("Continue the paused session", _list_choices(desk, session)))
    if chosen == "end":
        await end_pause(desk, session)
    elif chosen is not None:
        when, _, scope = chosen.partition(" ")
        await _continue(desk, session, when, of_account=bool(scope))


async def continue_at(desk: Desk, when: str) -> None:
    """Continue the paused session at this time: `now`, `18:00`, `in 2 h`, `reset` or `never`."""
    session = desk.session
    if session is None or session.pause is None:
        raise SpinneyError("This session is not paused.", "conflict")
    await _continue(desk, session, when.strip().lower(), of_account=False)


async def end_pause(desk: Desk, session: Session) -> None:
    """End the pause of a session that does not continue."""
    await desk.client.call(stop_generation, session_id=session.id)
    desk.say("The pause has ended. The session continues when you send a message.")


async def send_later(desk: Desk) -> None:
    """Ask for a time, and send the message in the box then."""
    session, composer = desk.session, desk.chat.composer
    text, images = composer.draft.text_to_send(), composer.draft.image_paths()
    if session is None or not (text.strip() or images):
        desk.say("Write a message first, then choose this again. Or: /at 18:00 MESSAGE")
        return
    moment = await _ask_time(desk, "Send the message at", "")
    if moment is not None and desk.chat.session_id == session.id:
        await desk.outbox.send(session.id, text, tuple(images), send_at=moment)
        composer.empty()
        desk.say(f"The message is sent {_format(moment)}.")


async def send_at(desk: Desk, line: str) -> None:
    """Send a message at the time with which the line begins: `18:00 run the tests`."""
    if desk.session is None:
        raise SpinneyError("Open a session first.", "conflict")
    moment, text = split_time(line, time.time())
    await desk.outbox.send(desk.session.id, text, send_at=moment)
    desk.say(f"The message is sent {_format(moment)}.")


async def schedule_queued(desk: Desk) -> None:
    """Ask for the time of the selected or newest queued message."""
    message, session = desk.chat.queue.selected_message, desk.session
    if message is None or session is None:
        desk.say("There are no queued messages.")
        return
    now = time.time()
    known = format_moment(message.send_at, now) if message.send_at is not None else ""
    moment = await _ask_time(desk, "Send the queued message at", known, empty="when it is its turn")
    if moment is not None:
        await desk.client.call(
            commands.set_send_time,
            session_id=session.id,
            message_id=message.id,
            at=moment or None,
        )


def split_time(line: str, now: float) -> tuple[float | str, str]:
    """Split a line into the time at its beginning and the rest. Raises `SpinneyError`."""
    words = line.split()
    for number in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        first = " ".join(words[:number])
        try:
            moment = _RESET if first.lower() == _RESET else parse_moment(first, now)
        except SpinneyError:
            continue
        return moment, line.split(maxsplit=number)[number]
    raise SpinneyError(f"Write the time and then the message. A time is {_EXAMPLES}.")


def _list_choices(desk: Desk, session: Session) -> list[Choice]:
    pause, now = session.pause, time.time()
    assert pause is not None, "the session is not paused"
    is_other = pause.resets_at is not None and pause.resets_at not in (pause.until, None)
    resets = format_moment(pause.resets_at, now) if is_other and pause.resets_at else ""
    choices = [
        Choice("now", "Now"),
        *([Choice(_RESET, "When the limit ends", resets)] if resets else []),
        Choice("ask", "At another time…", describe_resumption(pause, now)),
        *([Choice(_NEVER, "Not by itself")] if pause.until is not None else []),
        Choice("end", "End the pause", "queued messages stay queued"),
    ]
    others = [
        other
        for other in desk.state.sessions.values()
        if other.pause is not None
        and other.pause.account == pause.account
        and other.archived_at is None
    ]
    if len(others) > 1:
        name = f"All {count(len(others), 'paused session')} of this account"
        choices += [
            Choice("now account", f"{name}: now", "one after another"),
            Choice("ask account", f"{name}: at another time…"),
            Choice("never account", f"{name}: not by themselves"),
        ]
    return choices


async def _continue(desk: Desk, session: Session, when: str, *, of_account: bool) -> None:
    pause = session.pause
    assert pause is not None, "the session is not paused"
    if when == "now" and not of_account:
        await desk.client.call(commands.resume_session, session_id=session.id)
        return
    at: float | str | None
    match when:
        case "ask":
            at = await _ask_time(desk, "Continue at", "")
            if at is None:
                return
        case "never":
            at = None
        case "reset":
            at = _RESET
        case _:
            at = parse_moment(when, time.time())
    target = {"account": pause.account} if of_account else {"session_id": session.id}
    changed = await desk.client.call(commands.set_resume_time, at=at, **target)
    now = time.time()
    if changed and changed[0].pause is not None:
        desk.say(describe_resumption(changed[0].pause, now))


async def _ask_time(desk: Desk, title: str, known: str, *, empty: str = "") -> float | str | None:
    """Ask for a time until it is one; `None` if the question is left, 0 for an empty answer."""
    problem = f"Such as {_EXAMPLES}."
    while True:
        dialog = AskText(title, known, sentence=problem, empty=empty, verb="choose")
        text = await desk.ask(dialog)
        if text is None:
            return None
        if not text:
            return 0.0
        try:
            return _RESET if text.lower() == _RESET else parse_moment(text, time.time())
        except SpinneyError as error:
            known, problem = text, error.message


def _format(moment: float | str) -> str:
    if isinstance(moment, str):
        return "when the limit ends"
    return f"at {format_moment(moment, time.time())}"
