"""Whether and how a pull request on GitHub can be merged, and what is in its way."""

from typing import Final

from model.base.plural import count
from model.domain.hosting import Check, MergeMethod, PullRequestPhase
from model.hosting.fields import Fields, get_fields, get_line, get_text

STANDING_FIELDS: Final = """
id number url state isDraft reviewDecision mergeable mergeStateStatus
baseRefName baseRef { name } headRefName headRefOid headRef { name } isCrossRepository
viewerCanUpdate viewerCanUpdateBranch viewerCanEnableAutoMerge
autoMergeRequest { mergeMethod }
"""
"""What a query asks of a pull request for the functions here."""

QUEUE_FIELDS: Final = "isInMergeQueue mergeQueue { id }"
"""As `STANDING_FIELDS`; hosts with an older GitHub do not have them."""

REPOSITORY_FIELDS: Final = """
viewerPermission isArchived
mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed autoMergeAllowed
"""
"""What a query asks of the repository."""

_METHODS: Final[tuple[tuple[str, MergeMethod], ...]] = (
    ("mergeCommitAllowed", "merge"),
    ("squashMergeAllowed", "squash"),
    ("rebaseMergeAllowed", "rebase"),
)
_CAN_PUSH: Final = ("ADMIN", "MAINTAIN", "WRITE")
_MAX_NAMES: Final = 3
"""Checks that a sentence names."""


def list_merge_methods(repository: Fields) -> list[MergeMethod]:
    """Return the methods that the repository allows."""
    return [method for field, method in _METHODS if repository.get(field)]


def parse_auto_merge(fields: Fields) -> MergeMethod | None:
    """Return the method with which it will be merged automatically; `None` if that is off."""
    method = get_text(fields, "autoMergeRequest", "mergeMethod").lower()
    return next((known for _, known in _METHODS if known == method), None)


def parse_phase(fields: Fields) -> PullRequestPhase:
    """Return where the pull request stands."""
    match fields.get("state"):
        case "MERGED":
            return "merged"
        case "CLOSED":
            return "closed"
    if fields.get("isDraft"):
        return "draft"
    if fields.get("isInMergeQueue"):
        return "queued"
    if fields.get("mergeable") == "CONFLICTING":
        return "in_conflict"
    match fields.get("reviewDecision"):
        case "APPROVED":
            return "approved"
        case "CHANGES_REQUESTED":
            return "changes_requested"
    return "open"


def explain_obstacle(fields: Fields, repository: Fields, checks: list[Check]) -> str:
    """Return why the pull request cannot be merged now and the next step; empty if it can.

    Args:
        fields: The pull request.
        repository: Its repository.
        checks: The checks, as far as they are known.
    """
    ended = _explain_end(fields)
    if ended:
        return ended
    if repository.get("isArchived"):
        return "The repository is archived on GitHub, so nothing can be merged."
    if fields.get("isDraft"):
        return "The pull request is a draft. Mark it as ready for review first."
    base = get_line(fields, "baseRefName")
    if not get_fields(fields, "baseRef"):
        return (
            f"The base branch '{base}' no longer exists on GitHub; it was renamed or deleted. "
            "Choose another base on the page of the pull request."
        )
    if fields.get("mergeable") == "CONFLICTING":
        return (
            f"It is in conflict with '{base}'. Merge '{base}' into the branch, resolve the "
            "conflicts, and push."
        )
    if get_text(repository, "viewerPermission") not in _CAN_PUSH:
        return (
            "The account that gh is signed in with may not merge in this repository. Ask a person "
            "with write access."
        )
    if fields.get("isInMergeQueue"):
        return "It is in the merge queue already, and will be merged when its turn comes."
    return _explain_protection(fields, base, checks)


def _explain_end(fields: Fields) -> str:
    if fields.get("state") == "MERGED":
        return "The pull request is merged already."
    if fields.get("state") != "CLOSED":
        return ""
    if get_fields(fields, "headRef"):
        return "The pull request is closed. Open it again on its page first."
    return (
        f"The pull request is closed, and its branch '{get_line(fields, 'headRefName')}' was "
        "deleted. Push the branch again, then open the pull request again on its page."
    )


def _explain_protection(fields: Fields, base: str, checks: list[Check]) -> str:
    status = get_text(fields, "mergeStateStatus")
    if status == "BEHIND":
        return f"The branch must contain all of '{base}' first. Update it, then merge."
    if status != "BLOCKED":
        return ""
    match fields.get("reviewDecision"):
        case "CHANGES_REQUESTED":
            return (
                "A reviewer requested changes. Deal with the comments, then ask for another review."
            )
        case "REVIEW_REQUIRED":
            return "An approving review is missing. Request one, or merge automatically later."
    needed = [check for check in checks if check.is_required]
    failed = [check for check in needed if check.state in ("failed", "cancelled")]
    if failed:
        return f"{_name_checks(failed, 'failed')} Fix what they found, and push."
    awaited = [check for check in needed if check.state not in ("passed", "skipped")]
    if awaited:
        return (
            f"{_name_checks(awaited, 'did not pass yet')} Wait for them, or merge automatically "
            "later."
        )
    return (
        f"A rule for '{base}' does not allow the merge yet. The page of the pull request says "
        "which one."
    )


def _name_checks(checks: list[Check], what: str) -> str:
    names = ", ".join(check.name for check in checks[:_MAX_NAMES])
    more = f" and {len(checks) - _MAX_NAMES} more" if len(checks) > _MAX_NAMES else ""
    return f"{count(len(checks), 'required check')} {what}: {names}{more}."
