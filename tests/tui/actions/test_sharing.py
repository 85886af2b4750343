"""Sharing with guests: terms, the link, the list of links, and ending one."""

import time
from typing import Any

from model.api.guests import NewGuestLink
from model.domain.guests import GuestAction, GuestLink
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.fake_desk import FakeDesk
from tests.tui.reading import screen_text
from tests.tui.waiting import until
from tui.actions import sharing
from tui.screens.dialog import Confirm, Report
from tui.screens.guests import GuestsScreen
from tui.screens.share import GuestLinkScreen, ShareDialog, ShareTerms
from tui.store.places import Place

URL = "http://127.0.0.1:1/#guest=sgl_x"


def a_link(**fields: Any) -> GuestLink:
    now = time.time()
    known = {"id": "l1", "name": "Ann", "role": "viewer", "scope_name": "s", "session_id": "s1"}
    return GuestLink(**{**known, "created_at": now, "expires_at": now + 3600, **fields})


def with_links(client: FakeClient, *links: GuestLink) -> None:
    kept = list(links)
    client.answers |= {
        "get_http_server_status": lambda given: {"running": True},
        "list_guest_links": lambda given: list(kept),
        "revoke_guest_link": lambda given: kept.remove(
            next(link for link in kept if link.id == given["link_id"])
        ),
        "create_guest_link": lambda given: NewGuestLink(link=a_link(), url=URL, rows=[]),
        "list_guest_actions": lambda given: [
            GuestAction(at=time.time(), link_id="l1", name="Ann\x1b", device=2, action="denied it")
        ],
    }


async def test_a_session_is_shared_with_the_chosen_terms_and_the_server_is_started() -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    with_links(client)
    client.answers["get_http_server_status"] = lambda given: {"running": False}
    client.answers["start_http_server"] = lambda given: {"running": True}
    desk = FakeDesk(client, Place("session", "s1"), True, ShareTerms("driver", hours=8), None)
    await sharing.share_session(desk)
    assert [type(dialog) for dialog in desk.dialogs] == [Confirm, ShareDialog, GuestLinkScreen]
    (given,) = [given for name, given in client.calls if name == "create_guest_link"]
    assert (given["session_id"], given["role"], given["hours"]) == ("s1", "driver", 8)


async def test_the_dialog_changes_each_term_by_a_key_and_no_other_key_shares(start: Start) -> None:
    client = a_client()
    with_links(client)
    async with start(client) as (app, pilot):
        dialog = ShareDialog("X", "The guest sees it.")
        results: list[ShareTerms | None] = []
        app.push_screen(dialog, results.append)
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("m", "r", "t", "d", "m", "y", "space")
        assert dialog.terms == ShareTerms("approver", "", 168, 2, "yolo")
        assert "also answers what" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: bool(results))
        assert results == [dialog.terms]


async def test_a_link_is_ended_only_after_a_confirmation(start: Start) -> None:
    client = a_client()
    with_links(client, a_link(), a_link(id="l2", name="Bo", expires_at=1))
    async with start(client) as (app, pilot):
        app.main.perform("show_guests")
        await until(pilot, lambda: isinstance(app.screen, GuestsScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert "Ann␛, device 2 denied it" in screen_text(app)
        await pilot.press("escape", "x")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape", "x")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(
            pilot, lambda: isinstance(app.screen, GuestsScreen) and "Ann" not in screen_text(app)
        )
        assert "ended" in screen_text(app)
