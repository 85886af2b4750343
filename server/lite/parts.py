"""What a conversation only names, on pages of its own: tools with their results, thoughts, and the
whole of what a permission is asked for."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from model.base.errors import SpinneyError
from model.commands.sessions import get_tool_output
from model.domain.resources import Message, Request, Session, ThinkingBlock, ToolUseBlock
from server.lite.conversation import Place, message_at, result_of, subject
from server.lite.html import Element, Node, fitting, make, size
from server.lite.layout import page
from server.lite.page_request import Visit, link, short, way

_ROOM: Final = 7000
"""Bytes of HTML that the text may take."""


async def part_page(visit: Visit, session: Session, place: Place) -> str:
    """A block of a message as plain text, from `?at=` on; its whole result from `?out=` on."""
    message = await message_at(visit.workspace, session.id, place.message)
    block = message.content[place.piece] if message and place.piece < len(message.content) else None
    if message is None or not isinstance(block, ToolUseBlock | ThinkingBlock):
        raise SpinneyError("There is nothing at this address.", "not_found")
    here = f"/lite/sessions/{session.id}?part={place}"
    back = way(link(f"‹ {short(session.name)}", _around(session, place)))
    if isinstance(block, ThinkingBlock):
        return page(visit, "Thinking", back, _paged(block.text, here, _number(visit, "at")))
    title = f"{short(block.name, 60)} {subject(block)}"
    if "out" in visit.query:
        whole = await _output(visit, session.id, block.id, f"{here}&out=")
        return page(visit, title, back, whole)
    text = "\n".join(_told(message, block))
    more = None
    if (result := result_of(message, block.id)) and " are left out here …]" in result.content:
        more = way(link("The whole result", f"{here}&out=0"))
    return page(visit, title, back, more, _paged(text, here, _number(visit, "at")))


def request_page(visit: Visit, session: Session) -> str:
    """All of what a permission is asked for."""
    request = session.request
    if request is None:
        raise SpinneyError("Nothing waits for an answer here any more.", "not_found")
    here = f"/lite/sessions/{session.id}?asked=1"
    back = way(link(f"‹ {short(session.name)}", f"/lite/sessions/{session.id}#asked"))
    told = (
        request.description,
        where_text(request),
        input_text(request.tool_input),
        scope_text(request),
    )
    text = "\n\n".join(part for part in told if part)
    title = f"May it use {short(request.tool_name) or 'a tool'}?"
    return page(visit, title, back, _paged(text, here, _number(visit, "at")))


def where_text(request: Request) -> str:
    """Where and in which mode what is asked for would run; empty where that is not known."""
    if not request.directory:
        return ""
    return f"In {request.directory}, in {request.execution_mode} mode"


def scope_text(request: Request) -> str:
    """What would be allowed for the session; empty where that is not known."""
    return f"For this session: {request.session_scope}." if request.session_scope else ""


def input_text(given: Mapping[str, Any]) -> str:
    """What a tool is given, as people read it."""
    command, new = given.get("command"), given.get("new_content")
    if isinstance(new, str):
        return "\n".join(_difference(str(given.get("old_content") or ""), new))
    if isinstance(command, str) and len(given) <= 2:
        return command
    return json.dumps(given, indent=2, ensure_ascii=False)


def _told(message: Message, block: ToolUseBlock) -> Iterator[str]:
    yield input_text(block.input)
    below = [b for b in message.content if isinstance(b, ToolUseBlock)]
    steps = [f"· {b.name} {subject(b)}" for b in below if b.parent_tool_use_id == block.id]
    if steps:
        yield from ["", "Its own steps:", *steps]
    if (result := result_of(message, block.id)) is not None:
        yield from ["", "It failed:" if result.is_error else "It gave back:", result.content]
    elif block.output_so_far:
        yield from ["", "It runs, and has printed so far:", block.output_so_far]


def _difference(before: str, after: str) -> Iterator[str]:
    """The lines that differ, with three on both sides that do not."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    yield from (f"  {line}" for line in old[max(0, head - 3) : head])
    yield from (f"- {line}" for line in old[head : len(old) - tail])
    yield from (f"+ {line}" for line in new[head : len(new) - tail])
    yield from (f"  {line}" for line in old[len(old) - tail :][:3])


def _paged(text: str, here: str, at: int) -> list[Node]:
    shown = fitting(text[at:], _ROOM)
    end = at + len(shown)
    first = link("From the beginning", here) if at else None
    further = link("Further on", f"{here}&at={end}") if end < len(text) else None
    return [make("pre", shown or "(nothing)", tabindex=0), _links(first, further)]


async def _output(visit: Visit, session_id: str, tool_use_id: str, here: str) -> list[Node]:
    at, limit = _number(visit, "out"), _ROOM
    given = await get_tool_output(visit.workspace, session_id, tool_use_id, at, limit)
    while size(given.content) > _ROOM:
        limit = max(4, limit * _ROOM // size(given.content) - 4)
        given = await get_tool_output(visit.workspace, session_id, tool_use_id, at, limit)
    first = link("From the beginning", f"{here}0") if at else None
    further = None
    if given.next_offset is not None:
        further = link("Further on", f"{here}{given.next_offset}")
    place = f"{at:,} to {at + len(given.content.encode()):,} of {given.size:,} bytes"
    return [
        make("p", place),
        make("pre", given.content or "(nothing)", tabindex=0),
        _links(first, further),
    ]


def _links(*links: Element | None) -> Element | None:
    known: list[Node] = [[link, " "] for link in links if link is not None]
    return way(*known) if known else None


def _number(visit: Visit, name: str) -> int:
    text = visit.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _around(session: Session, place: Place) -> str:
    return f"/lite/sessions/{session.id}?from={Place(place.message, 0)}#m{place.message}"
