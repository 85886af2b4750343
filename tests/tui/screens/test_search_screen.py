"""The search over all messages: quick as one types, narrowed to a project, and the way there."""

import asyncio
from collections.abc import Iterable
from typing import Any

from textual.widgets import Input

from model.api.search import SearchHit
from model.domain import events as e
from model.domain.resources import Session
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_message, a_project, a_session, a_state, a_worktree
from tui.screens.dialog import Confirm
from tui.screens.search import PAGE, Search
from tui.store.places import Place


def hits(session: Session, ids: Iterable[str]) -> list[SearchHit]:
    return [
        SearchHit(
            session=session, message_id=key, role="user", timestamp=1.0, snippet=f"said {key}"
        )
        for key in ids
    ]


def a_client(**session: Any) -> FakeClient:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(**session)))
    client.messages["s1"] = [a_message(f"m{number}") for number in range(1500)]
    return client


async def open_search(app: Any, pilot: Any) -> Search:
    app.main.action_do("search")
    await until(pilot, lambda: isinstance(app.screen, Search))
    assert isinstance(app.screen, Search)
    return app.screen


def note(screen: Search) -> str:
    return str(screen.query_one(".note").render())


async def test_enter_goes_to_the_message_however_far_back_it_is(start: Start) -> None:
    client = a_client()
    client.answers["search_messages"] = lambda given: hits(a_session(), ["m3"])
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press(*"m3")
        await until(pilot, lambda: search.hits)
        assert "1 found in all projects" in note(search)
        await pilot.press("enter")

        def top() -> str | None:
            transcript = app.main.chat.transcript
            window = transcript.viewport if transcript is not None else None
            return window.anchor.message_id if window and window.anchor else None

        await until(pilot, lambda: top() == "m3")
        assert app.main.place == Place("session", "s1")


async def test_keys_that_come_quickly_make_one_search_of_the_whole_words(start: Start) -> None:
    client = a_client()
    client.answers["search_messages"] = lambda given: hits(a_session(), ["m1"])
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        for text in ("d", "do", "doo", "door"):
            search.query_one(Input).value = text
        await until(pilot, lambda: search.hits)
        assert [given["query"] for given in client.called("search_messages")] == ["door"]


async def test_an_older_answer_never_replaces_a_newer_one(start: Start) -> None:
    client = a_client()
    never = asyncio.Event()

    async def answer(given: dict[str, Any]) -> list[SearchHit]:
        if given["query"] == "slow":
            await never.wait()
        return hits(a_session(), [given["query"]])

    client.answers["search_messages"] = answer
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        search.query_one(Input).value = "slow"
        await until(pilot, lambda: client.called("search_messages"))
        search.query_one(Input).value = "quick"
        await until(pilot, lambda: search.hits)
        never.set()
        await pilot.pause()
        assert [hit.message_id for hit in search.hits] == ["quick"]


async def test_tab_searches_this_project_alone(start: Start) -> None:
    client = a_client()
    client.answers["search_messages"] = lambda given: []
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        search = await open_search(app, pilot)
        await pilot.press(*"x")
        await until(pilot, lambda: client.called("search_messages"))
        await pilot.press("tab")
        await until(pilot, lambda: "in alpha" in note(search))
        assert client.called("search_messages")[-1]["project_id"] == "p1"
        assert client.called("search_messages")[0]["project_id"] is None
        await until(pilot, lambda: "No messages match" in note(search))


async def test_more_are_found_at_the_end_of_the_list(start: Start) -> None:
    client = a_client()
    every = [f"m{number}" for number in range(100)]
    client.answers["search_messages"] = lambda given: hits(a_session(), every[: given["limit"]])
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: len(search.hits) == PAGE)
        assert "or more" in note(search)
        for _ in range(PAGE):
            await pilot.press("down")
        await until(pilot, lambda: len(search.hits) == 2 * PAGE)


async def test_a_hit_in_the_archive_is_brought_back_if_one_wants_that(start: Start) -> None:
    client = a_client(archived_at=5.0)
    archived = a_session(archived_at=5.0)
    client.answers["search_messages"] = lambda given: hits(archived, ["m3"])

    def bring_back(given: dict[str, Any]) -> None:
        client.feed(e.SessionUpdated(session_id="s1", updates={"archived_at": None}))

    client.answers["unarchive_session"] = bring_back
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: search.hits)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
