"""Projects."""

from typing import Annotated, Literal

from model.api.command import PATH, UNCHANGED, Unchanged, command
from model.domain.branches import Branch, Remote
from model.domain.hosting import HostingRemote, MergeMethod
from model.domain.projects import Project
from model.domain.resource import Resource
from model.preferences.schema import BranchTemplate


class Avatar(Resource):
    """The result of `set_project_avatar`: the picture's path, relative to the data directory."""

    avatar_path: str


@command
async def list_projects() -> list[Project]:
    """List all projects and folders, lowest `order` first."""


@command
async def add_project(path: Annotated[str, PATH], parent_id: str | None = None) -> Project:
    """Add a git repository as a project; a path inside one, or in a linked worktree, adds its root.

    A bare repository can be added too; its project is named after the directory, without `.git`.
    """


@command
async def remove_project(project_id: str) -> None:
    """Remove a project with its worktrees and sessions from Spinney; no file is deleted.

    Fails with `conflict` while one of its sessions is at work.
    """


@command
async def update_project_settings(
    project_id: str,
    default_branch: str | None = None,
    custom_system_prompt: str | None = None,
    enabled_mcp_servers: list[str] | Unchanged | None = UNCHANGED,
    default_provider: str | None = None,
    worktrees_dir: str | None = None,
    default_backend: str | None = None,
    landing_method: MergeMethod | Literal[""] | None = None,
    branch_template: BranchTemplate | Literal[""] | None = None,
    tracker_api_key: str | None = None,
    tracker_team_id: str | None = None,
) -> Project:
    """Change the given settings of a project.

    To remove the project's own value, so that the global one applies, pass an empty string; for
    `enabledMcpServers`, where an empty list means none, pass `null`. `worktreesDir` is an absolute
    path or starts with `~`, and neither in another worktree or repository, in a git directory nor
    in Spinney's data; `demo` is a valid agent only if Spinney runs with `--demo`. No client
    gets `trackerApiKey` back; `list_tracker_teams` lists the values of `trackerTeamId`.
    `branchTemplate` contains `{slug}`, and maybe `{user}`, `{project}` or `{date}`.
    """


@command
async def get_project_branches(project_id: str) -> list[Branch]:
    """List the branches of a project's repository; those of remotes as `origin/name`."""


@command
async def get_git_remotes(repo_path: Annotated[str, PATH]) -> list[Remote]:
    """List the remotes of a repository, without credentials."""


@command
async def get_github_remotes(repo_path: Annotated[str, PATH]) -> list[HostingRemote]:
    """List remotes of a repository on GitHub or GitLab, or on a host that `gh` or `glab` knows."""


@command
async def set_project_avatar(
    project_id: str, path: Annotated[str, PATH] | None = None, data: str | None = None
) -> Avatar:
    """Set the picture of a project: from a file, from base64, or else a logo found in its
    repository.

    PNG, JPEG, WebP or GIF, at most 2 MiB; the picture is copied.
    """


@command
async def remove_project_avatar(project_id: str) -> Project:
    """Remove the picture of a project."""
