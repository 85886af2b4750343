"""The commits of a branch since it left its base, in words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.git.repositories import base_commits
from model.git.run import git
from model.text import clean, clean_line

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
    return [CommitText(clean_line(head), clean(rest).strip()) for head, _, rest in parts][::-1]
