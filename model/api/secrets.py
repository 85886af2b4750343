"""Secrets in what would be committed or published."""

from model.api.command import command
from model.domain.projects import Project
from model.domain.secret_findings import Publishing, SecretReport


@command
async def find_secrets(
    before: Publishing,
    worktree_id: str | None = None,
    project_id: str | None = None,
    stage_all: bool = False,
    remote: str = "origin",
    title: str | None = None,
    body: str | None = None,
    branch: str | None = None,
) -> SecretReport:
    """Search for keys, tokens and passwords in what would be committed or published from a worktree
    or the directory of a project.

    `commit` searches what is staged, or all changes (`stageAll`), and `body` as the message; `push`
    and `pull_request` search the commits that `remote` does not have, except for merges, of the
    checked-out branch, or those of `branch` that its own remote does not have; `pull_request` and
    `text` search `title` and `body`. What is allowed in the project is left out.

    What commits or publishes refuses with `conflict` what is found here, unless its fingerprint is
    in `allowedSecrets`.
    """


@command
async def allow_secret(project_id: str, fingerprint: str, about: str = "") -> Project:
    """Allow a finding of `find_secrets` in a project from now on; it is no secret, or a known one.

    `about` says what it is, for the list in the project's settings.
    """


@command
async def forget_allowed_secret(project_id: str, fingerprint: str) -> Project:
    """Search for an allowed secret again. Raises `not_found` if it is not allowed."""
