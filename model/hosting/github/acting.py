"""Merge, update and change a pull request on GitHub."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from model.base.errors import ErrorType, SpinneyError
from model.domain.hosting import MergeMethod, PullRequestDetails
from model.git.secret_gate import SearchedText
from model.hosting.fields import get_fields, get_text
from model.hosting.github.api import PullRequestPlace, query, request
from model.hosting.github.details import fetch_details

_ID: Final = """
query PullRequestId($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { id } }
}
"""
_RESULT: Final = "{ clientMutationId }"
_MERGE: Final = f"""
mutation PullRequestMerge($id: ID!, $method: PullRequestMergeMethod!, $head: GitObjectID) {{
  mergePullRequest(
    input: {{pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head}}
  ) {_RESULT}
}}
"""
_ENQUEUE: Final = f"""
mutation PullRequestEnqueue($id: ID!, $head: GitObjectID) {{
  enqueuePullRequest(input: {{pullRequestId: $id, expectedHeadOid: $head}}) {_RESULT}
}}
"""
_DEQUEUE: Final = f"""
mutation PullRequestDequeue($id: ID!) {{ dequeuePullRequest(input: {{id: $id}}) {_RESULT} }}
"""
_ENABLE: Final = f"""
mutation PullRequestAutoMerge($id: ID!, $method: PullRequestMergeMethod) {{
  enablePullRequestAutoMerge(input: {{pullRequestId: $id, mergeMethod: $method}}) {_RESULT}
}}
"""
_DISABLE: Final = f"""
mutation PullRequestNoAutoMerge($id: ID!) {{
  disablePullRequestAutoMerge(input: {{pullRequestId: $id}}) {_RESULT}
}}
"""
_UPDATE: Final = f"""
mutation PullRequestUpdateBranch(
  $id: ID!, $head: GitObjectID, $method: PullRequestBranchUpdateMethod
) {{
  updatePullRequestBranch(
    input: {{pullRequestId: $id, expectedHeadOid: $head, updateMethod: $method}}
  ) {_RESULT}
}}
"""
_TO_DRAFT: Final = f"""
mutation PullRequestToDraft($id: ID!) {{
  convertPullRequestToDraft(input: {{pullRequestId: $id}}) {_RESULT}
}}
"""
_TO_READY: Final = f"""
mutation PullRequestReady($id: ID!) {{
  markPullRequestReadyForReview(input: {{pullRequestId: $id}}) {_RESULT}
}}
"""
_EDIT: Final = f"""
mutation PullRequestEdit($id: ID!, $title: String, $body: String) {{
  updatePullRequest(input: {{pullRequestId: $id, title: $title, body: $body}}) {_RESULT}
}}
"""

_CLEAN: Final = "clean status"
"""Part of the message by which GitHub refuses automatic merging of what can be merged now."""
_REFUSALS: Final[tuple[tuple[str, str, ErrorType], ...]] = (
    (
        "Head branch was modified",
        "The branch of the pull request was changed while it was to be merged. Look at the new "
        "commits, then try again.",
        "conflict",
    ),
    (
        "expected head",
        "The branch of the pull request has changed meanwhile. Look at the new commits, then try "
        "again.",
        "conflict",
    ),
    (
        "Base branch was modified",
        "The base branch was changed at the same moment. Try again.",
        "conflict",
    ),
    (
        "no new commits on the base",
        "The branch is up to date already.",
        "conflict",
    ),
    (
        "merge conflict",
        "The base branch cannot be brought in without conflicts. Merge it in the worktree, resolve "
        "them, and push.",
        "conflict",
    ),
    (
        "Draft pull requests are not supported",
        "The repository has no draft pull requests: its plan on GitHub does not include them.",
        "conflict",
    ),
    (
        "Reviews may only be requested from collaborators",
        "A review can only be asked of people and teams with access to the repository. Check the "
        "names.",
        "conflict",
    ),
    (
        "Review cannot be requested from pull request author",
        "The author of a pull request cannot review it. Choose another person.",
        "conflict",
    ),
)
"""Part of GitHub's message, the sentence for it, and the type of the error."""


async def merge(
    path: Path,
    place: PullRequestPlace,
    method: MergeMethod,
    *,
    auto: bool,
    head_commit: str | None,
) -> None:
    """Merge, or merge as soon as everything holds (`auto`), or add it to the merge queue.

    What the repository does not allow is refused before anything is changed: an administrator's
    merge would bypass its rules.
    """
    details = await fetch_details(path, place)
    _check_merge(details, method, auto=auto, head_commit=head_commit)
    if not auto or not (details.can_auto_merge or details.auto_merge):
        await _merge_now(path, place, details, method)
        return
    try:
        await _change(path, place, _ENABLE, method=method.upper())
    except SpinneyError as error:
        if _CLEAN not in error.message or not details.can_merge:
            raise
        await _merge_now(path, place, details, method)


async def _merge_now(
    path: Path, place: PullRequestPlace, details: PullRequestDetails, method: MergeMethod
) -> None:
    if details.has_queue:
        await _change(path, place, _ENQUEUE, head=details.head_commit)
    else:
        await _change(path, place, _MERGE, head=details.head_commit, method=method.upper())


def _check_merge(
    details: PullRequestDetails, method: MergeMethod, *, auto: bool, head_commit: str | None
) -> None:
    """Raise `conflict` if the pull request cannot be merged in this way."""
    if details.phase in ("merged", "closed"):
        raise SpinneyError(details.merge_note, "conflict")
    if head_commit is not None and details.head_commit != head_commit:
        raise SpinneyError(
            "The branch of the pull request has changed: its newest commit is "
            f"{details.head_commit[:9]} now. Look at the new commits, then merge again.",
            "conflict",
        )
    if not details.has_queue and method not in details.merge_methods:
        allowed = ", ".join(details.merge_methods) or "none of merge, squash and rebase"
        raise SpinneyError(
            f"The repository does not allow the method '{method}'. It allows: {allowed}.",
            "conflict",
        )
    if auto and not (details.can_auto_merge or details.can_merge or details.auto_merge):
        raise SpinneyError(
            "The repository does not allow automatic merging, or not by this account. An "
            "administrator can allow it in the repository's settings ('Allow auto-merge').",
            "conflict",
        )
    if not auto and not details.can_merge:
        raise SpinneyError(details.merge_note, "conflict")


async def cancel_auto_merge(path: Path, place: PullRequestPlace) -> None:
    """Switch automatic merging off, and take the pull request out of the merge queue."""
    details = await fetch_details(path, place)
    if details.auto_merge is None and details.phase != "queued":
        raise SpinneyError(
            "The pull request is neither merged automatically nor in the merge queue.", "conflict"
        )
    if details.auto_merge is not None:
        await _change(path, place, _DISABLE)
    if details.phase == "queued":
        await _change(path, place, _DEQUEUE)


async def update_branch(path: Path, place: PullRequestPlace, *, rebase: bool) -> None:
    """Bring the head up to date with the base, by a merge commit or a rebase."""
    details = await fetch_details(path, place)
    if not details.can_update:
        raise SpinneyError(_explain_no_update(details), "conflict")
    method = "REBASE" if rebase else "MERGE"
    await _change(path, place, _UPDATE, head=details.head_commit, method=method)


def _explain_no_update(details: PullRequestDetails) -> str:
    if details.behind == 0:
        return f"The branch contains all of '{details.base}' already."
    if details.phase in ("merged", "closed", "in_conflict"):
        return details.merge_note
    if details.is_from_fork:
        return (
            "The branch is in a fork that the account of gh may not push to. Ask its owner to "
            "update it, or to allow edits by maintainers."
        )
    return (
        "GitHub does not let this account update the branch. Merge the base in the worktree, and "
        "push."
    )


async def set_draft(path: Path, place: PullRequestPlace, draft: bool) -> None:
    """Mark it as a draft, or as ready for review; does nothing if it is that already."""
    await _change(path, place, _TO_DRAFT if draft else _TO_READY)


async def edit(
    path: Path, place: PullRequestPlace, title: SearchedText | None, body: SearchedText | None
) -> None:
    """Change title or description."""
    changes = {"title": title, "body": body}
    given = {name: text for name, text in changes.items() if text is not None}
    await _change(path, place, _EDIT, **given)


async def request_review(path: Path, place: PullRequestPlace, reviewers: Sequence[str]) -> None:
    """Ask people, and teams as `organization/team`, for reviews."""
    people = [name for name in reviewers if "/" not in name]
    teams = [name.split("/", 1)[1] for name in reviewers if "/" in name]
    endpoint = f"{place.repository.endpoint}/pulls/{place.number}/requested_reviewers"
    body = {"reviewers": people, "team_reviewers": teams}
    try:
        await request(path, place.repository.host, endpoint, method="POST", body=body)
    except SpinneyError as error:
        raise _explain(error) from error


async def _change(path: Path, place: PullRequestPlace, mutation: str, **variables: Any) -> None:
    """Run a mutation of the pull request."""
    repository = place.repository
    answer = await query(
        path, repository.host, _ID,
        owner=repository.owner, name=repository.name, number=place.number,
    )  # fmt: skip
    found = get_text(get_fields(answer.data, "repository", "pullRequest"), "id")
    try:
        await query(path, repository.host, mutation, id=found, **variables)
    except SpinneyError as error:
        raise _explain(error) from error


def _explain(error: SpinneyError) -> SpinneyError:
    for part, sentence, kind in _REFUSALS:
        if part.casefold() in error.message.casefold():
            return SpinneyError(sentence, kind)
    if error.error_type == "backend_error":
        return SpinneyError(f"GitHub refused: {error.message}", "conflict")
    return error
