"""Find what wrote a line: the snapshot of a worktree that has it first, or a commit."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.run import git
from model.git.snapshots import chain, files, plumbing
from model.git.snapshots.chain import Snapshot

_TIMEOUT: Final = 60.0
_MAX_VERSIONS: Final = 50
"""Snapshots in which a file changed that are searched for a line that came back."""
_MIN_LETTERS: Final = 8
_AUTHOR: Final = "<spinney@localhost>"


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """A line, and the commit that has it first."""

    commit: str
    path: str
    """In the tree of that commit."""
    line: int
    text: str
    author: str
    mail: str
    time: float
    """When it was committed."""
    authored_at: float
    summary: str


@dataclass(frozen=True, slots=True)
class LineSource:
    """The snapshot of the worktree's chain that has a line first, and the commit, if any."""

    snapshot: Snapshot | None
    """`None` if the line is older than the chain, or came with a commit of others."""
    previous: Snapshot | None
    """The snapshot before it."""
    line: BlamedLine
    commit: BlamedLine | None


async def find_source(root: Path, tip: str, path: str, line: int) -> LineSource:
    """Find where a line comes from, in the chain of snapshots that ends with `tip`.

    Args:
        root: The worktree.
        tip: The newest snapshot.
        path: The file, relative to `root`.
        line: From 1.

    Raises:
        SpinneyError: `not_found` if there is no such file or line.
    """
    # By first parents: these are the snapshots, each the parent of the next one.
    found = await blame(root, tip, plumbing.to_tree_path(path), line, first_parent=True)
    snapshot = await _read_own(root, found)
    if snapshot is None:
        older = await blame(root, found.commit, found.path, found.line)
        return LineSource(None, None, found, older)
    earlier = await _find_earlier(root, found, snapshot)
    if earlier is not None:
        return await find_source(root, *earlier)
    previous = await chain.read_snapshot(root, f"{found.commit}^1")
    has_commits = snapshot.note.commit != (previous.note.commit if previous else "")
    commit = await _find_commit(root, found) if has_commits else None
    if commit is not None and previous is not None and _is_by_others(commit, previous, snapshot):
        return LineSource(None, None, found, commit)
    return LineSource(snapshot, previous, found, commit)


async def blame(
    root: Path, revision: str, path: str, line: int, *, first_parent: bool = False
) -> BlamedLine:
    """Run `git blame` for one line. Raises as `find_source`."""
    options = ["--first-parent"] if first_parent else []
    shown = await git(
        root, "-c", "blame.ignoreRevsFile=", "blame", "-w", "-C", "--porcelain", "--no-textconv",
        *options, "-L", f"{line},{line}", revision, "--", path,
        check=False, timeout=_TIMEOUT, filters=False,
    )  # fmt: skip
    if shown.returncode == 0:
        return _parse(shown.stdout)
    shown_path = clean_line(plumbing.to_file_path(path) or path)
    if "no such path" in shown.stderr:
        raise SpinneyError(f"There is no file '{shown_path}'.", "not_found")
    if "lines" in shown.stderr and "has only" in shown.stderr:
        raise SpinneyError(f"'{shown_path}' has no line {line}.", "not_found")
    raise SpinneyError(shown.message, "git_error")


def _parse(output: str) -> BlamedLine:
    head, *rest = output.split("\n")
    commit, number, *_ = head.split(" ")
    fields: dict[str, str] = {}
    text = ""
    for row in rest:
        if row.startswith("\t"):
            text = row[1:]
            break
        name, _, value = row.partition(" ")
        fields[name] = value
    return BlamedLine(
        commit=commit,
        path=_unquote(fields.get("filename", "")),
        line=int(number),
        text=text,
        author=fields.get("author", ""),
        mail=fields.get("author-mail", ""),
        time=float(fields.get("committer-time", "0")),
        authored_at=float(fields.get("author-time", "0")),
        summary=fields.get("summary", ""),
    )


def _unquote(path: str) -> str:
    """Return the path that git wrote in quotes, because it has unusual characters."""
    if not (path.startswith('"') and path.endswith('"') and len(path) > 1):
        return path
    raw = path[1:-1].encode("ascii", "replace").decode("unicode_escape").encode("latin-1")
    return raw.decode("utf-8", "surrogateescape")


async def _read_own(root: Path, found: BlamedLine) -> Snapshot | None:
    if found.mail != _AUTHOR or not found.summary.startswith("Snapshot: "):
        return None
    return await chain.read_snapshot(root, found.commit)


async def _find_earlier(
    root: Path, found: BlamedLine, snapshot: Snapshot
) -> tuple[str, str, int] | None:
    """Return where a line was before, in the same chain, if it only came back in a snapshot.

    As after an undo, a revert or a reset: the file is what it was once, or has the line again. The
    result is a snapshot, a path and a line.
    """
    path = plumbing.to_file_path(found.path) or found.path
    entries = await files.read_entries(root, found.commit, [found.path])
    versions = await _list_versions(root, found, snapshot)
    for commit, object_id in versions:
        if found.path in entries and object_id == entries[found.path].object_id:
            return commit, path, found.line
    if snapshot.note.reason == "turn end" or not _is_distinctive(found.text):
        return None  # A turn may write the same line again.
    text = found.text.encode("utf-8", "replace")
    contents = {
        key: content async for key, content in files.read_blobs(root, dict(versions).values())
    }
    for commit, object_id in versions:
        lines = contents[object_id].split(b"\n")
        if lines.count(text) == 1:
            return commit, path, lines.index(text) + 1
    return None


async def _list_versions(
    root: Path, found: BlamedLine, snapshot: Snapshot
) -> list[tuple[str, str]]:
    """Return the snapshots before a line's that changed its file, with its blobs, newest first."""
    since = [f"^{snapshot.note.commit}"] if snapshot.note.commit else []
    listed = await git(
        root, "--literal-pathspecs", "log", "--first-parent", "-m", "--raw", "--no-abbrev",
        "--no-renames", "--no-show-signature", "--format=%H", f"--max-count={_MAX_VERSIONS}",
        f"{found.commit}^1", *since, "--", found.path, timeout=_TIMEOUT,
    )  # fmt: skip
    versions = []
    commit = ""
    for row in listed.raw_stdout.split(b"\n"):
        if not row.startswith(b":"):
            commit = row.decode("ascii", "replace") or commit
            continue
        _, _, old, new, _ = row.decode("ascii", "replace").split(" ", 4)
        versions += [(commit, new), (f"{commit}^1", old)]
    return [(commit, object_id) for commit, object_id in versions if object_id.strip("0")]


def _is_distinctive(text: str) -> bool:
    """Whether a line says enough not to be found twice by chance."""
    return sum(map(str.isalnum, text)) >= _MIN_LETTERS


async def _find_commit(root: Path, found: BlamedLine) -> BlamedLine | None:
    """Return the commit that brought a line into a snapshot, where the commit has moved on."""
    commit = await blame(root, found.commit, found.path, found.line)
    return None if commit.mail == _AUTHOR else commit


def _is_by_others(commit: BlamedLine, previous: Snapshot, snapshot: Snapshot) -> bool:
    """Whether a commit was made before the time in which the files changed: it was pulled."""
    return not previous.note.created_at - 1 <= commit.time <= snapshot.note.created_at + 1
