"""Implements `model.api.notices`."""

from typing import TYPE_CHECKING

from model.api import notices as api
from model.base.caller import CALLER
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.notices import ChannelStatus, ChannelTest, Notice, NoticeChannel
from model.notices.push_subscriptions import PushSubscription

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_notices)
async def list_notices(workspace: "Workspace") -> list[Notice]:
    return workspace.notices.list_standing()


@implements(api.dismiss_notice)
async def dismiss_notice(workspace: "Workspace", notice_id: str) -> None:
    workspace.notices.dismiss(notice_id)


@implements(api.list_notice_channels)
async def list_notice_channels(workspace: "Workspace") -> list[ChannelStatus]:
    return workspace.notices.list_channels()


@implements(api.test_notice)
async def test_notice(
    workspace: "Workspace", channel: NoticeChannel | None = None
) -> list[ChannelTest]:
    return await workspace.notices.test(channel)


@implements(api.get_push_key)
async def get_push_key(workspace: "Workspace") -> str:
    return (await workspace.notices.push.get_key()).public


@implements(api.add_push_subscription)
async def add_push_subscription(
    workspace: "Workspace", endpoint: str, p256dh: str, auth: str
) -> None:
    subscription = PushSubscription(endpoint=endpoint, p256dh=p256dh, auth=auth)
    await workspace.notices.push.add(subscription)


@implements(api.remove_push_subscription)
async def remove_push_subscription(workspace: "Workspace", endpoint: str) -> None:
    await workspace.notices.push.remove(endpoint)


@implements(api.set_focus)
async def set_focus(workspace: "Workspace", session_id: str | None) -> None:
    client = CALLER.get()
    if not client:
        raise SpinneyError("Only a client that stays connected by WebSocket has a focus.")
    if session_id is not None:
        session_in(workspace.store.state, session_id)
    workspace.notices.focus.set(client, session_id)
