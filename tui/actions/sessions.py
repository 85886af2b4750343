"""Actions on sessions."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from model.api import sessions as commands
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.modes import ExecutionMode, ThinkingLevel
from tui.actions.pauses import end_pause
from tui.actions.recovery import confirm_deletion
from tui.actions.scripts import stop_scripts
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.pick import Pick
from tui.store.places import find_last_session

if TYPE_CHECKING:
    from model.agents.catalog import Catalog, ModelRow
    from model.domain.sessions import Session

MODES: tuple[ExecutionMode, ...] = get_args(ExecutionMode)
NOTICE_AFTER = 0.5
"""Seconds of waiting after which a notification explains the delay."""
_ARCHIVE = "Archive the session"
THINKING = {
    "off": "no extended thinking",
    "think": "short",
    "megathink": "longer",
    "ultrathink": "as long as needed",
}


async def new_session(desk: Desk) -> None:
    """Create a session in this worktree, with the agent and the settings of the open one."""
    worktree, session = desk.worktree, desk.session
    if worktree is None:
        desk.say("Open a worktree first. ctrl+n creates one.")
        return
    like: dict[str, Any] = {}
    if session is not None and session.worktree_id == worktree.id:
        like = {
            "backend": session.backend,
            "model": session.model or None,
            "execution_mode": session.execution_mode,
            "thinking_level": session.thinking_level,
        }
    created = await desk.client.call(commands.create_session, worktree_id=worktree.id, **like)
    await desk.mirror.wait_for(lambda state: created.id in state.sessions)
    desk.open_session(created.id)


async def begin_afresh(desk: Desk) -> None:
    """Create a session like the open one."""
    if _open_session(desk) is not None:
        await new_session(desk)


async def cycle_mode(desk: Desk) -> None:
    """Switch to the next mode: plan, build, yolo, plan …"""
    session = _open_session(desk)
    if session is None:
        return
    # Keys can be pressed faster than events arrive.
    present = desk.pending.modes.get(session.id, session.execution_mode)
    await _set_mode(desk, session, MODES[(MODES.index(present) + 1) % len(MODES)])


async def set_mode(desk: Desk, name: str) -> None:
    """Switch to the mode with this name."""
    session = _open_session(desk)
    if session is not None:
        mode = find_named(name, {mode: mode for mode in MODES}, "mode")
        await _set_mode(desk, session, cast(ExecutionMode, mode))


async def _set_mode(desk: Desk, session: "Session", mode: ExecutionMode) -> None:
    desk.pending.modes[session.id] = mode
    try:
        await desk.client.call(commands.update_session, session_id=session.id, execution_mode=mode)
        await desk.mirror.wait_for(
            lambda state: (
                session.id not in state.sessions
                or state.sessions[session.id].execution_mode == mode
                or desk.pending.modes.get(session.id) != mode
            )
        )
    finally:
        if desk.pending.modes.get(session.id) == mode:
            del desk.pending.modes[session.id]


async def stop(desk: Desk) -> None:
    """Do what escape does: close what covers the chat, else stop the run."""
    if desk.step_back():
        return
    await stop_run(desk)


async def stop_run(desk: Desk) -> None:
    """Stop the session's run, the worktree's creation or its setup, whatever has the focus."""
    session, worktree = desk.session, desk.worktree
    if session is not None and session.is_active:
        is_plan = session.waiting_for == "plan"
        desk.chat.status.show_stopping(session.id)
        try:
            await desk.client.call(commands.stop_generation, session_id=session.id)
        finally:
            desk.chat.status.show_stopping("")
        message = "Plan set aside. /approve shows it again." if is_plan else "Stopped."
        desk.say(message)
    elif session is None and worktree is not None and worktree.status == "creating":
        desk.perform("cancel_git")
    elif desk.chat.key and worktree is not None and worktree.running_scripts == ["setup"]:
        desk.perform("stop_script")


async def review_plan(desk: Desk) -> None:
    """Show the plan that was set aside, to decide on it."""
    session = desk.session
    if session is None or session.set_aside_plan is None:
        desk.say("This session has no plan that was set aside.")
    elif session.is_active:
        desk.say("The session is running. Review the plan when it has finished.")
    else:
        desk.chat.reviewing = session.set_aside_plan.id
        desk.follow_session()
        desk.focus_chat()


async def stop_here(desk: Desk) -> None:
    """Stop what runs in the tree's selected row."""
    place, state = desk.projects.place, desk.state
    if place is not None and place.kind == "session" and place.id in state.sessions:
        if state.sessions[place.id].is_active:
            await desk.client.call(commands.stop_generation, session_id=place.id)
            desk.say("Stopped.")
            return
        if state.sessions[place.id].pause is not None:
            await end_pause(desk, state.sessions[place.id])
            return
    elif place is not None and place.kind == "worktree" and place.id in state.worktrees:
        worktree = state.worktrees[place.id]
        active = [s for s in state.sessions_of(worktree.id) if s.is_active]
        if len(active) == 1:
            await desk.client.call(commands.stop_generation, session_id=active[0].id)
            desk.say("Stopped.")
            return
        if worktree.running_scripts:
            await stop_scripts(desk, worktree)
            return
        if worktree.status == "creating":
            desk.point_to(place)
            desk.perform("cancel_git")
            return
    desk.say("Nothing is running in this row.")


async def rename_session(desk: Desk) -> None:
    """Rename the session."""
    session = _open_session(desk)
    if session is None:
        return
    name = await desk.ask(AskText("Rename the session", session.name))
    if name:
        await set_name(desk, name)


async def set_name(desk: Desk, name: str) -> None:
    """Give the session this name."""
    session = _open_session(desk)
    if session is not None:
        await desk.client.call(commands.update_session, session_id=session.id, name=name)


async def previous_session(desk: Desk) -> None:
    """Open the session above in the tree, in whatever worktree."""
    _step(desk, -1)


async def next_session(desk: Desk) -> None:
    """Open the session below in the tree, in whatever worktree."""
    _step(desk, +1)


async def last_session(desk: Desk) -> None:
    """Open the session that was open before this one."""
    here = desk.session.id if desk.session is not None else ""
    before = find_last_session(desk.recent_sessions, here, set(desk.projects.session_ids))
    if before is None:
        desk.say("No other session was open before.")
        return
    desk.open_session(before)


def _step(desk: Desk, step: int) -> None:
    ids = desk.projects.session_ids
    if not ids:
        desk.say("There is no session yet. ctrl+n creates a worktree with one.")
        return
    here = desk.session.id if desk.session is not None else ""
    if here not in ids:
        desk.open_session(ids[0 if step > 0 else -1])
    elif len(ids) == 1:
        desk.say("There is no other session.")
    else:
        desk.open_session(ids[(ids.index(here) + step) % len(ids)])


async def archive_session(desk: Desk) -> None:
    """Archive the session, after confirmation if it is running or the preferences want it."""
    session = _open_session(desk)
    if session is None:
        return
    question = None
    if session.is_active:
        question = Confirm(_ARCHIVE, "The session is running. Stop and archive it?", "archive")
    elif desk.state.preferences.confirm_session_close:
        sentence = f"Archive '{clean_line(session.name)}'? You can restore it from the archive."
        question = Confirm(_ARCHIVE, sentence, "archive", harmless=True)
    if question is not None and not await desk.ask(question):
        return
    await desk.client.call(commands.archive_session, session_id=session.id)
    desk.say(f"'{session.name}' was archived. {desk.key_of('show_archive')} restores it.")


async def delete_session(desk: Desk) -> None:
    """Delete the session and its messages, after confirmation."""
    session = _open_session(desk)
    if session is None:
        return
    if await desk.ask(confirm_deletion(desk, session)):
        await desk.client.call(commands.delete_session, session_id=session.id)
        if session.message_count:
            name, key = clean_line(session.name), desk.key_of("show_archive")
            desk.say(f"'{name}' was deleted. {key} brings it back.")


async def choose_model(desk: Desk) -> None:
    """Choose one of the agent's models, or type the name of another one."""
    session = _open_session(desk)
    if session is None:
        return
    catalog = await _with_models(desk, session)
    present = catalog.selectable_name(session.backend, session.model)
    choices = [Choice(m.name, m.label, _about(m)) for m in catalog.models(session.backend)]
    if present and present not in {choice.value for choice in choices}:
        choices.append(Choice(present, present))
    chosen = await desk.ask(Pick("Model", choices, present, own="use"))
    if chosen is not None:
        await desk.client.call(commands.update_session, session_id=session.id, model=chosen.value)


async def set_model(desk: Desk, name: str) -> None:
    """Switch to the model with this name, or the only one that contains it."""
    session = _open_session(desk)
    if session is None:
        return
    catalog = await _with_models(desk, session)
    models = {model.name: model.label for model in catalog.models(session.backend)}
    model = find_named(name, models, "model")
    await desk.client.call(commands.update_session, session_id=session.id, model=model)
    desk.say(f"{models[model]} answers from the next message on.")


async def _with_models(desk: Desk, session: "Session") -> "Catalog":
    """Return the catalog with the models of the session's agent, starting its program if needed."""
    backend, project_id = session.backend, desk.state.worktrees[session.worktree_id].project_id
    notice = f"Asking {desk.agents.catalog.label(backend)} for its models …"
    slow = asyncio.get_running_loop().call_later(NOTICE_AFTER, desk.say, notice)
    try:
        return await desk.agents.with_models(backend, project_id)
    finally:
        slow.cancel()


def _about(model: "ModelRow") -> str:
    """Return the model's description."""
    return model.description or ("" if model.passed == model.name else model.passed)


async def choose_agent(desk: Desk) -> None:
    """Choose the session's agent."""
    session = _open_session(desk)
    if session is None:
        return
    rows = _catalog(desk).backends
    choices = [Choice(row.name, row.label, row.program) for row in rows]
    chosen = await desk.ask(Pick("Agent", choices, session.backend))
    if chosen is not None:
        await _change_agent(desk, session, chosen.value)


async def set_agent(desk: Desk, name: str) -> None:
    """Switch to the agent with this name, or the only one that contains it."""
    session = _open_session(desk)
    if session is not None:
        agents = {row.name: row.label for row in _catalog(desk).backends}
        await _change_agent(desk, session, find_named(name, agents, "agent"))


async def _change_agent(desk: Desk, session: "Session", backend: str) -> None:
    """Change the agent, after confirmation if the conversation has begun."""
    rows = _catalog(desk).backends
    if backend == session.backend:
        return
    if session.message_count:
        sentence = _agent_change_notice(session, backend, {row.name: row.label for row in rows})
        dialog = Confirm("Change the agent", sentence, "change", harmless=True)
        if not await desk.ask(dialog):
            return
    await desk.client.call(commands.update_session, session_id=session.id, backend=backend)


def _agent_change_notice(session: "Session", backend: str, labels: Mapping[str, str]) -> str:
    """Return what another agent will know of the conversation."""
    new, old = (labels.get(name, name) for name in (backend, session.backend))
    if (memory := session.memories.get(backend)) is None or not memory.messages:
        return (
            f"{new} starts a new conversation. Your next message includes a summary of this one, "
            f"which you can read here. {old} keeps its conversation in case you switch back."
        )
    if memory.messages >= session.message_count:
        return f"{new} continues its earlier conversation, which is up to date."
    return (
        f"{new} continues its earlier conversation. Your next message includes a summary of what "
        "happened since, which you can read here."
    )


async def choose_thinking(desk: Desk) -> None:
    """Choose how much the agent thinks."""
    session = _open_session(desk)
    if session is None:
        return
    choices = [Choice(level, level, about) for level, about in THINKING.items()]
    chosen = await desk.ask(Choose("Thinking", choices, session.thinking_level))
    if chosen:
        await set_thinking(desk, chosen)


async def set_thinking(desk: Desk, name: str) -> None:
    """Switch to the thinking level with this name."""
    session = _open_session(desk)
    if session is not None:
        level = find_named(name, {level: level for level in THINKING}, "thinking level")
        await desk.client.call(
            commands.update_session,
            session_id=session.id,
            thinking_level=cast(ThinkingLevel, level),
        )


def _open_session(desk: Desk) -> "Session | None":
    if desk.session is None:
        desk.say("Open a session first.")
    return desk.session


def find_named(name: str, labels: Mapping[str, str], kind: str) -> str:
    """The key that a typed name means: equal to it or its label, or the only one containing it.

    Raises `SpinneyError` if there is none, or more than one.
    """
    typed = name.casefold()
    texts = {key: (key.casefold(), label.casefold()) for key, label in labels.items()}
    found = [key for key, text in texts.items() if typed in text]
    found = found or [key for key, (one, two) in texts.items() if typed in one or typed in two]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(clean_line(labels[key]) for key in (found or labels))
    problem = "is more than one" if found else "is no"
    raise SpinneyError(f"'{clean_line(name)}' {problem} {kind}: {shown}.")


def _catalog(desk: Desk) -> "Catalog":
    return desk.agents.catalog
