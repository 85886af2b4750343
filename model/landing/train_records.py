"""The newest train of each project, saved after each step, and the output of its checks."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from model.base.paths import create_private_folders, write_atomically
from model.domain.landing import Train
from model.scripts.process import read_end

_FILE: Final = "train.json"


class TrainRecords:
    """Keeps trains in memory and on disk. Belongs to the core's event loop."""

    def __init__(self, projects: Path, trains: Path) -> None:
        """`projects` has a folder for each project, `trains` one for each train."""
        self._projects = projects
        self._trains = trains
        self._known: dict[str, Train | None] = {}

    async def read(self, project_id: str) -> Train | None:
        """Return the train of a project; `None` without one."""
        if project_id not in self._known:
            read = await asyncio.to_thread(_read, self._projects / project_id / _FILE)
            self._known.setdefault(project_id, read)
        return self._known[project_id]

    async def list_projects(self) -> list[str]:
        """Return the ids of the projects that have a train."""
        return await asyncio.to_thread(
            lambda: [path.parent.name for path in self._projects.glob(f"*/{_FILE}")]
        )

    async def put(self, train: Train) -> None:
        """Save a train. Raises `SpinneyError` if the disk refuses."""
        path = self._projects / train.project_id / _FILE
        await asyncio.to_thread(_write, path, train.model_dump_json())
        self._known[train.project_id] = train

    async def remove(self, train: Train) -> None:
        """Forget a train and its outputs."""
        path = self._projects / train.project_id / _FILE
        await asyncio.to_thread(path.unlink, missing_ok=True)
        await self.remove_outputs(train)
        self._known[train.project_id] = None

    async def remove_outputs(self, train: Train) -> None:
        """Delete what the checks of a train printed."""
        await asyncio.to_thread(shutil.rmtree, self._trains / train.id, ignore_errors=True)

    def worktree(self, train_id: str) -> Path:
        """Return the folder of the worktree in which a train is checked."""
        return self._trains / train_id / "worktree"

    def output(self, train_id: str, worktree_id: str) -> Path:
        """Return the file with the output of the check after a worktree."""
        return self._trains / train_id / f"{worktree_id}.log"

    async def read_output(self, train_id: str, worktree_id: str) -> str:
        """Return the end of that output as visible text."""
        return await asyncio.to_thread(read_end, self.output(train_id, worktree_id))

    async def copy_output(self, before: Train, train: Train, worktree_id: str) -> None:
        """Take the output of an earlier train over."""
        source, target = self.output(before.id, worktree_id), self.output(train.id, worktree_id)
        await asyncio.to_thread(_copy, source, target)


def _read(path: Path) -> Train | None:
    try:
        return Train.model_validate_json(path.read_bytes())
    except (OSError, ValueError, ValidationError):
        return None


def _write(path: Path, body: str) -> None:
    create_private_folders(path.parent)
    write_atomically(path, body.encode())


def _copy(source: Path, target: Path) -> None:
    create_private_folders(target.parent)
    if source.is_file():
        shutil.copyfile(source, target)
