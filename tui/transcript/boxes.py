"""Rows of plans, beside a bar, and of questions with their options and answer."""

from rich.cells import cell_len
from rich.segment import Segment

from model.domain.messages import PlanBlock, QuestionBlock
from model.domain.requests import Question, Request
from model.richtext.markdown import parse_markdown
from tui.draw.line_parts import indent, limit_rows, one_line, prefix_rows, wrap_output, wrap_prose
from tui.draw.markdown import render_blocks
from tui.draw.wrap import Line
from tui.transcript.parts import ALL, CLOSED, OPEN, PREVIEW_ROWS, RenderContext


def is_open_plan(block: PlanBlock, request: Request | None) -> bool:
    """Whether the plan waits for approval."""
    return request is not None and request.kind == "plan" and not block.approved


def plan_level(block: PlanBlock, request: Request | None) -> int:
    """The default expansion level of a plan: full while it waits for approval."""
    return ALL if is_open_plan(block, request) else OPEN


def plan_rows(
    block: PlanBlock, request: Request | None, context: RenderContext, width: int, level: int
) -> tuple[list[Line], bool]:
    """Return the rows of a plan beside its bar, and whether some of it is hidden."""
    edge = context.palette.border
    if block.approved:
        state = Segment(f"approved → {block.approved}", context.styles.success)
    elif is_open_plan(block, request):
        edge = context.styles.warning
        state = Segment("waiting for you", edge)
    else:
        state = Segment("not carried out", context.palette.faint)
    if level == CLOSED:
        head = [Segment(f"{context.glyphs.closed} ", context.palette.faint)]
        head += [Segment("Plan", context.styles.strong), Segment("  "), state]
        return [head], False
    rows = render_blocks(parse_markdown(block.text), width - 2, context.palette)
    rows, has_more = limit_rows(
        rows, len(rows) if level == ALL else PREVIEW_ROWS, context.palette.faint
    )
    bar = Segment(f"{context.glyphs.heavy_bar} ", edge)
    head = [bar, Segment("Plan", context.styles.strong), Segment("  "), state]
    return [head, *([bar, *row] for row in rows)], has_more


def question_rows(block: QuestionBlock, context: RenderContext, width: int) -> list[Line]:
    """The rows of questions, their options and, once given, the answer."""
    rows: list[Line] = []
    for question in block.questions:
        if rows:
            rows.append([])
        rows += _question_lines(question, _answer_to(question, block), context, width)
    return rows


def _answer_to(question: Question, block: QuestionBlock) -> str | None:
    if isinstance(block.answer, dict):
        return block.answer.get(question.question)
    return block.answer


def _question_lines(
    question: Question, answer: str | None, context: RenderContext, width: int
) -> list[Line]:
    color = context.styles.warning if answer is None else context.palette.faint
    rows = prefix_rows("?", color, wrap_prose(question.question, width - 2, context.styles.strong))
    labels = [option.label for option in question.options]
    chosen = {answer} if answer in labels else set((answer or "").split(", ")) & set(labels)
    for option in question.options:
        is_chosen = option.label in chosen
        sign, style = context.glyphs.choice, context.palette.faint
        if is_chosen:
            sign, style = context.glyphs.chosen, context.styles.success
        label = one_line(option.label, width - 4)
        row = [Segment(f"  {sign} ", style)]
        row.append(Segment(label, context.styles.strong if is_chosen else context.palette.text))
        available = width - 6 - cell_len(label)
        if option.description and available > 12:
            row.append(
                Segment(f"  {one_line(option.description, available)}", context.palette.faint)
            )
        rows.append(row)
        if option.preview.strip():
            rows += indent(wrap_output(option.preview, width - 6, context.palette.faint), 6)
    if answer and not chosen:
        answer_rows = wrap_prose(answer, width - 4, context.palette.text)
        rows += indent(prefix_rows("❯", context.styles.success, answer_rows), 2)
    return rows
