"""Notes on commits that say which snapshot and turn they come from, for lines that have landed.

They are git notes of a ref of their own, which git neither shows nor pushes by itself.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.text import clean_line
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.chain import Snapshot, SnapshotNote

NOTES_REF: Final = "refs/notes/spinney"
_MAX_CHAIN: Final = 200
"""Snapshots in which the newest turn is looked for."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What the note of a commit says."""

    snapshot: str
    session_id: str
    turn_id: str


async def write_trace(root: Path, commit: str, snapshot: Snapshot) -> None:
    """Note on a commit which snapshot and newest turn it comes from. Raises as `git`."""
    turn = await _find_newest_turn(root, snapshot.commit)
    lines = {
        "snapshot": snapshot.commit,
        "worktree_id": snapshot.note.worktree_id,
        "worktree_name": clean_line(snapshot.note.worktree_name),
        "session_id": turn.session_id if turn else "",
        "turn_id": turn.turn_id if turn else "",
    }
    text = "".join(f"{name}: {value}\n" for name, value in lines.items() if value)
    await plumbing.run(
        root, "notes", f"--ref={NOTES_REF}", "add", "--force", "--file=-", commit,
        stdin=text.encode(),
    )  # fmt: skip


async def read_trace(root: Path, commit: str) -> Trace | None:
    """Return what is noted on a commit; `None` if nothing is."""
    shown = await git(root, "notes", f"--ref={NOTES_REF}", "show", commit, check=False)
    if shown.returncode != 0:
        return None
    rows = (row.partition(": ") for row in shown.stdout.split("\n"))
    pairs = {name: value for name, _, value in rows}
    return Trace(pairs.get("snapshot", ""), pairs.get("session_id", ""), pairs.get("turn_id", ""))


async def _find_newest_turn(root: Path, tip: str) -> SnapshotNote | None:
    listed = await git(
        root, "log", "-z", "--first-parent", f"--max-count={_MAX_CHAIN}", "--no-show-signature",
        "--format=%B", "--end-of-options", tip, "--",
    )  # fmt: skip
    for message in listed.stdout.split("\0"):
        if not message.startswith("Snapshot: "):
            return None
        note = SnapshotNote.from_message(message)
        if note.reason == "turn end":
            return note
    return None
