"""Automatic names for sessions that the user did not name."""

import logging
from collections.abc import Iterable

import pytest

from model.backends import agent_events, base
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences.prompts import PROMPTS
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeAgent, FakeBackend, echo, silence

LONG = "The otter does not swim in cold water.\nLook why, and whether the heron has the same fault."
FIRST_WORDS = "The otter does not swim in cold water."


def is_naming_prompt(prompt: base.Prompt) -> bool:
    return prompt.text.startswith(PROMPTS["session_naming"].default)


def script_name(name: str) -> object:
    def script(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        if is_naming_prompt(prompt):
            return [agent_events.TextDelta("answer", f"<name>{name}</name>"), DONE]
        return echo(prompt)

    return script


@pytest.fixture
async def unnamed(workspace: Workspace, worktree: Worktree) -> Session:
    return await create_session(workspace, worktree.id, execution_mode="build")


def get_name(workspace: Workspace, session: Session) -> str:
    return workspace.store.state.sessions[session.id].name


def find_naming_agent(backend: FakeBackend, session: Session) -> FakeAgent | None:
    """Return the agent that was asked for a name."""
    return next((a for key, a in backend.agents.items() if key != session.id), None)


async def send(workspace: Workspace, session: Session, message: str = LONG) -> None:
    await send_chat_message(workspace, session.id, message)


async def test_a_session_is_named_by_its_first_words_and_then_by_the_agent(
    workspace: Workspace, unnamed: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    backend.script = script_name("Cold-water swimming fault")  # type: ignore[assignment]
    await send(workspace, unnamed)
    assert get_name(workspace, unnamed) == FIRST_WORDS
    await eventually(lambda: get_name(workspace, unnamed) == "Cold-water swimming fault")
    naming_agent = find_naming_agent(backend, unnamed)
    assert naming_agent is not None
    assert f"<message>\n{LONG}\n</message>" in str(naming_agent.calls[0][1])
    assert (naming_agent.launch.settings.model, naming_agent.launch.text_only) == ("haiku", True)
    page = await workspace.store.messages(unnamed.id)
    assert not any(PROMPTS["session_naming"].default in message.text for message in page.messages)


async def test_a_name_is_one_short_line(
    workspace: Workspace, unnamed: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    backend.script = script_name("\n- otter " + "swims " * 20)  # type: ignore[assignment]
    await send(workspace, unnamed)
    await eventually(lambda: get_name(workspace, unnamed).startswith("otter swims"))
    assert len(get_name(workspace, unnamed)) <= 49


async def test_a_name_set_by_the_user_meanwhile_is_kept(
    workspace: Workspace, unnamed: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    backend.script = lambda prompt: silence(prompt) if is_naming_prompt(prompt) else echo(prompt)
    await send(workspace, unnamed)
    await eventually(lambda: find_naming_agent(backend, unnamed) is not None)
    await update_session(workspace, unnamed.id, name="Mine")
    naming_agent = find_naming_agent(backend, unnamed)
    assert naming_agent is not None
    naming_agent.say(agent_events.TextFinal("answer", "<name>Not mine</name>"), DONE)
    await naming_agent.wait_for_call("close")
    # What the agent said is in the store's queue by now; this comes after it.
    await update_session(workspace, unnamed.id, execution_mode="plan")
    assert get_name(workspace, unnamed) == "Mine"


async def test_a_failure_is_logged_and_not_shown_in_the_chat(
    workspace: Workspace,
    unnamed: Session,
    backend: FakeBackend,
    eventually: Eventually,
    caplog: pytest.LogCaptureFixture,
) -> None:
    failure = agent_events.TurnFailed("The provider is overloaded.", "backend_error")
    backend.script = lambda prompt: [failure] if is_naming_prompt(prompt) else echo(prompt)
    with caplog.at_level(logging.WARNING):
        await send(workspace, unnamed)
        await eventually(lambda: find_naming_agent(backend, unnamed) is not None)
        naming_agent = find_naming_agent(backend, unnamed)
        assert naming_agent is not None
        await naming_agent.wait_for_call("close")
    assert "could not name session" in caplog.text
    assert ": The provider is overloaded." in caplog.text
    await eventually(lambda: workspace.store.state.sessions[unnamed.id].status == "idle")
    assert get_name(workspace, unnamed) == FIRST_WORDS


@pytest.mark.parametrize("message", ["Let the otter swim", "  Let the otter swim\n"])
async def test_a_short_message_is_its_own_name(
    workspace: Workspace, unnamed: Session, backend: FakeBackend, message: str
) -> None:
    await send(workspace, unnamed, message)
    assert get_name(workspace, unnamed) == "Let the otter swim"
    assert not workspace.naming.is_wanted(unnamed, message)


async def test_no_name_is_requested_for_named_sessions_later_messages_or_with_the_setting_off(
    workspace: Workspace, session: Session, unnamed: Session, backend: FakeBackend
) -> None:
    assert workspace.naming.is_wanted(unnamed, LONG)
    assert not workspace.naming.is_wanted(session, LONG)  # named by the user
    assert not workspace.naming.is_wanted(unnamed.model_copy(update={"message_count": 2}), LONG)
    await update_preferences(workspace, {"auto_session_naming": False})
    assert not workspace.naming.is_wanted(unnamed, LONG)
    await send(workspace, unnamed)
    assert get_name(workspace, unnamed) == unnamed.name


@pytest.mark.parametrize(
    ("changes", "model"),
    [
        ({"session_naming_model": "model_3"}, "sonnet"),
        (
            {
                "session_naming_model": "model_3",
                "magic_prompt_models": {"session_naming_model": "model_1"},
            },
            "opus",
        ),
    ],
)
async def test_the_naming_model_is_the_setting_unless_the_prompt_has_one_of_its_own(
    workspace: Workspace,
    unnamed: Session,
    backend: FakeBackend,
    eventually: Eventually,
    changes: dict[str, object],
    model: str,
) -> None:
    backend.script = script_name("Otter")  # type: ignore[assignment]
    await update_preferences(workspace, changes)
    await send(workspace, unnamed)
    await eventually(lambda: get_name(workspace, unnamed) == "Otter")
    naming_agent = find_naming_agent(backend, unnamed)
    assert naming_agent is not None
    assert naming_agent.launch.settings.model == model
