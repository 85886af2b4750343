"""Resolve the conflict of a file by one of its sides, and continue what it stopped."""

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.changes import ConflictChoice
from model.git.changes import find_changed_file, list_changed_files, to_display_name, to_pathspecs
from model.git.conflict_markers import refuse_conflicts
from model.git.diff import resolve_head
from model.git.discarding import DiscardRecord, replace_file, write_conflict
from model.git.merging import find_operation
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
    unmerged: list[str] = []
    if choice == "markers":
        name = display_name
        if await find_operation(path) is None:
            raise SpinneyError("There is no merge or rebase in progress.", "conflict")
    else:
        file = await find_changed_file(path, "unstaged", display_name)
        if file.status != "conflicted":
            raise SpinneyError(f"'{display_name}' has no conflict any more.", "conflict")
        name = file.name
        unmerged = await _list_entries(path, name, "--unmerged")

    async def write() -> None:
        if choice == "markers":
            await _bring_back(path, name)
        elif choice == "both":
            await _combine(path, name)
        else:
            await _take(path, name, choice)

    return await replace_file(path, discards, name, write, unmerged=unmerged)


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


async def _read_stages(path: Path, name: str) -> dict[str, str]:
    """The blob of each stage of a conflicted file."""
    entries = [entry.split(" ") for entry in await _list_entries(path, name, "--unmerged")]
    return {stage: blob for _, blob, stage in entries}


async def _list_entries(path: Path, name: str, kind: str) -> list[str]:
    """The entries of a conflict, each `<mode> <blob> <stage>`: as they are, or as they were."""
    listed = await git(path, "ls-files", kind, "-z", "--", *to_pathspecs([name]))
    return [field.partition("\t")[0] for field in listed.fields]


async def _take(path: Path, name: str, choice: ConflictChoice) -> None:
    stages = await _read_stages(path, name)
    pathspecs = to_pathspecs([name])
    if (_OURS if choice == "ours" else _THEIRS) in stages:
        await git(path, "checkout", f"--{choice}", "--", *pathspecs, write=True)
        await git(path, "add", "--", *pathspecs, write=True)
    else:  # this side deleted it
        await git(path, "rm", "--quiet", "--force", "--", *pathspecs, write=True)


async def _bring_back(path: Path, name: str) -> None:
    """Make a file conflicted again, with the text that a merge would write."""
    pathspecs = to_pathspecs([name])
    noted = await _list_entries(path, name, "--resolve-undo")
    stages = {entry[-1] for entry in noted}
    if not noted and not await _list_entries(path, name, "--unmerged"):
        raise SpinneyError(f"'{to_display_name(name)}' had no conflict.", "conflict")
    if not noted or {_OURS, _THEIRS} <= stages:
        await git(path, "checkout", "--merge", "--", *pathspecs, write=True)
        return
    # `checkout` and `update-index --unresolve` refuse a file that one side deleted.
    await write_conflict(path, name, noted)
    kept = f"--stage={_OURS if _OURS in stages else _THEIRS}"
    await git(path, "checkout-index", "--force", kept, "--", name, write=True)


async def _combine(path: Path, name: str) -> None:
    stages = await _read_stages(path, name)
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
    await asyncio.to_thread((path / name).write_bytes, merged.raw_stdout)
    await git(path, "add", "--", *to_pathspecs([name]), write=True)
