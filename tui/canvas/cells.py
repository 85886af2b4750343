"""The canvas's model: which sessions it shows, in which order, and the content of their cells.

Pure functions from the state to cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model.base.text import clean_line
from model.domain.messages import (
    Message,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)
from model.domain.tool_uses import find_activity, get_verb, summarize_input
from tui.draw.plain_markdown import strip_markdown
from tui.draw.status_icons import StatusIcon, git_summary, session_icon
from tui.store.places import list_shown_sessions
from tui.widgets.status_line import format_duration

if TYPE_CHECKING:
    from model.domain.requests import Request
    from model.domain.sessions import Session
    from model.state import State

_PRIORITY: Final[Mapping[StatusIcon, int]] = {
    StatusIcon.NEEDS_YOU: 0, StatusIcon.RUNNING: 1, StatusIcon.UNREAD: 2, StatusIcon.FAILED: 3,
    StatusIcon.PAUSED: 4,
}  # fmt: skip
"""Sort order of status icons; idle sessions come last."""

_TAIL: Final = 1_000
"""Characters at the end of a text that are searched for its last lines."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A session on the canvas, without its last lines, which change more often."""

    session: "Session"
    project: str
    worktree: str
    git: tuple[str, ...] = ()
    """Changed lines, commits and pull request of the worktree, and conflicts to come."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    @property
    def icon(self) -> StatusIcon:
        """The session's status icon."""
        return session_icon(self.session)

    @property
    def name(self) -> str:
        """The session's name."""
        return clean_line(self.session.name) or "(no name)"

    @property
    def asks(self) -> str:
        """The session's request on one line; '' if it is not waiting for the user."""
        request = self.session.request
        if self.session.status != "waiting" or request is None:
            return ""
        return summarize_request(request)

    def text(self, agent: str) -> str:
        """Return the text that a filter searches, in lower case."""
        return f"{self.name} {self.project} {self.worktree} {agent} {self.session.status}".lower()


def summarize_request(request: "Request") -> str:
    """Return what a request asks, on one line."""
    match request.kind:
        case "plan":
            lines = (strip_markdown(clean_line(line)) for line in request.plan.splitlines())
            first = next(filter(None, lines), "")
            return f"plan: {first}" if first else "a plan is ready"
        case "permission":
            given = request.tool_input
            named = (given.get(key) for key in ("command", "file_path", "filePath", "path"))
            texts = (text.strip().replace("\n", "␊ ") for text in named if isinstance(text, str))
            target = next(map(clean_line, texts), "")
            target = target or clean_line(request.description)
            return f"allow {clean_line(request.tool_name)}: {target}".removesuffix(": ")
        case _:
            questions = [clean_line(question.question) for question in request.questions]
            more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
            return f"{questions[0]}{more}" if questions and questions[0] else "a question"


def cells(state: "State", project_id: str | None) -> list[Cell]:
    """Return the sessions of a project, or of all: longest waiting first, then newest first."""
    result = []
    for session in list_shown_sessions(state, project_id):
        worktree = state.worktrees[session.worktree_id]
        project = state.projects.get(worktree.project_id)
        name = clean_line(project.name) if project is not None else ""
        would_conflict = bool(worktree.conflicts_with) or worktree.conflicts_with_base
        git = (*git_summary(worktree), *["would conflict"] * would_conflict)
        result.append(Cell(session, name, clean_line(worktree.name), git))
    return sorted(result, key=_sort_key)


def _sort_key(cell: Cell) -> tuple[int, float]:
    icon, age = cell.icon, cell.session.updated_at
    return _PRIORITY.get(icon, len(_PRIORITY)), age if icon is StatusIcon.NEEDS_YOU else -age


def last_lines(message: Message, count: int) -> tuple[str, ...]:
    """Return the last lines of a message, at most `count`."""
    lines: list[str] = []
    for block in reversed(message.content):
        match block:
            case TextBlock(text=text) | PlanBlock(text=text):
                text_lines = [
                    strip_markdown(clean_line(line)) for line in text[-_TAIL:].splitlines()
                ]
            case ThinkingBlock():
                text_lines = ["thinking …" if block.seconds is None else ""]
            case ToolUseBlock() if message.status == "processing" and block is message.content[-1]:
                text_lines = []  # `describe_activity` has it
            case ToolUseBlock():
                text_lines = [f"▸ {get_verb(block)}  {summarize_input(block)}"]
            case QuestionBlock(questions=questions):
                text_lines = [clean_line(question.question) for question in questions]
            case _:
                text_lines = []
        lines = [*filter(None, text_lines), *lines]
        if len(lines) >= count:
            break
    if message.error is not None:
        lines.append(clean_line(message.error.error))
    return tuple(lines[-count:])


def describe_activity(message: Message, now: float) -> str:
    """Return what a message that is being written does, and for how long it has been written."""
    activity = find_activity(message)
    if activity is None:
        return ""
    doing = f"{activity.verb} {activity.detail}".strip()
    return f"{doing} · {format_duration(max(0, int(now - message.timestamp)))}"
