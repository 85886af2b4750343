"""Where there is nothing to see there is a sentence, and the key that helps."""

from collections.abc import Callable
from typing import Any

import pytest

from model.api.changes import Changes
from model.api.doctor import BackendReport
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.widgets.key_hints import KeyHints


def at_work() -> FakeClient:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
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


def a_folder(**fields: Any) -> Any:
    return a_project(id="f", name="work", is_folder=True, path="", default_branch="", **fields)


def drawn(app: SpinneyApp) -> str:
    """All that is on the screen, without frames and line breaks."""
    strips = app.screen._compositor.render_strips(app.screen.size)
    text = " ".join("".join(segment.text for segment in strip) for strip in strips)
    return " ".join(text.replace("│", " ").split())


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
async def test_the_next_step_has_a_sentence_and_a_key(what: str, start: Start) -> None:
    client, sentence, key = STEPS[what]
    async with start(client()) as (app, pilot):
        await until(pilot, lambda: sentence in drawn(app))
        assert key in drawn(app)
        # And the foot names nothing that would only be refused.
        hints = app.main.query_one(KeyHints).text
        assert "diff" not in hints
        assert "new session" not in hints


async def test_an_empty_folder_says_what_it_is_for(start: Start) -> None:
    async with start(FakeClient(a_state(a_folder(), a_project()))) as (app, pilot):
        app.main.open_place(Place("project", "f"))
        await until(pilot, lambda: "Choose a project in this folder" in drawn(app))
        assert "enter Add a project by path" in drawn(app)


async def test_a_worktree_says_what_it_is_for_and_what_it_has(start: Start) -> None:
    facts = {"issue_number": 12, "cached_branch_diff_added": 10, "cached_unpushed_count": 2}
    client = FakeClient(a_state(a_project(), a_worktree(**facts)))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        words = "for issue #12 · +10 −0 since main · 2 unpushed commits"
        await until(pilot, lambda: words in drawn(app))


async def test_a_worktree_without_a_session_can_be_written_to(start: Start) -> None:
    async with start(without_sessions()) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: "No sessions yet" in drawn(app))
        assert "^t empty session" in drawn(app)
        assert app.main.focused is app.main.chat.composer


VIEWS = {
    "an empty archive": (at_work, "show_archive", "", "The archive is empty."),
    "no hit in the archive": (at_work, "show_archive", "zz", "No matches."),
    "an empty canvas": (without_sessions, "canvas", "", "ctrl+n to create a worktree"),
    "no hit on the canvas": (at_work, "canvas", "zz", "No session matches 'zz'. Press"),
    "no hit in the search": (at_work, "search", "zz", "No messages match"),
    "no changes": (at_work, "open_diff", "", "v shows the other sides"),
    "no hit in the settings": (at_work, "preferences", "zzz", "Press backspace"),
    "no hit in the keys": (at_work, "edit_keys", "zzz", "Press backspace"),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("what", VIEWS)
async def test_a_view_without_anything_says_so(what: str, start: Start) -> None:
    client, action, keys, sentence = VIEWS[what]
    async with start(client()) as (app, pilot):
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*keys)
        await until(pilot, lambda: sentence in drawn(app))


async def test_a_filter_without_a_hit_says_how_it_ends(start: Start) -> None:
    async with start(at_work()) as (app, pilot):
        app.main.projects.focus()
        await pilot.press(*"zz")
        await until(pilot, lambda: "nothing found · esc: all" in drawn(app))
