"""Actions about sessions."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from model.api import sessions as commands
from model.base.text import clean_line
from model.domain.resources import ExecutionMode, ThinkingLevel
from tui.actions.scripts import stop_scripts
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm

if TYPE_CHECKING:
    from model.agents.catalog import Catalog, ModelRow
    from model.domain.resources import Session

MODES: tuple[ExecutionMode, ...] = get_args(ExecutionMode)
NOTICE_AFTER = 0.5
"""Seconds of waiting after which a notification says what for."""
_OTHER_MODEL = "…"
_ARCHIVE = "Archive the session"
_THINKING = {
    "off": "answers at once",
    "think": "thinks a little",
    "megathink": "thinks longer",
    "ultrathink": "thinks as long as it needs",
}


async def new_session(desk: Desk) -> None:
    """Another conversation in this worktree."""
    worktree = desk.worktree
    if worktree is None:
        desk.say("Open a worktree first; ctrl+n makes one.")
        return
    session = await desk.client.call(commands.create_session, worktree_id=worktree.id)
    await desk.mirror.until(lambda state: session.id in state.sessions)
    desk.open_session(session.id)


async def begin_afresh(desk: Desk) -> None:
    """Another conversation in this worktree, with the agent and the settings of the open one."""
    session = _opened(desk)
    if session is None:
        return
    made = await desk.client.call(
        commands.create_session,
        worktree_id=session.worktree_id,
        backend=session.backend,
        model=session.model or None,
        execution_mode=session.execution_mode,
        thinking_level=session.thinking_level,
    )
    await desk.mirror.until(lambda state: made.id in state.sessions)
    desk.open_session(made.id)


async def cycle_mode(desk: Desk) -> None:
    """From plan to build to yolo, and round again."""
    session = _opened(desk)
    if session is None:
        return
    # Presses may be quicker than their events.
    present = desk.pending.modes.get(session.id, session.execution_mode)
    mode = MODES[(MODES.index(present) + 1) % len(MODES)]
    desk.pending.modes[session.id] = mode
    try:
        await desk.client.call(commands.update_session, session_id=session.id, execution_mode=mode)
        await desk.mirror.until(
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
    """Stop what runs here; without a run, escape closes what covers the chat."""
    if desk.step_back():
        return
    await stop_run(desk)


async def stop_run(desk: Desk) -> None:
    """Stop what runs here, whatever has the focus."""
    session, worktree = desk.session, desk.worktree
    if session is not None and session.is_active:
        is_plan = session.waiting_for == "plan"
        desk.chat.status.show_stopping(session.id)
        try:
            await desk.client.call(commands.stop_generation, session_id=session.id)
        finally:
            desk.chat.status.show_stopping("")
        words = "The plan is set aside. /approve takes it up again." if is_plan else "Stopped."
        desk.say(words)
    elif session is None and worktree is not None and worktree.status == "creating":
        desk.perform("cancel_git")
    elif desk.chat.key and worktree is not None and worktree.running_scripts == ["setup"]:
        desk.perform("stop_script")


async def review_plan(desk: Desk) -> None:
    """Ask again for the decision on the plan that was set aside."""
    session = desk.session
    if session is None or session.set_aside_plan is None:
        desk.say("No plan was set aside here.")
    elif session.is_active:
        desk.say("The session is at work; take the plan up again when it has ended.")
    else:
        desk.chat.reviewing = session.set_aside_plan.id
        desk.follow_session()
        desk.focus_chat()


async def stop_here(desk: Desk) -> None:
    """Stop what runs in the row that the tree's cursor is on."""
    place, state = desk.projects.place, desk.state
    if place is not None and place.kind == "session" and place.id in state.sessions:
        if state.sessions[place.id].is_active:
            await desk.client.call(commands.stop_generation, session_id=place.id)
            desk.say("Stopped.")
            return
    elif place is not None and place.kind == "worktree" and place.id in state.worktrees:
        worktree = state.worktrees[place.id]
        if worktree.running_scripts:
            await stop_scripts(desk, worktree)
            return
        if worktree.status == "creating":
            desk.point_to(place)
            desk.perform("cancel_git")
            return
    desk.say("Nothing runs in this row.")


async def rename_session(desk: Desk) -> None:
    """Give the session a name."""
    session = _opened(desk)
    if session is None:
        return
    name = await desk.ask(AskText("Rename the session", session.name))
    if name:
        await desk.client.call(commands.update_session, session_id=session.id, name=name)


async def previous_session(desk: Desk) -> None:
    """The session before this one in its worktree."""
    _step(desk, -1)


async def next_session(desk: Desk) -> None:
    """The session after this one in its worktree."""
    _step(desk, +1)


def _step(desk: Desk, step: int) -> None:
    if desk.session is None:
        return
    ids = [session.id for session in desk.state.sessions_of(desk.session.worktree_id)]
    if desk.session.id in ids:
        position = ids.index(desk.session.id) + step
        desk.open_session(ids[position % len(ids)])


async def archive_session(desk: Desk) -> None:
    """Put the session away."""
    session = _opened(desk)
    if session is None:
        return
    question = None
    if session.is_active:
        question = Confirm(_ARCHIVE, "It is at work. Stop it and put it away?", "archive")
    elif desk.state.preferences.confirm_session_close:
        sentence = f"Put “{clean_line(session.name)}” away? The archive keeps it."
        question = Confirm(_ARCHIVE, sentence, "archive", harmless=True)
    if question is not None and not await desk.ask(question):
        return
    await desk.client.call(commands.archive_session, session_id=session.id)
    desk.say(f"“{session.name}” is archived; {desk.key_of('show_archive')} brings it back.")


async def delete_session(desk: Desk) -> None:
    """Delete the session and its messages."""
    session = _opened(desk)
    if session is None:
        return
    sentence = f"Delete “{session.name}” and its {session.message_count} messages for good?"
    dialog = Confirm("Delete the session", sentence, "delete")
    if await desk.ask(dialog):
        await desk.client.call(commands.delete_session, session_id=session.id)


async def choose_model(desk: Desk) -> None:
    """One of the agent's models, or any other that its program knows."""
    session = _opened(desk)
    if session is None:
        return
    catalog = await _with_models(desk, session)
    agent = catalog.label(session.backend)
    present = catalog.offered(session.backend, session.model)
    choices = [Choice(m.name, m.label, _about(m)) for m in catalog.models(session.backend)]
    if present and present not in {choice.value for choice in choices}:
        choices.append(Choice(present, present))
    choices.append(Choice(_OTHER_MODEL, "another one…", "by its name"))
    model = await desk.ask(Choose("Model", choices, present))
    if model == _OTHER_MODEL:
        sentence = f"The model's name as {agent} knows it."
        model = await desk.ask(AskText("Model", sentence=sentence)) or None
    if model is not None:
        await desk.client.call(commands.update_session, session_id=session.id, model=model)


async def _with_models(desk: Desk, session: "Session") -> "Catalog":
    """The catalog with the models of the session's agent, whose program may have to be asked."""
    backend, project_id = session.backend, desk.state.worktrees[session.worktree_id].project_id
    notice = f"Asking {desk.agents.catalog.label(backend)} for its models …"
    slow = asyncio.get_running_loop().call_later(NOTICE_AFTER, desk.say, notice)
    try:
        return await desk.agents.with_models(backend, project_id)
    finally:
        slow.cancel()


def _about(model: "ModelRow") -> str:
    """What it is good for, and how hard it can be told to work."""
    known = model.description or ("" if model.passed == model.name else model.passed)
    efforts = " ".join(model.efforts)
    return " · ".join(part for part in (known, efforts and f"effort {efforts}") if part)


async def choose_agent(desk: Desk) -> None:
    """One of the agents."""
    session = _opened(desk)
    if session is None:
        return
    rows = _catalog(desk).backends
    choices = [Choice(row.name, row.label, row.program) for row in rows]
    backend = await desk.ask(Choose("Agent", choices, session.backend))
    if not backend or backend == session.backend:
        return
    if session.message_count:
        sentence = _change_of_agent(session, backend, {row.name: row.label for row in rows})
        dialog = Confirm("Change the agent", sentence, "change", harmless=True)
        if not await desk.ask(dialog):
            return
    await desk.client.call(commands.update_session, session_id=session.id, backend=backend)


def _change_of_agent(session: "Session", backend: str, labels: Mapping[str, str]) -> str:
    """What another agent will know of the conversation."""
    new, old = (labels.get(name, name) for name in (backend, session.backend))
    if (memory := session.memories.get(backend)) is None or not memory.messages:
        return (
            f"{new} begins a conversation of its own. With your next message it gets a summary of "
            f"this one, which you can read here. {old} keeps its own, should you go back to it."
        )
    if memory.messages >= session.message_count:
        return f"{new} goes on with its own conversation, in which nothing is missing."
    return (
        f"{new} goes on with its own conversation of before. With your next message it gets a "
        "summary of what happened since, which you can read here."
    )


async def choose_thinking(desk: Desk) -> None:
    """How much it thinks."""
    session = _opened(desk)
    if session is None:
        return
    levels: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
    choices = [Choice(level, level, _THINKING[level]) for level in levels]
    chosen = await desk.ask(Choose("Thinking", choices, session.thinking_level))
    level = next((level for level in levels if level == chosen), None)
    if level is not None:
        await desk.client.call(commands.update_session, session_id=session.id, thinking_level=level)


def _opened(desk: Desk) -> "Session | None":
    if desk.session is None:
        desk.say("Open a session first.")
    return desk.session


def _catalog(desk: Desk) -> "Catalog":
    return desk.agents.catalog
