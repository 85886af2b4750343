"""The search over all messages: debounced, limited to a project, and opening a result."""

import asyncio
from collections.abc import Iterable
from typing import Any

from textual.widgets import Input

from model.api.search import SearchHit
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import Session
from tests.tui.builders import a_message, a_session
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.screens.dialog import Confirm
from tui.screens.search import PAGE, Search
from tui.store.places import Place


def make_hits(session: Session, ids: Iterable[str]) -> list[SearchHit]:
    return [
        SearchHit(
            session=session, message_id=key, role="user", timestamp=1.0, snippet=f"said {key}"
        )
        for key in ids
    ]


def client_with_long_conversation(**session: Any) -> FakeClient:
    client = a_client(**session)
    client.messages["s1"] = [a_message(f"m{number}") for number in range(1500)]
    return client


async def open_search(app: Any, pilot: Any) -> Search:
    app.main.action_do("search")
    await until(pilot, lambda: isinstance(app.screen, Search))
    assert isinstance(app.screen, Search)
    return app.screen


def note_text(screen: Search) -> str:
    return str(screen.query_one(".note").render())


async def test_enter_opens_a_message_however_far_back_it_is(start: Start) -> None:
    client = client_with_long_conversation()
    client.answers["search_messages"] = lambda given: make_hits(a_session(), ["m3"])
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press(*"m3")
        await until(pilot, lambda: search.hits)
        assert "1 found in all projects" in note_text(search)
        await pilot.press("enter")

        def top() -> str | None:
            transcript = app.main.chat.transcript
            window = transcript.viewport if transcript is not None else None
            return window.anchor.message_id if window and window.anchor else None

        await until(pilot, lambda: top() == "m3")
        assert app.main.place == Place("session", "s1")


async def test_quick_typing_makes_one_search(start: Start) -> None:
    client = client_with_long_conversation()
    client.answers["search_messages"] = lambda given: make_hits(a_session(), ["m1"])
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        for text in ("d", "do", "doo", "door"):
            search.query_one(Input).value = text
        await until(pilot, lambda: search.hits)
        assert [given["query"] for given in client.called("search_messages")] == ["door"]


async def test_older_results_never_replace_newer_ones(start: Start) -> None:
    client = client_with_long_conversation()
    release = asyncio.Event()

    async def answer(given: dict[str, Any]) -> list[SearchHit]:
        if given["query"] == "slow":
            await release.wait()
        return make_hits(a_session(), [given["query"]])

    client.answers["search_messages"] = answer
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        search.query_one(Input).value = "slow"
        await until(pilot, lambda: client.called("search_messages"))
        search.query_one(Input).value = "quick"
        await until(pilot, lambda: search.hits)
        release.set()
        await pilot.pause()
        assert [hit.message_id for hit in search.hits] == ["quick"]


async def test_tab_limits_the_search_to_the_current_project(start: Start) -> None:
    client = client_with_long_conversation()
    client.answers["search_messages"] = lambda given: []
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        search = await open_search(app, pilot)
        await pilot.press(*"x")
        await until(pilot, lambda: client.called("search_messages"))
        await pilot.press("tab")
        await until(pilot, lambda: "in alpha" in note_text(search))
        assert client.called("search_messages")[-1]["project_id"] == "p1"
        assert client.called("search_messages")[0]["project_id"] is None
        await until(pilot, lambda: "No messages match" in note_text(search))


async def test_more_results_are_loaded_at_the_end_of_the_list(start: Start) -> None:
    client = client_with_long_conversation()
    every = [f"m{number}" for number in range(100)]
    client.answers["search_messages"] = lambda given: make_hits(
        a_session(), every[: given["limit"]]
    )
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: len(search.hits) == PAGE)
        assert "or more" in note_text(search)
        for _ in range(PAGE):
            await pilot.press("down")
        await until(pilot, lambda: len(search.hits) == 2 * PAGE)


async def test_an_archived_hit_is_restored_after_confirmation(start: Start) -> None:
    client = client_with_long_conversation(archived_at=5.0)
    archived = a_session(archived_at=5.0)
    client.answers["search_messages"] = lambda given: make_hits(archived, ["m3"])

    def restore(given: dict[str, Any]) -> None:
        client.feed(SessionUpdated(session_id="s1", updates={"archived_at": None}))

    client.answers["unarchive_session"] = restore
    async with start(client) as (app, pilot):
        search = await open_search(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: search.hits)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
