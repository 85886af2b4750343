"""The log of a branch, newest commit first."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.git.repositories import resolve_base
from model.git.run import git

_COMMIT_ID: Final = re.compile(r"[0-9a-f]{4,64}")
_MAX_SUBJECT: Final = 1000
_MAX_BODY: Final = 20_000
"""Characters of a message's body that are kept."""


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit of a branch."""

    sha: str
    short_sha: str
    subject: str
    body: str
    author: str
    authored_at: float
    """Seconds since 1970."""
    is_pushed: bool
    """Whether a branch of a remote contains it."""
    is_in_base: bool
    """Whether the base branch contains it."""
    is_merge: bool


async def list_log(path: Path, base: str, limit: int, offset: int = 0) -> list[LoggedCommit]:
    """Return commits of the checked-out branch, newest first; empty before the first commit."""
    reach = f"--max-count={offset + limit}"
    logged, unpushed, own = await asyncio.gather(
        git(
            path, "log", "-z", "--format=%H%n%h%n%P%n%at%n%an%n%s%n%b", f"--max-count={limit}",
            f"--skip={offset}", "--no-show-signature", "HEAD", "--", check=False,
        ),
        git(path, "rev-list", reach, "HEAD", "--not", "--remotes", "--", check=False),
        _list_own(path, base, reach),
    )  # fmt: skip
    not_pushed = set(unpushed.stdout.split())
    return [_parse(field, not_pushed, own) for field in logged.fields]


async def resolve_commit(
    path: Path, commit: str, environment: Mapping[str, str] | None = None
) -> str:
    """Return the full id of a commit given by its id. Raises `not_found` if there is none."""
    if _COMMIT_ID.fullmatch(commit):
        name = f"{commit}^{{commit}}"
        found = await git(
            path, "rev-parse", "--verify", "--quiet", "--end-of-options", name, check=False,
            environment=environment,
        )  # fmt: skip
        if found.returncode == 0:
            return found.stdout
    raise SpinneyError(f"There is no commit '{clean_line(commit)[:80]}'.", "not_found")


async def _list_own(path: Path, base: str, reach: str) -> set[str]:
    """The commits that the base lacks; all if there is no such branch."""
    try:
        bases = await resolve_base(path, base)
    except SpinneyError:
        bases = []
    listed = await git(path, "rev-list", reach, "HEAD", "--not", *bases, "--", check=False)
    return set(listed.stdout.split())


def _parse(field: str, unpushed: set[str], own: set[str]) -> LoggedCommit:
    sha, short, parents, at, author, subject, body = field.split("\n", 6)
    return LoggedCommit(
        sha=sha,
        short_sha=short,
        subject=clean_line(subject[:_MAX_SUBJECT]),
        body=make_visible(body[:_MAX_BODY]).strip(),
        author=clean_line(author),
        authored_at=float(at),
        is_pushed=sha not in unpushed,
        is_in_base=sha not in own,
        is_merge=" " in parents,
    )
