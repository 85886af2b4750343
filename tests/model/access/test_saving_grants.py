"""What was given to others and taken away again, while the disk is full."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model.access import links as links_module
from model.access.actions import OneTimeActions
from model.access.links import GuestLinks
from model.base import paths
from model.base.errors import SpinneyError
from model.domain.guests import GuestLink
from model.domain.requests import Request
from model.domain.sessions import Session
from model.notices.push_subscriptions import PushSubscription, PushSubscriptions
from model.state import State
from tests.patience import PATIENCE

LINK = GuestLink(
    id="", name="Ann", scope_name="Talk", role="driver", session_id="s", project_id=None,
    max_mode="build", created_at=1.0, expires_at=9e9, max_devices=2,
)  # fmt: skip


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the disk `full`, `broken` (nothing at all can be written), or `free` again."""
    write, sync = paths._write_and_sync, os.fsync

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def become(state: str) -> None:
        monkeypatch.setattr(paths, "_write_and_sync", write if state == "free" else refuse)
        monkeypatch.setattr(os, "fsync", refuse if state == "broken" else sync)

    return become


async def load(path: Path) -> GuestLinks:
    links = GuestLinks(path, lambda _: True, lambda _: None)
    await links.load()
    return links


async def test_a_link_revoked_on_a_full_disk_stays_ended_after_a_restart(
    tmp_path: Path, disk: Callable[[str], None]
) -> None:
    links = await load(tmp_path / "links.json")
    kept, _ = await links.create(LINK)
    made, token = await links.create(LINK)
    _, device = await links.open(token)
    disk("full")
    await links.revoke(made.id)
    after = await load(tmp_path / "links.json")
    assert [link.id for link in after.list()] == [kept.id]
    with pytest.raises(SpinneyError, match="has ended"):
        after.identify(device)


async def test_a_revocation_that_cannot_be_saved_ends_at_once_is_owed_and_says_so(
    tmp_path: Path, disk: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "_RETRY_INTERVAL", 0.01)
    changed: asyncio.Queue[str] = asyncio.Queue()
    links = GuestLinks(tmp_path / "links.json", lambda _: True, changed.put_nowait)
    made, token = await links.create(LINK)
    _, device = await links.open(token)
    disk("broken")
    for _ in range(2):
        with pytest.raises(SpinneyError, match="'Ann' is ended, but that could not be saved"):
            await links.revoke(made.id)
        with pytest.raises(SpinneyError, match="has ended"):
            links.identify(device)
        assert not links.is_alive(made.id)
        assert [link.expires_at < 9e9 for link in links.list()] == [True]
    while not changed.empty():
        changed.get_nowait()
    disk("free")
    assert await asyncio.wait_for(changed.get(), PATIENCE) == made.id
    assert links.list() == []
    assert (await load(tmp_path / "links.json")).list() == []


async def test_what_is_owed_is_saved_with_the_next_change_or_at_the_end(
    tmp_path: Path, disk: Callable[[str], None]
) -> None:
    for last in ("create", "close"):
        links = await load(tmp_path / "links.json")
        made, _ = await links.create(LINK)
        disk("broken")
        with pytest.raises(SpinneyError):
            await links.revoke(made.id)
        disk("free")
        await (links.create(LINK) if last == "create" else links.close())
        assert made.id not in [link.id for link in (await load(tmp_path / "links.json")).list()]
        await links.close()


async def test_a_device_that_cannot_be_saved_is_not_used_up(
    tmp_path: Path, disk: Callable[[str], None]
) -> None:
    links = await load(tmp_path / "links.json")
    _, token = await links.create(LINK.model_copy(update={"max_devices": 1}))
    disk("full")
    with pytest.raises(SpinneyError, match="could not be saved"):
        await links.open(token)
    assert links.list()[0].devices == 0
    disk("free")
    guest, device = await links.open(token)
    assert links.identify(device).device == guest.device == 1


async def test_a_one_time_token_whose_use_cannot_be_saved_is_not_used(
    tmp_path: Path, disk: Callable[[str], None]
) -> None:
    request = Request(id="r", kind="permission", tool_name="Bash")
    session = Session(id="s", worktree_id="w", name="Talk", created_at=1, request=request)
    state = State(sessions={"s": session})
    path = tmp_path / "actions.json"
    actions = OneTimeActions(path, lambda: state)
    token, other = [await actions.create("s", "r", "allow") for _ in range(2)]
    disk("broken")
    with pytest.raises(SpinneyError, match="could not be saved"):
        await actions.take(token)
    assert actions.find(token)
    disk("full")
    await actions.take(token)
    after = OneTimeActions(path, lambda: state)
    await after.load()
    assert after.find(other)
    with pytest.raises(SpinneyError, match="does nothing any more"):
        after.find(token)


async def test_a_browser_that_ended_its_notices_gets_none_after_a_restart(
    tmp_path: Path, disk: Callable[[str], None]
) -> None:
    push = PushSubscriptions(tmp_path / "push.json")
    subscriptions = [
        PushSubscription(endpoint=f"https://push.example/{n}", p256dh="k", auth="a") for n in "ab"
    ]
    push._subscriptions = {one.endpoint: one for one in subscriptions}
    await push._save()
    disk("broken")
    for _ in range(2):
        with pytest.raises(SpinneyError, match="could not be saved"):
            await push.remove(subscriptions[0].endpoint)
        assert push.all == (subscriptions[1],)
    disk("full")
    await push.remove(subscriptions[0].endpoint)
    after = PushSubscriptions(tmp_path / "push.json")
    await after.load()
    assert after.all == (subscriptions[1],)
