"""Explains why a line is there: the turn that wrote it, with its prompt and plan, or the commit."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.line_origins import LineOrigin, OriginKind
from model.domain.messages import Message, PlanBlock
from model.domain.turns import Turn
from model.domain.worktrees import Worktree
from model.git.snapshots import blame, chain, plumbing, traces
from model.git.snapshots.blame import BlamedLine, LineSource
from model.git.snapshots.chain import Snapshot, SnapshotNote
from model.store.store import Store

_MAX_TEXT: Final = 20_000
"""Characters of a prompt or plan."""
_MAX_LINE: Final = 2_000
_MAX_MESSAGES: Final = 400
"""The newest messages of a session in which a plan is looked for."""


async def explain_line(store: Store, worktree: Worktree, path: str, line: int) -> LineOrigin:
    """Return where a line of a file in a worktree comes from.

    Raises:
        SpinneyError: `not_found` if there is no such file or line, and what git reports.
    """
    if line < 1:
        raise SpinneyError("Lines are counted from 1.")
    root = Path(worktree.path)
    # So that the newest edits are there. If a turn runs, they belong to it.
    note = SnapshotNote("request", worktree_id=worktree.id, worktree_name=worktree.name)
    newest = await chain.take_snapshot(root, note)
    source = await blame.find_source(root, newest.commit, path, line)
    if source.snapshot is not None:
        return await _explain_snapshot(store, worktree, source, source.snapshot)
    assert source.commit is not None
    return await _explain_commit(store, root, source.commit)


async def _explain_snapshot(
    store: Store, worktree: Worktree, source: LineSource, snapshot: Snapshot
) -> LineOrigin:
    commit = source.commit.commit if source.commit else None
    summary = clean_line(source.commit.summary) if source.commit else None
    turn = await _find_turn(store, worktree.id, snapshot)
    origin = _make_origin(source.line, "edit", snapshot.note.created_at, "")
    if turn is None and snapshot.note.reason != "turn end":
        return origin.model_copy(update={"commit": commit, "summary": summary})
    session_id = turn.session_id if turn else snapshot.note.session_id
    turn_id = turn.id if turn else snapshot.note.turn_id
    about = await _describe_turn(store, session_id, turn_id)
    return origin.model_copy(update={"kind": "turn", "commit": commit, "summary": summary, **about})


async def _explain_commit(store: Store, root: Path, line: BlamedLine) -> LineOrigin:
    """Explain a line by the trace of its commit, or by the commit alone."""
    origin = _make_origin(line, "commit", line.authored_at, clean_line(line.author)).model_copy(
        update={"commit": line.commit, "summary": clean_line(line.summary)}
    )
    trace = await traces.read_trace(root, line.commit)
    if trace is None:
        return origin
    session_id, turn_id = trace.session_id, trace.turn_id
    if trace.snapshot and await chain.read_snapshot(root, trace.snapshot) is not None:
        found = await _find_in_snapshot(root, trace.snapshot, line)
        note = found.note if found and found.note.reason == "turn end" else None
        session_id, turn_id = (note.session_id, note.turn_id) if note else ("", "")
    if not session_id:
        return origin
    about = await _describe_turn(store, session_id, turn_id)
    return origin.model_copy(update={"kind": "turn", **about})


async def _find_in_snapshot(root: Path, snapshot: str, line: BlamedLine) -> Snapshot | None:
    """Return the snapshot that has a committed line first, in the chain that ends there."""
    try:
        source = await blame.find_source(
            root, snapshot, plumbing.to_file_path(line.path) or line.path, line.line
        )
    except SpinneyError:
        return None
    return source.snapshot if source.line.text.strip() == line.text.strip() else None


async def _find_turn(store: Store, worktree_id: str, snapshot: Snapshot) -> Turn | None:
    """Return the turn in which the changes of a snapshot were made."""
    note = snapshot.note
    if note.reason == "turn end":
        return await store.turn(note.turn_id) if note.turn_id else None
    for session in store.state.sessions_of(worktree_id, archived=True):
        for turn in await store.turns(session.id):
            has_ended = turn.ended_at is not None and turn.ended_at < note.created_at
            # What is there when a turn starts was not made by it.
            if turn.id != note.turn_id and turn.started_at <= note.created_at and not has_ended:
                return turn
    return None


async def _describe_turn(store: Store, session_id: str, turn_id: str) -> dict[str, str | None]:
    """Return the fields of an origin that say which turn it was."""
    turn = await store.turn(turn_id) if turn_id else None
    message = await store.message(turn.message_id) if turn and turn.message_id else None
    session = store.state.sessions.get(session_id)
    backend = session.backend if session else ""
    return {
        "session_id": session_id,
        "turn_id": turn_id or None,
        "message_id": message.id if message else None,
        "prompt": message.text[:_MAX_TEXT] if message else None,
        "plan": await _find_plan(store, session_id, turn) if turn else None,
        "author": (message.backend if message and message.backend else None) or backend,
    }


async def _find_plan(store: Store, session_id: str, turn: Turn) -> str | None:
    """Return the newest plan that was approved before the end of a turn."""
    page = await store.messages(session_id, _MAX_MESSAGES)
    end = turn.ended_at
    messages = [one for one in page.messages if end is None or one.timestamp <= end]
    plans = (plan for message in reversed(messages) for plan in _list_plans(message))
    return next(plans, None)


def _list_plans(message: Message) -> list[str]:
    return [
        block.text[:_MAX_TEXT]
        for block in reversed(message.content)
        if isinstance(block, PlanBlock) and block.approved
    ]


def _make_origin(line: BlamedLine, kind: OriginKind, time: float, author: str) -> LineOrigin:
    path = make_visible(plumbing.to_file_path(line.path) or line.path)
    text = make_visible(line.text[:_MAX_LINE])
    return LineOrigin(kind=kind, path=path, line=line.line, text=text, time=time, author=author)
