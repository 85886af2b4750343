"""Implements `model.api.scripts`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from model.api import scripts as api
from model.base.errors import SpinneyError
from model.base.git_layout import is_bare_repository
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectUpdated
from model.domain.projects import Project
from model.domain.scripts import CommandRun, Script, ScriptName, ScriptRun
from model.scripts.config import (
    FILES,
    hash_script,
    mark_trusted,
    read_branch_scripts,
    read_scripts,
    refuse_hidden,
    write_scripts,
)
from model.state import State
from model.worktrees import require_project, require_worktree
from model.worktrees.ports import find_listening_ports

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_project_scripts)
async def get_project_scripts(
    workspace: "Workspace", project_id: str, worktree_id: str | None = None
) -> list[Script]:
    project = require_project(workspace.store.state, project_id)
    if worktree_id is not None:
        path = Path(require_worktree(workspace.store.state, worktree_id).path)
    elif await asyncio.to_thread(is_bare_repository, Path(project.path)):
        found = await read_branch_scripts(Path(project.path), project.default_branch)
        return mark_trusted(found, project)
    else:
        path = Path(project.path)
    return await asyncio.to_thread(read_scripts, path, project)


@implements(api.save_project_scripts)
async def save_project_scripts(
    workspace: "Workspace", project_id: str, scripts: api.ScriptTexts
) -> list[Script]:
    project = require_project(workspace.store.state, project_id)
    root = Path(project.path)
    if await asyncio.to_thread(is_bare_repository, root):
        raise SpinneyError(f"{root} has no working directory to save spinney.json in.", "conflict")
    texts: dict[ScriptName, str | None] = {
        name: getattr(scripts, name)
        for name in get_args(ScriptName)
        if name in scripts.model_fields_set
    }
    for name, text in texts.items():
        refuse_hidden(name, text or "")
    await asyncio.to_thread(write_scripts, root, texts)
    await _trust(workspace, project_id, [hash_script(n, t) for n, t in texts.items() if t])
    detail = (
        f"Saved the scripts to {root / FILES[0]}. Commit the file: a worktree runs the"
        " scripts of its own branch, so a new one has them once they are on its base branch."
    )
    workspace.store.record(TaskCompleted(task="save_scripts", ok=True, detail=detail))
    return await get_project_scripts(workspace, project_id)


@implements(api.trust_project_scripts)
async def trust_project_scripts(
    workspace: "Workspace", project_id: str, hashes: list[str] | None = None
) -> list[Script]:
    project = require_project(workspace.store.state, project_id)
    found = await _known_scripts(workspace.store.state, project, skip_invalid=hashes is not None)
    trusted = [script.hash for script in found] if hashes is None else hashes
    for script in found:
        if script.hash in trusted:
            refuse_hidden(script.name, script.text)
    await _trust(workspace, project_id, trusted)
    return await get_project_scripts(workspace, project_id)


@implements(api.run_worktree_script)
async def run_worktree_script(
    workspace: "Workspace", worktree_id: str, script: ScriptName = "run"
) -> ScriptRun:
    if script == "check":
        return await workspace.landing.checks.start(worktree_id)
    return await workspace.scripts.start(worktree_id, script)


@implements(api.stop_worktree_script)
async def stop_worktree_script(
    workspace: "Workspace", worktree_id: str, script: ScriptName = "run"
) -> None:
    require_worktree(workspace.store.state, worktree_id)
    await workspace.scripts.stop(worktree_id, script)


@implements(api.get_script_output)
async def get_script_output(
    workspace: "Workspace", worktree_id: str, script: ScriptName
) -> ScriptRun:
    require_worktree(workspace.store.state, worktree_id)
    return await workspace.scripts.outcome(worktree_id, script)


@implements(api.run_command)
async def run_command(workspace: "Workspace", worktree_id: str, command: str) -> CommandRun:
    return await workspace.shell_commands.run(worktree_id, command)


@implements(api.get_command_output)
async def get_command_output(workspace: "Workspace", worktree_id: str) -> CommandRun:
    require_worktree(workspace.store.state, worktree_id)
    return await workspace.shell_commands.read(worktree_id)


@implements(api.stop_command)
async def stop_command(workspace: "Workspace", worktree_id: str) -> None:
    require_worktree(workspace.store.state, worktree_id)
    await workspace.shell_commands.stop(worktree_id)


@implements(api.get_listening_ports)
async def get_listening_ports(workspace: "Workspace", worktree_id: str) -> list[int]:
    first = require_worktree(workspace.store.state, worktree_id).port
    if first is None:
        return []
    return await asyncio.to_thread(find_listening_ports, first)


async def _known_scripts(state: State, project: Project, *, skip_invalid: bool) -> list[Script]:
    """The scripts in the files of the repository and its worktrees, as they are now.

    Raises `SpinneyError` for a file that cannot be parsed, unless such files are skipped.
    """
    found = await read_branch_scripts(Path(project.path), project.default_branch)
    for path in [project.path, *(worktree.path for worktree in state.worktrees_of(project.id))]:
        try:
            found += await asyncio.to_thread(read_scripts, Path(path), project)
        except SpinneyError:
            if not skip_invalid:
                raise
    return found


async def _trust(workspace: "Workspace", project_id: str, hashes: list[str]) -> None:
    def trust(state: State) -> list[Event]:
        project = require_project(state, project_id)
        trusted = list(dict.fromkeys([*project.trusted_scripts, *hashes]))
        if trusted == project.trusted_scripts:
            return []
        return [ProjectUpdated(project=project.model_copy(update={"trusted_scripts": trusted}))]

    await workspace.store.accept(trust)
