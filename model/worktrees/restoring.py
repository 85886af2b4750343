"""Bring back worktrees and files from recovery points.

A worktree that is being restored is recorded (`restored_from`) before anything is written, so that
the next start completes a restoration that a kill interrupted.
"""

import asyncio
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.worktrees import (
    RecoveryRestored,
    WorktreeCreated,
    WorktreeCreateFailed,
    WorktreeCreating,
)
from model.domain.recovery import SESSION_REASONS, FileChange, RecoveryFile
from model.domain.worktrees import Worktree
from model.git.changes import to_display_name
from model.git.included_files import find_ignored
from model.git.snapshots import chain, files, own_refs, plumbing, recovery, restore, state
from model.git.working_tree import Entry
from model.state import State
from model.store.store import Store
from model.worktrees import ports
from model.worktrees.included_files import report_problems
from model.worktrees.kept_conversations import KeptConversations, read_kept, write_attachments
from model.worktrees.location import check_location
from model.worktrees.lookup import (
    next_order,
    refuse_while_unsettled,
    require_project,
    to_folder_name,
    worktrees_directory,
)
from model.worktrees.naming import check_name, make_unique_name
from model.worktrees.new_files import add_files
from model.worktrees.recovery import FoundPoint, RecoveryPoints

_MAX_LISTED: Final = 5_000
"""Files of a point that are listed."""


class WorktreeRestorer:
    """Restores worktrees and files from recovery points."""

    def __init__(self, store: Store, directories: Directories, points: RecoveryPoints) -> None:
        self._store = store
        self._directories = directories
        self._points = points

    async def restore_worktree(self, recovery_id: str, name: str | None = None) -> Worktree:
        """Create a worktree that equals a recovery point, with the conversations it had.

        Name, path and branch are those of the point where they are free.
        """
        found = await self._points.require(recovery_id)
        _require_files(found)
        if name is not None:
            check_name(name, "name")
        kept = await read_kept(found.root, found.point.snapshot.tree)
        before = next(iter(kept.worktrees), None)
        worktree = await self._announce(found, before, name)
        return await self._complete(found, kept, worktree)

    async def restore_files(self, recovery_id: str, paths: list[str]) -> str:
        """Bring files back into the worktree that a recovery point was made of; return its id.

        Raises `conflict` for files that were saved meanwhile, when all others are restored.
        """
        found = await self._points.require(recovery_id)
        _require_files(found)
        note = found.point.snapshot.note
        worktree = self._store.state.worktrees.get(note.worktree_id)
        if worktree is None or worktree.status == "missing":
            raise SpinneyError(
                f"The worktree '{note.worktree_name}' no longer exists. Restore the worktree "
                "instead of single files.",
                "not_found",
            )
        refuse_while_unsettled(worktree)
        root = Path(worktree.path)
        entries = await self._select(root, found, paths)
        kept = await restore.read_state(root, found.point.snapshot.tree)
        present = await self._save_present(root, worktree.id, paths[0], entries)
        left = await files.write_entries(root, entries, kept.modes, present)
        self._store.record(
            RecoveryRestored(recovery_id=recovery_id, worktree_id=worktree.id, paths=paths)
        )
        if left:
            raise SpinneyError(
                f"{files.describe_left(left)} Everything else is restored. To replace that as "
                "well, restore it again.",
                "conflict",
            )
        return worktree.id

    async def _save_present(
        self, root: Path, worktree_id: str, name: str, paths: Collection[str]
    ) -> dict[str, Entry | None]:
        """Save what is going to be replaced, ignored files too; return it by path."""
        existing = await asyncio.to_thread(files.find_existing, root, paths)
        ignored = await find_ignored(root, sorted(existing))
        detail = f"Restored {clean_line(name)}"
        saved = await self._points.save(worktree_id, "restore", detail, sorted(ignored))
        tree = await files.read_entries(root, saved.tree) if saved else {}
        return {
            path: (
                tree.get(plumbing.to_tree_path(path)) or tree.get(f"{state.IGNORED_FOLDER}/{path}")
                if path in existing
                else None
            )
            for path in paths
        }

    async def list_files(self, recovery_id: str) -> list[RecoveryFile]:
        """Return the files of a point that differed from the commit that was checked out."""
        found = await self._points.require(recovery_id)
        _require_files(found)
        root = found.root
        contents = await recovery.read_contents(root, found.point.snapshot)
        listed = [
            RecoveryFile(path=to_display_name(path), status=_describe(*entries))
            for path, entries in contents.files.items()
        ]
        listed += [
            RecoveryFile(path=to_display_name(path), status="ignored") for path in contents.ignored
        ]
        return sorted(listed, key=lambda file: file.path)[:_MAX_LISTED]

    async def recover(self) -> None:
        """Complete the restorations that a kill interrupted. Called once, at start."""
        for worktree in list(self._store.state.worktrees.values()):
            if worktree.restored_from is None:
                continue
            try:
                found = await self._points.require(worktree.restored_from)
                root, path = found.root, Path(worktree.path)
                await restore.remove_half_restored(root, path, worktree.id)
                kept = await read_kept(found.root, found.point.snapshot.tree)
                await self._complete(found, kept, worktree)
            except SpinneyError as error:
                await self._report_failure(worktree, error)

    async def _announce(
        self, found: FoundPoint, before: Worktree | None, name: str | None
    ) -> Worktree:
        """Record the worktree as `creating`, under a name and a path that are free."""
        project = require_project(self._store.state, found.project_id)
        directory = worktrees_directory(project, self._directories)
        if project.worktrees_dir:
            root = Path(project.path)
            await asyncio.to_thread(check_location, directory, root, self._directories)
        note = found.point.snapshot.note
        wanted = name or (before.name if before else clean_line(note.worktree_name) or "restored")
        folders = [Path(before.path)] if before and name is None else []
        taken = await asyncio.to_thread(_list_names, {directory, *(f.parent for f in folders)})

        def make_events(current: State) -> list[Event]:
            require_project(current, found.project_id)
            others = current.worktrees_of(found.project_id, archived=True)
            unique = make_unique_name(wanted, {other.name for other in others})
            paths = {Path(other.path) for other in current.worktrees.values()} | taken
            standard = directory / to_folder_name(unique)
            path = next((one for one in [*folders, standard] if one not in paths), None)
            worktree = _begin(current, found, before).model_copy(
                update={"name": unique, "path": str(path or _number(standard, paths))}
            )
            announced.append(worktree)
            return [WorktreeCreating(worktree=worktree)]

        announced: list[Worktree] = []
        await self._store.accept(make_events)
        return announced[-1]

    async def _complete(
        self, found: FoundPoint, kept: KeptConversations, worktree: Worktree
    ) -> Worktree:
        root, path = found.root, Path(worktree.path)
        snapshot = found.point.snapshot
        try:
            branch = await restore.restore_worktree(root, path, snapshot)
            if branch is None and found.point.facts.tip:
                await recovery.create_branch(root, worktree.branch, found.point.facts.tip)
            project = require_project(self._store.state, worktree.project_id)
            await add_files(self._store, worktree.id, Path(project.path), path)
        except BaseException as error:
            await self._report_failure(worktree, error)
            raise
        changes = {
            "status": "ready",
            "restored_from": None,
            "branch": branch or worktree.branch,
            "detached_at": None if branch else snapshot.note.commit,
        }
        current = self._store.state.worktrees.get(worktree.id, worktree)
        ready = current.model_copy(update=changes)
        await self._restore_chain(root, ready.id, found)
        await self._publish(ready, kept, found)
        report_problems(self._store, ready.id)
        return self._store.state.worktrees[ready.id]

    async def _publish(self, ready: Worktree, kept: KeptConversations, found: FoundPoint) -> None:
        before = {worktree.id: ready.id for worktree in kept.worktrees}
        events, messages = kept.make_events(self._store.state.sessions, before)
        await self._store.accept(
            WorktreeCreated(worktree=ready),
            *events,
            RecoveryRestored(recovery_id=found.point.id, worktree_id=ready.id, paths=[]),
            copy=messages,
        )
        tree = found.point.snapshot.tree
        await write_attachments(self._directories, found.root, tree, kept)

    async def _restore_chain(self, root: Path, worktree_id: str, found: FoundPoint) -> None:
        """Continue the chain of snapshots that the deleted worktree had."""
        note, source = found.point.snapshot.note, found.point.facts.source
        if note.reason == "delete" and note.worktree_id == worktree_id and source:
            with suppress(SpinneyError):  # There is one already.
                await own_refs.set_ref(root, chain.chain_ref(worktree_id), source, "")

    async def _select(
        self, root: Path, found: FoundPoint, paths: list[str]
    ) -> dict[str, Entry | None]:
        """Return the entries of these files, given by their display names."""
        if not paths:
            raise SpinneyError("Invalid field 'paths': name at least one file")
        tree = await files.read_entries(root, found.point.snapshot.tree)
        by_name = await asyncio.to_thread(_name_entries, tree)
        selected: dict[str, Entry | None] = {}
        for path in paths:
            if path not in by_name:
                raise SpinneyError(
                    f"The recovery point has no file '{clean_line(path)}'. List its files with: "
                    f"spinney recover files {found.point.id}",
                    "not_found",
                )
            real, entry = by_name[path]
            selected[real] = entry
        return selected

    async def _report_failure(self, worktree: Worktree, error: BaseException) -> None:
        message = error.message if isinstance(error, SpinneyError) else "it was interrupted"
        failed = WorktreeCreateFailed(
            id=worktree.id,
            project_id=worktree.project_id,
            error=f"'{worktree.name}' was not restored: {message}",
        )
        try:
            await self._store.accept(failed)
        except SpinneyError:  # The disk is full, but there is no such worktree.
            self._store.record(failed)


def _require_files(found: FoundPoint) -> None:
    if found.point.snapshot.note.reason in SESSION_REASONS:
        raise SpinneyError(
            "This recovery point keeps sessions and no files. Restore its sessions.", "conflict"
        )


def _begin(current: State, found: FoundPoint, before: Worktree | None) -> Worktree:
    """Return the worktree as it was, about to be created; with its old id if that is free."""
    is_free = before is not None and before.id not in current.worktrees
    base = before or _describe_unknown(found)
    begun = base.model_copy(
        update={
            "id": base.id if is_free else str(uuid.uuid4()),
            "project_id": found.project_id,
            "order": next_order(current, found.project_id),
            "status": "creating",
            "archived_at": None,
            "archive_when_idle": False,
            "running_scripts": [],
            "setup_hold": None,
            "renaming_to": None,
            "copied_files": None,
            "restored_from": found.point.id,
        }
    )
    return ports.with_port(current, begun)


def _list_names(folders: set[Path]) -> set[Path]:
    found = set()
    for folder in folders:
        with suppress(OSError):
            found |= set(folder.iterdir())
    return found


def _number(path: Path, taken: set[Path]) -> Path:
    return path.with_name(make_unique_name(path.name, {each.name for each in taken}))


def _describe_unknown(found: FoundPoint) -> Worktree:
    """Describe the worktree of a point without conversations."""
    note = found.point.snapshot.note
    current = note.branch or note.worktree_name
    return Worktree(
        id="",
        project_id=found.project_id,
        name=note.worktree_name,
        path="",
        branch=clean_line(current),
        created_at=time.time(),
        named_by_user=True,
    )


def _name_entries(tree: dict[str, Entry]) -> dict[str, tuple[str, Entry]]:
    """Return path and entry of each file by its display name, ignored files included."""
    named = {}
    prefix = f"{state.IGNORED_FOLDER}/"
    for tree_path, entry in tree.items():
        path = plumbing.to_file_path(tree_path)
        if path is None and tree_path.startswith(prefix):
            path = tree_path.removeprefix(prefix)
        if path is not None:
            named[to_display_name(path)] = path, entry
    return named


def _describe(before: Entry | None, after: Entry | None) -> FileChange:
    if after is None:
        return "deleted"
    return "modified" if before else "added"
