"""Bring a deleted worktree back from a snapshot: files, index, and a merge in progress."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import GitDirectories, find_git_directories
from model.git.refs import check_branch_name
from model.git.repositories import branch_exists
from model.git.run import git
from model.git.snapshots import conversions, files, plumbing, state
from model.git.snapshots.chain import Snapshot, SnapshotNote, take_snapshot
from model.git.snapshots.state import WorktreeState
from model.git.working_tree import Entry
from model.git.worktrees import CHECKOUT_TIMEOUT, list_worktrees, remove_incomplete

_MAX_NAMES: Final = 100
"""Names tried for the branch of a restored worktree."""
_IN_PARALLEL: Final = ("-c", "checkout.workers=0")
"""With a process for each core, since git 2.32; an older one ignores it."""
_INHERITED: Final = ("config.worktree", "info/sparse-checkout")
"""Files that `git worktree add` copies from the checkout that it runs in."""


async def read_state(root: Path, tree: str) -> WorktreeState:
    """Return what a snapshot's tree has beside the files. Raises `SpinneyError` if damaged."""
    entries = await files.read_entries(root, tree, [state.STATE_FILE])
    try:
        content = await files.read_blob(root, entries[state.STATE_FILE].object_id)
        return WorktreeState.from_json(content)
    except (KeyError, ValueError, TypeError):
        raise SpinneyError(
            f"The snapshot {tree[:12]} is damaged: it has no description of the worktree. Its "
            "files can still be read with git show.",
            "git_error",
        ) from None


async def restore_worktree(root: Path, path: Path, snapshot: Snapshot) -> str | None:
    """Create a worktree at `path` that equals the snapshot, and return its branch.

    The branch is the one of the snapshot if it is free at the same commit, or created again; else
    a new one with a number. `None` if the snapshot's HEAD was detached.

    Raises:
        SpinneyError: The path exists, the commit is lost, or the disk is full; nothing is left.
    """
    kept = await read_state(root, snapshot.tree)
    if kept.commit is None:
        raise SpinneyError(
            "The snapshot was made before the first commit of its repository. Restore its files.",
            "conflict",
        )
    branch = await _find_free_branch(root, kept.branch, kept.commit) if kept.branch else None
    await _add_empty_worktree(root, path, branch, kept.commit)
    try:
        await fill_worktree(path, snapshot, kept)
    except BaseException:
        await _remove(root, path)
        raise
    return branch


async def remove_half_restored(root: Path, path: Path, worktree_id: str) -> None:
    """Remove what a killed `restore_worktree` left at `path`; its files are kept in a snapshot."""
    await remove_incomplete(root, path)
    real = Path(await asyncio.to_thread(os.path.realpath, path))
    if any(listed.path == real for listed in await list_worktrees(root)):
        with suppress(SpinneyError):  # A person may have worked there meanwhile.
            await take_snapshot(path, SnapshotNote("restore", worktree_id=worktree_id))
        await _remove(root, path)


async def _remove(root: Path, path: Path) -> None:
    await git(
        root, "worktree", "remove", "--force", "--force", "--end-of-options", str(path),
        write=True, check=False, timeout=CHECKOUT_TIMEOUT,
    )  # fmt: skip


async def _find_free_branch(root: Path, branch: str, commit: str) -> str:
    """Return the branch itself, or the same name with a number if it is in use or has moved on."""
    check_branch_name(branch)
    in_use = {listed.branch for listed in await list_worktrees(root)}
    for number in range(1, _MAX_NAMES):
        name = branch if number == 1 else f"{branch}-{number}"
        if name in in_use:
            continue
        if not await branch_exists(root, name):
            await plumbing.run(root, "branch", "--no-track", "--end-of-options", name, commit)
            return name
        tip = await git(root, "rev-parse", "--verify", f"refs/heads/{name}")
        if tip.stdout == commit:
            return name
    raise SpinneyError(f"There is no free name for the branch '{branch}'.", "conflict")


async def _add_empty_worktree(root: Path, path: Path, branch: str | None, commit: str) -> None:
    target = [branch] if branch else ["--detach", commit]
    options = [] if branch else [target.pop(0)]
    await remove_incomplete(root, path)
    await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    await git(
        root, "-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--quiet", "--no-checkout",
        *options, "--end-of-options", str(path), *target, write=True, timeout=CHECKOUT_TIMEOUT,
    )  # fmt: skip


async def fill_worktree(path: Path, snapshot: Snapshot, kept: WorktreeState) -> None:
    """Write everything of a snapshot into a new worktree without files."""
    directories = await asyncio.to_thread(find_git_directories, path)
    if directories is None:
        raise worktree_directory_missing(str(path))
    special = await _read_special(path, snapshot.tree)
    # Before the checkout: a sparse one leaves files out.
    await _write_git_files(path, directories.git_dir, special)
    await git(path, "read-tree", "HEAD", write=True, filters=False, timeout=CHECKOUT_TIMEOUT)
    sparse = [name for tag, names in kept.flags.items() if tag in "Ss" for name in names]
    await _set_flag(path, "--skip-worktree", sparse)
    changes = await files.diff_trees(path, "HEAD", snapshot.tree)
    await _check_out(path, kept)
    wanted = {name: after for name, (_, after) in changes.items()}
    await files.write_entries(path, wanted, kept.modes)
    await files.write_entries(path, _select(special, state.IGNORED_FOLDER), kept.modes)
    written = {name for name, entry in wanted.items() if entry is not None} - {*sparse}
    await _undo_conversions(path, directories, snapshot.tree, kept, written)
    await _restore_index(path, kept, special)
    assumed = [name for tag, names in kept.flags.items() if tag.islower() for name in names]
    await _set_flag(path, "--assume-unchanged", assumed)
    await asyncio.to_thread(_restore_folders_and_modes, path, kept)
    await plumbing.run(path, "update-index", "-q", "--refresh", check=False)


async def _read_special(path: Path, tree: str) -> dict[str, Entry]:
    """Return the entries that are not files of the worktree."""
    entries = await files.read_entries(path, tree, [plumbing.RESERVED])
    return {name: entry for name, entry in entries.items() if plumbing.to_file_path(name) is None}


async def _write_git_files(path: Path, git_dir: Path, special: dict[str, Entry]) -> None:
    prefix = f"{state.GIT_FOLDER}/"
    wanted = {
        name.removeprefix(prefix): e for name, e in special.items() if name.startswith(prefix)
    }
    names: dict[str, list[str]] = {}
    for name, entry in wanted.items():
        names.setdefault(entry.object_id, []).append(name)
    async for object_id, content in files.read_blobs(path, names):
        for name in names[object_id]:
            await asyncio.to_thread(files.write_file, git_dir, name, "100644", content)
    for name in {*_INHERITED} - wanted.keys():
        await asyncio.to_thread((git_dir / name).unlink, missing_ok=True)


async def _check_out(path: Path, kept: WorktreeState) -> None:
    """Write the files of the commit; only what the snapshot left to a filter goes through one."""
    await git(
        path, *_IN_PARALLEL, "checkout-index", "--all", "--force", "-u", "--quiet", write=True,
        filters=False, timeout=CHECKOUT_TIMEOUT, check=False,
    )  # fmt: skip
    filtered = kept.left_to_filters
    if filtered:
        await git(
            path, "checkout-index", "--force", "-u", "-z", "--stdin", write=True,
            stdin=_join(filtered), timeout=CHECKOUT_TIMEOUT,
        )  # fmt: skip


async def _undo_conversions(
    path: Path, directories: GitDirectories, tree: str, kept: WorktreeState, written: set[str]
) -> None:
    """Write the files again to which the checkout gave other line endings than they had.

    `written` are those that were written already, since the commit has them otherwise.
    """
    entries = await files.read_entries(path, tree)
    if not await conversions.may_convert(path, directories, entries):
        return
    converted = await conversions.find_converted_files(path, tree)
    await files.write_entries(path, {name: entries[name] for name in converted.paths}, kept.modes)
    # Git takes a file of another size than at the checkout for changed; without a size it looks.
    in_commit = await files.read_entries(path, "HEAD")
    names = written.union(converted.paths) & in_commit.keys()
    same = [(name, in_commit[name]) for name in names]
    await plumbing.run(path, "update-index", "-z", "--index-info", stdin=plumbing.index_lines(same))


async def _restore_index(path: Path, kept: WorktreeState, special: dict[str, Entry]) -> None:
    """Make the index what it was: staged changes, removals, conflicts, intentions to add."""
    staged = _select(special, state.INDEX_FOLDER)
    conflicts = {stage: _select(special, f"{state.UNMERGED_FOLDER}/{stage}") for stage in (1, 2, 3)}
    conflicted = {name for entries in conflicts.values() for name in entries}
    removed = dict.fromkeys([*kept.staged_removals, *conflicted])
    lines = plumbing.index_lines([*removed.items(), *staged.items()])
    for stage, entries in conflicts.items():
        lines += plumbing.index_lines([*entries.items()], stage)
    if lines:
        await plumbing.run(path, "update-index", "-z", "--index-info", stdin=lines)
    if kept.intent_to_add:
        await plumbing.run(
            path, "-c", "core.sparseCheckout=false", "--literal-pathspecs",
            "add", "--intent-to-add", "--force",
            "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_join(kept.intent_to_add),
        )  # fmt: skip


def _join(names: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def _select(special: dict[str, Entry], folder: str) -> dict[str, Entry]:
    prefix = f"{folder}/"
    return {
        name.removeprefix(prefix): entry
        for name, entry in special.items()
        if name.startswith(prefix)
    }


async def _set_flag(path: Path, flag: str, names: Iterable[str]) -> None:
    if stdin := _join(names):
        await plumbing.run(path, "update-index", flag, "-z", "--stdin", stdin=stdin)


def _restore_folders_and_modes(path: Path, kept: WorktreeState) -> None:
    for folder in kept.empty_folders:
        (path / folder).mkdir(parents=True, exist_ok=True)
    for name, mode in kept.modes.items():
        file = path / name
        if file.is_file() and not file.is_symlink():
            file.chmod(mode)
