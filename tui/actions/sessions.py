"""Actions about sessions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from model.base.text import clean_line
from model.commands import sessions as commands
from model.domain.resources import ExecutionMode, ThinkingLevel
from tui.actions.local import step_back
from tui.actions.scripts import stop_scripts
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm

if TYPE_CHECKING:
    from model.agents.catalog import Catalog, ModelRow
    from model.domain.resources import Session
    from tui.shell.main_screen import MainScreen

MODES: tuple[ExecutionMode, ...] = get_args(ExecutionMode)
_OTHER_MODEL = "…"
_ARCHIVE = "Archive the session"
_THINKING = {
    "off": "answers at once",
    "think": "thinks a little",
    "megathink": "thinks longer",
    "ultrathink": "thinks as long as it needs",
}


async def new_session(screen: "MainScreen") -> None:
    """Another conversation in this worktree."""
    worktree = screen.worktree
    if worktree is None:
        screen.say("Open a worktree first; ctrl+n makes one.")
        return
    session = await screen.client.call(commands.create_session, worktree_id=worktree.id)
    await screen.mirror.until(lambda state: session.id in state.sessions)
    screen.action_open_session(session.id)


async def begin_afresh(screen: "MainScreen") -> None:
    """Another conversation in this worktree, with the agent and the settings of the open one."""
    session = _opened(screen)
    if session is None:
        return
    made = await screen.client.call(
        commands.create_session,
        worktree_id=session.worktree_id,
        backend=session.backend,
        model=session.model or None,
        execution_mode=session.execution_mode,
        thinking_level=session.thinking_level,
    )
    await screen.mirror.until(lambda state: made.id in state.sessions)
    screen.action_open_session(made.id)


async def cycle_mode(screen: "MainScreen") -> None:
    """From plan to build to yolo, and round again."""
    session = _opened(screen)
    if session is None:
        return
    # Presses may be quicker than their events.
    present = screen.wanted_modes.get(session.id, session.execution_mode)
    mode = MODES[(MODES.index(present) + 1) % len(MODES)]
    screen.wanted_modes[session.id] = mode
    try:
        await screen.client.call(
            commands.update_session, session_id=session.id, execution_mode=mode
        )
        await screen.mirror.until(
            lambda state: (
                session.id not in state.sessions
                or state.sessions[session.id].execution_mode == mode
                or screen.wanted_modes.get(session.id) != mode
            )
        )
    finally:
        if screen.wanted_modes.get(session.id) == mode:
            del screen.wanted_modes[session.id]


async def stop(screen: "MainScreen") -> None:
    """Stop what runs here; without a run, escape closes what covers the chat."""
    if step_back(screen):
        return
    await stop_run(screen)


async def stop_run(screen: "MainScreen") -> None:
    """Stop what runs here, whatever has the focus."""
    session, worktree = screen.session, screen.worktree
    if session is not None and session.is_active:
        is_plan = session.waiting_for == "plan"
        screen.chat.status.show_stopping(session.id)
        try:
            await screen.client.call(commands.stop_generation, session_id=session.id)
        finally:
            screen.chat.status.show_stopping("")
        words = "The plan is set aside. /approve takes it up again." if is_plan else "Stopped."
        screen.say(words)
    elif session is None and worktree is not None and worktree.status == "creating":
        screen.action_do("cancel_git")
    elif screen.chat.key and worktree is not None and worktree.running_scripts == ["setup"]:
        screen.action_do("stop_script")


async def review_plan(screen: "MainScreen") -> None:
    """Ask again for the decision on the plan that was set aside."""
    session = screen.session
    if session is None or session.set_aside_plan is None:
        screen.say("No plan was set aside here.")
    elif session.is_active:
        screen.say("The session is at work; take the plan up again when it has ended.")
    else:
        screen.chat.reviewing = session.set_aside_plan.id
        screen.follow_session()
        screen.focus_chat()


async def stop_here(screen: "MainScreen") -> None:
    """Stop what runs in the row that the tree's cursor is on."""
    place, state = screen.projects.place, screen.state
    if place is not None and place.kind == "session" and place.id in state.sessions:
        if state.sessions[place.id].is_active:
            await screen.client.call(commands.stop_generation, session_id=place.id)
            screen.say("Stopped.")
            return
    elif place is not None and place.kind == "worktree" and place.id in state.worktrees:
        worktree = state.worktrees[place.id]
        if worktree.running_scripts:
            await stop_scripts(screen, worktree)
            return
        if worktree.status == "creating":
            screen.point_to(place)
            screen.action_do("cancel_git")
            return
    screen.say("Nothing runs in this row.")


async def rename_session(screen: "MainScreen") -> None:
    """Give the session a name."""
    session = _opened(screen)
    if session is None:
        return
    name = await screen.app.push_screen_wait(AskText("Rename the session", session.name))
    if name:
        await screen.client.call(commands.update_session, session_id=session.id, name=name)


async def previous_session(screen: "MainScreen") -> None:
    """The session before this one in its worktree."""
    _step(screen, -1)


async def next_session(screen: "MainScreen") -> None:
    """The session after this one in its worktree."""
    _step(screen, +1)


def _step(screen: "MainScreen", step: int) -> None:
    if screen.session is None:
        return
    ids = [session.id for session in screen.state.sessions_of(screen.session.worktree_id)]
    if screen.session.id in ids:
        position = ids.index(screen.session.id) + step
        screen.action_open_session(ids[position % len(ids)])


async def archive_session(screen: "MainScreen") -> None:
    """Put the session away."""
    session = _opened(screen)
    if session is None:
        return
    question = None
    if session.is_active:
        question = Confirm(_ARCHIVE, "It is at work. Stop it and put it away?", "archive")
    elif screen.state.preferences.confirm_session_close:
        sentence = f"Put “{clean_line(session.name)}” away? The archive keeps it."
        question = Confirm(_ARCHIVE, sentence, "archive", harmless=True)
    if question is not None and not await screen.app.push_screen_wait(question):
        return
    await screen.client.call(commands.archive_session, session_id=session.id)
    screen.say(f"“{session.name}” is archived; {screen.key_of('show_archive')} brings it back.")


async def delete_session(screen: "MainScreen") -> None:
    """Delete the session and its messages."""
    session = _opened(screen)
    if session is None:
        return
    sentence = f"Delete “{session.name}” and its {session.message_count} messages for good?"
    dialog = Confirm("Delete the session", sentence, "delete")
    if await screen.app.push_screen_wait(dialog):
        await screen.client.call(commands.delete_session, session_id=session.id)


async def choose_model(screen: "MainScreen") -> None:
    """One of the agent's models, or any other that its program knows."""
    session = _opened(screen)
    if session is None:
        return
    assert screen.link is not None
    catalog = await screen.link.catalog_with_models(session)
    agent = catalog.label(session.backend)
    present = catalog.offered(session.backend, session.model)
    choices = [Choice(m.name, m.label, _about(m)) for m in catalog.models(session.backend)]
    if present and present not in {choice.value for choice in choices}:
        choices.append(Choice(present, present))
    choices.append(Choice(_OTHER_MODEL, "another one…", "by its name"))
    model = await screen.app.push_screen_wait(Choose("Model", choices, present))
    if model == _OTHER_MODEL:
        sentence = f"The model's name as {agent} knows it."
        model = await screen.app.push_screen_wait(AskText("Model", sentence=sentence)) or None
    if model is not None:
        await screen.client.call(commands.update_session, session_id=session.id, model=model)


def _about(model: "ModelRow") -> str:
    """What it is good for, and how hard it can be told to work."""
    known = model.description or ("" if model.passed == model.name else model.passed)
    efforts = " ".join(model.efforts)
    return " · ".join(part for part in (known, efforts and f"effort {efforts}") if part)


async def choose_agent(screen: "MainScreen") -> None:
    """One of the agents."""
    session = _opened(screen)
    if session is None:
        return
    rows = _catalog(screen).backends
    choices = [Choice(row.name, row.label, row.program) for row in rows]
    backend = await screen.app.push_screen_wait(Choose("Agent", choices, session.backend))
    if not backend or backend == session.backend:
        return
    if session.message_count:
        sentence = _change_of_agent(session, backend, {row.name: row.label for row in rows})
        dialog = Confirm("Change the agent", sentence, "change", harmless=True)
        if not await screen.app.push_screen_wait(dialog):
            return
    await screen.client.call(commands.update_session, session_id=session.id, backend=backend)


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


async def choose_thinking(screen: "MainScreen") -> None:
    """How much it thinks."""
    session = _opened(screen)
    if session is None:
        return
    levels: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
    choices = [Choice(level, level, _THINKING[level]) for level in levels]
    chosen = await screen.app.push_screen_wait(Choose("Thinking", choices, session.thinking_level))
    level = next((level for level in levels if level == chosen), None)
    if level is not None:
        await screen.client.call(
            commands.update_session, session_id=session.id, thinking_level=level
        )


def _opened(screen: "MainScreen") -> "Session | None":
    if screen.session is None:
        screen.say("Open a session first.")
    return screen.session


def _catalog(screen: "MainScreen") -> "Catalog":
    assert screen.link is not None
    return screen.link.catalog
