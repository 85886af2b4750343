"""The title and the description of a pull request: as given, else written by an agent from what the
branch changes, else taken from its commits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.resources import Worktree
from model.git.branch_summary import summarize_branch
from model.git.history import CommitText
from model.git.templates import read_pull_request_template
from model.writing.writer import Writer

_LONGEST_TITLE: Final = 256
_LONGEST_BODY: Final = 65_536
"""Characters; the hosting service takes no more of either."""

_MOST_COMMITS: Final = 20_000
_MOST_DIFFERENCES: Final = 60_000
"""Characters that the agent reads: enough for a summary, and some cents at most."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed: the branch as it is pushed, and what it would be merged into."""

    worktree: Worktree
    branch: str
    base: str
    base_ref: str
    """What `base` is called in the worktree's repository."""
    commits: Sequence[CommitText]
    """Oldest first; at least one."""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """Title and description, no longer than the hosting service takes."""

    title: str
    body: str
    problem: str | None = None
    """Why the agent that is there wrote nothing, as a sentence."""


async def pull_request_text(
    writer: Writer, proposal: Proposal, title: str | None, body: str | None
) -> PullRequestText:
    """What is given of title and body, and the rest from the agent or the commits; never fails."""
    title = clean_line(title or "")
    written, problem = {}, None
    wanted = [tag for tag, given in (("title", title or None), ("body", body)) if given is None]
    if wanted and await writer.is_there("pr_content", proposal.worktree):
        try:
            material = await _material(proposal, title, body or "")
            written = await writer.write("pr_content", proposal.worktree, material, wanted)
        except SpinneyError as error:
            problem = error.message
    title = title or clean_line(written.get("title", "")) or _title(proposal)
    if body is None:
        body = written.get("body") or _body(proposal)
    return PullRequestText(title[:_LONGEST_TITLE], make_visible(body)[:_LONGEST_BODY], problem)


async def _material(proposal: Proposal, title: str, body: str) -> dict[str, str]:
    """What the agent is told; of title and body that which is given, for the other to fit."""
    path = Path(proposal.worktree.path)
    table, differences = await summarize_branch(path, proposal.base_ref, _MOST_DIFFERENCES)
    commits = "\n\n".join(f"{each.subject}\n\n{each.body}".strip() for each in proposal.commits)
    return {
        "branch": f"{proposal.branch}, to be merged into {proposal.base}",
        "commits": commits[:_MOST_COMMITS],
        "files": table,
        "differences": differences,
        "template": await read_pull_request_template(path),
        "given_title": title,
        "given_description": body[:_MOST_COMMITS],
    }


def _title(proposal: Proposal) -> str:
    return proposal.commits[0].subject or proposal.branch


def _body(proposal: Proposal) -> str:
    if len(proposal.commits) == 1:
        return proposal.commits[0].body
    return "\n".join(f"- {commit.subject}" for commit in proposal.commits)
