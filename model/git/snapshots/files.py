"""Read the contents of snapshots, and write them to a worktree byte for byte."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import file_error
from model.base.plural import count
from model.base.text import clean_line
from model.git.changes import to_display_name
from model.git.replacing import (
    Check,
    SavedMeanwhileError,
    delete_expected,
    remove_temporary_files,
    replacing,
)
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.reading import has_content
from model.git.working_tree import Entry

Changed = dict[str, tuple[Entry | None, Entry | None]]
"""By path in the worktree: the entries of a file before and after."""

_MAX_NAMED: Final = 5
"""Files that a sentence names."""
_BATCH_BYTES: Final = 64_000_000
"""Bytes of file contents that are held in memory at a time; a larger file is read alone."""


async def read_entries(
    root: Path, tree: str, paths: Iterable[str] | None = None
) -> dict[str, Entry]:
    """Return the entries of a tree, all or those of these exact paths (also of folders' files).

    Paths are those in the tree, including what is not a file of the worktree.
    """
    selected = [] if paths is None else ["--", *paths]
    if paths is not None and len(selected) == 1:
        return {}
    listed = await git(
        root, "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", tree, *selected,
        timeout=120,
    )  # fmt: skip
    return await asyncio.to_thread(plumbing.parse_tree, listed.raw_stdout)


async def diff_trees(root: Path, before: str, after: str) -> Changed:
    """Return the files that differ between two snapshots' trees, with both entries."""
    changed, _ = await diff_snapshot(root, before, after)
    return changed


async def diff_snapshot(root: Path, before: str, after: str) -> tuple[Changed, dict[str, Entry]]:
    """Return what `diff_trees` does, and what `after` has beside the files, by path in the tree."""
    listed = await git(
        root, "diff-tree", "-r", "-z", "--no-renames", "--full-index", "--end-of-options",
        before, after, timeout=120,
    )  # fmt: skip
    return await asyncio.to_thread(_parse_raw_diff, listed.raw_stdout.split(b"\0"))


def _parse_raw_diff(fields: Sequence[bytes]) -> tuple[Changed, dict[str, Entry]]:
    found: Changed = {}
    special: dict[str, Entry] = {}
    for head, name in zip(fields[::2], fields[1::2], strict=False):
        tree_path = os.fsdecode(name)
        path = plumbing.to_file_path(tree_path)
        old_mode, new_mode, old, new, _ = head[1:].decode().split(" ")
        before = Entry(old_mode, old) if old_mode != "000000" else None
        after = Entry(new_mode, new) if new_mode != "000000" else None
        if path is not None:
            found[path] = before, after
        elif after is not None:
            special[tree_path] = after
    return found, special


async def compare_trees(
    root: Path, before: str, after: str
) -> tuple[Changed, dict[str, tuple[int, int]]]:
    """Return what `diff_trees` does, and the lines added and removed in the text files."""
    compared = await git(
        root, "diff-tree", "-r", "--raw", "--numstat", "-z", "--no-renames", "--full-index",
        "--end-of-options", before, after, timeout=120,
    )  # fmt: skip
    return await asyncio.to_thread(_parse_comparison, compared.raw_stdout)


def _parse_comparison(
    output: bytes,
) -> tuple[Changed, dict[str, tuple[int, int]]]:
    fields = output.split(b"\0")
    # First two fields for each file, of which one begins with a colon, then one.
    end = next((at for at in range(0, len(fields), 2) if fields[at][:1] != b":"), len(fields))
    changed, _ = _parse_raw_diff(fields[:end])
    return changed, _parse_numstat(fields[end:])


def _parse_numstat(rows: Iterable[bytes]) -> dict[str, tuple[int, int]]:
    counts = {}
    for row in rows:
        if row and row[:1] != b"-":
            added, removed, name = row.split(b"\t", 2)
            path = plumbing.to_file_path(os.fsdecode(name))
            if path is not None:
                counts[path] = int(added), int(removed)
    return counts


async def read_blobs(root: Path, objects: Iterable[str]) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the contents of blobs by id, each once, in batches of bounded size.

    Raises `SpinneyError` if one is missing.
    """
    ids = list(dict.fromkeys(objects))
    if not ids:
        return
    request = "\n".join(ids).encode() + b"\n"
    checked = await git(root, "cat-file", "--batch-check=%(objectsize)", stdin=request)
    batch: list[str] = []
    total = 0
    for object_id, size in zip(ids, checked.stdout.split("\n"), strict=True):
        if not size.isdigit():
            raise SpinneyError(f"The repository has lost an object ({size}).", "git_error")
        if batch and total + int(size) > _BATCH_BYTES:
            for found in await _read_batch(root, batch):
                yield found
            batch, total = [], 0
        batch.append(object_id)
        total += int(size)
    for found in await _read_batch(root, batch):
        yield found


async def _read_batch(root: Path, ids: list[str]) -> list[tuple[str, bytes]]:
    read = await git(
        root, "cat-file", "--batch", stdin="\n".join(ids).encode() + b"\n", timeout=300
    )
    return await asyncio.to_thread(plumbing.split_batch, read.raw_stdout)


async def read_blob(root: Path, object_id: str) -> bytes:
    """Return the content of one blob."""
    return (await git(root, "cat-file", "blob", object_id, timeout=300)).raw_stdout


async def write_entries(
    root: Path,
    entries: Mapping[str, Entry | None],
    modes: Mapping[str, int] | None = None,
    expected: Mapping[str, Entry | None] | None = None,
) -> list[str]:
    """Make files of the worktree equal to these entries; `None` deletes a file.

    Deletions come first, so that a folder may take the place of a file. Each file is replaced
    atomically. Submodules are left alone.

    Args:
        root: The worktree.
        entries: By path in the worktree.
        modes: Permissions other than 644 and 755.
        expected: The contents that the files have, `None` for no file. One that has another
            content is left as it is. Without this, everything is replaced: in a new worktree.

    Returns:
        The files that were left, and those that were made for what was saved twice.

    Raises:
        SpinneyError: A folder or a link is where a file should be, or the disk is full.
    """
    await asyncio.to_thread(remove_orphans, root, entries)
    left: list[str] = []
    removed = [path for path, entry in entries.items() if entry is None]
    await asyncio.to_thread(_remove_all, root, removed, expected, left)
    paths: dict[str, list[tuple[str, Entry]]] = {}
    for path, entry in entries.items():
        if entry is not None and entry.mode != "160000":
            paths.setdefault(entry.object_id, []).append((path, entry))
    async for object_id, content in read_blobs(root, paths):
        for path, entry in paths[object_id]:
            check, permissions = _make_check(expected, path), (modes or {}).get(path)
            with _noting(root, path, left):
                await asyncio.to_thread(
                    write_file, root, path, entry.mode, content, permissions, check
                )
    return left


def describe_left(left: Sequence[str]) -> str:
    """Return the sentence that names the files which `write_entries` left."""
    named = ", ".join(to_display_name(path) for path in left[:_MAX_NAMED])
    more = ", …" if len(left) > _MAX_NAMED else ""
    were, stay = ("was", "stays as it is") if len(left) == 1 else ("were", "stay as they are")
    return f"{count(len(left), 'file')} {were} saved meanwhile and {stay}: {named}{more}."


def _make_check(expected: Mapping[str, Entry | None] | None, path: str) -> Check | None:
    return None if expected is None else partial(has_content, expected[path])


@contextmanager
def _noting(root: Path, path: str, left: list[str]) -> Iterator[None]:
    """Note a file that was saved meanwhile."""
    try:
        yield
    except SavedMeanwhileError as error:
        left.append(path)
        if error.beside is not None:
            left.append(str(error.beside.relative_to(root)))


def find_existing(root: Path, paths: Iterable[str]) -> set[str]:
    """Return the paths at which there is a file or link; not behind a link in the worktree."""
    found = set()
    for path in paths:
        file = root / path
        is_reachable = not any(parent.is_symlink() for parent in _parents_within(root, file))
        if is_reachable and (file.is_symlink() or file.is_file()):
            found.add(path)
    return found


def _parents_within(root: Path, file: Path) -> list[Path]:
    return [parent for parent in file.parents if root in parent.parents]


def write_file(
    root: Path,
    path: str,
    mode: str,
    content: bytes,
    permissions: int | None = None,
    is_expected: Check | None = None,
) -> None:
    """Replace the file or link at `path` atomically.

    Raises as `write_entries`, and `SavedMeanwhileError` if it is not as expected.
    """
    target = find_target(root, path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir() and not target.is_symlink():
            _remove_empty_folders(target)
        with replacing(target, is_expected) as temporary:
            if mode == "120000":
                temporary.symlink_to(os.fsdecode(content))
            else:
                temporary.write_bytes(content)
                temporary.chmod(permissions or _choose_permissions(target, mode))
    except OSError as error:
        raise file_error(Path(clean_line(str(target))), error, "restored") from error


def remove_file(root: Path, path: str, is_expected: Check | None = None) -> None:
    """Delete the file or link at `path`, and the folders that are empty then.

    Raises as `write_file`.
    """
    target = find_target(root, path)
    try:
        if is_expected is None:
            target.unlink(missing_ok=True)
        else:
            delete_expected(target, is_expected)
        for parent in target.parents:
            if parent == root:
                break
            parent.rmdir()
    except (NotADirectoryError, FileNotFoundError):
        return
    except OSError as error:
        if target.is_file():
            raise file_error(Path(clean_line(str(target))), error, "deleted") from error


def remove_orphans(root: Path, paths: Iterable[str]) -> None:
    """Delete what writes of these paths left beside them when their process was killed."""
    folders = set()
    for path in paths:
        with suppress(SpinneyError):
            folders.add(find_target(root, path).parent)
    remove_temporary_files(folders)


def _remove_all(
    root: Path,
    paths: Iterable[str],
    expected: Mapping[str, Entry | None] | None,
    left: list[str],
) -> None:
    for path in paths:
        with _noting(root, path, left):
            remove_file(root, path, _make_check(expected, path))


def _choose_permissions(target: Path, mode: str) -> int:
    """Keep the permissions of a file that is replaced, but for its executable bits."""
    try:
        present = target.stat().st_mode & 0o777 if not target.is_symlink() else 0o644
    except OSError:
        return 0o755 if mode == "100755" else 0o644
    return present | ((present & 0o444) >> 2) if mode == "100755" else present & ~0o111


def find_target(root: Path, path: str) -> Path:
    """Return the file's path. Raises `SpinneyError` if a link leads its folder elsewhere."""
    parts = Path(path).parts
    if not parts or ".." in parts or Path(path).is_absolute() or ".git" in parts:
        raise SpinneyError(f"'{clean_line(path)}' is not a file of the worktree.", "conflict")
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise SpinneyError(
                f"'{clean_line(path)}' was not restored, because '{clean_line(folder.name)}' is "
                "not a folder now. Move it away, then try again.",
                "conflict",
            )
    return root / path


def _remove_empty_folders(folder: Path) -> None:
    """Delete a folder that holds nothing but folders. Raises `OSError` if it holds a file."""
    # First all are looked at: a repository inside is damaged without its empty folders.
    folders = []
    for current, inner, names in os.walk(folder):
        if names or any(Path(current, name).is_symlink() for name in inner):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        folders.append(Path(current))
    for empty in reversed(folders):
        empty.rmdir()
