"""A message as rows: its header, its blocks in the order of reading, how it ended.

What did not change since it was last laid out keeps its rows, so a message that grows costs only
the block that grew.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rich.segment import Segment
from textual.strip import Strip

from model.domain.resources import (
    Block,
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
from tui.draw.line_parts import (
    SHOWS_ALL,
    cut,
    indented,
    one_line,
    output_rows,
    prose_rows,
    strip_of,
)
from tui.draw.wrap import Line
from tui.transcript.boxes import plan_level, plan_rows, question_rows
from tui.transcript.message_edges import ending, header, thought
from tui.transcript.parts import ALL, BODY, CLOSED, CUT, LaidOut, Look, Part, Shown
from tui.transcript.streaming import GrowingText
from tui.transcript.tools import ToolUse, tool_rows

HEADER: Final = -1
"""The key of the part that names who speaks. Parts with lower keys stand for no block either."""
GAP: Final = -2
"""The key of empty rows; the cursor never stands on them."""
_WORKING: Final = -3
_FILES: Final = -4
_ENDING: Final = -5

_DEEPEST: Final = 4
SAID: Final = 12
"""Rows of a person's long message that are shown."""


def estimated_height(message: Message, look: Look) -> int:
    """About how many rows the message takes, from nothing but the lengths of its texts."""
    width, rows = look.body_width, 2
    for block in message.content:
        match block:
            case TextBlock() if message.role == "user" and is_long(block.text, width):
                rows += SAID + 2
            case TextBlock() | PlanBlock():
                # A line break often comes with an empty row; long lines break before their end.
                rows += 2 + len(block.text) * 9 // (8 * width) + block.text.count("\n")
            case QuestionBlock():
                options = [each for question in block.questions for each in question.options]
                rows += 2 + len(block.questions) + len(options)
                rows += sum(each.preview.count("\n") + bool(each.preview) for each in options)
            case ToolResultBlock():
                pass
            case _:
                rows += 1
    return rows


def is_long(text: str, width: int) -> bool:
    """Whether a person's message takes more rows than are shown of it; told without a layout."""
    return text.count("\n") > SAID or len(text) > SAID * width


def lay_out(shown: Shown, before: LaidOut | None = None) -> LaidOut:
    """The message as rows, with all that can be kept of how it was laid out before."""
    return LaidOut(shown, list(_spaced(_Layout(shown, before).parts(), shown.look)))


def raw_text(message: Message, part: Part) -> str:
    """What copying the part gives: the text itself, not the rows it was broken into."""
    match part.block:
        case (
            TextBlock(text=text)
            | ThinkingBlock(text=text)
            | PlanBlock(text=text)
            | UnreadableBlock(text=text)
        ):
            return text
        case ToolUseBlock(id=tool_id, input=given):
            results = (b for b in message.content if isinstance(b, ToolResultBlock))
            result = next((r.content for r in results if r.tool_use_id == tool_id), "")
            texts = [value for value in given.values() if isinstance(value, str)]
            return "\n".join([*texts, result] if result else texts)
        case ToolResultBlock(content=content):
            return content
        case ImageBlock(path=path):
            return path
        case QuestionBlock(questions=questions):
            return "\n".join(question.question for question in questions)
        case _:
            return message.error.error if part.key == _ENDING and message.error else message.text


def _spaced(parts: Iterator[Part], look: Look) -> Iterator[Part]:
    """The parts with an empty row around what takes several rows, and one after the message."""
    empty = strip_of((), look.width, look.palette.kind)
    last: Part | None = None
    for part in parts:
        if last and last.key != HEADER and (_is_tall(last) or _is_tall(part)):
            yield Part(GAP, [empty], ())
        yield part
        last = part
    yield Part(GAP, [empty], ())


def _is_tall(part: Part) -> bool:
    if isinstance(part.block, ToolUseBlock) and part.block.output_so_far and part.level == CLOSED:
        return False  # rows that soon go again shall not push what is around them
    return isinstance(part.block, TextBlock | PlanBlock | QuestionBlock) or len(part.strips) > 1


class _Layout:
    """One pass over a message."""

    def __init__(self, shown: Shown, before: LaidOut | None) -> None:
        self._shown = shown
        self._look = shown.look
        self._message = shown.message
        self._is_running = shown.message.status == "processing" and shown.message.role != "user"
        self._before = {part.key: part for part in before.parts} if before else {}
        blocks = shown.message.content
        self._results = {b.tool_use_id: b for b in blocks if isinstance(b, ToolResultBlock)}
        self._tools = {b.id: at for at, b in enumerate(blocks) if isinstance(b, ToolUseBlock)}
        self._children: dict[str, list[tuple[int, ToolUseBlock]]] = {}
        for at, block in enumerate(blocks):
            if isinstance(block, ToolUseBlock) and (parent := self._parent(at, block)):
                self._children.setdefault(parent, []).append((at, block))

    def parts(self) -> Iterator[Part]:
        """All parts that have rows, in the order of reading."""
        yield self._part(HEADER, None, lambda: [header(self._shown)], indent=0)
        for at, block in enumerate(self._message.content):
            yield from self._of_block(at, block)
        yield from self._after_blocks()

    def _parent(self, at: int, block: ToolUseBlock) -> str | None:
        """The tool that this one was used for; where it is known, it comes before."""
        parent = self._tools.get(block.parent_tool_use_id or "", at)
        return block.parent_tool_use_id if parent < at else None

    def _of_block(self, at: int, block: Block) -> Iterator[Part]:
        width = self._look.body_width
        match block:
            case TextBlock():
                if block.text.strip():
                    yield self._text(at, block)
            case ThinkingBlock():
                if block.text.strip():
                    yield self._thinking(at, block)
            case ToolUseBlock():
                if self._parent(at, block) is None:
                    yield from self._tool(at, block, 0)
            case ToolResultBlock():
                if block.tool_use_id not in self._tools and block.content.strip():
                    yield self._stray_result(at, block)
            case PlanBlock():
                yield self._plan(at, block)
            case QuestionBlock():
                yield self._part(at, block, lambda: question_rows(block, self._look, width))
            case ImageBlock():
                word = f"[image] {self._look.path(block.path)}"
                yield self._part(at, block, lambda: [self._muted(word)])
            case UnreadableBlock():
                yield self._part(at, block, lambda: self._unreadable(block))
            case _:
                word = f"[{block.type}] this version cannot show it"
                yield self._part(at, block, lambda: [self._muted(word)])

    def _after_blocks(self) -> Iterator[Part]:
        message, look = self._message, self._look
        if message.files or message.context:
            words = [f"[file] {look.path(path)}" for path in message.files]
            if message.context:
                words.append(f"[context] {look.path(message.context)}")
            yield self._part(_FILES, None, lambda: [self._muted(word) for word in words])
        if self._is_running and not message.content:
            yield self._part(
                _WORKING, None, lambda: [self._muted(f"{look.signs.running} working …")]
            )
        ended = ending(message, look)
        if ended:
            yield self._part(_ENDING, None, lambda: ended)

    def _text(self, at: int, block: TextBlock) -> Part:
        if self._message.role == "user" and is_long(block.text, self._look.body_width):
            return self._long(at, block)
        made_from = (self._look, block, self._is_running)
        before = self._before.get(at)
        if before and _same(before.made_from, made_from):
            return before
        growing = (before.growing if before else None) or GrowingText(BODY)
        ended = not self._is_running
        look = self._look
        strips = growing.rows(block.text, look.width, look.palette, ended=ended)
        return Part(at, strips, made_from, block, growing=None if ended else growing)

    def _long(self, at: int, block: TextBlock) -> Part:
        """A long message of a person, who knows what it says: its beginning, or all."""
        look, level = self._look, self._level(at, CLOSED)

        def rows() -> tuple[list[Line], bool]:
            shown = block.text if level != CLOSED else block.text[: SAID * look.body_width]
            lines = output_rows(shown, look.body_width, look.palette.text)
            if level != CLOSED:
                return lines, False
            more = f"… {block.text.count(chr(10)) + 1:,} lines in all {SHOWS_ALL}"
            return [*lines[:SAID], [Segment(more, look.palette.faint)]], True

        return self._cut_part(at, block, rows, level=level)

    def _thinking(self, at: int, block: ThinkingBlock) -> Part:
        look, level = self._look, self._level(at, CLOSED)
        if block.seconds is None and self._is_running:
            word = "thinking …"
            sign = look.signs.running if level == CLOSED else look.signs.open
        else:
            word = thought(block.seconds)
            sign = look.signs.closed if level == CLOSED else look.signs.open
        head = [Segment(f"{sign} {word}", look.palette.faint)]

        def rows() -> list[Line]:
            if level == CLOSED:
                return [head]
            said = prose_rows(block.text, look.body_width - 2, look.palette.muted)
            return [head, *indented(said, 2)]

        return self._part(at, block, rows, self._is_running, level=level)

    def _tool(self, at: int, block: ToolUseBlock, depth: int) -> Iterator[Part]:
        children = self._children.get(block.id, [])
        result = self._results.get(block.id)
        is_waiting = self._asks_for(block)
        use = ToolUse(block, result, self._is_running, is_waiting, len(children))
        level = self._level(at, use.default_level)
        indent = BODY + 2 * depth
        width = max(self._look.width - indent - 1, 8)
        yield self._cut_part(
            at,
            block,
            lambda: tool_rows(use, self._look, width, level),
            *(result, self._is_running, is_waiting, len(children)),
            level=level,
            indent=indent,
        )
        # The steps of a sub-agent are news while it works and details afterwards.
        if level != CLOSED or (result is None and self._is_running):
            for place, child in children:
                yield from self._tool(place, child, min(depth + 1, _DEEPEST))

    def _asks_for(self, block: ToolUseBlock) -> bool:
        """Whether the permission that is asked for is that of this tool's use."""
        request = self._shown.request
        if request is None or request.kind != "permission":
            return False
        tools = (b for b in self._message.content if isinstance(b, ToolUseBlock))
        unfinished = [tool for tool in tools if tool.id not in self._results]
        same = [tool for tool in unfinished if tool.input == request.tool_input]
        return block in (same or unfinished)[-1:]

    def _unreadable(self, block: UnreadableBlock) -> list[Line]:
        """What is damaged, and all that is left of it."""
        width = self._look.body_width
        left = output_rows(block.text, width - 2, self._look.palette.muted) if block.text else []
        word = one_line(f"[unreadable] {block.notice}", width)
        return [[Segment(word, self._look.tones.error)], *indented(left, 2)]

    def _stray_result(self, at: int, block: ToolResultBlock) -> Part:
        """A result whose call stands in an earlier message."""
        look, level = self._look, self._level(at, CLOSED)
        width = look.body_width
        style = look.tones.error if block.is_error else look.palette.muted

        def rows() -> tuple[list[Line], bool]:
            sign = look.signs.closed if level == CLOSED else look.signs.open
            head = [Segment(f"{sign} ", look.palette.faint), Segment("result", look.tones.accent)]
            if level == CLOSED:
                return [[*head, Segment(f"  {one_line(block.content, width - 10)}", style)]], False
            output = output_rows(block.content, width - 2, style)
            output, is_cut = cut(output, len(output) if level == ALL else CUT, look.palette.faint)
            return [head, *indented(output, 2)], is_cut

        return self._cut_part(at, block, rows, level=level)

    def _plan(self, at: int, block: PlanBlock) -> Part:
        look, request = self._look, self._shown.request
        level = self._level(at, plan_level(block, request))
        return self._cut_part(
            at,
            block,
            lambda: plan_rows(block, request, look, look.body_width, level),
            request,
            level=level,
        )

    def _part(
        self,
        key: int,
        block: Block | None,
        rows: Callable[[], list[Line]],
        *also: Any,
        level: int | None = None,
        indent: int = BODY,
    ) -> Part:
        return self._cut_part(
            key, block, lambda: (rows(), False), *also, level=level, indent=indent
        )

    def _cut_part(
        self,
        key: int,
        block: Block | None,
        rows: Callable[[], tuple[list[Line], bool]],
        *also: Any,
        level: int | None = None,
        indent: int = BODY,
    ) -> Part:
        """The part as it was, where it would be made from the same things; `also` lists others."""
        made_from = (self._look, block, level, indent, *also)
        before = self._before.get(key)
        if block is not None and before and _same(before.made_from, made_from):
            return before
        lines, is_cut = rows()
        return Part(key, self._strips(lines, indent), made_from, block, level, is_cut)

    def _strips(self, lines: Iterable[Line], indent: int) -> list[Strip]:
        width, kind = self._look.width, self._look.palette.kind
        margin = Segment(" " * indent)
        return [strip_of([margin, *line], width, kind) for line in lines]

    def _level(self, at: int, default: int) -> int:
        return self._shown.folds.get(at, default)

    def _muted(self, word: str) -> Line:
        width = self._look.body_width
        return [Segment(one_line(word, width), self._look.palette.muted)]


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether both hold the same objects: messages share the blocks that did not change."""
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
