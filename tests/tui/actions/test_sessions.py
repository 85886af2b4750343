"""The actions on sessions: which one opens next, and its agent, model and thinking level."""

from dataclasses import asdict

import pytest
from textual.widgets import Static

from model.agents.catalog import BUILT_IN
from model.api.doctor import AgentKind, AgentModel
from model.backends.model_lists import ModelList, OfferedModel, apply_model_lists
from model.domain.events.base import Event
from model.domain.events.program import ModelsUpdated
from model.domain.events.sessions import SessionArchived, SessionDeleted, SessionUpdated
from model.domain.events.worktrees import WorktreeDeleted
from model.domain.sessions import AgentMemory
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, client_with_two_sessions
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.screens.dialog import Confirm
from tui.screens.pick import Pick
from tui.store.places import Place


async def test_when_the_open_session_is_deleted_another_or_its_worktree_is_opened(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s2")
        client.feed(SessionDeleted(session_id="s2"))
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
        client.feed(SessionDeleted(session_id="s1"))
        await until(pilot, lambda: app.main.place == Place("worktree", "w1"))
        assert "No sessions yet" in app.main.chat.welcome.step.sentence


async def test_focus_stays_in_the_tree_when_the_open_session_is_archived(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s2")
        app.main.projects.focus()
        client.feed(SessionArchived(session_id="s2", archived_at=1.0))
        await until(pilot, lambda: app.main.chat.session_id == "s1")
        assert app.main.focused is app.main.projects
        # The worktree and its only session are one row.
        await until(pilot, lambda: app.main.projects.place == Place("worktree", "w1"))
        client.feed(SessionArchived(session_id="s1", archived_at=1.0))
        await until(pilot, lambda: app.main.place == Place("worktree", "w1"))
        assert app.main.focused is app.main.projects
        assert app.main.projects.place == Place("worktree", "w1")
        client.feed(WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.main.projects.place == Place("project", "p1"))
        assert app.main.focused is app.main.projects


async def test_ctrl_space_cycles_through_waiting_sessions(start: Start) -> None:
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_session(),
            a_session(id="s2", status="waiting", waiting_for="plan", updated_at=1.0),
            a_session(id="s3", status="waiting", waiting_for="plan", updated_at=2.0),
        )
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        seen = []
        for _ in range(3):
            before = app.main.place
            await pilot.press("ctrl+@")
            await until(pilot, lambda before=before: app.main.place != before)  # type: ignore[misc]
            seen.append(app.main.place.id)  # type: ignore[union-attr]
        assert seen == ["s2", "s3", "s2"]


async def test_the_model_agent_and_thinking_of_a_session_are_chosen_from_lists(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        for action, field in (
            ("choose_model", "model"),
            ("choose_agent", "backend"),
            ("choose_thinking", "thinking_level"),
        ):
            app.main.action_do(action)
            await until(pilot, lambda: app.screen is not app.main)
            await pilot.press(*(["down"] if field == "backend" else []), "enter")
            await until(
                pilot,
                lambda field=field: any(field in call for call in client.called("update_session")),  # type: ignore[misc]
            )
            await until(pilot, lambda: app.screen is app.main)
        assert [set(call) - {"session_id"} for call in client.called("update_session")] == [
            {"model"},
            {"backend"},
            {"thinking_level"},
        ]


@pytest.mark.parametrize(
    ("memories", "words"),
    [
        ({}, "includes a summary of this one"),
        ({"backend_b": AgentMemory(messages=2)}, "a summary of what happened since"),
        ({"backend_b": AgentMemory(messages=4)}, "which is up to date"),
    ],
)
async def test_a_change_of_agent_explains_what_the_new_one_will_know(
    start: Start, memories: dict[str, AgentMemory], words: str
) -> None:
    client = client_with_two_sessions()
    kept = {name: memory.model_dump() for name, memory in memories.items()}
    updates = {"backend": "backend_a", "message_count": 4, "memories": kept}
    client.feed(SessionUpdated(session_id="s1", updates=updates))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: app.main.session is not None)
        for key in ("escape", "enter"):
            app.main.action_do("choose_agent")
            await until(pilot, lambda: isinstance(app.screen, Pick))
            await pilot.press("down", "enter")
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            said = " ".join(str(part.render()) for part in app.screen.query(Static))
            assert words in " ".join(said.split())
            assert client.called("update_session") == []
            await pilot.press(key)
            await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["backend"] == "backend_b"


async def test_the_models_that_an_agent_reports_are_offered_with_the_default(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    opus = OfferedModel(name="opus", label="Opus 9", efforts=["low", "max"], answers_as="opus-9")
    reported = ModelList(models=[opus], default="opus-9")
    (row, *_) = apply_model_lists(BUILT_IN, {"backend_a": reported}).backends
    models = [
        AgentModel.model_validate({**asdict(model), "answers_as": model.full_name})
        for model in row.models
    ]
    kind = AgentKind(name=row.name, label=row.label, program=row.program, models=models)
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "Opus" in app.main.chat.status.text)
        client.answers["list_agents"] = lambda given: [kind]
        client.feed(SessionUpdated(session_id="s1", updates={"answering_model": "opus-9"}))
        client.feed(ModelsUpdated(backend="backend_a"))
        await until(pilot, lambda: "Opus 9" in app.main.chat.status.text)
        app.main.action_do("choose_model")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert isinstance(app.screen, Pick)
        assert [choice.label for choice in app.screen.shown] == ["Default (Opus 9)", "Opus 9"]
        assert app.screen.present == "opus"
        await pilot.press(*"def", "enter")
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["model"] == ""


async def test_any_model_name_can_be_typed(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("choose_model")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press(*"opus-9", "enter")
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["model"] == "opus-9"


async def test_a_custom_agent_is_offered_and_shown_by_its_name(start: Start) -> None:
    client = client_with_two_sessions()
    own = AgentKind(name="acp:loom", label="The Loom", program="loom", models=[])
    client.answers["list_agents"] = lambda given: [own]
    client.feed(SessionUpdated(session_id="s1", updates={"backend": "acp:loom"}))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "The Loom" in app.main.chat.status.text)
        app.main.action_do("choose_agent")
        await until(pilot, lambda: app.screen is not app.main)
        assert isinstance(app.screen, Pick)
        assert [choice.label for choice in app.screen.shown] == ["The Loom"]


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (SessionArchived(session_id="s1", archived_at=1.0), "f8 restores both"),
        (SessionDeleted(session_id="s1"), "↑ restores"),
    ],
    ids=["archived", "deleted"],
)
async def test_the_draft_of_a_vanished_session_is_kept_and_not_shown_in_another_box(
    start: Start, gone: Event, words: str
) -> None:
    other = a_session(id="s2", name="Other work")
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(), other))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        box = app.main.chat.composer
        await pilot.press(*"half a")
        await until(pilot, lambda: box.text == "half a")
        client.feed(gone)
        await until(pilot, lambda: any(words in note for note in notifications(app)))
        await until(pilot, lambda: app.main.chat.key == "s2")
        assert box.text == ""
        if isinstance(gone, SessionArchived):
            assert app.main.chat.drafts.get("s1").text == "half a"
        else:
            await pilot.press("up")
            await until(pilot, lambda: box.text == "half a")
