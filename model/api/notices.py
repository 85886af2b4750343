"""Notices: what stands, which channels carry it, and what a client shows."""

from model.api.command import command
from model.domain.notices import ChannelStatus, ChannelTest, Notice, NoticeChannel


@command
async def list_notices() -> list[Notice]:
    """List what a person should know now: open requests first, then the newest."""


@command
async def dismiss_notice(notice_id: str) -> None:
    """Withdraw a notice. Fails with `conflict` if its session waits for an answer."""


@command
async def list_notice_channels() -> list[ChannelStatus]:
    """List the channels of notices: whether each is set up, and why it failed last."""


@command
async def test_notice(channel: NoticeChannel | None = None) -> list[ChannelTest]:
    """Send a test notice on one channel, or on all that are set up, and wait for the results.

    It ignores quiet hours.
    """


@command
async def get_push_key() -> str:
    """Get the key with which a browser subscribes to Web Push (`applicationServerKey`).

    Makes it on first use. Fails with `conflict` if the package for it is not installed.
    """


@command
async def add_push_subscription(endpoint: str, p256dh: str, auth: str) -> None:
    """Send notices by Web Push to a browser, by what its `PushSubscription` says."""


@command
async def remove_push_subscription(endpoint: str) -> None:
    """Send no more notices by Web Push to a browser; an unknown one is ignored."""


@command
async def set_focus(session_id: str | None) -> None:
    """Say which session this client shows to its person, or (`null`) that it shows none.

    Nothing is sent about that session meanwhile. It lasts until the connection ends, so it takes a
    WebSocket.
    """
