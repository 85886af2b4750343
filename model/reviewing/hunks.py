"""Find the hunk that a verdict is about, carry the verdict out, and take it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git import discarding, staging
from model.git.changed_hunks import Block, parse_file
from model.git.changes import ChangedFile, find_changed_file, read_patch
from model.git.file_copies import FileCopy
from model.git.index_entries import read_entries, write_entries
from model.git.patches import FilePatch
from model.git.working_tree import Entry

_MAX_PATCH: Final = 1_000_000
"""Bytes of a hunk's patch; a longer hunk is brought back only while its file has not changed."""
_WHOLE: Final = ("added", "deleted", "untracked", "retyped")
"""Changes whose only hunk is the whole file."""


@dataclass(frozen=True, slots=True)
class ChosenHunk:
    """A hunk of the diff that a person looked at."""

    file: ChangedFile
    blocks: tuple[Block, ...]
    patch: bytes
    """What applies this hunk alone; empty if it is too long, or has no text."""
    text: str
    """The hunk as it is shown."""


async def find_hunk(
    root: Path, base: str, side: Side, display_name: str, hunk: str, seen: str | None
) -> ChosenHunk:
    """Return a hunk by its name. Raises `SpinneyError` if the file changed since it was shown."""
    file = await find_changed_file(root, side, display_name, base)
    if file.status == "conflicted":
        raise SpinneyError(f"'{display_name}' has a conflict. Resolve it first.", "conflict")
    if file.is_submodule:
        raise SpinneyError(
            f"'{display_name}' is a submodule. Review its changes inside it.", "conflict"
        )
    patch, is_truncated = await read_patch(root, side, file, base)
    names = patch.hunk_names(cut=is_truncated)
    if hunk not in names or (seen is not None and seen != patch.digest):
        raise SpinneyError(
            f"'{display_name}' has changed since it was shown, so nothing was done. Review it "
            "again, then retry.",
            "conflict",
        )
    if not hunk:
        raise SpinneyError(f"This hunk of '{display_name}' is too long to be read.", "too_large")
    raw = patch.hunks[names.index(hunk)]
    (blocks,) = parse_file(patch.header + raw).hunks
    whole = patch.raw if file.status in _WHOLE else patch.extract_hunk(hunk) or b""
    applicable = whole if len(whole) <= _MAX_PATCH and file.status != "untracked" else b""
    return ChosenHunk(file, blocks, applicable, FilePatch(raw, b"", (raw,)).to_text())


async def stage(
    root: Path, path: str, hunk: str, chosen: ChosenHunk
) -> tuple[Mapping[str, Entry | None], Mapping[str, Entry | None]]:
    """Stage a hunk; return the file's entries in the index before and after."""
    before = await read_entries(root, chosen.file.names)
    await staging.stage(root, path, hunk, None)
    return before, await read_entries(root, chosen.file.names)


async def unstage(
    root: Path,
    path: str,
    before: Mapping[str, Entry | None],
    after: Mapping[str, Entry | None],
    patch: bytes,
) -> None:
    """Take a staged hunk out of the index; what else was staged since stays.

    Raises `SpinneyError` if it is no longer there.
    """
    if await read_entries(root, [*after]) == after:
        await write_entries(root, before)
        return
    try:
        if not patch:
            raise SpinneyError("The whole file was staged.")
        await staging.apply_patch(root, patch, "--cached", "--reverse")
    except SpinneyError:
        raise SpinneyError(
            f"The accepted hunk of '{path}' is no longer staged as it was: it was committed, "
            "unstaged or changed since. Its verdict stays; reject it in the comparison with the "
            "base branch if you changed your mind.",
            "conflict",
        ) from None


async def revert(
    root: Path, kept: Path, path: str, side: Side, hunk: str, chosen: ChosenHunk
) -> str:
    """Revert a hunk in the worktree, and return the id of the kept file."""
    if side == "unstaged":
        return (await discarding.discard(root, kept, path, hunk, None)).id
    if not chosen.patch:
        raise SpinneyError(f"This hunk of '{path}' is too long to be reverted.", "too_large")

    async def apply(copy: FileCopy) -> None:
        await staging.apply_patch(
            copy.folder, chosen.patch, "--reverse", environment=copy.environment
        )

    try:
        return (await discarding.replace_file(root, kept, chosen.file.name, apply)).id
    except SpinneyError as error:
        raise SpinneyError(
            f"The hunk was not reverted, because '{path}' has changed since it was committed: "
            f"{error.message.rstrip('.')}. Let a session revert it.",
            "conflict",
        ) from None


async def bring_back(root: Path, kept: Path, discard_id: str, patch: bytes) -> None:
    """Bring a reverted hunk back: the file byte for byte, or the hunk if others changed since.

    Raises `SpinneyError` if neither is possible.
    """
    try:
        await discarding.undo(root, kept, discard_id)
    except SpinneyError as error:
        if not patch:
            raise
        try:
            await discarding.apply_discarded(root, kept, discard_id, patch)
        except SpinneyError:
            raise error from None
