"""Projects: git repositories, and the folders that group them."""

from typing import Literal

from pydantic import Field

from model.domain.resource import Resource


class Project(Resource):
    """A git repository, or a folder of projects (`is_folder`)."""

    id: str
    name: str
    path: str = ""
    default_branch: str = ""
    added_at: float
    order: float = 0
    parent_id: str | None = None
    is_folder: bool = False
    avatar_path: str | None = None
    enabled_mcp_servers: list[str] | None = None
    known_mcp_servers: list[str] = Field(default_factory=list)
    custom_system_prompt: str | None = None
    default_provider: str | None = None
    default_backend: str | None = None
    worktrees_dir: str | None = None
    branch_template: str | None = Field(default=None, exclude_if=lambda each: each is None)
    """What its new branches are named, if not as the preference says."""
    tracker_api_key: str | None = None
    tracker_team_id: str | None = None
    landing_method: Literal["merge", "squash", "rebase"] | None = Field(
        default=None, exclude_if=lambda method: method is None
    )
    """How branches land in it, if not as the preference says."""
    budget_usd: float | None = Field(default=None, exclude_if=lambda budget: budget is None)
    """What its agents may use in a day, in dollars, if not as the preference says; 0: no limit."""
    outside_worktrees: int = Field(default=0, exclude_if=lambda number: number == 0)
    """How many worktrees of its repository were created outside Spinney and may be adopted."""
    ignored_worktrees: list[str] = Field(default_factory=list, exclude_if=lambda paths: not paths)
    """The paths of those that are not offered any more."""
    trusted_scripts: list[str] = Field(default_factory=list)
    """Hashes of the repository's scripts that are allowed to run."""
    allowed_secrets: dict[str, str] = Field(default={}, exclude_if=lambda allowed: not allowed)
    """What `find_secrets` found and is allowed to be published: by fingerprint, what it is."""
