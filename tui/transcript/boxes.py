"""What asks for a person, as rows: plans in a box, questions with their options and the answer."""

from rich.cells import cell_len
from rich.segment import Segment

from model.domain.resources import PlanBlock, Question, QuestionBlock, Request
from model.richtext.markdown import parse_markdown
from tui.draw.line_parts import behind_sign, cut, indented, one_line, output_rows, prose_rows
from tui.draw.markdown import render_blocks
from tui.draw.wrap import Line, line_width
from tui.transcript.parts import ALL, CLOSED, CUT, OPEN, Look


def is_open_plan(block: PlanBlock, request: Request | None) -> bool:
    """Whether the plan waits for a person."""
    return request is not None and request.kind == "plan" and not block.approved


def plan_level(block: PlanBlock, request: Request | None) -> int:
    """How far a plan is open before anybody touched it: whole while it waits."""
    return ALL if is_open_plan(block, request) else OPEN


def plan_rows(
    block: PlanBlock, request: Request | None, look: Look, width: int, level: int
) -> tuple[list[Line], bool]:
    """A plan in its box, and whether more of it would be shown."""
    edge = look.palette.border
    if block.approved:
        state = Segment(f"approved → {block.approved}", look.tones.success)
    elif is_open_plan(block, request):
        edge = look.tones.warning
        state = Segment("waiting for you", edge)
    else:
        state = Segment("not carried out", look.palette.faint)
    if level == CLOSED:
        head = [Segment(f"{look.signs.closed} ", look.palette.faint)]
        head += [Segment("Plan", look.tones.strong), Segment("  "), state]
        return [head], False
    rows = render_blocks(parse_markdown(block.text), width - 4, look.palette)
    rows, is_cut = cut(rows, len(rows) if level == ALL else CUT, look.palette.faint)
    top_left, top_right, bottom_left, bottom_right, across = tuple(look.signs.corners)
    fill = across * (width - cell_len(state.text) - 11)
    top = [Segment(f"{top_left} ", edge), Segment("Plan", look.tones.strong)]
    top += [Segment(f" {fill} ", edge), state, Segment(f" {across}{top_right}", edge)]
    bottom = [Segment(bottom_left + across * (width - 2) + bottom_right, edge)]
    side = look.signs.bar
    return [top, *(_between(row, width, Segment(side, edge)) for row in rows), bottom], is_cut


def _between(row: Line, width: int, side: Segment) -> Line:
    fill = " " * (width - 4 - line_width(row))
    return [side, Segment(" "), *row, Segment(f"{fill} "), side]


def question_rows(block: QuestionBlock, look: Look, width: int) -> list[Line]:
    """Questions, their options and, once given, the answer."""
    rows: list[Line] = []
    for question in block.questions:
        if rows:
            rows.append([])
        rows += _question(question, _answer_to(question, block), look, width)
    return rows


def _answer_to(question: Question, block: QuestionBlock) -> str | None:
    if isinstance(block.answer, dict):
        return block.answer.get(question.question)
    return block.answer


def _question(question: Question, answer: str | None, look: Look, width: int) -> list[Line]:
    tone = look.tones.warning if answer is None else look.palette.faint
    rows = behind_sign("?", tone, prose_rows(question.question, width - 2, look.tones.strong))
    labels = [option.label for option in question.options]
    chosen = {answer} if answer in labels else set((answer or "").split(", ")) & set(labels)
    for option in question.options:
        is_chosen = option.label in chosen
        sign, style = look.signs.choice, look.palette.faint
        if is_chosen:
            sign, style = look.signs.chosen, look.tones.success
        label = one_line(option.label, width - 4)
        row = [Segment(f"  {sign} ", style)]
        row.append(Segment(label, look.tones.strong if is_chosen else look.palette.text))
        room = width - 6 - cell_len(label)
        if option.description and room > 12:
            row.append(Segment(f"  {one_line(option.description, room)}", look.palette.faint))
        rows.append(row)
        if option.preview.strip():
            rows += indented(output_rows(option.preview, width - 6, look.palette.faint), 6)
    if answer and not chosen:
        said = prose_rows(answer, width - 4, look.palette.text)
        rows += indented(behind_sign("❯", look.tones.success, said), 2)
    return rows
