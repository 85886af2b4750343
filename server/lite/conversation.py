"""A conversation in pages of limited size, backward from its end or forward from a position."""

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.base.plural import count
from model.commands.sessions import get_messages
from model.domain.messages import (
    ImageBlock,
    Message,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnreadableBlock,
)
from model.domain.requests import Question
from model.richtext.markdown import parse_markdown
from server.lite.html import Element, Node, make, size, truncate
from server.lite.page_request import shorten
from server.lite.richtext import PIECE, make_elements, verbatim

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_BATCH: Final = 8
"""Messages to read at once: usually enough for a page."""

_OUTPUT_LINES: Final = 3
"""Lines of a running tool's output to show."""

_HEADING_SIZE: Final = 200
"""Bytes of a message's heading and enclosing elements."""

_POSITION: Final = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """The position of a piece: the index of its message, counted from the oldest, and its own."""

    message: int
    piece: int

    def __str__(self) -> str:
        return f"{self.message}.{self.piece}"

    @classmethod
    def parse(cls, text: str | None) -> "Position | None":
        """Parse a position in an address; `None` if it is invalid."""
        match = _POSITION.fullmatch(text or "")
        return cls(int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message, at most a few kilobytes."""

    position: Position
    message: Message
    element: Element


@dataclass(slots=True)
class Page:
    """The pieces of one page, and the positions at which the adjacent pages continue."""

    pieces: list[Piece] = field(default_factory=list)
    older: Position | None = None
    """Older pieces exist before this position."""
    newer: Position | None = None
    """Newer pieces start at this position."""


async def read_before(
    workspace: "Workspace", session_id: str, end: Position | None, budget: int
) -> Page:
    """The newest pieces, before `end` if given: at most `budget` bytes, but at least one piece."""
    total = await _count_messages(workspace, session_id)
    end = min(end, Position(total, 0)) if end else Position(total, 0)
    page = Page(newer=end if end < Position(total, 0) else None)
    last = end.message + 1 if end.piece else end.message
    while last > 0:
        first = max(0, last - _BATCH)
        for pieces in reversed(await _read_pieces(workspace, session_id, range(first, last))):
            for piece in reversed([p for p in pieces if p.position < end]):
                budget -= _cost_of(piece, page.pieces[0] if page.pieces else None)
                if budget < 0 and page.pieces:
                    page.older = page.pieces[0].position
                    return page
                page.pieces.insert(0, piece)
        last = first
    return page


async def read_from(workspace: "Workspace", session_id: str, begin: Position, budget: int) -> Page:
    """The pieces from `begin`: at most `budget` bytes, but at least one piece."""
    total = await _count_messages(workspace, session_id)
    page = Page(older=begin if begin > Position(0, 0) else None)
    for first in range(begin.message, total, _BATCH):
        last = min(total, first + _BATCH)
        for pieces in await _read_pieces(workspace, session_id, range(first, last)):
            for piece in (p for p in pieces if p.position >= begin):
                budget -= _cost_of(piece, page.pieces[-1] if page.pieces else None)
                if budget < 0 and page.pieces:
                    page.newer = piece.position
                    return page
                page.pieces.append(piece)
    return page


def make_articles(pieces: Iterable[Piece], agent: str) -> Iterator[Element]:
    """The pieces as elements, grouped by message under a heading; rewound messages are folded."""
    for is_rewound, group in groupby(pieces, key=lambda piece: piece.message.rewound):
        articles = list(_make_articles(group, agent))
        if is_rewound:
            label = f"{count(len(articles), 'message')} rewound · show"
            yield make("details", make("summary", label), articles, class_="rewound")
        else:
            yield from articles


def _make_articles(pieces: Iterable[Piece], agent: str) -> Iterator[Element]:
    for number, group in groupby(pieces, key=lambda piece: piece.position.message):
        shown = list(group)
        message = shown[0].message
        author = "you" if message.role == "user" else agent
        more = " (continued)" if shown[0].position.piece else ""
        yield make(
            "article",
            make("h2", author, " ", make("time", _format_time(message.timestamp)), more),
            [piece.element for piece in shown],
            id=f"m{number}",
            class_=message.role,
        )


async def read_message(workspace: "Workspace", session_id: str, number: int) -> Message | None:
    """The message with this number, or `None`."""
    if not 0 <= number < await _count_messages(workspace, session_id):
        return None
    return (await _read_messages(workspace, session_id, range(number, number + 1)))[0]


def make_questions(questions: Iterable[Question]) -> Iterator[Node]:
    """Questions with their options, without input fields."""
    all_questions = tuple(questions)
    texts = sum(1 + len(question.options) for question in all_questions)
    limit = min(600, max(30, PIECE // max(1, texts)))
    for question in all_questions:
        yield make("p", make("b", truncate(shorten(question.question, limit), limit)))
        if question.options:
            options = [truncate(shorten(option.label, limit), limit) for option in question.options]
            yield make("ul", [make("li", option) for option in options])


# Reading ----------------------------------------------------------------------------------------


async def _count_messages(workspace: "Workspace", session_id: str) -> int:
    return (await get_messages(workspace, session_id, 1)).total


async def _read_messages(workspace: "Workspace", session_id: str, numbers: range) -> list[Message]:
    """The messages with these numbers, also while new messages arrive."""
    total = numbers.stop
    while True:
        offset = total - numbers.stop
        page = await get_messages(workspace, session_id, len(numbers), offset)
        if page.total <= total:
            return page.messages
        total = page.total


async def _read_pieces(
    workspace: "Workspace", session_id: str, numbers: range
) -> list[list[Piece]]:
    messages = await _read_messages(workspace, session_id, numbers)
    # Rendering a long text takes long, so it must not block the event loop.
    return await asyncio.to_thread(
        lambda: [
            list(_make_pieces(message, BlockLinks(session_id, number)))
            for number, message in zip(numbers, messages, strict=False)
        ]
    )


def _cost_of(piece: Piece, neighbor: Piece | None) -> int:
    is_same_message = neighbor is not None and neighbor.position.message == piece.position.message
    return size(piece.element) + (0 if is_same_message else _HEADING_SIZE)


# Drawing ----------------------------------------------------------------------------------------


def _make_pieces(message: Message, links: "BlockLinks") -> Iterator[Piece]:
    for index, element in enumerate(_make_content(message, links)):
        yield Piece(Position(links.message, index), message, element)


def _make_content(message: Message, links: "BlockLinks") -> Iterator[Element]:
    for index, block in enumerate(message.content):
        match block:
            case TextBlock() if message.role == "user":
                yield from verbatim(block.text)
            case TextBlock():
                yield from make_elements(parse_markdown(block.text))
            case ThinkingBlock():
                yield make("p", links.to(index, _thinking_label(block)), class_="tool")
            case ToolUseBlock() if not block.parent_tool_use_id:
                yield _make_tool(message, links.to(index, shorten(block.name, 60)), block)
                if output := _last_output(message, block):
                    yield make("pre", output, tabindex=0)
            case PlanBlock():
                approval = f" · approved → {block.approved}" if block.approved else ""
                yield make("h3", f"Plan{approval}")
                yield from make_elements(parse_markdown(block.text))
            case QuestionBlock():
                yield make("section", make_questions(block.questions), _make_answers(block))
            case ImageBlock():
                yield make("p", f"image {shorten(block.path, 200)}", class_="tool")
            case UnreadableBlock():
                yield make("p", f"unreadable: {block.notice}", class_="bad")
                yield from verbatim(block.text) if block.text else ()
            case _:
                pass
    for path in message.files:
        yield make("p", f"file {shorten(path, 200)}", class_="tool")
    if message.context is not None:
        yield make("p", f"context sent along: {Path(message.context).name}", class_="tool")
    if message.error is not None:
        yield make("p", shorten(message.error.error, 1000), class_="bad")


@dataclass(frozen=True, slots=True)
class BlockLinks:
    """Makes links to blocks that the conversation only names: tools and thinking."""

    session_id: str
    message: int

    def to(self, index: int, text: str) -> Element:
        """A link to a block of the message."""
        address = f"/lite/sessions/{self.session_id}?part={self.message}.{index}"
        return make("a", text, href=address)


def _thinking_label(block: ThinkingBlock) -> str:
    if block.seconds is None:
        return "thinking…"
    return f"thought for {max(1, round(block.seconds))} s"


def _make_tool(message: Message, link: Element, block: ToolUseBlock) -> Element:
    result = find_result(message, block.id)
    outcome = "running" if message.status == "processing" else ""
    if outcome and block.running_for:
        outcome = f"running for {block.running_for} s"
    if result is not None:
        outcome = "failed" if result.is_error else "done"
        if result.denied is not None:
            outcome = f"denied: {shorten(result.denied, 600)}" if result.denied else "denied"
    css_class = "tool bad" if result is not None and result.is_error else "tool"
    return make("p", link, " ", make("code", tool_subject(block)), f" {outcome}", class_=css_class)


def _last_output(message: Message, block: ToolUseBlock) -> str:
    """The last lines of a running tool's output."""
    if message.status != "processing" or not block.output_so_far:
        return ""
    lines = block.output_so_far.rstrip().splitlines()[-_OUTPUT_LINES:]
    return "\n".join(line[:200] for line in lines)


def tool_subject(block: ToolUseBlock) -> str:
    """A short description of a tool call: its file, command or the like."""
    names = ("file_path", "command", "pattern", "url", "path", "description")
    text = next((block.input[name] for name in names if block.input.get(name)), "")
    return shorten(str(text).partition("\n")[0], 120)


def find_result(message: Message, tool_use_id: str) -> ToolResultBlock | None:
    """The result of a tool call, if there is one."""
    return next(
        (
            block
            for block in message.content
            if isinstance(block, ToolResultBlock) and block.tool_use_id == tool_use_id
        ),
        None,
    )


def _make_answers(block: QuestionBlock) -> Iterator[Element]:
    answer = block.answer
    answers = [answer] if isinstance(answer, str) else list((answer or {}).values())
    for text in answers:
        yield make("p", f"→ {shorten(text, 600)}", class_="answer")


def _format_time(timestamp: float) -> str:
    local_time = time.localtime(timestamp)
    is_today = local_time[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", local_time)
