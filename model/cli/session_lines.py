"""Sessions as aligned lines of a list."""

import time
from collections.abc import Sequence
from typing import Final

from model.base.amounts import format_age
from model.base.text import clean_line
from model.cli.arguments import name_of_agent
from model.cli.lookup import SHORT_ID, Json
from model.cli.styles import describe_state, paint, paint_state

_MAX_NAME: Final = 80
"""Characters of a name that are printed."""


def format_rows(rows: Sequence[Json], *, with_place: bool = False) -> list[str]:
    """Return a line for each `SessionRow`, in columns: id, state, age, agent, name.

    `with_place` adds project and worktree at the end.
    """
    now = time.time()
    agents = {row["backend"]: name_of_agent(row["backend"]) for row in rows}
    width = max((len(describe_state(row)) for row in rows), default=0)
    agent_width = max(map(len, agents.values()), default=0)
    lines = []
    for row in rows:
        name = clean_line(row["name"][: 2 * _MAX_NAME])[:_MAX_NAME]
        age = format_age(row["updated_at"], now)
        parts = [
            paint(row["id"][:SHORT_ID], "dim"),
            paint_state(row, width),
            f"{age:>4}",
            agents[row["backend"]].ljust(agent_width),
            paint(name, "bold") if row["unread"] else name,
        ]
        if with_place:
            place = f"{clean_line(row['project_name'])} / {clean_line(row['worktree_name'])}"
            parts.append(paint(place, "dim"))
        lines.append("  ".join(parts))
    return lines
