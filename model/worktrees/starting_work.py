"""How a worktree begins that is created from an item: what it starts from, and its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.hosting import WorkKind
from model.domain.projects import Project
from model.domain.worktrees import IssueContext, PullRequestContext
from model.git import refs, repositories
from model.git.fetching import fetch_base
from model.hosting.forge import ItemText
from model.preferences.schema import PromptKey
from model.worktrees.announcing import WorkOrigin
from model.worktrees.naming import NAME_LIMIT

PROMPTS: Final[Mapping[WorkKind, PromptKey]] = {
    "issue": "investigate_issue",
    "pull_request": "investigate_pr",
    "workflow_run": "investigate_workflow_run",
    "security_alert": "investigate_security_alert",
    "advisory": "investigate_advisory",
    "tracker_issue": "investigate_tracker_issue",
}

_SUFFIX_ROOM: Final = 10
"""Characters of a name that are left for a number that makes it unique."""


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """What a new worktree starts from."""

    origin: WorkOrigin
    base_branch: str | None = None
    """`None` is the project's default branch."""
    issue: IssueContext | None = None
    pull_request: PullRequestContext | None = None


async def plan_work(project: Project, kind: WorkKind, item_id: str, text: ItemText) -> WorkPlan:
    """Return how to begin from an item.

    Raises `SpinneyError` if the branch that it begins from is not available.
    """
    facts = dict(text.facts)
    title = clean_line(text.title)
    origin = WorkOrigin(f"{kind}/{item_id}", _suggest_name(kind, item_id, title, facts))
    match kind:
        case "issue":
            return WorkPlan(origin, issue=IssueContext(number=int(item_id), title=title))
        case "pull_request":
            request = PullRequestContext(
                number=int(item_id),
                title=title,
                head_ref_name=facts.get("head", ""),
                base_ref_name=facts.get("base", ""),
            )
            return WorkPlan(origin, pull_request=request)
        case "workflow_run":
            return WorkPlan(origin, await _find_run_base(project, facts))
    return WorkPlan(origin)


def collect_values(item_id: str, text: ItemText, place: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the variables of an item's prompt."""
    values = {"number": item_id, "id": item_id, **place, **dict(text.facts)}
    return {**values, "title": text.title, "url": text.url, "author": text.author}


def make_session_name(kind: WorkKind, item_id: str, text: ItemText) -> str:
    """Return the name of the session that investigates an item."""
    has_number = kind in ("issue", "pull_request")
    beginning = f"#{item_id} " if has_number else f"{item_id} " if kind == "tracker_issue" else ""
    return clean_line(f"{beginning}{text.title}")[:NAME_LIMIT]


def _suggest_name(kind: WorkKind, item_id: str, title: str, facts: Mapping[str, str]) -> str:
    match kind:
        case "issue":
            name = f"{item_id}-{refs.make_branch_name(title) or 'issue'}"
        case "pull_request":
            # The head's own name, so that pushes update it.
            name = _valid(facts.get("head", "")) or f"pr-{item_id}"
        case "workflow_run":
            about = f"{facts.get('workflow', '')} {facts.get('branch', '')}"
            name = f"fix-{refs.make_branch_name(about) or item_id}"
        case "security_alert":
            name = f"fix-{refs.make_branch_name(facts.get('package', '')) or item_id}"
        case "advisory":
            name = f"fix-{refs.make_branch_name(title) or item_id.lower()}"
        case "tracker_issue":
            # By this name the tracker recognizes the branch.
            name = _valid(facts.get("branch_name", ""))
            name = name or f"{item_id.lower()}-{refs.make_branch_name(title) or 'issue'}"
    return name[: NAME_LIMIT - _SUFFIX_ROOM].rstrip("./-")


def _valid(branch: str) -> str:
    """Return the name of a branch of other people if it can be one here, else nothing."""
    try:
        fits = len(refs.check_branch_name(branch)) <= NAME_LIMIT - _SUFFIX_ROOM
    except SpinneyError:
        return ""
    return branch if fits else ""


async def _find_run_base(project: Project, facts: Mapping[str, str]) -> str | None:
    """Return the branch that a workflow ran on, fetched if that is necessary."""
    branch = facts.get("branch", "")
    if fork := facts.get("fork"):
        raise SpinneyError(
            f"The run belongs to the fork {fork}. Begin from its pull request instead.", "conflict"
        )
    if branch in ("", project.default_branch):
        return None
    refs.check_branch_name(branch)
    root = Path(project.path)
    known = {each.name for each in await repositories.list_branches(root)}
    remotes = [remote.name for remote in await repositories.list_remotes(root)]
    remotes.sort(key=lambda name: name != "origin")
    for candidate in (*(f"{remote}/{branch}" for remote in remotes), branch):
        if candidate in known:
            return candidate
    reason: str | None = "the repository has no remote"
    for remote in remotes[:1]:
        reason = await fetch_base(root, f"{remote}/{branch}")
        if reason is None:
            return f"{remote}/{branch}"
    raise SpinneyError(
        f"The branch '{branch}' of the run could not be fetched; it may be deleted. Begin from "
        f"another run, or from an existing branch. The reason: {reason}",
        "not_found",
    )
