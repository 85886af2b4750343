"""Implements `model.api.code_reviews`."""

import asyncio
from typing import TYPE_CHECKING, Final

from model.api import code_reviews as api
from model.api.changes import FileDiff
from model.api.reviews import DEFAULT_LIMIT, DiffRows
from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.commands.changes import as_resource
from model.commands.registry import implements
from model.commands.reviews import check_page, make_page
from model.commands.session_choice import send_to_session
from model.domain.changes import Side
from model.domain.code_reviews import CodeReview, Finding, HunkVerdict, Severity, Verdict
from model.domain.messages import SessionMessage
from model.git.changes import list_files_between, read_patch_between
from model.reviewing.messages import format_findings, format_rejections
from model.worktrees import require_project
from model.writing.release_notes import write_notes

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_TEXT: Final = 4_000
"""Characters of an explanation or a suggestion."""


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


@implements(api.run_code_review)
async def run_code_review(workspace: "Workspace", worktree_id: str) -> CodeReview:
    return await workspace.code_reviews.start(worktree_id)


@implements(api.get_code_review)
async def get_code_review(workspace: "Workspace", worktree_id: str) -> CodeReview:
    return await workspace.code_reviews.get(worktree_id)


@implements(api.stop_code_review)
async def stop_code_review(workspace: "Workspace", worktree_id: str) -> CodeReview:
    return await workspace.code_reviews.stop(worktree_id)


@implements(api.update_finding)
async def update_finding(
    workspace: "Workspace",
    worktree_id: str,
    finding_id: str,
    explanation: str | None = None,
    suggestion: str | None = None,
    severity: Severity | None = None,
    dismissed: bool | None = None,
) -> Finding:
    changes: dict[str, object] = {}
    for name, text in (("explanation", explanation), ("suggestion", suggestion)):
        if text is not None:
            if len(text) > _MAX_TEXT:
                raise SpinneyError(f"Invalid field '{name}': longer than {_MAX_TEXT:,} characters")
            changes[name] = make_visible(text).strip("\n")
    if not changes.get("explanation", "text"):
        raise SpinneyError("Invalid field 'explanation': it is empty")
    if severity is not None:
        changes["severity"] = severity
    if dismissed is not None:
        changes["state"] = "dismissed" if dismissed else "open"
    return await workspace.code_reviews.update(worktree_id, finding_id, changes)


@implements(api.send_findings)
async def send_findings(
    workspace: "Workspace", worktree_id: str, finding_ids: list[str], session_id: str | None = None
) -> SessionMessage:
    if not finding_ids:
        raise SpinneyError("Choose at least one finding to send.")
    findings = await workspace.code_reviews.find(worktree_id, finding_ids)
    sent = await send_to_session(workspace, worktree_id, format_findings(findings), session_id)
    await workspace.code_reviews.note_sent(worktree_id, finding_ids)
    return sent


@implements(api.compare_branches)
async def compare_branches(
    workspace: "Workspace", project_id: str, left: str, right: str
) -> api.Comparison:
    async with workspace.comparisons.open(project_id) as opened:
        one, other = await opened.resolve(left), await opened.resolve(right)
        files = await list_files_between(opened.root, one.commit, other.commit, opened.environment)
    return api.Comparison(
        left=one.label,
        right=other.label,
        left_commit=one.commit,
        right_commit=other.commit,
        files=[as_resource(file) for file in files],
    )


@implements(api.get_compared_diff)
async def get_compared_diff(
    workspace: "Workspace", project_id: str, left: str, right: str, path: str
) -> FileDiff:
    async with workspace.comparisons.open(project_id) as opened:
        one, other = await opened.require_commit(left), await opened.require_commit(right)
        patch, cut = await read_patch_between(opened.root, one, other, path, opened.environment)
    text = await asyncio.to_thread(patch.to_text)
    return FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.hunk_names(cut=cut))


@implements(api.get_compared_rows)
async def get_compared_rows(
    workspace: "Workspace",
    project_id: str,
    left: str,
    right: str,
    path: str,
    offset: int = 0,
    limit: int = DEFAULT_LIMIT,
) -> DiffRows:
    check_page(offset, limit)
    diff = await get_compared_diff(workspace, project_id, left, right, path)
    return await asyncio.to_thread(make_page, diff, offset, limit)


@implements(api.write_release_notes)
async def write_release_notes(
    workspace: "Workspace", project_id: str, since: str | None = None, until: str | None = None
) -> api.ReleaseNotes:
    project = require_project(workspace.store.state, project_id)
    text, start = await write_notes(workspace.writer, project, since, until)
    return api.ReleaseNotes(text=text, since=start)
