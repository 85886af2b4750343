"""Layout of a message as rows: its header, its blocks in reading order, and how it ended.

Parts that did not change since the last layout keep their rows, so a growing message costs only
the block that grew.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from model.domain.messages import (
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
    background_style,
    one_line,
    to_strip,
)
from tui.draw.wrap import MIN_WIDTH, Line
from tui.terminal import screen_reader
from tui.transcript.block_rows import (
    MAX_MESSAGE_ROWS,
    long_text_rows,
    result_rows,
    thinking_rows,
    unreadable_rows,
)
from tui.transcript.boxes import plan_level, plan_rows, question_rows
from tui.transcript.change_card import change_rows
from tui.transcript.message_edges import (
    ending_rows,
    format_time,
    header_rows,
)
from tui.transcript.parts import (
    BODY_INDENT,
    CLOSED,
    LayoutInput,
    MessageLayout,
    Part,
    RenderContext,
)
from tui.transcript.rewound import REWOUND, dim, rewound_line
from tui.transcript.streaming import GrowingText
from tui.transcript.tools import ToolUseState, tool_rows

HEADER: Final = -1
"""The key of the message header. Parts with lower keys represent no block either."""
GAP: Final = -2
"""The key of empty rows; the cursor skips them."""
_WORKING: Final = -3
_FILES: Final = -4
_ENDING: Final = -5
_CHANGES: Final = -6

CARD_INDENT: Final = BODY_INDENT - 2
"""Indentation of what stands beside a bar, so that its text is where other text is."""
_DEEPEST: Final = 4

B = TypeVar("B", bound=Block)


def estimate_height(message: Message, context: RenderContext) -> int:
    """Estimate the height of a message in rows from the lengths of its texts alone."""
    width, rows = context.body_width, 1
    for block in message.content:
        match block:
            case TextBlock() if message.role == "user" and is_long(block.text, width):
                rows += MAX_MESSAGE_ROWS + 2
            case TextBlock() | PlanBlock():
                # A line break often adds an empty row; long lines wrap before their end.
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
    """Whether a user message exceeds `MAX_MESSAGE_ROWS`; estimated without a layout."""
    return text.count("\n") > MAX_MESSAGE_ROWS or len(text) > MAX_MESSAGE_ROWS * width


def lay_out(source: LayoutInput, before: MessageLayout | None = None) -> MessageLayout:
    """Lay out a message as rows, reusing unchanged parts of the layout `before`."""
    around = source.around
    if around.is_folded and not around.rewound:
        return MessageLayout(source, [])
    if before is not None and before.source.message.rewound != source.message.rewound:
        before = None  # its rows have other colors
    parts = list(_with_gaps(_Layout(source, before).parts(), source.context))
    if source.message.rewound:
        parts = [part if part.key == REWOUND else dim(part, source.context) for part in parts]
    return MessageLayout(source, parts)


def raw_text(message: Message, part: Part) -> str:
    """The unwrapped text of a part, for copying."""
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


def _with_gaps(parts: Iterator[Part], context: RenderContext) -> Iterator[Part]:
    """Insert an empty row around parts of several rows, and one after the message."""
    empty = to_strip((), context.width, context.palette.kind)
    last: Part | None = None
    for part in parts:
        if last and last.key != HEADER and (_is_tall(last) or _is_tall(part)):
            yield Part(GAP, [empty], ())
        yield part
        last = part
    yield Part(GAP, [empty], ())


def _is_tall(part: Part) -> bool:
    if isinstance(part.block, ToolUseBlock) and part.block.output_so_far and part.level == CLOSED:
        return False  # temporary rows must not move the parts around them
    if part.key == _CHANGES:
        return True
    return isinstance(part.block, TextBlock | PlanBlock | QuestionBlock) or len(part.strips) > 1


class _Layout:
    """One pass over a message."""

    def __init__(self, source: LayoutInput, before: MessageLayout | None) -> None:
        self._input = source
        self._context = source.context
        self._message = source.message
        self._is_running = source.message.status == "processing" and source.message.role != "user"
        self._has_time = False
        self._before = {part.key: part for part in before.parts} if before else {}
        blocks = source.message.content
        self._results = {b.tool_use_id: b for b in blocks if isinstance(b, ToolResultBlock)}
        self._tools = {b.id: at for at, b in enumerate(blocks) if isinstance(b, ToolUseBlock)}
        self._children: dict[str, list[tuple[int, ToolUseBlock]]] = {}
        for at, block in enumerate(blocks):
            if isinstance(block, ToolUseBlock) and (parent := self._parent(at, block)):
                self._children.setdefault(parent, []).append((at, block))

    def parts(self) -> Iterator[Part]:
        """All parts that have rows, in reading order."""
        if count := self._input.around.rewound:
            level = self._level(REWOUND, CLOSED)
            line = rewound_line(count, level, self._context)
            yield self._make_part(REWOUND, None, lambda: [line], level=level, indent=0)
        if self._input.around.is_folded:
            return
        if header := header_rows(self._input):
            yield self._make_part(HEADER, None, lambda: header, indent=0)
        for at, block in enumerate(self._message.content):
            yield from self._block_parts(at, block)
        yield from self._closing_parts()

    def _parent(self, at: int, block: ToolUseBlock) -> str | None:
        """The id of the tool use that this one is a step of; it must be in an earlier block."""
        parent = self._tools.get(block.parent_tool_use_id or "", at)
        return block.parent_tool_use_id if parent < at else None

    def _block_parts(self, at: int, block: Block) -> Iterator[Part]:
        width = self._context.body_width
        match block:
            case TextBlock():
                if block.text.strip():
                    yield self._text_part(at, block)
            case ThinkingBlock():
                if block.text.strip():
                    rows = partial(thinking_rows, is_running=self._is_running)
                    yield self._limited_rows(at, block, rows, self._is_running)
            case ToolUseBlock():
                if self._parent(at, block) is None:
                    yield from self._tool_parts(at, block, 0)
            case ToolResultBlock():
                if block.tool_use_id not in self._tools and block.content.strip():
                    yield self._limited_rows(at, block, result_rows)
            case PlanBlock():
                yield self._plan_part(at, block)
            case QuestionBlock():
                yield self._make_part(at, block, lambda: question_rows(block, self._context, width))
            case ImageBlock():
                label = f"[image] {self._context.path(block.path)}"
                yield self._make_part(at, block, lambda: [self._muted_line(label)])
            case UnreadableBlock():
                yield self._make_part(at, block, lambda: unreadable_rows(block, self._context))
            case _:
                label = f"[{block.type}] this version cannot show it"
                yield self._make_part(at, block, lambda: [self._muted_line(label)])

    def _closing_parts(self) -> Iterator[Part]:
        message, context = self._message, self._context
        if message.files or message.context:
            labels = [f"[file] {context.path(path)}" for path in message.files]
            if message.context:
                labels.append(f"[context] {context.path(message.context)}")
            yield self._make_part(
                _FILES, None, lambda: [self._muted_line(label) for label in labels]
            )
        if self._is_running and not message.content:
            yield self._make_part(
                _WORKING, None, lambda: [self._muted_line(f"{context.glyphs.running} working …")]
            )
        if message.status == "completed" and message.role != "user":
            changes = change_rows(message, context, self._input.around)
            if changes:
                yield self._make_part(_CHANGES, None, lambda: changes, indent=CARD_INDENT)
        ending_lines = ending_rows(message, context)
        if ending_lines:
            yield self._make_part(_ENDING, None, lambda: ending_lines)

    def _text_part(self, at: int, block: TextBlock) -> Part:
        if self._message.role == "user" and is_long(block.text, self._context.body_width):
            return self._limited_rows(at, block, long_text_rows)
        cache_key = (self._context, block, self._is_running)
        before = self._before.get(at)
        if before and _are_identical(before.cache_key, cache_key):
            return before
        growing = (before.growing if before else None) or GrowingText(self._margin(BODY_INDENT))
        has_ended = not self._is_running
        context = self._context
        strips = growing.rows(block.text, context.width, context.palette, ended=has_ended)
        strips = self._with_time(strips)
        return Part(at, strips, cache_key, block, growing=None if has_ended else growing)

    def _limited_rows(
        self,
        at: int,
        block: B,
        rows: Callable[[B, RenderContext, int], tuple[list[Line], bool]],
        *extra: Any,
    ) -> Part:
        """The part of a block that is collapsed until it is opened."""
        level = self._level(at, CLOSED)
        return self._limited_part(
            at, block, lambda: rows(block, self._context, level), *extra, level=level
        )

    def _tool_parts(self, at: int, block: ToolUseBlock, depth: int) -> Iterator[Part]:
        children = self._children.get(block.id, [])
        result = self._results.get(block.id)
        is_waiting = self._is_awaiting_permission(block)
        use = ToolUseState(block, result, self._is_running, is_waiting, len(children))
        level = self._level(at, use.default_level)
        indent = BODY_INDENT + 2 * depth
        width = max(self._context.width - indent - 1, 8)
        yield self._limited_part(
            at,
            block,
            lambda: tool_rows(use, self._context, width, level),
            *(result, self._is_running, is_waiting, len(children)),
            level=level,
            indent=indent,
        )
        # The steps of a sub-agent are shown while it works and collapsed afterwards.
        if level != CLOSED or (result is None and self._is_running):
            for index, child in children:
                yield from self._tool_parts(index, child, min(depth + 1, _DEEPEST))

    def _is_awaiting_permission(self, block: ToolUseBlock) -> bool:
        """Whether the pending permission request is about this tool use."""
        request = self._input.request
        if request is None or request.kind != "permission":
            return False
        tools = (b for b in self._message.content if isinstance(b, ToolUseBlock))
        unfinished = [tool for tool in tools if tool.id not in self._results]
        same = [tool for tool in unfinished if tool.input == request.tool_input]
        return block in (same or unfinished)[-1:]

    def _plan_part(self, at: int, block: PlanBlock) -> Part:
        context, request = self._context, self._input.request
        level = self._level(at, plan_level(block, request))
        return self._limited_part(
            at,
            block,
            lambda: plan_rows(block, request, context, context.body_width, level),
            request,
            level=level,
            indent=CARD_INDENT,
        )

    def _make_part(
        self,
        key: int,
        block: Block | None,
        rows: Callable[[], list[Line]],
        *extra: Any,
        level: int | None = None,
        indent: int = BODY_INDENT,
    ) -> Part:
        return self._limited_part(
            key, block, lambda: (rows(), False), *extra, level=level, indent=indent
        )

    def _limited_part(
        self,
        key: int,
        block: Block | None,
        rows: Callable[[], tuple[list[Line], bool]],
        *extra: Any,
        level: int | None = None,
        indent: int = BODY_INDENT,
    ) -> Part:
        """Return the previous part if its inputs are the same, else a new one.

        `extra` lists inputs besides the block.
        """
        cache_key = (self._context, block, level, indent, *extra)
        before = self._before.get(key)
        if block is not None and before and _are_identical(before.cache_key, cache_key):
            return before
        lines, has_more = rows()
        return Part(key, self._strips(lines, indent), cache_key, block, level, has_more)

    def _strips(self, lines: Iterable[Line], indent: int) -> list[Strip]:
        width, kind = self._context.width, self._context.palette.kind
        margin = self._margin(indent)
        strips = [to_strip([margin, *line], width, kind) for line in lines]
        return list(self._with_time(strips)) if indent else strips

    def _margin(self, indent: int) -> Segment:
        """What is left of a row; of the user's messages with a bar."""
        if self._message.role != "user" or indent < BODY_INDENT or screen_reader.is_enabled():
            return Segment(" " * indent)
        bar = f" {self._context.glyphs.heavy_bar}".ljust(indent)
        return Segment(bar, self._context.styles.accent)

    def _with_time(self, strips: Sequence[Strip]) -> Sequence[Strip]:
        """The rows with the time at the right of the first row of a user's message."""
        if self._message.role != "user" or self._has_time or screen_reader.is_enabled():
            return strips
        self._has_time = True
        label = format_time(self._message.timestamp)
        free = self._context.width - cell_len(label) - 2
        if not strips or free < MIN_WIDTH or strips[0].crop(free).text.strip():
            return strips
        style = background_style(self._context.palette.kind) + self._context.palette.faint
        first = Strip.join([strips[0].crop(0, free + 1), Strip([Segment(f"{label} ", style)])])
        return [first, *strips[1:]]

    def _level(self, at: int, default: int) -> int:
        return self._input.expansion_state.get(at, default)

    def _muted_line(self, label: str) -> Line:
        width = self._context.body_width
        return [Segment(one_line(label, width), self._context.palette.muted)]


def _are_identical(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether both contain the same objects; unchanged blocks are shared between messages."""
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
