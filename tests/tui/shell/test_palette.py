"""The command palette: enter runs the match of the typed text, however fast keys arrive."""

import pytest
from textual import events
from textual.pilot import Pilot
from textual.style import Style
from textual.widgets import OptionList

from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.keys.word_match import WordMatch
from tui.screens.palette import Palette
from tui.shell.app import SpinneyApp


def type_at_once(app: SpinneyApp, *keys: str) -> None:
    """Post keys all at once, so that nothing is drawn between them."""
    written = {"enter": "\r", "space": " "}
    for key in keys:
        app.post_message(events.Key(key, written.get(key, key if len(key) == 1 else None)))


async def test_enter_runs_the_match_of_the_typed_text_and_not_an_earlier_one(
    start: Start,
) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 3)
        type_at_once(app, *"new", "space", *"session", "enter")
        await until(pilot, lambda: client.called("create_session"))
        assert not isinstance(app.screen, Palette)


async def test_enter_before_the_palette_is_filled_waits_for_it(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        type_at_once(app, "ctrl+p", *"new", "space", *"session", "enter")
        await until(pilot, lambda: client.called("create_session"))
        assert not isinstance(app.screen, Palette)


async def test_a_second_enter_runs_no_second_command(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.action_do("commands")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await pilot.press(*"newsession")
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count == 1)
        type_at_once(app, "enter", "enter")
        await until(pilot, lambda: client.called("create_session"))
        assert not isinstance(app.screen, Palette)
        assert len(client.called("create_session")) == 1


async def search_palette(app: SpinneyApp, pilot: "Pilot[None]", words: str) -> list[str]:
    """Open the palette, type words and return the matches, best first."""
    app.main.action_do("commands")
    await until(pilot, lambda: isinstance(app.screen, Palette))
    await pilot.press(*words)
    entries = app.screen.query_one(OptionList)
    await until(pilot, lambda: isinstance(app.screen, Palette))
    return [str(option.prompt).splitlines()[0] for option in entries.options]


async def test_a_session_is_found_by_words_of_its_name_only(start: Start) -> None:
    name = "Look at [the pears]"
    client = FakeClient(
        a_state(a_project(), a_worktree(), a_session(), a_session(id="s2", name=name))
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        assert await search_palette(app, pilot, "look pears") == [f"brave-otter ▸ {name}"]
        await pilot.press("enter")
        await until(pilot, lambda: app.main.session is not None and app.main.session.id == "s2")


async def test_a_command_is_found_by_words_of_its_description_after_those_with_such_titles(
    start: Start,
) -> None:
    async with start(a_client()) as (app, pilot):
        assert await search_palette(app, pilot, "your phone") == ["Send a test notice"]
        await pilot.press("escape")
        found = await search_palette(app, pilot, "branch")
        by_title = ["branch" in title.casefold() for title in found]
        assert any(by_title) and by_title == sorted(by_title, reverse=True)


def client_with_three_sessions() -> FakeClient:
    return FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_worktree(id="w2", name="calm-heron", created_at=2.0),
            a_session(),
            a_session(id="s2", worktree_id="w2", name="Prune the tree", created_at=2.0),
            a_session(id="s3", worktree_id="w2", name="Press cider", created_at=3.0),
        )
    )


def opened(app: SpinneyApp) -> str:
    return app.main.session.id if app.main.session is not None else ""


async def test_sessions_opened_last_come_first_and_enter_alone_opens_the_last_one(
    start: Start,
) -> None:
    async with start(client_with_three_sessions()) as (app, pilot):
        for key in ("s3", "s2", "s1"):
            app.main.open_session(key)
        first = await search_palette(app, pilot, "")
        assert first[:2] == ["calm-heron ▸ Prune the tree", "calm-heron ▸ Press cider"]
        await pilot.press("ctrl+p")
        entries = app.screen.query_one(OptionList)
        await until(pilot, lambda: entries.option_count == 2)
        await pilot.press("enter")
        await until(pilot, lambda: opened(app) == "s2")
        type_at_once(app, "ctrl+p", "ctrl+p", *"ch", "enter")  # of both the one opened last
        await until(pilot, lambda: opened(app) == "s3")
        app.main.action_do("go_to_session")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        await pilot.press(*"bra", "enter")
        await until(pilot, lambda: opened(app) == "s1")


@pytest.mark.parametrize(
    ("typed", "title", "is_found"),
    [
        ("commit", "Commit", True),
        ("cmt", "Commit", True),
        ("nw", "New worktree", True),
        ("newsession", "New session", True),
        ("tree", "New worktree", True),
        ("session new", "New session", True),
        ("look", "Go to the shell for a while; `fg` comes back", False),
        ("push pull", "Push the branch", False),
        ("e" * 24 + "z", "e " * 200, False),
    ],
)
def test_words_and_their_beginnings_match(typed: str, title: str, is_found: bool) -> None:
    assert (WordMatch(typed, Style()).match(title) > 0) is is_found


def test_whole_words_rank_before_parts_and_short_titles_before_long_ones() -> None:
    titles = ["Compare merge times", "Recommit", "Commit", "Commit what is staged"]
    match = WordMatch("commit", Style()).match
    ordered = sorted(titles[1:], key=match, reverse=True)
    assert ordered == ["Commit", "Commit what is staged", "Recommit"]
    assert WordMatch("cmt", Style()).match("Compare merge times") > 0


def test_titles_that_differ_behind_a_colon_keep_the_order_of_the_key_map() -> None:
    match = WordMatch("server", Style()).match
    assert match("Server: address, token, QR code") == match("Server: stop")
