"""What the commands of the message box do that have no key of their own, or take an argument."""

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from model.api.agent_commands import list_agent_commands
from model.base.errors import SpinneyError
from model.base.plural import count
from tui.actions import compose, pauses, search, sessions, usage
from tui.actions.archive import restore
from tui.actions.shell_command import run_in_worktree
from tui.composer.slash_commands import Values
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.pick import Pick
from tui.store.places import Place, is_shown

if TYPE_CHECKING:
    from model.domain.projects import Project
    from model.domain.sessions import Session
    from tui.store.agent_catalog import AgentCatalog
    from tui.widgets.chat import Chat


async def compact(desk: Desk) -> None:
    """Let the agent shorten its memory of the conversation."""
    await compact_to(desk, "")


async def compact_to(desk: Desk, wanted: str) -> None:
    """Send the agent's own `/compact`, with what the summary should keep."""
    session, worktree = desk.session, desk.worktree
    if session is None or worktree is None or not session.message_count:
        desk.say("There is no conversation to compact yet.")
        return
    if session.status == "waiting":
        desk.say("Answer the agent's request first, then compact the conversation.")
        return
    known = await desk.client.call(
        list_agent_commands, worktree_id=worktree.id, backend=session.backend
    )
    if not any(command.name == "compact" for command in known):
        agent = desk.agents.catalog.label(session.backend)
        desk.say(f"{agent} has no command for it. /clear starts over in a new session.")
        return
    await desk.outbox.send(session.id, f"//compact {wanted}".rstrip())


async def resume_session(desk: Desk) -> None:
    """Open a session of any project, those nearby first; an archived one is restored."""
    here = desk.worktree.id if desk.worktree is not None else ""
    project = desk.project.id if desk.project is not None else ""
    worktrees = desk.state.worktrees
    found = [each for each in desk.state.sessions.values() if each.worktree_id in worktrees]
    found.sort(
        key=lambda session: (
            session.worktree_id != here,
            worktrees[session.worktree_id].project_id != project,
            -session.updated_at,
        )
    )
    present = desk.session.id if desk.session is not None else ""
    choices = [_resume_choice(desk, session) for session in found]
    chosen = await desk.ask(Pick("Resume a session", choices, present))
    if chosen is None or chosen.value not in desk.state.sessions:
        return
    place = Place("session", chosen.value)
    worktree_place = Place("worktree", desk.state.sessions[chosen.value].worktree_id)
    if not is_shown(place, desk.state) or not is_shown(worktree_place, desk.state):
        await restore(desk, place)
    desk.open_session(chosen.value)


def _resume_choice(desk: Desk, session: "Session") -> Choice:
    worktree = desk.state.worktrees[session.worktree_id]
    project = desk.state.projects.get(worktree.project_id)
    is_archived = session.archived_at is not None or worktree.archived_at is not None
    about = [worktree.name, count(session.message_count, "message")]
    if project is not None and project is not desk.project:
        about.insert(0, project.name)
    return Choice(session.id, session.name, " · ".join([*about, *["archived"] * is_archived]))


WITH_ARGUMENT: Final[Mapping[str, Callable[[Desk, str], Coroutine[Any, Any, None]]]] = {
    "agent": sessions.set_agent,
    "at": pauses.send_at,
    "compact": compact_to,
    "budget": usage.set_session_budget,
    "continue": pauses.continue_at,
    "mode": sessions.set_mode,
    "model": sessions.set_model,
    "now": compose.send_to_turn,
    "rename": sessions.set_name,
    "search": search.search_for,
    "thinking": sessions.set_thinking,
}
"""Functions of the commands that take an argument."""


async def perform_command(desk: Desk, given: "Chat.CommandGiven") -> None:
    """Perform a command of the message box; its draft gets it back if that fails."""
    try:
        if given.name == "!":
            await run_in_worktree(desk, given.key, given.argument)
        else:
            await WITH_ARGUMENT[given.name](desk, given.argument)
    except (SpinneyError, TimeoutError):
        desk.chat.return_message(given.key, given.line)
        raise


async def list_values(
    values: Values, agents: "AgentCatalog", session: "Session | None", project: "Project | None"
) -> list[tuple[str, str]]:
    """What an argument may be, each with its description."""
    match values:
        case "modes":
            return [(mode, "") for mode in sessions.MODES]
        case "thinking":
            return list(sessions.THINKING.items())
        case "agents":
            return [(row.label, row.program) for row in agents.catalog.backends]
        case "models" if session is not None and project is not None:
            backend = session.backend
            catalog = await agents.with_models(backend, project.id)
            return [(model.label, model.name) for model in catalog.models(backend)]
        case _:
            return []
