"""Scripts of a project, and shell commands of the user."""

from typing import Annotated

from model.api.command import VERBATIM, command
from model.domain.resource import Resource
from model.domain.scripts import CommandRun, Script, ScriptName, ScriptRun


class ScriptTexts(Resource):
    """The scripts to save; `null` removes one, those that are left out stay."""

    setup: str | None = None
    run: str | None = None
    teardown: str | None = None
    check: str | None = None


@command
async def get_project_scripts(project_id: str, worktree_id: str | None = None) -> list[Script]:
    """List the scripts in a worktree's config file, or in the repository's, and whether they are
    trusted.
    """


@command
async def save_project_scripts(
    project_id: str, scripts: Annotated[ScriptTexts, VERBATIM]
) -> list[Script]:
    """Write scripts to `spinney.json` in the repository, and trust them.

    A worktree runs the scripts of its own branch: the file must be committed and reach that branch,
    as `task:completed` (`save_scripts`) reminds.
    """


@command
async def trust_project_scripts(project_id: str, hashes: list[str] | None = None) -> list[Script]:
    """Trust scripts by their hashes; without `hashes`, those in the repository and its worktrees.

    Pass the hashes of the scripts that the user has read, so that one that changed since then stays
    untrusted. Fails with `forbidden` for a script with characters that are not displayed as they
    run.
    """


@command
async def run_worktree_script(worktree_id: str, script: ScriptName = "run") -> ScriptRun:
    """Start a script in a worktree; `task:completed` reports its end."""


@command
async def stop_worktree_script(worktree_id: str, script: ScriptName = "run") -> None:
    """Stop a script and every process that it started; does nothing if it is not running."""


@command
async def get_script_output(worktree_id: str, script: ScriptName) -> ScriptRun:
    """Get the state of a script's current or latest run in a worktree, and the last 64 KiB that it
    printed.
    """


@command
async def run_command(worktree_id: str, command: Annotated[str, VERBATIM]) -> CommandRun:
    """Run a shell command in a worktree and return its end: status, exit code, last 64 KiB.

    One runs at a time in each worktree. It goes on if the client disconnects.
    """


@command
async def get_command_output(worktree_id: str) -> CommandRun:
    """Get the state of the current or latest command in a worktree, and what it printed so far."""


@command
async def stop_command(worktree_id: str) -> None:
    """Stop the command in a worktree with all that it started; does nothing if none is running."""


@command
async def get_listening_ports(worktree_id: str) -> list[int]:
    """List those of a worktree's ten ports on which a program of this machine listens."""
