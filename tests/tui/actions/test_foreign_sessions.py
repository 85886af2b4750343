"""Conversations of the agents' own screens: continued here, and the way back."""

from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.events.sessions import SessionCreated
from model.domain.foreign_sessions import ForeignSession, ForeignSessions, ResumeCommand
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.fake_desk import FakeDesk
from tui.actions import foreign_sessions
from tui.screens.choose import Choice
from tui.screens.dialog import Report
from tui.screens.pick import Pick
from tui.store.places import Place


def a_conversation(**fields: Any) -> ForeignSession:
    known = {"backend": "backend_a", "agent": "Claude Code", "conversation_id": "c1"}
    more = {"title": "Warp\x1b", "directory": "/w1", "updated_at": 0.0, "origin": "terminal"}
    return ForeignSession(**{**known, **more, **fields})


def a_desk(found: ForeignSessions, *answers: Any) -> FakeDesk:
    state = a_state(a_project(), a_worktree(), a_session())
    client = FakeClient(state)

    def continue_session(given: dict[str, Any]) -> Any:
        session = a_session(id="s2")
        client.feed(SessionCreated(session=session))
        return session

    client.answers |= {
        "list_foreign_sessions": lambda given: found,
        "continue_foreign_session": continue_session,
        "get_resume_command": lambda given: ResumeCommand(
            command="cd /w1 && claude --resume c1",
            directory="/w1",
            arguments=["claude"],
            note="Hm.",
        ),
    }
    return FakeDesk(client, Place("session", "s1"), *answers)


async def test_conversations_are_listed_with_where_they_were_begun() -> None:
    other = a_conversation(conversation_id="c2", directory="/repo", branch="main", origin="")
    desk = a_desk(ForeignSessions(sessions=[a_conversation(), other], problems=["Codex: no."]))
    await foreign_sessions.continue_foreign_session(desk)
    (dialog,) = desk.dialogs
    assert isinstance(dialog, Pick)
    choices = await dialog._load()
    assert [choice.value for choice in choices] == ["backend_a c1", "backend_a c2"]
    assert choices[0].description.startswith("Claude Code · terminal · ")
    assert "main · in repo, continued in a copy" in choices[1].description
    assert desk.said == ["Codex: no."]
    assert not desk.client.called("continue_foreign_session")


async def test_a_chosen_conversation_is_opened_as_a_session() -> None:
    desk = a_desk(ForeignSessions(sessions=[a_conversation()]))

    async def choose(dialog: Any) -> Choice:
        return (await dialog._load())[0]

    desk.ask = choose  # type: ignore[method-assign]
    await foreign_sessions.continue_foreign_session(desk)
    assert desk.client.called("continue_foreign_session") == [
        {"worktree_id": "w1", "backend": "backend_a", "conversation_id": "c1"}
    ]
    assert desk.opened == ["s2"]


async def test_without_conversations_the_list_says_so() -> None:
    desk = a_desk(ForeignSessions())
    await foreign_sessions.continue_foreign_session(desk)
    with pytest.raises(SpinneyError, match="No other conversation from an agent's own screen"):
        await desk.dialogs[0]._load()


async def test_the_command_for_the_agents_own_screen_is_shown_and_copied() -> None:
    desk = a_desk(ForeignSessions())
    await foreign_sessions.continue_elsewhere(desk)
    (dialog,) = desk.dialogs
    assert isinstance(dialog, Report)
    assert "claude --resume c1" in dialog.content.plain and "Hm." in dialog.content.plain
    assert desk.copied == ["cd /w1 && claude --resume c1"]
