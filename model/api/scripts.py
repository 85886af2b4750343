"""Commands about a repository's own scripts: seeing, saving and trusting them, running them."""

from typing import Annotated

from model.api.command import VERBATIM, command
from model.domain.resources import Resource
from model.domain.scripts import Script, ScriptName, ScriptRun


class ScriptTexts(Resource):
    """Scripts to be saved; `null` takes one out, what is not named stays."""

    setup: str | None = None
    run: str | None = None
    teardown: str | None = None


@command
async def get_project_scripts(project_id: str, worktree_id: str | None = None) -> list[Script]:
    """The scripts in a worktree's config file, or in the repository's, and which are trusted."""


@command
async def save_project_scripts(
    project_id: str, scripts: Annotated[ScriptTexts, VERBATIM]
) -> list[Script]:
    """Write scripts to `spinney.json` in the repository; what is saved here is trusted.

    A worktree runs those of its own branch: the file must be committed and reach that branch, of
    which `task:completed` (`save_scripts`) reminds.
    """


@command
async def trust_project_scripts(project_id: str, hashes: list[str] | None = None) -> list[Script]:
    """Trust scripts by their hashes; without `hashes`, those in the repository and its worktrees.

    Give the hashes of what the person has read: what was changed since then stays held. A script
    that holds a character which is not shown as it runs is refused (`forbidden`).
    """


@command
async def run_worktree_script(worktree_id: str, script: ScriptName = "run") -> ScriptRun:
    """Start a script in a worktree; `task:completed` tells its end."""


@command
async def stop_worktree_script(worktree_id: str, script: ScriptName = "run") -> None:
    """End a script and all that it started; stopping what does not run is no error."""


@command
async def get_script_output(worktree_id: str, script: ScriptName) -> ScriptRun:
    """How a script runs or ran last in a worktree, and the newest of what it printed."""
