"""The tree, and the actions on projects, worktrees and sessions."""

from dataclasses import asdict
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, Static

from model.agents.catalog import BUILT_IN
from model.api.doctor import AgentKind, AgentModel
from model.backends.model_lists import ModelList, OfferedModel, apply_model_lists
from model.domain import events as e
from model.domain.resources import AgentMemory
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.screens.add_project import AddProject
from tui.screens.choose import Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import NewWorktree
from tui.store.places import Place


def client_with_two_sessions() -> FakeClient:
    return FakeClient(
        a_state(
            a_project(),
            a_worktree(cached_uncommitted_added=12, cached_uncommitted_removed=3),
            a_session(created_at=1.0),
            a_session(id="s2", name="Rename the store", created_at=2.0),
        )
    )


def make_repository(folder: Path) -> None:
    """Make the folder look like a repository."""
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


async def test_the_tree_shows_projects_worktrees_and_sessions_with_their_state(
    start: Start,
) -> None:
    async with start(client_with_two_sessions()) as (app, _):
        assert app.main.projects.labels == [
            "alpha  main",
            "brave-otter +12 −3",
            "· Fix the parser",
            "· Rename the store",
        ]


async def test_a_row_keeps_its_node_when_its_state_changes(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        before = {key: id(node) for key, node in tree._rows.items()}
        client.feed(
            e.SessionUpdated(
                session_id="s2", updates={"status": "waiting", "waiting_for": "question"}
            )
        )
        await until(pilot, lambda: "? Rename the store question" in tree.labels)
        assert {key: id(node) for key, node in tree._rows.items()} == before


async def test_new_rows_are_inserted_in_order_and_others_keep_their_nodes(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        node = tree._rows[Place("session", "s2")]
        client.feed(
            e.ProjectAdded(project=a_project(id="p2", name="beta", added_at=2.0)),
            e.WorktreeCreating(
                worktree=a_worktree(id="w2", name="calm", created_at=0.5, status="creating")
            ),
            e.SessionCreated(session=a_session(id="s3", name="First", created_at=0.5)),
        )
        await until(pilot, lambda: len(tree.labels) == 7)
        assert tree.labels == [
            "alpha  main",
            "calm  creating …",
            "brave-otter +12 −3",
            "· First",
            "· Fix the parser",
            "· Rename the store",
            "beta  main",
        ]
        assert tree._rows[Place("session", "s2")] is node


async def test_archived_and_deleted_items_leave_the_tree(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        client.feed(e.SessionArchived(session_id="s1", archived_at=1.0))
        await until(pilot, lambda: len(app.main.projects.labels) == 3)
        client.feed(e.WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.main.projects.labels == ["alpha  main"])


async def test_a_folded_row_shows_the_most_urgent_mark_below_it(start: Start) -> None:
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_session(status="running"),
            a_session(id="s2", status="waiting", waiting_for="plan"),
        )
    )
    async with start(client) as (app, pilot):
        tree = app.main.projects
        tree._rows[Place("worktree", "w1")].collapse()
        await until(pilot, lambda: "brave-otter ?" in tree.labels)
        tree._rows[Place("project", "p1")].collapse()
        await until(pilot, lambda: "alpha ?  main" in tree.labels)


async def test_hostile_names_are_escaped_and_have_no_effect(start: Start) -> None:
    name = "[/] [@click=app.exit]x[/] \x1b[31mred"
    client = FakeClient(
        a_state(
            a_project(name=name),
            a_worktree(name=name),
            a_session(name=name),
            a_session(id="s2", name="\n\x1b"),
        )
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press("escape", "f4")
        await pilot.pause()
        assert "[/] [@click=app.exit]x[/] ␛[31mred" in app.main.projects.labels[0]
        assert "\x1b" not in "".join(app.main.projects.labels)
        assert app.is_running


async def test_when_the_open_session_is_deleted_another_or_its_worktree_is_opened(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s2")
        client.feed(e.SessionDeleted(session_id="s2"))
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
        client.feed(e.SessionDeleted(session_id="s1"))
        await until(pilot, lambda: app.main.place == Place("worktree", "w1"))
        assert "No sessions yet" in app.main.chat.welcome.step.sentence


async def test_focus_stays_in_the_tree_when_the_open_session_is_archived(
    start: Start,
) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s2")
        app.main.projects.focus()
        client.feed(e.SessionArchived(session_id="s2", archived_at=1.0))
        await until(pilot, lambda: app.main.chat.session_id == "s1")
        assert app.main.focused is app.main.projects
        assert app.main.projects.place == Place("session", "s1")
        client.feed(e.SessionArchived(session_id="s1", archived_at=1.0))
        await until(pilot, lambda: app.main.place == Place("worktree", "w1"))
        assert app.main.focused is app.main.projects
        assert app.main.projects.place == Place("worktree", "w1")
        client.feed(e.WorktreeDeleted(worktree_id="w1", project_id="p1"))
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


async def test_the_offered_repository_is_added_by_enter(start: Start, tmp_path: Path) -> None:
    make_repository(tmp_path)
    (tmp_path / "deep").mkdir()
    client = FakeClient()

    def add(given: dict[str, str]) -> object:
        project = a_project(path=given["path"])
        client.feed(e.ProjectAdded(project=project))
        return project

    client.answers["add_project"] = add
    async with start(client, offer_path=tmp_path / "deep") as (app, pilot):
        assert str(tmp_path) in app.main.chat.welcome.step.offer
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("project", "p1"))
        assert client.called("add_project") == [{"path": str(tmp_path)}]
        assert "No worktrees yet" in app.main.chat.welcome.step.sentence


async def test_another_repository_is_offered_even_if_there_are_projects(
    start: Start, tmp_path: Path
) -> None:
    make_repository(tmp_path)
    client = a_client()
    async with start(client, offer_path=tmp_path) as (app, _):
        assert str(tmp_path) in app.main.chat.welcome.step.offer
        assert app.main.chat.welcome.has_focus


async def test_in_a_known_repository_its_own_session_is_opened(
    start: Start, tmp_path: Path
) -> None:
    make_repository(tmp_path)
    client = FakeClient(
        a_state(
            a_project(),
            a_project(id="p2", path=str(tmp_path)),
            a_worktree(),
            a_worktree(id="w2", project_id="p2"),
            a_session(updated_at=9.0),
            a_session(id="s2", worktree_id="w2"),
        )
    )
    async with start(client, offer_path=tmp_path) as (app, _):
        assert app.main.place == Place("session", "s2")


async def test_a_folder_that_is_not_a_repository_is_reported(start: Start, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # empty, as agents' sandboxes leave it
    async with start(FakeClient(), offer_path=tmp_path) as (app, pilot):
        assert "is not a git repository" in app.main.chat.welcome.step.sentence
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not app.main)
        assert app.screen.query_one(Input).has_focus


async def test_adding_a_project_that_fails_asks_again_with_the_error(start: Start) -> None:
    client = FakeClient()
    client.refuse("add_project", "Path is not a git repository: /x")
    async with start(client) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not app.main)
        first = app.screen
        await pilot.press(*"/x", "enter")
        await until(pilot, lambda: app.screen not in (first, app.main))
        assert app.screen.query_one(Input).value == "/x"
        assert "not a git repository" in str(app.screen.query(".problem").first().render())


def remove_agents(client: FakeClient) -> FakeClient:
    """Report every agent as not installed."""
    check = client.answers["list_backends"]
    missing = {
        "program": None,
        "problem": "It is missing. Install it with: get it",
        "fix": "get it",
    }
    client.answers["list_backends"] = lambda given: [
        report.model_copy(update=missing) for report in check(given)
    ]
    return client


async def test_without_agents_it_says_how_to_install_them_and_projects_can_be_added(
    start: Start,
) -> None:
    client = remove_agents(FakeClient(a_state(a_project())))
    async with start(client) as (app, pilot):
        await until(pilot, lambda: "No agent" in app.main.chat.welcome.step.title)
        assert "Claude Code: get it" in app.main.chat.welcome.step.sentence
        assert ("f3", "add a project") in app.main.chat.welcome.step.more
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, AddProject))


async def test_without_agents_and_projects_adding_a_project_is_offered_first(start: Start) -> None:
    client = remove_agents(FakeClient())
    async with start(client) as (app, pilot):
        await until(pilot, lambda: client.called("list_backends"))
        await pilot.pause()
        assert app.main.chat.welcome.step.action == "add_project"


async def test_a_new_worktree_gets_its_first_message_when_it_is_ready(start: Start) -> None:
    client = FakeClient(a_state(a_project()))

    def create(given: dict[str, str]) -> object:
        worktree = a_worktree(id="new", name="swift-fox", status="creating")
        client.feed(e.WorktreeCreating(worktree=worktree))
        return worktree

    def create_session(given: dict[str, str]) -> object:
        session = a_session(id="s9", worktree_id=given["worktree_id"])
        client.feed(e.SessionCreated(session=session))
        return session

    client.answers |= {"create_worktree": create, "create_session": create_session}
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press(*"mend", "ctrl+j", *"it", "tab", *"fox", "enter")
        await until(pilot, lambda: "swift-fox  creating …" in app.main.projects.labels)
        assert client.called("create_worktree") == [
            {
                "project_id": "p1",
                "base_branch": None,
                "custom_name": "fox",
                "issue_context": None,
                "pr_context": None,
            }
        ]
        assert not client.called("create_session")
        client.feed(e.WorktreeCreated(worktree=a_worktree(id="new", name="swift-fox")))
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message") == [{"session_id": "s9", "message": "mend\nit"}]
        assert app.main.place == Place("session", "s9")


async def test_keys_that_follow_a_tab_in_one_burst_go_into_the_next_field(
    start: Start,
) -> None:
    async with start(FakeClient(a_state(a_project()))) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.pause()
        for key, character in (("a", "a"), ("tab", "\t"), ("b", "b")):
            app.post_message(events.Key(key, character))
        await until(pilot, lambda: app.screen.query_one("#name", Input).value == "b")
        assert app.screen.query_one("#message").text == "a"  # type: ignore[attr-defined]


async def test_a_refused_worktree_shows_the_reason_and_keeps_the_message(
    start: Start,
) -> None:
    client = FakeClient(a_state(a_project()))
    client.refuse("create_worktree", "Branch already exists: fox", "conflict")
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        first = app.screen
        await pilot.press(*"mend", "enter")
        await until(pilot, lambda: app.screen not in (first, app.main))
        assert "already exists" in str(app.screen.query(".problem").first().render())
        assert app.screen.query_one("#message").text == "mend"  # type: ignore[attr-defined]


async def test_a_failed_worktree_keeps_its_message_for_the_next_attempt(start: Start) -> None:
    client = FakeClient(a_state(a_project()))

    def create(given: dict[str, str]) -> object:
        worktree = a_worktree(id="new", status="creating")
        client.feed(e.WorktreeCreating(worktree=worktree))
        return worktree

    client.answers["create_worktree"] = create
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press(*"mend", "enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "new"))
        client.feed(e.WorktreeCreateFailed(id="new", project_id="p1", error="disk full"))
        await until(pilot, lambda: app.main.place == Place("project", "p1"))
        assert "disk full" in notifications(app)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        assert app.screen.query_one("#message").text == "mend"  # type: ignore[attr-defined]
        assert "disk full" in str(app.screen.query_one(".problem").render())


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
            await pilot.press("home" if field != "backend" else "end", "enter")
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
    client.feed(e.SessionUpdated(session_id="s1", updates=updates))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: app.main.session is not None)
        for key in ("escape", "enter"):
            app.main.action_do("choose_agent")
            await until(pilot, lambda: isinstance(app.screen, Choose))
            await pilot.press("home", "down", "enter")
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            said = " ".join(str(part.render()) for part in app.screen.query(Static))
            assert words in " ".join(said.split())
            assert client.called("update_session") == []
            await pilot.press(key)
            await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["backend"] == "backend_b"


async def test_the_models_that_an_agent_reports_are_offered_with_default_and_efforts(
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
        client.feed(e.SessionUpdated(session_id="s1", updates={"answering_model": "opus-9"}))
        client.feed(e.ModelsUpdated(backend="backend_a"))
        await until(pilot, lambda: "Opus 9" in app.main.chat.status.text)
        app.main.action_do("choose_model")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        assert isinstance(app.screen, Choose)
        shown = [(choice.label, choice.description) for choice in app.screen.choices]
        assert shown == [
            ("Default (Opus 9)", "effort low max"),
            ("Opus 9", "effort low max"),
            ("other …", "enter a name"),
        ]
        assert app.screen.present == "opus"
        await pilot.press("home", "enter")
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["model"] == ""


async def test_any_model_name_can_be_entered(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("choose_model")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"opus-9", "enter")
        await until(pilot, lambda: client.called("update_session"))
        assert client.called("update_session")[0]["model"] == "opus-9"


async def test_a_custom_agent_is_offered_and_shown_by_its_name(start: Start) -> None:
    client = client_with_two_sessions()
    own = AgentKind(name="acp:loom", label="The Loom", program="loom", models=[])
    client.answers["list_agents"] = lambda given: [own]
    client.feed(e.SessionUpdated(session_id="s1", updates={"backend": "acp:loom"}))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "The Loom" in app.main.chat.status.text)
        app.main.action_do("choose_agent")
        await until(pilot, lambda: app.screen is not app.main)
        assert isinstance(app.screen, Choose)
        assert [choice.label for choice in app.screen.choices] == ["The Loom"]


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (e.SessionArchived(session_id="s1", archived_at=1.0), "f8 restores both"),
        (e.SessionDeleted(session_id="s1"), "↑ restores"),
    ],
    ids=["archived", "deleted"],
)
async def test_the_draft_of_a_vanished_session_is_kept_and_not_shown_in_another_box(
    start: Start, gone: e.Event, words: str
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
        if isinstance(gone, e.SessionArchived):
            assert app.main.chat.drafts.get("s1").text == "half a"
        else:
            await pilot.press("up")
            await until(pilot, lambda: box.text == "half a")
