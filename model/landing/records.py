"""What landed in each project, in a file that is also the journal of landings in progress."""

import asyncio
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from model.base.errors import SpinneyError
from model.base.paths import (
    PRIVATE_FILE,
    create_private_folders,
    find_backup_path,
    write_atomically,
)
from model.domain.landing import AfterLanding, Landing
from model.domain.resource import Resource

_MAX_KEPT: Final = 200
"""Landings of a project; the oldest are forgotten."""
_FILE: Final = "landings.json"


class MovedBranch(Resource):
    """A worktree that followed when its base landed: its base and its commit, before and after."""

    base: str
    new_base: str | None
    """As the worktree has it: `None` is the project's default branch."""
    before: str
    after: str
    note: str = ""
    """What the landing's notes say of it."""


class LandingRecord(Resource):
    """A landing, and what is needed to complete it or to take it back."""

    landing: Landing
    state: Literal["moving", "moved", "done", "returning"]
    """`moving` until the base and its checkout have moved, `moved` until the worktrees are archived
    or deleted, `returning` until an undo has moved both back."""
    since: float = 0.0
    """When it began to be `moving` or `returning`."""
    problem: str = ""
    """What keeps the checkout from having followed, as sentences."""
    checkout: str | None = None
    """The working tree that had the base checked out."""
    stashes: bool = False
    """Whether changes in that working tree are stashed for the landing, and brought back then."""
    fate: AfterLanding = "keep"
    heads: dict[str, str] = Field(default_factory=dict)
    """The commit of each worktree's branch."""
    branches: dict[str, str] = Field(default_factory=dict)
    """The name of each worktree's branch."""
    moved: dict[str, MovedBranch] = Field(default_factory=dict)
    """The worktrees that started from those branches, and follow the base now."""
    archived: list[str] = Field(default_factory=list)
    """The worktrees that were archived after it."""
    recovery: dict[str, str] = Field(default_factory=dict)
    """The recovery points of the worktrees that were deleted after it."""

    def update(self, **changes: object) -> "LandingRecord":
        """Return a changed copy; `landing_<field>` changes a field of the landing."""
        own = {key: changes[key] for key in changes if not key.startswith("landing_")}
        inner = {
            key.removeprefix("landing_"): value for key, value in changes.items() if key not in own
        }
        if inner:
            own["landing"] = self.landing.model_copy(update=inner)
        return self.model_copy(update=own)


class LandingRecords:
    """Keeps the records of all projects. Belongs to the core's event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, list[LandingRecord]] = {}
        self._reading = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._damage: dict[str, str] = {}

    async def read(self, project_id: str) -> list[LandingRecord]:
        """Return the records of a project, newest first."""
        if project_id not in self._known:
            path = self._folder / project_id / _FILE
            async with self._reading:
                if project_id not in self._known:
                    self._known[project_id], copy = await asyncio.to_thread(_read, path)
                    if copy:
                        self._damage[project_id] = str(path.with_name(copy))
        return list(self._known[project_id])

    @property
    def damage(self) -> Mapping[str, str]:
        """The copies of damaged files that were read, by the ids of their projects."""
        return self._damage

    async def list_projects(self) -> list[str]:
        """Return the ids of the projects that have records."""
        return await asyncio.to_thread(_list_folders, self._folder)

    async def put(self, record: LandingRecord) -> None:
        """Save a record. Raises `SpinneyError` if the disk refuses; nothing is changed then."""
        project_id, key = record.landing.project_id, record.landing.id
        async with self._writing:
            records = await self.read(project_id)
            at = next((n for n, one in enumerate(records) if one.landing.id == key), None)
            if at is None:
                records.insert(0, record)
            else:
                records[at] = record
            await self._save(project_id, records[:_MAX_KEPT])

    async def remove(self, record: LandingRecord) -> None:
        """Forget a landing that did not happen."""
        project_id = record.landing.project_id
        async with self._writing:
            records = await self.read(project_id)
            kept = [one for one in records if one.landing.id != record.landing.id]
            await self._save(project_id, kept)

    async def forget_project(self, project_id: str) -> None:
        """Delete the records of a project that was removed."""
        async with self._writing:
            await asyncio.to_thread(shutil.rmtree, self._folder / project_id, ignore_errors=True)
            self._known.pop(project_id, None)

    async def _save(self, project_id: str, records: list[LandingRecord]) -> None:
        await asyncio.to_thread(_write, self._folder / project_id / _FILE, _to_body(records))
        self._known[project_id] = records


def _read(path: Path) -> tuple[list[LandingRecord], str]:
    """Return the records, and the name of a copy of the file if not all of it can be read."""
    try:
        entries = json.loads(path.read_bytes())
    except FileNotFoundError:
        return [], ""
    except (OSError, ValueError):
        entries = None
    records = []
    is_damaged = not isinstance(entries, list)
    for entry in entries or () if not is_damaged else ():
        try:
            records.append(LandingRecord.model_validate(entry))
        except ValidationError:
            is_damaged = True
    return records, _keep_damaged(path, records) if is_damaged else ""


def _keep_damaged(path: Path, records: list[LandingRecord]) -> str:
    """Replace a file by the records that can be read of it, and return the name of its copy."""
    kept = find_backup_path(path)
    with suppress(OSError, SpinneyError):
        shutil.copyfile(path, kept)
        kept.chmod(PRIVATE_FILE)
        _write(path, _to_body(records))
    return kept.name


def _to_body(records: list[LandingRecord]) -> str:
    return json.dumps([one.model_dump(mode="json") for one in records])


def _write(path: Path, body: str) -> None:
    create_private_folders(path.parent)
    write_atomically(path, body.encode())


def _list_folders(folder: Path) -> list[str]:
    return [path.parent.name for path in folder.glob(f"*/{_FILE}")]
