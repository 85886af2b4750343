"""Names of new branches: a template around the worktree's name, such as `ada/{slug}`."""

import asyncio
import getpass
import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.refs import check_branch_name, make_branch_name
from model.git.run import git

SLUG: Final = "{slug}"


async def fill_template(template: str, project: Project) -> str:
    """Return a template with all its variables filled in but the name of the worktree.

    Raises `SpinneyError` if no branch can be named like that.
    """
    filled = template
    if "{user}" in template:
        filled = filled.replace("{user}", await _find_user(Path(project.path)))
    filled = filled.replace("{project}", make_branch_name(project.name) or "project")
    filled = filled.replace("{date}", time.strftime("%Y-%m-%d"))
    try:
        check_branch_name(filled.replace(SLUG, "name"))
    except SpinneyError as error:
        raise SpinneyError(
            f"New branches cannot be named by the template '{template}': {error.message} Change it "
            "in the project's settings, or in the preferences."
        ) from None
    return filled


def name_branch(pattern: str | None, name: str) -> str:
    """Return the branch of a worktree with this name; one with a slash is the whole branch."""
    return name if pattern is None or "/" in name else pattern.replace(SLUG, name)


def has_own_branch(worktree: Worktree) -> bool:
    """Whether the branch that is checked out is the one that was created with the worktree."""
    return worktree.branch == name_branch(worktree.branch_pattern, worktree.name)


def taken_names(pattern: str | None, branches: Collection[str]) -> set[str]:
    """Return the names of worktrees whose branch exists already."""
    prefix, _, suffix = (pattern or SLUG).partition(SLUG)
    whole = {branch for branch in branches if "/" in branch}
    return whole | {
        branch[len(prefix) : len(branch) - len(suffix)]
        for branch in branches
        if branch.startswith(prefix) and branch.endswith(suffix)
    }


def find_branch_in_the_way(branch: str, branches: Collection[str]) -> str | None:
    """Return an existing branch because of which git cannot create this one: `a` for `a/b`."""
    parts = branch.split("/")
    parents = {"/".join(parts[:end]) for end in range(1, len(parts))}
    return next(
        (other for other in branches if other in parents or other.startswith(f"{branch}/")), None
    )


async def _find_user(root: Path) -> str:
    """Return the name of git's user as part of a branch's name, or the one of the account."""
    configured = await git(root, "config", "--get", "user.name", check=False)
    return make_branch_name(configured.stdout) or await asyncio.to_thread(_account_name)


def _account_name() -> str:
    try:
        return make_branch_name(getpass.getuser()) or "user"
    except (KeyError, OSError):  # an account without a name
        return "user"
