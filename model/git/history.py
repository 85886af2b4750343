"""What a branch has had since it left its base: its commits in words, or nothing at all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.text import clean_line, make_visible
from model.git.refs import check_branch_name
from model.git.repositories import base_commits
from model.git.run import git

_MOST: Final = 250
"""Commits; a longer list is read by nobody."""


@dataclass(frozen=True, slots=True)
class CommitText:
    """What a commit says of itself."""

    subject: str
    body: str


async def commits_since(path: Path, base: str) -> list[CommitText]:
    """The commits of the branch checked out in `path` that `base` lacks, oldest first."""
    listed = await git(
        path, "log", "-z", "--format=%s%n%b", f"--max-count={_MOST}", "--no-merges",
        "--no-show-signature", "HEAD", "--not", *await base_commits(path, base), "--",
    )  # fmt: skip
    parts = [field.partition("\n") for field in listed.fields]
    return [CommitText(clean_line(head), make_visible(rest).strip()) for head, _, rest in parts][
        ::-1
    ]


async def is_untouched(path: Path, branch: str, base: str) -> bool:
    """Whether `branch`, checked out in `path`, has no commit of its own and was never pushed."""
    if await commits_since(path, base):
        return False
    own = f"refs/heads/{check_branch_name(branch)}"
    # `[*]` and its like are no part of a branch's name, so the pattern fits this name alone.
    listed = await git(
        path, "for-each-ref", "--format=%(refname)%00%(upstream)", own, f"refs/remotes/*/{branch}"
    )
    return listed.stdout == f"{own}\0"


async def newest_subjects(path: Path, most: int) -> list[str]:
    """The first lines of the newest commits, newest first; none before the first commit."""
    listed = await git(
        path, "log", "-z", "--format=%s", f"--max-count={most}", "--no-show-signature", "HEAD",
        "--", check=False,
    )  # fmt: skip
    return [clean_line(subject) for subject in listed.fields]
