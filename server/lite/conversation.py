"""A conversation in pages of so many bytes: from its end backwards, or from a place on."""

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.commands.sessions import get_messages
from model.domain.resources import (
    ImageBlock,
    Message,
    PlanBlock,
    Question,
    QuestionBlock,
    Session,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnreadableBlock,
)
from model.richtext.markdown import parse_markdown
from server.lite.html import Element, Node, fitting, make, size
from server.lite.page_request import short
from server.lite.richtext import PIECE, elements_of, said

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_BATCH: Final = 8
"""Messages that are read at once: mostly a page of them."""

_LIVE: Final = 3
"""Lines of what a running tool prints that stand under it."""

_HEAD: Final = 200
"""Bytes that a message's head and frame take."""

_PLACE: Final = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A piece of a message; messages are counted from the oldest, which is 0."""

    message: int
    piece: int

    def __str__(self) -> str:
        return f"{self.message}.{self.piece}"

    @classmethod
    def read(cls, text: str | None) -> "Place | None":
        """What stands in an address; `None` for anything else."""
        found = _PLACE.fullmatch(text or "")
        return cls(int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a message, never long."""

    place: Place
    message: Message
    element: Element


@dataclass(slots=True)
class Page:
    """What fits on one page, and from where the others go on."""

    pieces: list[Piece] = field(default_factory=list)
    older: Place | None = None
    """There is more before this."""
    newer: Place | None = None
    """There is more from here on."""


async def read_before(
    workspace: "Workspace", session_id: str, end: Place | None, room: int
) -> Page:
    """The newest pieces before `end`, or of all: as many as `room` bytes hold, and one at least."""
    total = await _total(workspace, session_id)
    end = min(end, Place(total, 0)) if end else Place(total, 0)
    page = Page(newer=end if end < Place(total, 0) else None)
    last = end.message + 1 if end.piece else end.message
    while last > 0:
        first = max(0, last - _BATCH)
        for pieces in reversed(await _messages(workspace, session_id, range(first, last))):
            for piece in reversed([p for p in pieces if p.place < end]):
                room -= _taken(piece, page.pieces[0] if page.pieces else None)
                if room < 0 and page.pieces:
                    page.older = page.pieces[0].place
                    return page
                page.pieces.insert(0, piece)
        last = first
    return page


async def read_from(workspace: "Workspace", session_id: str, begin: Place, room: int) -> Page:
    """The pieces from `begin` on, as many as fit in `room` bytes, and one at least."""
    total = await _total(workspace, session_id)
    page = Page(older=begin if begin > Place(0, 0) else None)
    for first in range(begin.message, total, _BATCH):
        last = min(total, first + _BATCH)
        for pieces in await _messages(workspace, session_id, range(first, last)):
            for piece in (p for p in pieces if p.place >= begin):
                room -= _taken(piece, page.pieces[-1] if page.pieces else None)
                if room < 0 and page.pieces:
                    page.newer = piece.place
                    return page
                page.pieces.append(piece)
    return page


def articles(pieces: Iterable[Piece], session: Session, agent: str) -> Iterator[Element]:
    """The pieces as elements, those of one message together under their head."""
    for number, some in groupby(pieces, key=lambda piece: piece.place.message):
        shown = list(some)
        message = shown[0].message
        who = "you" if message.role == "user" else agent
        more = " (continued)" if shown[0].place.piece else ""
        yield make(
            "article",
            make("h2", who, " ", make("time", _clock(message.timestamp)), more),
            [piece.element for piece in shown],
            id=f"m{number}",
            class_=message.role,
        )


async def message_at(workspace: "Workspace", session_id: str, number: int) -> Message | None:
    """The message of this number, where there is one."""
    if not 0 <= number < await _total(workspace, session_id):
        return None
    return (await _read(workspace, session_id, range(number, number + 1)))[0]


def asked(questions: Iterable[Question]) -> Iterator[Node]:
    """Questions with what can be answered, for reading."""
    known = tuple(questions)
    texts = sum(1 + len(question.options) for question in known)
    most = min(600, max(30, PIECE // max(1, texts)))
    for question in known:
        yield make("p", make("b", fitting(short(question.question, most), most)))
        if question.options:
            options = [fitting(short(option.label, most), most) for option in question.options]
            yield make("ul", [make("li", option) for option in options])


# Reading ----------------------------------------------------------------------------------------


async def _total(workspace: "Workspace", session_id: str) -> int:
    return (await get_messages(workspace, session_id, 1)).total


async def _read(workspace: "Workspace", session_id: str, numbers: range) -> list[Message]:
    """The messages of these numbers, whatever is said meanwhile."""
    total = numbers.stop
    while True:
        offset = total - numbers.stop
        page = await get_messages(workspace, session_id, len(numbers), offset)
        if page.total <= total:
            return page.messages
        total = page.total


async def _messages(workspace: "Workspace", session_id: str, numbers: range) -> list[list[Piece]]:
    messages = await _read(workspace, session_id, numbers)
    # A long text takes its time, which is not the loop's.
    return await asyncio.to_thread(
        lambda: [
            list(_pieces(message, Link(session_id, number)))
            for number, message in zip(numbers, messages, strict=False)
        ]
    )


def _taken(piece: Piece, beside: Piece | None) -> int:
    is_same = beside is not None and beside.place.message == piece.place.message
    return size(piece.element) + (0 if is_same else _HEAD)


# Drawing ----------------------------------------------------------------------------------------


def _pieces(message: Message, link: "Link") -> Iterator[Piece]:
    for at, element in enumerate(_elements(message, link)):
        yield Piece(Place(link.message, at), message, element)


def _elements(message: Message, link: "Link") -> Iterator[Element]:
    for index, block in enumerate(message.content):
        match block:
            case TextBlock() if message.role == "user":
                yield from said(block.text)
            case TextBlock():
                yield from elements_of(parse_markdown(block.text))
            case ThinkingBlock():
                yield make("p", link.to(index, _thought(block)), class_="tool")
            case ToolUseBlock() if not block.parent_tool_use_id:
                yield _tool(message, link.to(index, short(block.name, 60)), block)
                if so_far := _so_far(message, block):
                    yield make("pre", so_far, tabindex=0)
            case PlanBlock():
                carried = f" · approved → {block.approved}" if block.approved else ""
                yield make("h3", f"Plan{carried}")
                yield from elements_of(parse_markdown(block.text))
            case QuestionBlock():
                yield make("section", asked(block.questions), _answer(block))
            case ImageBlock():
                yield make("p", f"image {short(block.path, 200)}", class_="tool")
            case UnreadableBlock():
                yield make("p", f"unreadable: {block.notice}", class_="bad")
                yield from said(block.text) if block.text else ()
            case _:
                pass
    for path in message.files:
        yield make("p", f"file {short(path, 200)}", class_="tool")
    if message.context is not None:
        yield make("p", f"goes with it: {Path(message.context).name}", class_="tool")
    if message.error is not None:
        yield make("p", short(message.error.error, 1000), class_="bad")


@dataclass(frozen=True, slots=True)
class Link:
    """Leads to what a message only names: tools and thoughts."""

    session_id: str
    message: int

    def to(self, index: int, words: str) -> Element:
        """The link to this block of the message."""
        address = f"/lite/sessions/{self.session_id}?part={self.message}.{index}"
        return make("a", words, href=address)


def _thought(block: ThinkingBlock) -> str:
    if block.seconds is None:
        return "thinking…"
    return f"thought for {max(1, round(block.seconds))} s"


def _tool(message: Message, link: Element, block: ToolUseBlock) -> Element:
    result = result_of(message, block.id)
    outcome = "running" if message.status == "processing" else ""
    if outcome and block.running_for:
        outcome = f"running for {block.running_for} s"
    if result is not None:
        outcome = "failed" if result.is_error else "done"
        if result.denied is not None:
            outcome = f"denied: {short(result.denied, 600)}" if result.denied else "denied"
    failed = "tool bad" if result is not None and result.is_error else "tool"
    return make("p", link, " ", make("code", subject(block)), f" {outcome}", class_=failed)


def _so_far(message: Message, block: ToolUseBlock) -> str:
    """The last lines of what a tool prints that runs."""
    if message.status != "processing" or not block.output_so_far:
        return ""
    lines = block.output_so_far.rstrip().splitlines()[-_LIVE:]
    return "\n".join(line[:200] for line in lines)


def subject(block: ToolUseBlock) -> str:
    """What a tool is about, in a few words."""
    names = ("file_path", "command", "pattern", "url", "path", "description")
    told = next((block.input[name] for name in names if block.input.get(name)), "")
    return short(str(told).partition("\n")[0], 120)


def result_of(message: Message, tool_use_id: str) -> ToolResultBlock | None:
    """What a tool gave back, where it did."""
    return next(
        (
            block
            for block in message.content
            if isinstance(block, ToolResultBlock) and block.tool_use_id == tool_use_id
        ),
        None,
    )


def _answer(block: QuestionBlock) -> Iterator[Element]:
    given = block.answer
    answers = [given] if isinstance(given, str) else list((given or {}).values())
    for text in answers:
        yield make("p", f"→ {short(text, 600)}", class_="answer")


def _clock(timestamp: float) -> str:
    then = time.localtime(timestamp)
    is_today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", then)
