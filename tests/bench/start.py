"""From starting the process to its first frame in a terminal, beside a bare Textual application."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from model.database import Database, statements_for
from model.events import Event, ProjectAdded, SessionCreated, WorktreeCreated
from model.resources import Project, Session, Worktree
from model.state import State, apply
from tests.bench.bare_tree import PROJECTS, SESSIONS, WORKTREES
from tests.bench.programs import ROOT
from tests.bench.tables import Table, percentile
from tests.bench.terminal import terminal

FRAME = b"Projects"
"""Stands in the first frame of both programs."""

PROJECT = b"orchard-0"
"""Stands there once the projects are read."""

PROGRAMS = {
    "bare Textual": str(ROOT / "tests" / "bench" / "bare_tree.py"),
    "spinney": str(ROOT / "spinney.py"),
}


@dataclass(frozen=True)
class Start:
    """One start, in seconds."""

    frame: float
    cpu: float
    projects: float


def measure(runs: int) -> Table:
    """Both programs in turn; the first start of each writes bytecode and does not count."""
    table = Table("start", "whole process to its first frame, 120×40")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(_write_projects(home))
        found: dict[str, list[Start]] = {name: [] for name in PROGRAMS}
        for run in range(runs + 1):
            for name, program in PROGRAMS.items():
                start = _start(program, home)
                if run:
                    found[name].append(start)
        modules = {name: _modules(program, home) for name, program in PROGRAMS.items()}
    least = {name: min(start.frame for start in starts) for name, starts in found.items()}
    least_cpu = {name: min(start.cpu for start in starts) for name, starts in found.items()}
    for name, starts in found.items():
        table.add(
            name,
            frame_ms_min=least[name] * 1e3,
            frame_ms_p50=percentile([start.frame for start in starts], 0.5) * 1e3,
            of_bare=least[name] / least["bare Textual"],
            CPU_s_min=least_cpu[name],
            CPU_of_bare=least_cpu[name] / least_cpu["bare Textual"],
            projects_shown_ms_min=min(start.projects for start in starts) * 1e3,
            modules=modules[name],
        )
    ratio = least["spinney"] / least["bare Textual"]
    table.at_most("first frame at most 1.5 × bare Textual's, wall", ratio, 1.5)
    ratio = least_cpu["spinney"] / least_cpu["bare Textual"]
    table.at_most("first frame at most 1.5 × bare Textual's, CPU", ratio, 1.5)
    return table


def _start(program: str, home: Path) -> Start:
    with terminal([program], home) as screen:
        frame = screen.wait_for(FRAME)
        cpu = screen.cpu_seconds()
        return Start(frame, cpu, screen.wait_for(PROJECT))


def _modules(program: str, home: Path) -> int:
    counter, result = str(ROOT / "tests" / "bench" / "first_frame.py"), home / "modules"
    with terminal([counter, FRAME.decode(), str(result), program], home) as screen:
        screen.wait_for(FRAME)
    return int(result.read_text())


async def _write_projects(home: Path) -> None:
    (home / "data").mkdir(mode=0o700)
    database, _ = await Database.open(home / "data" / "spinney.db")
    state = State()
    try:
        for event in _made(home):
            after = apply(state, event)
            await database.write(statements_for(event, state, after))
            state = after
    finally:
        await database.close()


def _made(home: Path) -> list[Event]:
    made: list[Event] = []
    for number in range(PROJECTS):
        path, key = home / f"orchard-{number}", f"p{number}"
        made.append(
            ProjectAdded(
                project=Project(
                    id=key, name=path.name, path=str(path), default_branch="main", added_at=number
                )
            )
        )
        for worktree_number in range(WORKTREES):
            name = f"worktree-{worktree_number}"
            (path / name).mkdir(parents=True)
            worktree = Worktree(
                id=f"{key}-{name}",
                project_id=key,
                name=name,
                path=str(path / name),
                branch=name,
                created_at=worktree_number,
            )
            made.append(WorktreeCreated(worktree=worktree))
            made += [
                SessionCreated(
                    session=Session(
                        id=f"{worktree.id}-{at}",
                        worktree_id=worktree.id,
                        name=f"session-{at}",
                        created_at=at,
                    )
                )
                for at in range(SESSIONS)
            ]
    return made
