"""Commands about projects: the repositories that Spinney shows."""

from typing import Annotated

from model.api.command import PATH, UNCHANGED, Unchanged, command
from model.domain.resources import Branch, HostingRemote, Project, Remote, Resource


class Avatar(Resource):
    """What `set_project_avatar` gives: the picture's path, relative to the data directory."""

    avatar_path: str


@command
async def list_projects() -> list[Project]:
    """All projects and folders, lowest `order` first."""


@command
async def add_project(path: Annotated[str, PATH], parent_id: str | None = None) -> Project:
    """Add a git repository; a path inside one, or in a linked worktree, adds its root.

    A bare repository serves as well; its name is that of the folder without `.git`.
    """


@command
async def remove_project(project_id: str) -> None:
    """Show a project no more, with its worktrees and sessions; no file is deleted."""


@command
async def update_project_settings(
    project_id: str,
    default_branch: str | None = None,
    custom_system_prompt: str | None = None,
    enabled_mcp_servers: list[str] | Unchanged | None = UNCHANGED,
    default_provider: str | None = None,
    worktrees_dir: str | None = None,
    default_backend: str | None = None,
) -> Project:
    """Change what is given of a project's settings.

    To give up the project's own value, so that the global one holds again: an empty text, and
    for `enabledMcpServers` (where an empty list means none) `null`. `worktreesDir` is an absolute
    path, or begins with `~`; `demo` is an agent only where Spinney runs with `--demo`.
    """


@command
async def get_project_branches(project_id: str) -> list[Branch]:
    """The repository's branches; those of remotes as `origin/name`."""


@command
async def get_git_remotes(repo_path: Annotated[str, PATH]) -> list[Remote]:
    """The remotes of a repository, without credentials."""


@command
async def get_github_remotes(repo_path: Annotated[str, PATH]) -> list[HostingRemote]:
    """Those remotes that lead to GitHub, or to an installation of it that `gh` knows."""


@command
async def set_project_avatar(
    project_id: str, path: Annotated[str, PATH] | None = None, data: str | None = None
) -> Avatar:
    """Give a project a picture: a file, base64, or with neither a logo from its repository.

    PNG, JPEG, WebP or GIF up to 2 MiB; it is copied.
    """


@command
async def remove_project_avatar(project_id: str) -> Project:
    """Take a project's picture away."""
