"""Pages for what the conversation only names: tools with results, thinking, and the complete
details of a permission request."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from model.base.errors import SpinneyError
from model.commands.sessions import get_tool_output
from model.domain.messages import Message, ThinkingBlock, ToolUseBlock
from model.domain.requests import Request
from model.domain.sessions import Session
from server.lite.conversation import Position, find_result, read_message, tool_subject
from server.lite.html import Element, Node, make, size, truncate
from server.lite.layout import render_page
from server.lite.page_request import PageRequest, link, nav, shorten

_TEXT_SIZE: Final = 7000
"""Maximum bytes of HTML of the text."""


async def render_part(page_request: PageRequest, session: Session, position: Position) -> str:
    """A block of a message as plain text from offset `?at=`, or its full result from `?out=`."""
    message = await read_message(page_request.workspace, session.id, position.message)
    block = (
        message.content[position.piece]
        if message and position.piece < len(message.content)
        else None
    )
    if message is None or not isinstance(block, ToolUseBlock | ThinkingBlock):
        raise SpinneyError("There is nothing at this address.", "not_found")
    url = f"/lite/sessions/{session.id}?part={position}"
    back = nav(link(f"‹ {shorten(session.name)}", _conversation_url(session, position)))
    if isinstance(block, ThinkingBlock):
        return render_page(
            page_request,
            "Thinking",
            back,
            paginate_text(block.text, url, query_number(page_request, "at")),
        )
    title = f"{shorten(block.name, 60)} {tool_subject(block)}"
    if "out" in page_request.query:
        result_nodes = await _make_output(page_request, session.id, block.id, f"{url}&out=")
        return render_page(page_request, title, back, result_nodes)
    text = "\n".join(_describe_block(message, block))
    more = None
    if (result := find_result(message, block.id)) and " are left out here …]" in result.content:
        more = nav(link("Full result", f"{url}&out=0"))
    return render_page(
        page_request,
        title,
        back,
        more,
        paginate_text(text, url, query_number(page_request, "at")),
    )


def render_request(page_request: PageRequest, session: Session) -> str:
    """The complete details of a permission request."""
    request = session.request
    if request is None:
        raise SpinneyError("This session is not waiting for an answer any more.", "not_found")
    url = f"/lite/sessions/{session.id}?asked=1"
    back = nav(link(f"‹ {shorten(session.name)}", f"/lite/sessions/{session.id}#asked"))
    paragraphs = (
        request.description,
        describe_location(request),
        describe_input(request.tool_input),
        describe_scope(request),
    )
    text = "\n\n".join(part for part in paragraphs if part)
    title = f"Allow {shorten(request.tool_name) or 'a tool'}?"
    return render_page(
        page_request, title, back, paginate_text(text, url, query_number(page_request, "at"))
    )


def describe_location(request: Request) -> str:
    """The directory and mode in which the tool would run, or an empty string if unknown."""
    if not request.directory:
        return ""
    return f"In {request.directory}, in {request.execution_mode} mode"


def describe_scope(request: Request) -> str:
    """What would be allowed for the session, or an empty string if unknown."""
    return f"For this session: {request.session_scope}." if request.session_scope else ""


def describe_input(tool_input: Mapping[str, Any]) -> str:
    """The input of a tool in readable form."""
    command, new = tool_input.get("command"), tool_input.get("new_content")
    if isinstance(new, str):
        return "\n".join(_diff_lines(str(tool_input.get("old_content") or ""), new))
    if isinstance(command, str) and len(tool_input) <= 2:
        return command
    return json.dumps(tool_input, indent=2, ensure_ascii=False)


def _describe_block(message: Message, block: ToolUseBlock) -> Iterator[str]:
    yield describe_input(block.input)
    tools = [b for b in message.content if isinstance(b, ToolUseBlock)]
    steps = [f"· {b.name} {tool_subject(b)}" for b in tools if b.parent_tool_use_id == block.id]
    if steps:
        yield from ["", "Steps:", *steps]
    if (result := find_result(message, block.id)) is not None:
        yield from ["", "Error:" if result.is_error else "Result:", result.content]
    elif block.output_so_far:
        yield from ["", "Output so far:", block.output_so_far]


def _diff_lines(before: str, after: str) -> Iterator[str]:
    """The lines that differ, with three lines of context."""
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


def paginate_text(text: str, url: str, offset: int) -> list[Node]:
    """A part of a text from `offset` on, and links to the others; `url` has a query."""
    shown = truncate(text[offset:], _TEXT_SIZE)
    end = offset + len(shown)
    first_link = link("From the beginning", url) if offset else None
    next_link = link("Continue", f"{url}&at={end}") if end < len(text) else None
    return [make("pre", shown or "(nothing)", tabindex=0), _links(first_link, next_link)]


async def _make_output(
    page_request: PageRequest, session_id: str, tool_use_id: str, url: str
) -> list[Node]:
    offset, limit = query_number(page_request, "out"), _TEXT_SIZE
    chunk = await get_tool_output(page_request.workspace, session_id, tool_use_id, offset, limit)
    while size(chunk.content) > _TEXT_SIZE:
        limit = max(4, limit * _TEXT_SIZE // size(chunk.content) - 4)
        chunk = await get_tool_output(
            page_request.workspace, session_id, tool_use_id, offset, limit
        )
    first_link = link("From the beginning", f"{url}0") if offset else None
    next_link = None
    if chunk.next_offset is not None:
        next_link = link("Continue", f"{url}{chunk.next_offset}")
    range_text = f"{offset:,} to {offset + len(chunk.content.encode()):,} of {chunk.size:,} bytes"
    return [
        make("p", range_text),
        make("pre", chunk.content or "(nothing)", tabindex=0),
        _links(first_link, next_link),
    ]


def _links(*links: Element | None) -> Element | None:
    present: list[Node] = [[link, " "] for link in links if link is not None]
    return nav(*present) if present else None


def query_number(page_request: PageRequest, name: str) -> int:
    """A number of the query, 0 if there is none."""
    text = page_request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _conversation_url(session: Session, position: Position) -> str:
    return f"/lite/sessions/{session.id}?from={Position(position.message, 0)}#m{position.message}"
