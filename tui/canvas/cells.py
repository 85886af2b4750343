"""What the canvas says of sessions: which there are, in which order, what each one's cell holds.

Pure: the state goes in, cells come out. Nothing here draws or asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model.base.text import clean_line
from model.domain.resources import (
    Message,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)
from tui.draw.plain_markdown import words_of
from tui.draw.status_icons import Mark, mark_of
from tui.store.places import shown_sessions

if TYPE_CHECKING:
    from model.domain.resources import Request, Session
    from model.state import State

_NEED: Final[Mapping[Mark, int]] = {
    Mark.NEEDS_YOU: 0, Mark.RUNNING: 1, Mark.UNREAD: 2, Mark.FAILED: 3,
}  # fmt: skip
"""Who stands first; those that are idle stand last."""

_TAIL: Final = 1_000
"""Characters at the end of a text in which its last lines are looked for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A session as the canvas shows it, but for its last lines, which change more often."""

    session: "Session"
    project: str
    worktree: str

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    @property
    def mark(self) -> Mark:
        """The session's mark."""
        return mark_of(self.session)

    @property
    def name(self) -> str:
        """The session's name."""
        return clean_line(self.session.name) or "(no name)"

    @property
    def asks(self) -> str:
        """What it needs a person for, on one line; empty if it needs nobody."""
        request = self.session.request
        if self.session.status != "waiting" or request is None:
            return ""
        return asked(request)

    def text(self, agent: str) -> str:
        """What a filter looks into, in lower case."""
        return f"{self.name} {self.project} {self.worktree} {agent} {self.session.status}".lower()


def asked(request: "Request") -> str:
    """What a request asks, on one line."""
    match request.kind:
        case "plan":
            lines = (words_of(clean_line(line)) for line in request.plan.splitlines())
            first = next(filter(None, lines), "")
            return f"plan: {first}" if first else "a plan is ready"
        case "permission":
            given = request.tool_input
            named = (given.get(key) for key in ("command", "file_path", "filePath", "path"))
            texts = (text.strip().replace("\n", "␊ ") for text in named if isinstance(text, str))
            what = next(map(clean_line, texts), "")
            said = what or clean_line(request.description)
            return f"may I {clean_line(request.tool_name)}: {said}".removesuffix(": ")
        case _:
            questions = [clean_line(question.question) for question in request.questions]
            more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
            return f"{questions[0]}{more}" if questions and questions[0] else "a question"


def cells(state: "State", project_id: str | None) -> list[Cell]:
    """The sessions of a project, or of all, by need first: the longest waiting, then the newest."""
    found = []
    for session in shown_sessions(state, project_id):
        worktree = state.worktrees[session.worktree_id]
        project = state.projects.get(worktree.project_id)
        name = clean_line(project.name) if project is not None else ""
        found.append(Cell(session, name, clean_line(worktree.name)))
    return sorted(found, key=_need)


def _need(cell: Cell) -> tuple[int, float]:
    mark, age = cell.mark, cell.session.updated_at
    return _NEED.get(mark, len(_NEED)), age if mark is Mark.NEEDS_YOU else -age


def last_lines(message: Message, count: int) -> tuple[str, ...]:
    """The last lines that a message says, its newest block's last; at most `count`."""
    lines: list[str] = []
    for block in reversed(message.content):
        match block:
            case TextBlock(text=text) | PlanBlock(text=text):
                said = [words_of(clean_line(line)) for line in text[-_TAIL:].splitlines()]
            case ThinkingBlock():
                said = ["thinking …" if block.seconds is None else ""]
            case ToolUseBlock():
                said = [_tool(block)]
            case QuestionBlock(questions=questions):
                said = [clean_line(question.question) for question in questions]
            case _:
                said = []
        lines = [*filter(None, said), *lines]
        if len(lines) >= count:
            break
    if message.error is not None:
        lines.append(clean_line(message.error.error))
    return tuple(lines[-count:])


def _tool(block: ToolUseBlock) -> str:
    given = (value for value in block.input.values() if isinstance(value, str))
    return f"▸ {clean_line(block.name)}  {clean_line(next(given, '')[:_TAIL])}"
