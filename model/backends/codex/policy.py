"""Maps Spinney's modes and settings to Codex: the parameters of a turn and the configuration of a
thread.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Settings
from model.backends.json_values import Json, as_object
from model.base.git_layout import find_git_directories
from model.domain.modes import EFFORTS
from model.domain.worktree_variables import is_worktree_variable

SESSION_VARIABLE: Final = "SPINNEY_SESSION"
"""The environment variable that marks the commands of one session."""

_COMMIT_FOLDERS: Final = ("objects", "refs", "logs")
"""Folders in a repository's common directory that commits write to."""

# Set on a thread, these make the program trust the repository's own configuration permanently, in
# the user's file (0.169); each turn sends the policies instead.
_EXCLUDED_SETTINGS: Final = frozenset(
    {"sandbox_mode", "sandbox_workspace_write", "default_permissions", "approval_policy"}
)


def choose_effort(settings: Settings, configured: str, supported: Sequence[str]) -> str:
    """The highest supported effort up to the wanted one; `supported` is empty if unknown.

    `configured` is the effort in the user's configuration, used if none was chosen in Spinney.
    """
    if (
        configured
        and settings.user_effort_limit == EFFORTS[-1]
        and configured in (supported or (configured,))
    ):
        return configured  # even one that Spinney has no name for
    wanted = settings.with_user_effort(configured).effort
    candidates = [each for each in EFFORTS if each in (supported or EFFORTS[:-1])]
    fitting = [each for each in candidates if EFFORTS.index(each) <= EFFORTS.index(wanted)]
    return (fitting or candidates[:1] or [wanted])[-1]


def build_turn_params(
    launch: Launch, settings: Settings, model: str, effort: str, git: Sequence[Path]
) -> Json:
    """The parameters sent with every turn: none is certain to survive a restart of the program."""
    is_plan = settings.mode == "plan" and not launch.text_only
    return {
        "collaborationMode": {
            "mode": "plan" if is_plan else "default",
            "settings": {
                "model": model,
                "reasoning_effort": effort,
                # Null selects the mode's own instructions; otherwise plans are not marked.
                "developer_instructions": None,
            },
        },
        "sandboxPolicy": _build_sandbox(settings, git),
        "approvalPolicy": "on-request" if settings.mode == "build" else "never",
        "summary": "none" if settings.thinking == "off" else "auto",
    }


def find_git_folders(worktree: Path) -> list[Path]:
    """The folders outside the worktree that a commit in it writes to. Reads files.

    For a linked worktree they do not include the hooks and settings of its repository.
    """
    found = find_git_directories(worktree)
    # A `.git` file may name any folder, such as the user's home.
    if found is None or not all(
        (each / "HEAD").is_file() for each in (found.git_dir, found.common_dir)
    ):
        return []
    own, common = found.git_dir, found.common_dir
    return [own] if own == common else [own, *(common / name for name in _COMMIT_FOLDERS)]


def _build_sandbox(settings: Settings, git: Sequence[Path]) -> Json:
    match settings.mode:
        case "plan":
            return {"type": "readOnly", "networkAccess": False}
        case "yolo":
            return {"type": "dangerFullAccess"}
        case _:
            return {
                "type": "workspaceWrite",
                "writableRoots": [str(directory) for directory in git],
                "networkAccess": False,
                "excludeTmpdirEnvVar": False,
                "excludeSlashTmp": False,
            }


def is_web_disabled(launch: Launch, settings: Settings) -> bool:
    """Whether web search is disabled, which is set when the thread is opened."""
    return launch.text_only or (settings.mode == "plan" and not settings.web_in_plan)


def build_thread_config(
    launch: Launch, settings: Settings, mark: str, servers: Sequence[str]
) -> Json:
    """The configuration of a session's thread; `servers` are the configured MCP servers."""
    variables = {
        name: value for name, value in launch.environment.items() if is_worktree_variable(name)
    }
    disabled_names = (
        servers
        if launch.text_only
        else [name for name in servers if name in launch.disabled_mcp_servers]
    )
    config: Json = {
        "tools.update_plan": {"enabled": not launch.text_only},
        "features.default_mode_request_user_input": not launch.text_only,
        # Otherwise the model can give itself a goal, towards which turns begin without end (0.171).
        "features.goals": False,
        "suppress_unstable_features_warning": True,
        "shell_environment_policy.ignore_default_excludes": False,
        "shell_environment_policy.set": {**variables, SESSION_VARIABLE: mark},
    }
    profile_servers = get_profile_servers(launch.profile)
    if disabled_names or profile_servers:
        disabled = {
            name: {**profile_servers.get(name, {}), "enabled": False} for name in disabled_names
        }
        config["mcp_servers"] = {**profile_servers, **disabled}
    if launch.max_sub_agents == 0 or launch.text_only:
        config["agents.enabled"] = False
    elif launch.max_sub_agents is not None:
        config["agents.max_threads"] = launch.max_sub_agents
    if is_web_disabled(launch, settings):
        config["web_search"] = "disabled"
    if launch.text_only:
        config["features.shell_tool"] = False
    return {**_filter_profile(launch.profile), **config}


def get_profile_servers(profile: Mapping[str, Any]) -> dict[str, Json]:
    """The MCP servers that a profile adds."""
    items = as_object(profile.get("mcp_servers")).items()
    return {str(name): server for name, server in items if isinstance(server, dict)}


def _filter_profile(profile: Mapping[str, Any]) -> Json:
    return {
        name: value
        for name, value in profile.items()
        if name.partition(".")[0] not in _EXCLUDED_SETTINGS
    }
