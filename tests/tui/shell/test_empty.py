"""Empty screens show a sentence and the key of the next step."""

from collections.abc import Callable

import pytest

from model.api.changes import Changes
from model.api.doctor import BackendReport
from tests.tui.builders import a_folder, a_project, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_text
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.widgets.key_hints import KeyHints


def with_session() -> FakeClient:
    client = a_client()
    client.answers |= {
        "search_messages": lambda given: [],
        "list_changed_files": lambda given: Changes(files=[], base="main", operation=None),
    }
    return client


def without_sessions() -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree()))


def without_agents() -> FakeClient:
    client = FakeClient(a_state(a_project()))
    report = BackendReport(
        name="backend_a", label="Claude Code", program=None, version=None, supported=False,
        signed_in=None, problem="It is not installed.", fix="npm install claude",
    )  # fmt: skip
    client.answers["list_backends"] = lambda given: [report]
    return client


def unframed_text(app: SpinneyApp) -> str:
    """The text of the screen, without frames and line breaks."""
    return " ".join(screen_text(app).replace("│", " ").split())


STEPS: dict[str, tuple[Callable[[], FakeClient], str, str]] = {
    "no project": (FakeClient, "Add a git repository", "enter Add a project by path"),
    "only a folder": (
        lambda: FakeClient(a_state(a_folder())),
        "Add a git repository",
        "enter Add a project by path",
    ),
    "no worktree": (
        lambda: FakeClient(a_state(a_project())),
        "No worktrees yet",
        "enter New worktree",
    ),
    "no agent": (without_agents, "npm install claude", "enter Check again"),
}


@pytest.mark.parametrize("what", STEPS)
async def test_the_next_step_is_shown_with_its_key(what: str, start: Start) -> None:
    client, sentence, key = STEPS[what]
    async with start(client()) as (app, pilot):
        await until(pilot, lambda: sentence in unframed_text(app))
        assert key in unframed_text(app)
        # The key hints omit actions that would only be refused.
        hints = app.main.query_one(KeyHints).text
        assert "diff" not in hints
        assert "new session" not in hints


async def test_an_empty_folder_explains_its_purpose(start: Start) -> None:
    async with start(FakeClient(a_state(a_folder(), a_project()))) as (app, pilot):
        app.main.open_place(Place("project", "f"))
        await until(pilot, lambda: "Choose a project in this folder" in unframed_text(app))
        assert "enter Add a project by path" in unframed_text(app)


async def test_a_worktree_shows_its_issue_and_its_changes(start: Start) -> None:
    facts = {"issue_number": 12, "cached_branch_diff_added": 10, "cached_unpushed_count": 2}
    client = FakeClient(a_state(a_project(), a_worktree(**facts)))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        words = "for issue #12 · +10 −0 since main · 2 unpushed commits"
        await until(pilot, lambda: words in unframed_text(app))


async def test_a_worktree_without_a_session_can_be_written_to(start: Start) -> None:
    async with start(without_sessions()) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: "No sessions yet" in unframed_text(app))
        assert "^t empty session" in unframed_text(app)
        assert app.main.focused is app.main.chat.composer


VIEWS = {
    "an empty archive": (with_session, "show_archive", "", "The archive is empty."),
    "no hit in the archive": (with_session, "show_archive", "zz", "No matches."),
    "an empty canvas": (without_sessions, "canvas", "", "ctrl+n to create a worktree"),
    "no hit on the canvas": (with_session, "canvas", "zz", "No session matches 'zz'. Press"),
    "no hit in the search": (with_session, "search", "zz", "No messages match"),
    "no changes": (with_session, "open_diff", "", "appears at once"),
    "no hit in the settings": (with_session, "preferences", "zzz", "Press backspace"),
    "no hit in the keys": (with_session, "edit_keys", "zzz", "Press backspace"),
}


@pytest.mark.parametrize("what", VIEWS)
async def test_an_empty_view_says_so(what: str, start: Start) -> None:
    client, action, keys, sentence = VIEWS[what]
    async with start(client()) as (app, pilot):
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*keys)
        await until(pilot, lambda: sentence in unframed_text(app))


async def test_a_filter_without_matches_says_how_to_end_it(start: Start) -> None:
    async with start(with_session()) as (app, pilot):
        app.main.projects.focus()
        await pilot.press(*"zz")
        await until(pilot, lambda: "nothing found · esc: all" in unframed_text(app))
