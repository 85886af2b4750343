"""Implements `model.api.code_reviews`."""

from typing import TYPE_CHECKING

from model.api import code_reviews as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.commands.session_choice import send_to_session
from model.domain.changes import Side
from model.domain.code_reviews import HunkVerdict, Verdict
from model.domain.resources import SessionMessage
from model.reviewing.messages import format_rejections

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_review)
async def get_review(workspace: "Workspace", worktree_id: str) -> api.ReviewState:
    known = await workspace.verdicts.read(worktree_id)
    return api.ReviewState(
        progress=known.progress,
        verdicts=[*known.verdicts],
        viewed=[api.ViewedFile(path=path, side=side) for path, side in known.viewed],
    )


@implements(api.decide_hunk)
async def decide_hunk(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    hunk: str,
    verdict: Verdict,
    reason: str = "",
    seen: str | None = None,
    side: Side = "unstaged",
) -> HunkVerdict:
    decided = await workspace.verdicts.decide(worktree_id, side, path, hunk, verdict, reason, seen)
    workspace.poller.refresh(worktree_id)
    return decided


@implements(api.undo_verdict)
async def undo_verdict(
    workspace: "Workspace", worktree_id: str, verdict_id: str | None = None
) -> HunkVerdict:
    undone = await workspace.verdicts.undo(worktree_id, verdict_id)
    workspace.poller.refresh(worktree_id)
    return undone


@implements(api.mark_viewed)
async def mark_viewed(
    workspace: "Workspace", worktree_id: str, path: str, side: Side, viewed: bool = True
) -> None:
    await workspace.verdicts.mark_viewed(worktree_id, path, side, viewed)


@implements(api.send_verdicts)
async def send_verdicts(
    workspace: "Workspace", worktree_id: str, session_id: str | None = None
) -> SessionMessage:
    unsent = await workspace.verdicts.list_unsent(worktree_id)
    if not unsent:
        raise SpinneyError("There are no rejected hunks to send.", "conflict")
    sent = await send_to_session(workspace, worktree_id, format_rejections(unsent), session_id)
    await workspace.verdicts.note_sent(worktree_id, [one.id for one in unsent])
    return sent
