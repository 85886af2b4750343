"""The commits of a branch since it left its base."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.text import clean_line, make_visible
from model.git.refs import check_branch_name
from model.git.repositories import resolve_base
from model.git.run import git

_MAX_COMMITS: Final = 250
"""A longer list is not useful to anyone."""
_MAX_SUBJECT: Final = 4000
_MAX_BODY: Final = 20_000
"""Characters of a message that are read: making megabytes of it visible takes seconds."""


@dataclass(frozen=True, slots=True)
class CommitText:
    """The message of a commit."""

    subject: str
    body: str
    author: str = ""
    """`Name <email>`."""


async def list_commits_since(path: Path, base: str) -> list[CommitText]:
    """Return the commits of the branch checked out in `path` that `base` lacks, oldest first."""
    return await list_commits_between(path, await resolve_base(path, base), "HEAD")


async def list_commits_between(
    path: Path, since: Sequence[str], until: str, limit: int = _MAX_COMMITS
) -> list[CommitText]:
    """Return the newest commits of `until` that those `since` lack, oldest first.

    Without any `since` these are all commits.
    """
    start = ("--not", *since) if since else ()
    listed = await git(
        path, "log", "-z", "--format=%aN <%aE>%n%s%n%b", f"--max-count={limit}", "--no-merges",
        "--no-show-signature", until, *start, "--", timeout=60,
    )  # fmt: skip
    return await asyncio.to_thread(_parse, listed.fields)


def _parse(fields: Sequence[str]) -> list[CommitText]:
    """Return commits, listed newest first as author, subject and body, with the oldest first."""
    found = []
    for field in reversed(fields):
        author, _, message = field.partition("\n")
        subject, _, body = message.partition("\n")
        found.append(
            CommitText(
                clean_line(subject[:_MAX_SUBJECT]),
                make_visible(body[:_MAX_BODY]).strip(),
                clean_line(author[:_MAX_SUBJECT]),
            )
        )
    return found


async def find_own_address(path: Path) -> str:
    """Return the email address with which the user commits; empty if git has none."""
    found = await git(path, "var", "GIT_AUTHOR_IDENT", check=False)
    return found.stdout.rpartition("<")[2].partition(">")[0]


async def find_newest_tag(path: Path, commit: str) -> str | None:
    """Return the name of the newest tag that a commit has among its ancestors, or itself."""
    found = await git(
        path, "describe", "--tags", "--abbrev=0", commit, check=False,
        timeout=60,
    )  # fmt: skip
    return found.stdout if found.returncode == 0 else None


async def is_untouched(path: Path, branch: str, base: str) -> bool:
    """Whether `branch`, checked out in `path`, has no commits of its own and was never pushed."""
    if await list_commits_since(path, base):
        return False
    own = f"refs/heads/{check_branch_name(branch)}"
    # A branch name cannot contain `[`, `*` and the like, so the pattern matches only this name.
    listed = await git(
        path, "for-each-ref", "--format=%(refname)%00%(upstream)", own, f"refs/remotes/*/{branch}"
    )
    return listed.stdout == f"{own}\0"


async def list_recent_subjects(path: Path, limit: int) -> list[str]:
    """Return the subjects of the newest commits, newest first; empty before the first commit."""
    listed = await git(
        path, "log", "-z", "--format=%s", f"--max-count={limit}", "--no-show-signature", "HEAD",
        "--", check=False,
    )  # fmt: skip
    return [clean_line(subject[:_MAX_SUBJECT]) for subject in listed.fields]
