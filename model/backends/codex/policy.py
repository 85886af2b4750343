"""What Spinney's modes and settings mean for Codex: the policies of a turn, the configuration of a
thread.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Settings
from model.backends.orphans import OWNER
from model.base.git_layout import git_directories
from model.domain.resources import EFFORTS

Json = dict[str, Any]

MARK: Final = "SPINNEY_SESSION"
"""The environment variable by which the commands of one session are found."""

_WRITTEN_BY_COMMITS: Final = ("objects", "refs", "logs")
"""Of a repository's common directory."""

# Given on a thread these make the program trust the repository's own configuration, for good and
# in the person's file (0.169); the policies go with each turn instead.
_NOT_IN_PROFILES: Final = frozenset(
    {"sandbox_mode", "sandbox_workspace_write", "default_permissions", "approval_policy"}
)


def effort(settings: Settings, own: str, supported: Sequence[str]) -> str:
    """The most that the model can do, up to what is wanted; `supported` is empty if unknown.

    `own` is what the person's configuration names, which holds where nobody chose here.
    """
    if own and settings.most_of_own_effort == EFFORTS[-1] and own in (supported or (own,)):
        return own  # also one that we have no name for
    wanted = settings.with_user_effort(own).effort
    known = [each for each in EFFORTS if each in (supported or EFFORTS[:-1])]
    fitting = [each for each in known if EFFORTS.index(each) <= EFFORTS.index(wanted)]
    return (fitting or known[:1] or [wanted])[-1]


def turn(launch: Launch, settings: Settings, model: str, effort: str, git: Sequence[Path]) -> Json:
    """What goes with every turn: none of it is sure to outlive a restart of the program."""
    plans = settings.mode == "plan" and not launch.text_only
    return {
        "collaborationMode": {
            "mode": "plan" if plans else "default",
            "settings": {
                "model": model,
                "reasoning_effort": effort,
                # Null is the mode's own text; without it no plan would be marked as one.
                "developer_instructions": None,
            },
        },
        "sandboxPolicy": _sandbox(settings, git),
        "approvalPolicy": "on-request" if settings.mode == "build" else "never",
        "summary": "none" if settings.thinking == "off" else "auto",
    }


def git_places(worktree: Path) -> list[Path]:
    """What a commit in the worktree writes to outside of it; reads files.

    Of a linked worktree's repository that is not all: its hooks and settings stay out of reach.
    """
    found = git_directories(worktree)
    # What a `.git` file names may be any folder, such as the person's own.
    if found is None or not all((each / "HEAD").is_file() for each in (found.own, found.common)):
        return []
    own, common = found.own, found.common
    return [own] if own == common else [own, *(common / name for name in _WRITTEN_BY_COMMITS)]


def _sandbox(settings: Settings, git: Sequence[Path]) -> Json:
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


def web_is_off(launch: Launch, settings: Settings) -> bool:
    """Whether the agent may not search the web; that is said when its thread is opened."""
    return launch.text_only or (settings.mode == "plan" and not settings.web_in_plan)


def thread_config(launch: Launch, settings: Settings, mark: str, servers: Sequence[str]) -> Json:
    """The configuration of a session's thread; `servers` are the MCP servers that there are."""
    own = {name: value for name, value in launch.environment.items() if is_of_worktree(name)}
    off = servers if launch.text_only else [name for name in servers if name in launch.mcp_off]
    config: Json = {
        "tools.update_plan": {"enabled": not launch.text_only},
        "features.default_mode_request_user_input": not launch.text_only,
        "suppress_unstable_features_warning": True,
        "shell_environment_policy.ignore_default_excludes": False,
        "shell_environment_policy.set": {**own, MARK: mark},
    }
    added = servers_of(launch.profile)
    if off or added:
        disabled = {name: {**added.get(name, {}), "enabled": False} for name in off}
        config["mcp_servers"] = {**added, **disabled}
    if launch.sub_agents == 0 or launch.text_only:
        config["agents.enabled"] = False
    elif launch.sub_agents is not None:
        config["agents.max_threads"] = launch.sub_agents
    if web_is_off(launch, settings):
        config["web_search"] = "disabled"
    if launch.text_only:
        config["features.shell_tool"] = False
    return {**_profile(launch.profile), **config}


def servers_of(profile: Mapping[str, Any]) -> dict[str, Json]:
    """The MCP servers that a profile adds."""
    told = profile.get("mcp_servers")
    listed = told.items() if isinstance(told, dict) else ()
    return {str(name): server for name, server in listed if isinstance(server, dict)}


def _profile(profile: Mapping[str, Any]) -> Json:
    return {
        name: value
        for name, value in profile.items()
        if name.partition(".")[0] not in _NOT_IN_PROFILES
    }


def is_of_worktree(name: str) -> bool:
    """Whether a variable tells of one worktree, and so is no business of a shared program."""
    return name.startswith("SPINNEY_") and name != OWNER
