"""Let an agent write the release notes of a project from its commits."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.history import find_newest_tag, list_commits_between
from model.git.repositories import resolve_base
from model.writing.writer import Writer

_TIMEOUT: Final = 180.0
_MAX_COMMITS: Final = 1_000
_MAX_CHARACTERS: Final = 90_000
_MAX_BODY: Final = 1_000
"""Characters of the body of a commit's message."""


async def write_notes(
    writer: Writer, project: Project, since: str | None, until: str | None
) -> tuple[str, str]:
    """Return notes about the commits after `since`, and what that was.

    `since` is a tag, branch or commit, by default the newest tag; `until` is by default the default
    branch. Raises `SpinneyError` if there is no commit between them, or no agent.
    """
    root = Path(project.path)
    end = (await resolve_base(root, until or project.default_branch))[0]
    start = since or await find_newest_tag(root, end)
    start_commit = (await resolve_base(root, start))[0] if start else None
    excluded = [start_commit] if start_commit else []
    commits = await list_commits_between(root, excluded, end, _MAX_COMMITS)
    if not commits:
        raise SpinneyError(
            f"There are no commits since '{clean_line(start or '')}'. Choose an earlier tag or "
            "commit to begin from.",
            "conflict",
        )
    place = _place_of(project)
    if not await writer.is_available("release_notes", place):
        raise SpinneyError(
            "No agent is available to write the notes. Install an agent or sign in to one.",
            "backend_unavailable",
        )
    texts, length = [], 0
    for commit in reversed(commits):  # the newest are kept if there are too many
        text = f"{commit.subject}\n{commit.body[:_MAX_BODY]}".strip()
        length += len(text)
        if length > _MAX_CHARACTERS:
            texts.append("[earlier commits are left out]")
            break
        texts.append(text)
    material = {"since": clean_line(start or "the first commit"), "commits": "\n\n".join(texts)}
    written = await writer.write("release_notes", place, material, ("notes",), _TIMEOUT)
    return written["notes"], clean_line(start or "")


def _place_of(project: Project) -> Worktree:
    """Return the project's own folder in the form in which an agent's place is given."""
    return Worktree(
        id=project.id,
        project_id=project.id,
        name=project.name,
        path=project.path,
        branch=project.default_branch,
        created_at=project.added_at,
    )
