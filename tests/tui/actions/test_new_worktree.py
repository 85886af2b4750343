"""The dialog for a new worktree, and its first message."""

from textual import events
from textual.widgets import Input

from model.domain.events.sessions import SessionCreated
from model.domain.events.worktrees import WorktreeCreated, WorktreeCreateFailed, WorktreeCreating
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications
from tests.tui.shell.test_repeated_keys import post_keys
from tests.tui.waiting import until
from tui.composer.message_area import MessageArea
from tui.screens.new_worktree import NewWorktree
from tui.store.places import Place


def a_client_that_creates() -> FakeClient:
    """A client whose new worktree is still being created, and gets the session `s9`."""
    client = FakeClient(a_state(a_project()))

    def create(_: dict[str, str]) -> object:
        worktree = a_worktree(id="new", name="swift-fox", status="creating")
        client.feed(WorktreeCreating(worktree=worktree))
        return worktree

    def create_session(given: dict[str, str]) -> object:
        session = a_session(id="s9", worktree_id=given["worktree_id"])
        client.feed(SessionCreated(session=session))
        return session

    client.answers |= {"create_worktree": create, "create_session": create_session}
    return client


async def test_a_new_worktree_gets_its_first_message_when_it_is_ready(start: Start) -> None:
    client = a_client_that_creates()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press(*"mend", "ctrl+j", *"it", "tab", *"fox", "enter")
        await until(pilot, lambda: "swift-fox  creating …" in app.main.projects.labels)
        assert client.called("create_worktree") == [
            {
                "project_id": "p1",
                "base_branch": None,
                "branch": None,
                "custom_name": "fox",
                "issue_context": None,
                "pr_context": None,
            }
        ]
        assert not client.called("create_session")
        client.feed(WorktreeCreated(worktree=a_worktree(id="new", name="swift-fox")))
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message") == [{"session_id": "s9", "message": "mend\nit"}]
        assert app.main.place == Place("session", "s9")


async def test_what_is_written_while_a_worktree_is_created_goes_to_its_session(
    start: Start,
) -> None:
    client = a_client_that_creates()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press(*"mend")
        post_keys(app, "enter", *"and test")
        await until(pilot, lambda: app.main.chat.composer.text == "and test")
        assert app.main.place == Place("worktree", "new")
        await pilot.press("enter", *"then")
        assert app.main.chat.composer.text == "then"
        client.feed(WorktreeCreated(worktree=a_worktree(id="new")))
        await until(pilot, lambda: len(client.called("send_chat_message")) == 2)
        assert [sent["message"] for sent in client.called("send_chat_message")] == [
            "mend",
            "and test",
        ]
        assert len(client.called("create_session")) == 1
        await until(pilot, lambda: app.main.place == Place("session", "s9"))
        assert app.main.chat.composer.text == "then"
        await pilot.press("!")
        assert app.main.chat.composer.text == "then!"


async def test_a_first_message_that_was_left_is_there_the_next_time(start: Start) -> None:
    async with start(FakeClient(a_state(a_project()))) as (app, pilot):
        for typed, shown in (("mend it", "mend it"), (" all", "mend it all")):
            await pilot.press("ctrl+n")
            await until(pilot, lambda: isinstance(app.screen, NewWorktree))
            await pilot.press(*typed)
            area = app.screen.query_one("#message", MessageArea)
            await until(pilot, lambda: area.text == shown)  # noqa: B023
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


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
    client = a_client_that_creates()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        await pilot.press(*"mend", "enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "new"))
        await pilot.press(*"and test", "enter", *"then")
        client.feed(WorktreeCreateFailed(id="new", project_id="p1", error="disk full"))
        await until(pilot, lambda: app.main.place == Place("project", "p1"))
        assert "disk full" in notifications(app)
        await until(pilot, lambda: any("was not sent" in text for text in notifications(app)))
        assert app.main.chat.drafts.sent_messages("p1") == ["mend", "and test", "then"]
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        assert app.screen.query_one("#message").text == "mend"  # type: ignore[attr-defined]
        assert "disk full" in str(app.screen.query_one(".problem").render())
