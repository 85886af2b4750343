"""Actions on a repository's own scripts: show, edit, trust, run, follow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.api import scripts as commands
from model.base.errors import SpinneyError
from model.domain.scripts import Script, ScriptName, ScriptRun
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.scripts import Scripts, ScriptWork

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree


async def show_scripts(desk: Desk) -> None:
    """Show the scripts and their output."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        running = worktree.running_scripts
        default: ScriptName = "setup" if worktree.setup_hold else "run"
        first: ScriptName = running[0] if running else default
        await desk.ask(Scripts(worktree.name, _work(desk, worktree), first))


async def run_script(desk: Desk) -> None:
    """Start the `run` script and follow it; an untrusted one is only shown."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await follow_script(desk, worktree, "run")


async def follow_script(desk: Desk, worktree: "Worktree", name: ScriptName) -> None:
    """Start a script of a worktree, unless it is running, and follow it.

    One that is untrusted or does not exist is only shown.
    """
    if name not in worktree.running_scripts:
        try:
            await desk.client.call(
                commands.run_worktree_script, worktree_id=worktree.id, script=name
            )
        except SpinneyError as error:
            if error.error_type not in ("forbidden", "not_found"):
                raise
    await desk.ask(Scripts(worktree.name, _work(desk, worktree), name))


async def stop_script(desk: Desk) -> None:
    """Stop the scripts that run in the worktree."""
    worktree = pointed_worktree(desk)
    if worktree is not None and not worktree.running_scripts:
        desk.say("No script is running in this worktree.")
    elif worktree is not None:
        await stop_scripts(desk, worktree)


async def stop_scripts(desk: Desk, worktree: "Worktree") -> None:
    """Stop all scripts that run in a worktree."""
    for name in worktree.running_scripts:
        await _stop(desk, worktree.id, name)
        key = desk.key_of("show_scripts")
        desk.say(f"The {name} script was stopped. {key}: all scripts.")


async def _stop(desk: Desk, worktree_id: str, name: ScriptName) -> None:
    """Stop a script, without a notification of its end."""
    known = desk.state.worktrees.get(worktree_id)
    if known is not None and name in known.running_scripts:
        desk.pending.reported.add((name, worktree_id))
    await desk.client.call(commands.stop_worktree_script, worktree_id=worktree_id, script=name)


def _work(desk: Desk, worktree: "Worktree") -> ScriptWork:
    call, worktree_id, project_id = desk.client.call, worktree.id, worktree.project_id

    async def read() -> Sequence[Script]:
        return await call(
            commands.get_project_scripts, project_id=project_id, worktree_id=worktree_id
        )

    async def read_output(name: ScriptName) -> ScriptRun | None:
        try:
            return await call(commands.get_script_output, worktree_id=worktree_id, script=name)
        except SpinneyError as error:
            if error.error_type == "not_found":
                return None
            raise

    async def run(name: ScriptName) -> None:
        await call(commands.run_worktree_script, worktree_id=worktree_id, script=name)

    async def stop(name: ScriptName) -> None:
        await _stop(desk, worktree_id, name)

    async def trust(script: Script) -> None:
        await call(commands.trust_project_scripts, project_id=project_id, hashes=[script.hash])

    async def save(name: ScriptName, text: str) -> None:
        texts = commands.ScriptTexts.model_validate({name: text or None})
        await call(commands.save_project_scripts, project_id=project_id, scripts=texts)

    return ScriptWork(read, read_output, run, stop, trust, save)
