"""Resolve the conflict of a file by one of its sides, and continue what it stopped."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.changes import ConflictChoice
from model.git.changes import find_changed_file, list_changed_files, to_display_name, to_pathspecs
from model.git.conflict_markers import refuse_conflicts
from model.git.diff import resolve_head
from model.git.discarding import DiscardRecord, replace_file
from model.git.file_copies import FileCopy
from model.git.index_entries import read_stages, write_stages
from model.git.merging import find_operation, identify_step
from model.git.run import git
from model.git.secret_gate import SecretGate

_TIMEOUT: Final = 300
"""Seconds; hooks of a commit run linters and tests."""
_BASE, _OURS, _THEIRS = "1", "2", "3"
"""Stages of a conflicted file in the index. In a rebase, ours is the branch it goes onto."""


async def resolve(
    path: Path, discards: Path, display_name: str, choice: ConflictChoice
) -> DiscardRecord:
    """Write one side of a conflicted file, or both, and stage it; the file is backed up first.

    Args:
        path: The worktree.
        discards: The folder with the discards of this worktree; `discarding.undo` restores the
            file.
        display_name: The file, as `to_display_name` returns it.
        choice: `both` writes the lines of ours, then those of theirs, where they differ; `markers`
            brings back the conflict with its markers, also after it was resolved.

    Raises:
        SpinneyError: The file has no conflict, or has no text to combine.
    """
    if choice == "markers":
        name = display_name
        if await find_operation(path) is None:
            raise SpinneyError("There is no merge or rebase in progress.", "conflict")
    else:
        file = await find_changed_file(path, "unstaged", display_name)
        if file.status != "conflicted":
            raise SpinneyError(f"'{display_name}' has no conflict any more.", "conflict")
        name = file.name
    before = await read_stages(path, name)
    step = await identify_step(path)

    async def write(copy: FileCopy) -> None:
        if choice == "markers":
            await _bring_back(path, copy, name)
        elif choice == "both":
            await _combine(path, copy, name)
        else:
            await _take(path, copy, name, choice)

    try:
        made = await replace_file(path, discards, name, write, unmerged=before, step=step)
    except BaseException:
        if await read_stages(path, name) != before:
            await write_stages(path, name, before)
        raise
    if choice != "markers":
        await _stage(path, name)
    return made


async def continue_operation(path: Path, gate: SecretGate, *, allow_markers: bool = False) -> str:
    """Complete the merge, rebase, cherry-pick or revert; returns the id of the last commit.

    Raises `SpinneyError` if files still have conflicts or their markers, or their resolution has
    secrets, or the next commit has conflicts.
    """
    operation = await find_operation(path)
    if operation is None:
        raise SpinneyError("There is no merge or rebase in progress.", "conflict")
    files = await list_changed_files(path, "unstaged")
    conflicts = [to_display_name(file.name) for file in files if file.status == "conflicted"]
    if conflicts:
        raise SpinneyError(
            f"{count(len(conflicts), 'file')} still {'has' if len(conflicts) == 1 else 'have'} "
            f"conflicts: {', '.join(conflicts[:5])}.",
            "conflict",
        )
    # What is not staged as well: it would be a change of its own with the markers.
    for stage_all in (False, True):
        await refuse_conflicts(path, stage_all=stage_all, allow_markers=allow_markers)
    await gate.check_commit(path, "", stage_all=False)
    await git(path, operation, "--continue", write=True, timeout=_TIMEOUT)
    return await resolve_head(path)


async def _stage(path: Path, name: str) -> None:
    """Stage the file as it is now, or its deletion."""
    if await asyncio.to_thread(os.path.lexists, path / name):
        await git(path, "add", "--", *to_pathspecs([name]), write=True)
    else:
        await write_stages(path, name, [])


async def _read_blobs(path: Path, name: str) -> dict[str, str]:
    """The blob of each stage of a conflicted file."""
    entries = [entry.split(" ") for entry in await read_stages(path, name, "--unmerged")]
    return {stage: blob for _, blob, stage in entries}


async def _take(path: Path, copy: FileCopy, name: str, choice: ConflictChoice) -> None:
    stage = _OURS if choice == "ours" else _THEIRS
    if stage in await _read_blobs(path, name):
        await _write_stage(copy, name, stage)
    else:  # this side deleted it
        await asyncio.to_thread(copy.file.unlink, missing_ok=True)


async def _write_stage(copy: FileCopy, name: str, stage: str) -> None:
    await git(
        copy.folder, "checkout-index", "--force", f"--stage={stage}", "--", name, write=True,
        environment=copy.environment,
    )  # fmt: skip


async def _bring_back(path: Path, copy: FileCopy, name: str) -> None:
    """Make a file conflicted again, with the text that a merge would write."""
    noted = await read_stages(path, name, "--resolve-undo")
    stages = {entry[-1] for entry in noted}
    if not noted and not await read_stages(path, name, "--unmerged"):
        raise SpinneyError(f"'{to_display_name(name)}' had no conflict.", "conflict")
    if not noted or {_OURS, _THEIRS} <= stages:
        await git(
            copy.folder, "checkout", "--merge", "--", *to_pathspecs([name]), write=True,
            environment=copy.environment,
        )  # fmt: skip
        return
    # `checkout` and `update-index --unresolve` refuse a file that one side deleted.
    await write_stages(path, name, noted)
    await _write_stage(copy, name, _OURS if _OURS in stages else _THEIRS)


async def _combine(path: Path, copy: FileCopy, name: str) -> None:
    stages = await _read_blobs(path, name)
    if not {_OURS, _THEIRS} <= stages.keys():
        raise SpinneyError(
            f"'{to_display_name(name)}' was deleted on one side: there are not two texts to keep.",
            "conflict",
        )
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        files = []
        for stage in (_OURS, _BASE, _THEIRS):
            blob = await git(path, "cat-file", "blob", stages[stage]) if stage in stages else None
            file = Path(folder) / stage
            await asyncio.to_thread(file.write_bytes, blob.raw_stdout if blob else b"")
            files.append(str(file))
        merged = await git(path, "merge-file", "--stdout", "--union", *files, check=False)
    if merged.returncode != 0:
        raise SpinneyError(
            f"'{to_display_name(name)}' has no lines of text to combine. Take one side.", "conflict"
        )
    await asyncio.to_thread(copy.file.write_bytes, merged.raw_stdout)
