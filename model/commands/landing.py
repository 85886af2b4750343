"""Implements `model.api.landing`."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from model.api import landing as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.commands.session_choice import send_to_session
from model.domain.hosting import MergeMethod
from model.domain.landing import (
    AfterLanding,
    CheckResult,
    Landing,
    LandingDesk,
    LandingPreview,
    Sweep,
    Swept,
    Train,
)
from model.domain.messages import SessionMessage
from model.domain.projects import Project
from model.git.remote_branches import push_branch
from model.git.secret_gate import make_gate
from model.landing.checks import describe_failure
from model.landing.obstacles import write_check_message, write_conflict_message
from model.preferences.schema import PromptKey
from model.scripts.config import find_config_name
from model.worktrees import require_project, require_worktree
from model.writing.landing_message import generate_landing_message

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_OUTPUT: Final = 64_000
"""Characters of a train's output."""


@implements(api.get_landing_desk)
async def get_landing_desk(workspace: "Workspace", project_id: str) -> LandingDesk:
    require_project(workspace.store.state, project_id)
    can_undo = await workspace.landing.moves.find_undoable(project_id)
    return await workspace.landing.desk.read(project_id, can_undo)


@implements(api.get_check_result)
async def get_check_result(workspace: "Workspace", worktree_id: str) -> CheckResult:
    return await workspace.landing.checks.read(worktree_id)


@implements(api.preview_landing)
async def preview_landing(
    workspace: "Workspace", worktree_id: str, method: MergeMethod | None = None
) -> LandingPreview:
    return await workspace.landing.lander.preview(worktree_id, method)


@implements(api.land_worktree)
async def land_worktree(
    workspace: "Workspace",
    worktree_id: str,
    base_commit: str,
    method: MergeMethod | None = None,
    message: str | None = None,
    after: AfterLanding | None = None,
    delete_remote_branch: bool = False,
    ignore_check: bool = False,
    stash_base: bool = False,
) -> Landing:
    worktree = require_worktree(workspace.store.state, worktree_id)
    project = require_project(workspace.store.state, worktree.project_id)
    land = workspace.landing.lander.land(
        worktree_id,
        base_commit,
        method,
        message,
        after,
        delete_remote_branch=delete_remote_branch,
        ignore_check=ignore_check,
        stash_base=stash_base,
    )
    base = worktree.base_branch or project.default_branch
    return await _move_base(workspace, project, base, [worktree_id], "landing", land)


@implements(api.list_landings)
async def list_landings(workspace: "Workspace", project_id: str, limit: int = 20) -> list[Landing]:
    return await workspace.landing.moves.list_landings(project_id, limit)


@implements(api.undo_landing)
async def undo_landing(workspace: "Workspace", landing_id: str) -> Landing:
    moves = workspace.landing.moves
    landing = await moves.find(landing_id)
    project = require_project(workspace.store.state, landing.project_id)
    worktrees, undo = landing.worktree_ids, moves.undo(landing_id)
    return await _move_base(workspace, project, landing.base, worktrees, "undo", undo)


@implements(api.push_base)
async def push_base(
    workspace: "Workspace",
    project_id: str,
    branch: str | None = None,
    allowed_secrets: list[str] | None = None,
) -> None:
    project = require_project(workspace.store.state, project_id)
    gate = make_gate(workspace.store.state, project, allowed_secrets)
    await push_branch(Path(project.path), branch or project.default_branch, gate)
    _refresh(workspace, project_id)


async def _move_base(
    workspace: "Workspace",
    project: Project,
    base: str,
    worktree_ids: list[str],
    operation: str,
    moving: Coroutine[Any, Any, Landing],
) -> Landing:
    """Move a base, which `cancel_git` for one of the worktrees takes back."""
    tasks = workspace.cancellable_tasks
    try:
        landing = await tasks.run(worktree_ids, operation, moving)
    except SpinneyError:
        # Of what was canceled, files may have to be brought back, by filters that can wait again.
        completing = workspace.landing.moves.complete(project, base)
        await tasks.run(worktree_ids, operation, completing)
        raise
    finally:
        _refresh(workspace, project.id)
    return landing


def _refresh(workspace: "Workspace", project_id: str) -> None:
    """Read the worktrees of a project again: their base has moved."""
    worktrees = workspace.store.state.worktrees_of(project_id)
    workspace.poller.refresh(*(worktree.id for worktree in worktrees))
    workspace.landing.updates.note_project(project_id)


@implements(api.write_landing_text)
async def write_landing_text(workspace: "Workspace", worktree_id: str) -> api.LandingMessage:
    state = workspace.store.state
    worktree = require_worktree(state, worktree_id)
    project = require_project(state, worktree.project_id)
    base = worktree.base_branch or project.default_branch
    sessions = [
        f"{one.name}: {one.recap}" if one.recap else one.name
        for one in state.sessions_of(worktree_id)
    ]
    message = await generate_landing_message(workspace.writer, worktree, base, sessions)
    return api.LandingMessage(message=message)


@implements(api.write_landing_message)
async def write_landing_message(workspace: "Workspace", worktree_id: str) -> api.LandingMessage:
    message, _ = await _write_message(workspace, worktree_id)
    return api.LandingMessage(message=message)


@implements(api.send_landing_message)
async def send_landing_message(
    workspace: "Workspace", worktree_id: str, session_id: str | None = None
) -> SessionMessage:
    message, prompt = await _write_message(workspace, worktree_id)
    return await send_to_session(workspace, worktree_id, message, session_id, prompt)


async def _write_message(workspace: "Workspace", worktree_id: str) -> tuple[str, PromptKey | None]:
    """Return the message, and the prompt whose agent a new session for it has."""
    state, landing = workspace.store.state, workspace.landing
    worktree = require_worktree(state, worktree_id)
    project = require_project(state, worktree.project_id)
    base = worktree.base_branch or project.default_branch

    conflicts = await landing.lander.find_conflicts(worktree)
    if conflicts:
        preferences = state.preferences
        message = write_conflict_message(preferences, project, worktree, base, conflicts)
        return message, "resolve_conflicts"
    file = await asyncio.to_thread(find_config_name, Path(worktree.path))
    check = await landing.checks.read(worktree_id)
    if check.status == "failed" and not check.is_stale:
        run = await workspace.scripts.outcome(worktree_id, "check")
        return write_check_message(describe_failure(check), run.output, file), None
    found = await landing.trains.find_obstacle(worktree)
    if found is None:
        raise SpinneyError(
            f"Neither a conflict with '{base}' nor a red check keeps '{worktree.name}' from "
            "landing.",
            "conflict",
        )
    train, car, below = found
    if car.status == "conflict":
        raise SpinneyError(car.error, "conflict")
    output = await landing.trains.read_output(train.id, worktree_id)
    return write_check_message(car.error, output, file, below), None


@implements(api.start_train)
async def start_train(
    workspace: "Workspace",
    project_id: str,
    worktree_ids: list[str],
    method: MergeMethod | None = None,
    with_check: bool = True,
    keep_going: bool = False,
) -> Train:
    return await workspace.landing.trains.start(
        project_id, worktree_ids, method, with_check=with_check, keep_going=keep_going
    )


@implements(api.get_train)
async def get_train(workspace: "Workspace", project_id: str) -> Train | None:
    return await workspace.landing.trains.read(project_id)


@implements(api.get_train_output)
async def get_train_output(
    workspace: "Workspace", train_id: str, worktree_id: str
) -> api.LandingMessage:
    output = await workspace.landing.trains.read_output(train_id, worktree_id)
    return api.LandingMessage(message=output[-_MAX_OUTPUT:])


@implements(api.stop_train)
async def stop_train(workspace: "Workspace", train_id: str) -> Train:
    return await workspace.landing.trains.stop(train_id)


@implements(api.land_train)
async def land_train(
    workspace: "Workspace",
    train_id: str,
    after: AfterLanding | None = None,
    delete_remote_branch: bool = False,
    stash_base: bool = False,
) -> Landing:
    trains = workspace.landing.trains
    train = await trains.find(train_id)
    project = require_project(workspace.store.state, train.project_id)
    worktrees = [car.worktree_id for car in train.cars]
    land = trains.land(
        train_id, after, delete_remote_branch=delete_remote_branch, stash_base=stash_base
    )
    return await _move_base(workspace, project, train.base, worktrees, "landing", land)


@implements(api.discard_train)
async def discard_train(workspace: "Workspace", train_id: str) -> None:
    await workspace.landing.trains.discard(train_id)


@implements(api.list_sweep)
async def list_sweep(
    workspace: "Workspace",
    project_id: str | None = None,
    with_sizes: bool = True,
    limit: int | None = None,
    offset: int = 0,
    worktree_ids: list[str] | None = None,
) -> Sweep:
    return await workspace.landing.sweeper.list_rows(
        project_id, with_sizes=with_sizes, limit=limit, offset=offset, only=worktree_ids
    )


@implements(api.sweep_worktrees)
async def sweep_worktrees(
    workspace: "Workspace",
    worktree_ids: list[str],
    action: AfterLanding,
    force: bool = False,
    delete_remote_branch: bool = False,
) -> list[Swept]:
    return await workspace.landing.sweeper.sweep(
        worktree_ids, action, force=force, delete_remote_branch=delete_remote_branch
    )
