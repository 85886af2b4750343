"""A session on one page: what was said last, what it asks, the queue, and the message box."""

import secrets
from typing import Final

from model.chat.chats import session_in
from model.domain.resources import Session
from server.lite.conversation import Page, Place, articles, read_before, read_from
from server.lite.html import Element, Node, make
from server.lite.layout import LIMIT, page
from server.lite.lists import asks, choice, mark, mode_names
from server.lite.page_request import Visit, button, hidden, link, short, way
from server.lite.parts import part_page, request_page
from server.lite.request_forms import plan_page, request_card

_LEAST: Final = 2000
"""Bytes of conversation that are shown whatever else stands on the page."""

_QUEUED: Final = 8
"""Messages of the queue that are listed."""


async def session_page(visit: Visit, session_id: str) -> str:
    """The page that the address's query asks for; without one, the newest messages."""
    session = session_in(visit.state, session_id)
    query = visit.query
    if "plan" in query:
        return plan_page(visit, session)
    if "asked" in query:
        return request_page(visit, session)
    if part := Place.read(query.get("part")):
        return await part_page(visit, session, part)
    empty = _whole(visit, session, Page())
    typed = sum(len(value.encode()) for values in visit.typed.fields.values() for value in values)
    room = max(_LEAST, LIMIT - len(empty.encode()) + typed)
    begin = Place.read(query.get("from"))
    if begin is not None:
        read = await read_from(visit.workspace, session_id, begin, room)
    else:
        end = Place.read(query.get("before"))
        read = await read_before(visit.workspace, session_id, end, room)
    return _whole(visit, session_in(visit.state, session_id), read)


def _whole(visit: Visit, session: Session, read: Page) -> str:
    here = f"/lite/sessions/{session.id}"
    is_renewed = _every(visit) > 0 and session.status == "running" and read.newer is None
    beat = "0" if visit.query.get("beat") == "1" else "1"
    # The address differs each time, or browsers would only look for its `#end` in what they have.
    renewed = f"{_every(visit)};url={here}?every={_every(visit)}&beat={beat}#end"
    worktree, project = visit.place(session)
    place = " ▸ ".join(short(each.name, 40) for each in (project, worktree) if each)
    return page(
        visit,
        short(session.name),
        way(link(place, f"/lite/worktrees/{session.worktree_id}")),
        way(link("Earlier", f"{here}?before={read.older}")) if read.older else None,
        list(articles(read.pieces, session, visit.agent(session.backend))),
        _forward(here, read) if read.newer else None,
        request_card(visit, session),
        _queue(visit, session),
        _send_now(visit, session),
        make("p", _status(visit, session), _renewing(here, session, is_on=is_renewed), id="end"),
        _stop(visit, session),
        None if is_renewed else _message_box(visit, session),
        None if is_renewed else _mode(visit, session),
        renewed=renewed if is_renewed else "",
    )


def _forward(here: str, read: Page) -> Element:
    later = link("Later", f"{here}?from={read.newer}")
    return way(later, " ", link("Newest", f"{here}#end"))


def _status(visit: Visit, session: Session) -> str:
    told = asks(session) if session.status == "waiting" else mark(session)
    parts = [
        told,
        visit.agent(session.backend),
        visit.workspace.catalog.label(session.backend, session.answering_model or session.model),
    ]
    failed = session.last_run.error if session.status == "failed" and session.last_run else None
    return " · ".join(short(part, 300) for part in [*parts, failed] if part)


def _renewing(here: str, session: Session, *, is_on: bool) -> list[Node]:
    if is_on:
        words = "Stop renewing, and write"
        return [" · renewed every few seconds. ", link(words, f"{here}#end")]
    if session.status == "running":
        return [" · ", link("Renew every 5 seconds", f"{here}?every=5#end")]
    return []


def _stop(visit: Visit, session: Session) -> Element | None:
    if session.status != "running" and session.waiting_for != "permission":
        return None
    return visit.form(f"/lite/sessions/{session.id}/stop", button("Stop"))


def _queue(visit: Visit, session: Session) -> Node:
    waiting = visit.state.queued.get(session.id, ())
    if not waiting:
        return None
    worktree = visit.state.worktrees[session.worktree_id]
    held = worktree.setup_hold if visit.state.is_held(session) else None
    reason = {"running": "waits for setup", "failed": "waits, as setup did not end well"}.get(
        held or "", "waits"
    )
    rows = [
        make(
            "li",
            f"{reason}: {short(message.text, 160)} ",
            button("Remove", "message_id", message.id),
        )
        for message in waiting[:_QUEUED]
    ]
    more = len(waiting) - _QUEUED
    left_out = make("li", f"and {more} more") if more > 0 else None
    return visit.form(f"/lite/sessions/{session.id}/queue", make("ul", rows, left_out))


def _send_now(visit: Visit, session: Session) -> Element | None:
    if session.is_active or not visit.state.queued.get(session.id):
        return None
    words = "Send anyway" if visit.state.is_held(session) else "Send now"
    return visit.form(f"/lite/sessions/{session.id}/send", button(words))


def _message_box(visit: Visit, session: Session) -> Element:
    return visit.form(
        f"/lite/sessions/{session.id}/messages",
        hidden("once", secrets.token_hex(16)),
        make("label", "Message", for_="message"),
        make("textarea", visit.typed.get("message"), name="message", id="message", rows=4, cols=60),
        button("Queue" if session.status == "running" else "Send", class_="primary"),
    )


def _mode(visit: Visit, session: Session) -> Element:
    return visit.form(
        f"/lite/sessions/{session.id}/mode",
        make("label", "Mode", for_="mode"),
        choice("mode", mode_names(), session.execution_mode),
        " ",
        button("Change"),
        f" from the next turn on, {session.turn_mode} now" if session.turn_mode else None,
    )


def _every(visit: Visit) -> int:
    """Seconds after which the page comes anew; 0 is never."""
    text = visit.query.get("every", "")
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    return max(2, seconds) if seconds else 0
