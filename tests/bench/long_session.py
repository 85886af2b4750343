"""Sessions with many messages, written directly into a new database."""

import time
from pathlib import Path

from model.domain.events.messages import MessageQueued
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionCreated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import (
    Block,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State, apply
from model.store.database import Database
from model.store.rows import statements_for

_BATCH = 500
LARGE = 17
"""How often the text of an answer is repeated in the large session."""

_ANSWER = """\
The loop in `count_{n}` visits every tree once, so **{n}** apples are counted *once* each.

- the fence keeps the order of the rows
- the total is {n}, not {n} + 1

```python
def count_{n}(trees: list[int]) -> int:
    \"\"\"The apples on all trees.\"\"\"
    return sum(tree for tree in trees if tree > {n})
```

Next I would look at the rows that hold no tree at all; they are cheap to leave out.
"""


async def write_sessions(path: Path, sessions: dict[str, int], large: str = "") -> None:
    """Write a database with one project, one worktree and sessions with these numbers of messages.

    The answers of the session `large` have ten kilobytes each.
    """
    database, _ = await Database.open(path)
    try:
        project = Project(
            id="p", name="orchard", path=str(path.parent), default_branch="main", added_at=1.0
        )
        worktree = Worktree(
            id="w",
            project_id="p",
            name="calm-otter",
            path=str(path.parent),
            branch="calm-otter",
            created_at=1.0,
        )
        state, made = State(), [ProjectAdded(project=project), WorktreeCreated(worktree=worktree)]
        for session_id, count in sessions.items():
            session = Session(
                id=session_id,
                worktree_id="w",
                name=f"{count:,} messages",
                created_at=1.0,
                updated_at=time.time(),
                message_count=count,
            )
            made.append(SessionCreated(session=session))
        for event in made:
            after = apply(state, event)
            await database.write(statements_for(event, state, after))
            state = after
        for session_id, count in sessions.items():
            await write_messages(database, session_id, count, LARGE if session_id == large else 1)
    finally:
        await database.close()


async def write_messages(database: Database, session_id: str, count: int, times: int = 1) -> None:
    """Write `count` messages: questions, and answers with thinking, tools, Markdown and code."""
    for begin in range(0, count, _BATCH):
        rows = []
        for number in range(begin, min(count, begin + _BATCH)):
            message = message_of(session_id, number, times)
            event = MessageQueued(session_id=session_id, message=message, status="processing")
            rows += statements_for(event, State(), State())
        await database.write(rows)


def message_of(session_id: str, number: int, times: int = 1) -> Message:
    """Return message `number`: even ones are by the user; an answer is repeated `times` times."""
    return Message(
        id=f"{session_id}-{number:06d}",
        role="assistant" if number % 2 else "user",
        content=_answer(number, times)
        if number % 2
        else [TextBlock(text=f"Question {number}: why?")],
        timestamp=1_700_000_000.0 + number,
        session_id=session_id,
    )


def _question(number: int) -> list[Block]:
    return [TextBlock(text=f"Question {number}: why?")]


def _answer(number: int, times: int) -> list[Block]:
    said = _ANSWER.format(n=number) * times
    text = TextBlock(text=f"{said}\n(mark {number})\n")
    if number % 4 == 1:
        return [ThinkingBlock(text="What is asked, and what is there?", seconds=1.5), text]
    tool = f"tool-{number}"
    read = ToolUseBlock(id=tool, name="read", input={"file_path": f"orchard_{number}.py"})
    return [read, ToolResultBlock(tool_use_id=tool, content="tree = 1\n" * 20), text]
