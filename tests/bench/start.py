"""From the start of the process to its first frame, compared with a bare Textual application."""

import asyncio
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from model.domain.events.base import Event
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionCreated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State, apply
from model.store.database import Database
from model.store.rows import statements_for
from tests.bench.bare_tree import MESSAGES, PROJECTS, SESSIONS, WORKTREES
from tests.bench.long_session import write_messages
from tests.bench.programs import ROOT
from tests.bench.tables import Table, percentile
from tests.bench.terminal import terminal
from tests.ports import find_free_port

TREE = b"worktree-0"
TAIL = f"(mark {MESSAGES - 1})".encode()
"""A row of the tree, which is in the first frame, and the end of the last session."""

SERVING = "\N{BLACK CIRCLE}".encode()
"""Shown in Spinney's top bar once model and server are running."""

LAST_SESSION = "p0-worktree-0-0"
"""The session that was open last."""

SERVER_ON = {
    "restore_last_session": True,
    "http_server_enabled": True,
    "http_server_auto_start": True,
}

PROGRAMS = {
    "bare Textual": str(ROOT / "tests" / "bench" / "bare_tree.py"),
    "spinney": str(ROOT / "spinney.py"),
}


@dataclass(frozen=True)
class Start:
    """One start, in seconds."""

    frame: float
    """Seconds until the tree is shown."""
    cpu: float
    conversation: float
    """Seconds until the end of the last session is shown."""
    ready: float
    """Seconds until the server answers."""


def measure(runs: int) -> Table:
    """Measure both programs in turn; the first start of each is not counted.

    It writes bytecode, and the snapshot that later starts show first.
    """
    title = "whole process to its tree, six worktrees, server on, 120×40"
    table = Table("start", title)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(write_projects(home))
        found: dict[str, list[Start]] = {name: [] for name in PROGRAMS}
        for run in range(runs + 1):
            for name, program in PROGRAMS.items():
                start = _start(program, home)
                if run:
                    found[name].append(start)
        modules = {name: _count_modules(program, home) for name, program in PROGRAMS.items()}
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
            conversation_ms_min=min(start.conversation for start in starts) * 1e3,
            server_ms_min=min(start.ready for start in starts) * 1e3,
            modules=modules[name],
        )
    ratio = least["spinney"] / least["bare Textual"]
    table.at_most("first frame at most 1.10 × bare Textual's, wall", ratio, 1.10)
    ratio = least_cpu["spinney"] / least_cpu["bare Textual"]
    table.at_most("first frame at most 1.10 × bare Textual's, CPU", ratio, 1.10)
    return table


def _start(program: str, home: Path) -> Start:
    with terminal([program], home) as screen:
        frame = screen.wait_for(TREE)
        cpu = screen.cpu_seconds()
        conversation = screen.wait_for(TAIL)
        is_spinney = program == PROGRAMS["spinney"]
        ready = screen.wait_for(SERVING) if is_spinney else conversation
        return Start(frame, cpu, conversation, ready)


def _count_modules(program: str, home: Path) -> int:
    counter, result = str(ROOT / "tests" / "bench" / "first_frame.py"), home / "modules"
    with terminal([counter, TREE.decode(), str(result), program], home) as screen:
        screen.wait_for(TREE)
    return int(result.read_text())


async def write_projects(home: Path) -> None:
    """Write the data of a Spinney with these projects, and one session that was open last."""
    for name in ("data", "config"):
        (home / name).mkdir(mode=0o700)
    wanted = {**SERVER_ON, "http_server_port": find_free_port()}
    (home / "config" / "preferences.json").write_text(json.dumps(wanted))
    database, _ = await Database.open(home / "data" / "spinney.db")
    state = State()
    try:
        for event in _create_events(home):
            after = apply(state, event)
            await database.write(statements_for(event, state, after))
            state = after
        await write_messages(database, LAST_SESSION, MESSAGES)
    finally:
        await database.close()


def _create_events(home: Path) -> list[Event]:
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
                        id=key_of,
                        worktree_id=worktree.id,
                        name=f"session-{at}",
                        created_at=at,
                        updated_at=time.time() if key_of == LAST_SESSION else at,
                        message_count=MESSAGES if key_of == LAST_SESSION else 0,
                    )
                )
                for at, key_of in enumerate(f"{worktree.id}-{n}" for n in range(SESSIONS))
            ]
    return made
