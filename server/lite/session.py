"""The page of a session: newest messages, request, queue, and message box."""

import secrets
import time
from typing import Final

from model.base.moments import format_moment
from model.chat.lookup import session_in
from model.domain.messages import Message
from model.domain.pause_texts import describe_pause
from model.domain.sessions import Session
from server.lite.conversation import Page, Position, make_articles, read_before, read_from
from server.lite.html import Element, Node, make
from server.lite.layout import LIMIT, render_page
from server.lite.lists import make_select, mode_options, request_label, status_label
from server.lite.page_request import PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import render_part, render_request
from server.lite.request_forms import render_plan, render_request_card

_MIN_CONVERSATION: Final = 2000
"""Minimum bytes of conversation to show, whatever else is on the page."""

_NOT_READ: Final = "sent, not read yet"

_MAX_QUEUED: Final = 8
"""Maximum queued messages to list."""


async def render_session(page_request: PageRequest, session_id: str) -> str:
    """The page selected by the query; without one, the newest messages."""
    session = session_in(page_request.state, session_id)
    query = page_request.query
    if "plan" in query:
        return render_plan(page_request, session)
    if "asked" in query:
        return render_request(page_request, session)
    if part := Position.parse(query.get("part")):
        return await render_part(page_request, session, part)
    empty_page = _render(page_request, session, Page())
    typed = sum(
        len(value.encode()) for values in page_request.typed.fields.values() for value in values
    )
    budget = max(_MIN_CONVERSATION, LIMIT - len(empty_page.encode()) + typed)
    begin = Position.parse(query.get("from"))
    if begin is not None:
        page = await read_from(page_request.workspace, session_id, begin, budget)
    else:
        end = Position.parse(query.get("before"))
        page = await read_before(page_request.workspace, session_id, end, budget)
    return _render(page_request, session_in(page_request.state, session_id), page)


def _render(page_request: PageRequest, session: Session, page: Page) -> str:
    url = f"/lite/sessions/{session.id}"
    interval = _refresh_interval(page_request)
    is_refreshing = interval > 0 and session.status == "running" and page.newer is None
    toggle = "0" if page_request.query.get("beat") == "1" else "1"
    # The address must change each time, or browsers would just scroll to its `#end`.
    refresh = f"{interval};url={url}?every={interval}&beat={toggle}#end"
    worktree, project = page_request.parents_of(session)
    parents = " ▸ ".join(shorten(parent.name, 40) for parent in (project, worktree) if parent)
    return render_page(
        page_request,
        shorten(session.name),
        nav(link(parents, f"/lite/worktrees/{session.worktree_id}")),
        nav(link("Earlier", f"{url}?before={page.older}")) if page.older else None,
        list(make_articles(page.pieces, page_request.agent_label(session.backend))),
        _forward_links(url, page) if page.newer else None,
        render_request_card(page_request, session),
        _queue_form(page_request, session),
        _send_form(page_request, session),
        make(
            "p",
            _status(page_request, session),
            _refresh_links(url, session, is_refreshing=is_refreshing),
            id="end",
        ),
        nav(link("Turns and undo", f"{url}/turns")),
        _pause_forms(page_request, session),
        _stop_form(page_request, session),
        None if is_refreshing else _message_form(page_request, session),
        None if is_refreshing else _mode_form(page_request, session),
        refresh=refresh if is_refreshing else "",
    )


def _forward_links(url: str, page: Page) -> Element:
    later = link("Later", f"{url}?from={page.newer}")
    return nav(later, " ", link("Newest", f"{url}#end"))


def _status(page_request: PageRequest, session: Session) -> str:
    status = request_label(session) if session.status == "waiting" else status_label(session)
    parts = [
        status,
        page_request.agent_label(session.backend),
        page_request.workspace.catalog.label(
            session.backend, session.answering_model or session.model
        ),
    ]
    failed = session.last_run.error if session.status == "failed" and session.last_run else None
    return " · ".join(shorten(part, 300) for part in [*parts, failed] if part)


def _refresh_links(url: str, session: Session, *, is_refreshing: bool) -> list[Node]:
    if is_refreshing:
        text = "Stop refreshing to write"
        return [" · refreshes every few seconds. ", link(text, f"{url}#end")]
    if session.status == "running":
        return [" · ", link("Refresh every 5 seconds", f"{url}?every=5#end")]
    return []


def _stop_form(page_request: PageRequest, session: Session) -> Element | None:
    if session.status != "running" and session.waiting_for != "permission":
        return None
    return page_request.make_form(f"/lite/sessions/{session.id}/stop", button("Stop"))


def _pause_forms(page_request: PageRequest, session: Session) -> list[Node]:
    if session.status != "paused" or session.pause is None or session.archived_at is not None:
        return []
    url = f"/lite/sessions/{session.id}"
    return [
        make("p", shorten(describe_pause(session.pause, time.time()), 600)),
        page_request.make_form(f"{url}/resume", button("Continue now", class_="primary")),
        page_request.make_form(f"{url}/stop", button("End the pause")),
    ]


def _queue_form(page_request: PageRequest, session: Session) -> Node:
    waiting = page_request.state.queued.get(session.id, ())
    if not waiting:
        return None
    worktree = page_request.state.worktrees[session.worktree_id]
    hold = worktree.setup_hold if page_request.state.is_held(session) else None
    reason = {"running": "waiting for setup", "failed": "waiting because setup failed"}.get(
        hold or "", "waiting"
    )
    now = time.time()
    rows = [
        make(
            "li",
            f"{_describe_wait(message, session, now) or reason}: ",
            f"{shorten(message.text, 160)} ",
            button("Remove", "message_id", message.id),
        )
        for message in waiting[:_MAX_QUEUED]
    ]
    more = len(waiting) - _MAX_QUEUED
    omitted = make("li", f"and {more} more") if more > 0 else None
    return page_request.make_form(f"/lite/sessions/{session.id}/queue", make("ul", rows, omitted))


def _describe_wait(message: Message, session: Session, now: float) -> str:
    if message.send_at is not None:
        return f"to be sent at {format_moment(message.send_at, now)}"
    return _NOT_READ if message.steered and session.is_active else ""


def _send_form(page_request: PageRequest, session: Session) -> Element | None:
    queued = page_request.state.queued.get(session.id, ())
    if session.is_unfinished or all(message.send_at is not None for message in queued):
        return None
    text = "Send anyway" if page_request.state.is_held(session) else "Send now"
    return page_request.make_form(f"/lite/sessions/{session.id}/send", button(text))


def _message_form(page_request: PageRequest, session: Session) -> Element:
    return page_request.make_form(
        f"/lite/sessions/{session.id}/messages",
        hidden("once", secrets.token_hex(16)),
        make("label", "Message", for_="message"),
        make(
            "textarea",
            page_request.typed.get("message"),
            name="message",
            id="message",
            rows=4,
            cols=60,
        ),
        button("Queue" if session.status in ("running", "paused") else "Send", class_="primary"),
        button("Send now", "steer", "1") if session.status == "running" else None,
    )


def _mode_form(page_request: PageRequest, session: Session) -> Element:
    return page_request.make_form(
        f"/lite/sessions/{session.id}/mode",
        make("label", "Mode", for_="mode"),
        make_select("mode", mode_options(), session.execution_mode),
        " ",
        button("Change"),
        f" from the next turn, now {session.turn_mode}" if session.turn_mode else None,
    )


def _refresh_interval(page_request: PageRequest) -> int:
    """Seconds between refreshes; 0 means never."""
    text = page_request.query.get("every", "")
    seconds = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    return max(2, seconds) if seconds else 0
