"""The title and description of a pull request: as given, else written by an agent from the branch's
changes, else taken from its commits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.worktrees import Worktree
from model.git.branch_summary import summarize_branch
from model.git.history import CommitText
from model.git.templates import read_pull_request_template
from model.writing.writer import Writer

_MAX_TITLE: Final = 256
_MAX_BODY: Final = 65_536
"""Characters; the limits of the hosting service."""

_MAX_COMMITS: Final = 20_000
_MAX_DIFFERENCES: Final = 60_000
"""Characters that the agent reads: enough for a summary, and a few cents at most."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pull request to open: the pushed branch, and the branch it would be merged into."""

    worktree: Worktree
    branch: str
    base: str
    base_ref: str
    """The name of `base` in the worktree's repository."""
    commits: Sequence[CommitText]
    """Oldest first; at least one."""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """Title and description, within the limits of the hosting service."""

    title: str
    body: str
    problem: str | None = None
    """Why an available agent did not write the text, as a sentence."""


async def generate_pull_request_text(
    writer: Writer, proposal: Proposal, title: str | None, body: str | None
) -> PullRequestText:
    """Complete the given title and body by the agent, or else from the commits; never fails."""
    title = clean_line(title or "")
    written, problem = {}, None
    missing = [tag for tag, given in (("title", title or None), ("body", body)) if given is None]
    if missing and await writer.is_available("pr_content", proposal.worktree):
        try:
            material = await _collect_material(proposal, title, body or "")
            written = await writer.write("pr_content", proposal.worktree, material, missing)
        except SpinneyError as error:
            problem = error.message
    title = title or clean_line(written.get("title", "")) or _default_title(proposal)
    if body is None:
        body = written.get("body") or _default_body(proposal)
    return PullRequestText(title[:_MAX_TITLE], make_visible(body)[:_MAX_BODY], problem)


async def _collect_material(proposal: Proposal, title: str, body: str) -> dict[str, str]:
    """Return the input for the agent, including a given title or body that the other must fit."""
    path = Path(proposal.worktree.path)
    table, differences = await summarize_branch(path, proposal.base_ref, _MAX_DIFFERENCES)
    commits = "\n\n".join(
        f"{commit.subject}\n\n{commit.body}".strip() for commit in proposal.commits
    )
    return {
        "branch": f"{proposal.branch}, to be merged into {proposal.base}",
        "commits": commits[:_MAX_COMMITS],
        "files": table,
        "differences": differences,
        "template": await read_pull_request_template(path),
        "given_title": title,
        "given_description": body[:_MAX_COMMITS],
    }


def _default_title(proposal: Proposal) -> str:
    return proposal.commits[0].subject or proposal.branch


def _default_body(proposal: Proposal) -> str:
    if len(proposal.commits) == 1:
        return proposal.commits[0].body
    return "\n".join(f"- {commit.subject}" for commit in proposal.commits)
