"""Runs the commands of guests: those of their role, with what their link shares.

What only reads runs in the guest's world, where nothing else exists. What acts is checked against
that world, runs in the workspace, and is logged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from model.access.links import Guest
from model.access.policy import COMMANDS, require_role
from model.access.shapes import PICTURES, show_upload
from model.access.world import GuestStore, GuestWorld
from model.agents.catalog import Catalog
from model.api.command import Command
from model.api.doctor import AgentKind
from model.api.sessions import AddedImage
from model.base.errors import (
    SpinneyError,
    project_not_found,
    session_not_found,
    worktree_not_found,
)
from model.commands.dispatch import run
from model.domain.messages import SentMessage
from model.domain.sessions import Session
from model.secrets.scanner import mask_for_guests

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_ENDED: Final = "This guest access has ended."


@dataclass(frozen=True, slots=True)
class GuestWorkspace:
    """What commands that read know of a workspace, for a guest's world."""

    store: GuestStore
    catalog: Catalog
    demo: bool


def enter(workspace: "Workspace", world: GuestWorld) -> "Workspace":
    """The workspace as it is in a guest's world, for commands that read."""
    store = GuestStore(world, workspace.store)
    return cast("Workspace", GuestWorkspace(store, workspace.catalog, workspace.demo))


async def run_for_guest(
    workspace: "Workspace",
    world: GuestWorld,
    guest: Guest,
    command: Command[..., Any],
    arguments: Mapping[str, Any],
) -> Any:
    """Run a command as a guest. Raises `SpinneyError`, `not_found` for what is not shared."""
    rule = COMMANDS.get(command.name)
    require_role(guest.link, rule.role if rule else None)
    assert rule is not None
    if not workspace.grants.links.is_alive(guest.link.id):
        raise SpinneyError(_ENDED, "authentication_error")
    parsed = command.parse(arguments)
    workspace.bus.seal()
    _require_shared(world, parsed)
    rule.check(guest.link, parsed)
    try:
        if not rule.acts:
            return _without_programs(await run(enter(workspace, world), command, arguments))
        return await _act(workspace, world, guest, command, arguments, rule.describe(parsed))
    except SpinneyError as error:
        raise SpinneyError(
            mask_for_guests(error.message),
            error.error_type,
            session_id=error.session_id,
            retry_after=error.retry_after,
        ) from error


async def _act(
    workspace: "Workspace",
    world: GuestWorld,
    guest: Guest,
    command: Command[..., Any],
    arguments: Mapping[str, Any],
    description: str,
) -> Any:
    session_id = command.parse(arguments)["session_id"]
    ok = False
    try:
        result = await run(workspace, command, _with_real_paths(workspace, arguments))
        ok = True
    finally:
        workspace.grants.note_action(guest, description, session_id, ok=ok)
    workspace.bus.seal()
    if isinstance(result, Session):
        _require_shared(world, {"session_id": session_id})
        return world.state.sessions[session_id]
    if isinstance(result, AddedImage):
        return AddedImage(path=show_upload(result.path))
    assert result is None or isinstance(result, SentMessage), "the result is not known to be shown"
    return result


def _without_programs(result: Any) -> Any:
    """The result without the programs of agents, which may be paths on this machine."""
    if isinstance(result, list) and result and isinstance(result[0], AgentKind):
        return [agent.model_copy(update={"program": ""}) for agent in result]
    return result


def _require_shared(world: GuestWorld, parsed: Mapping[str, Any]) -> None:
    """Raise what a command raises for an unknown id, for one that is not shared."""
    state = world.state
    for name, known, missing in (
        ("session_id", state.sessions, session_not_found),
        ("worktree_id", state.worktrees, worktree_not_found),
        ("project_id", state.projects, project_not_found),
    ):
        if name in parsed and parsed[name] not in known:
            raise missing(parsed[name])


def _with_real_paths(workspace: "Workspace", arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the paths on this machine of files that were uploaded."""
    folder = str(workspace.directories.pictures)
    real = dict(arguments)
    for name in ("files", "images"):
        if real.get(name):
            real[name] = [f"{folder}/{path.removeprefix(PICTURES)}" for path in real[name]]
    return real
