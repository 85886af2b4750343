"""The notices of a running Spinney: all parts, their start, and what commands ask of them."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events.program import TaskCompleted
from model.domain.notices import (
    CHANNEL_LABELS,
    CHANNELS,
    ChannelStatus,
    ChannelTest,
    Notice,
    NoticeChannel,
    sort_notices,
)
from model.hosting.details import PullRequestCache
from model.notices.channels.apprise_urls import AppriseChannel
from model.notices.channels.command import CommandChannel
from model.notices.channels.ntfy import NtfyChannel
from model.notices.channels.push import PushChannel
from model.notices.comments import CommentWatch
from model.notices.disk_space import DiskSpace
from model.notices.dispatcher import OWN_SCREENS, Clock, Dispatcher
from model.notices.focus import Focus
from model.notices.links import Links
from model.notices.outgoing import Channel, DeliveryError, Outgoing
from model.notices.push_subscriptions import PushSubscriptions
from model.notices.watcher import NoticeWatcher
from model.store.bus import EventBus
from model.store.store import Store

TASK: Final = "notify"
"""The task of the event that reports a channel's failure."""

_HINTS: Final[Mapping[NoticeChannel, str]] = {
    "terminal": "Desktop notifications of the terminals that Spinney is open in.",
    "page": "Notifications of browsers with the page open; each asks once for permission.",
    "command": "Set the command in the preferences, under Away.",
    "apprise": "Enter the addresses in the preferences, under Away.",
    "ntfy": "Enter the topic's address in the preferences, under Away.",
    "push": "Switch it on in the page's preferences, under This browser.",
}

_TEST_TIMEOUT: Final = 30.0


class Notices:
    """Raises, reports and withdraws notices.

    Args:
        store: Provides the state, and records notices.
        bus: The source of events.
        links: Makes addresses.
        environment: Variables for the user's command.
        push_file: The file of subscribed browsers.
        folders: Folders whose disks must not get full.
        pull_requests: Provides the comments on pull requests.
        clock: The clocks.
        channels: Other channels than the real ones, for tests.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        *,
        links: Links,
        environment: Mapping[str, str],
        push_file: Path,
        folders: Iterable[Path] = (),
        pull_requests: PullRequestCache,
        clock: Clock | None = None,
        channels: Mapping[NoticeChannel, Channel] | None = None,
    ) -> None:
        self._store = store
        self.focus = Focus()
        """What clients show."""
        self.push = PushSubscriptions(push_file)
        """The browsers that get notices by Web Push."""
        self._problems: dict[NoticeChannel, str] = {}
        made: tuple[Channel, ...] = (
            CommandChannel(links, environment),
            AppriseChannel(links),
            NtfyChannel(links),
            PushChannel(links, self.push),
        )
        self._channels = {each.name: each for each in made} if channels is None else channels
        clock = clock or Clock()
        self.dispatcher = Dispatcher(
            store, self.focus, self._channels, report=self._report, clock=clock
        )
        self.watcher = NoticeWatcher(
            store,
            bus,
            prepare=self.dispatcher.prepare,
            on_changed=self.dispatcher.withdraw,
            clock=clock.wall,
        )
        self.comments = CommentWatch(store, bus, self.watcher, pull_requests)
        self._disk = DiskSpace(folders, self._on_disk_short, self._on_disk_enough)

    async def run(self) -> None:
        """Run until canceled."""
        await self.push.load()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.watcher.run())
            tasks.create_task(self.dispatcher.run())
            tasks.create_task(self._disk.run())
            tasks.create_task(self.comments.run())

    def list_standing(self) -> list[Notice]:
        """Return the standing notices, what waits for an answer first, then the newest first."""
        return sort_notices(self._store.state.notices.values())

    def dismiss(self, notice_id: str) -> None:
        """Withdraw a notice. Raises `not_found`, and `conflict` if it waits for an answer."""
        notice = self._store.state.notices.get(notice_id)
        if notice is None:
            raise SpinneyError("This notice no longer stands.", "not_found")
        if notice.request_id is not None:
            raise SpinneyError(
                "The session waits for an answer. Open it and answer; the notice ends then.",
                "conflict",
            )
        self.watcher.withdraw(notice_id)

    def list_channels(self) -> list[ChannelStatus]:
        """Return every channel with its state."""
        preferences = self._store.state.preferences
        return [
            ChannelStatus(
                name=name,
                label=CHANNEL_LABELS[name],
                is_ready=self.dispatcher.is_ready(name, preferences),
                hint=_HINTS[name],
                problem=self._problems.get(name),
            )
            for name in CHANNELS
            if name in OWN_SCREENS or name in self._channels
        ]

    def list_problems(self) -> list[str]:
        """Return a sentence for each channel whose latest notice or test could not be sent."""
        return [
            _describe_problem(each.name, each.problem)
            for each in self.list_channels()
            if each.is_ready and each.problem is not None
        ]

    async def test(self, only: NoticeChannel | None = None) -> list[ChannelTest]:
        """Send a test notice to one channel, or to all that are set up."""
        chosen = [
            each
            for each in self.list_channels()
            if (each.is_ready if only is None else each.name == only)
        ]
        return list(await asyncio.gather(*map(self._test, chosen)))

    async def _test(self, status: ChannelStatus) -> ChannelTest:
        message = Outgoing("test", "A test from Spinney", "This is how a notice arrives.")
        channel = self._channels.get(status.name)
        if not status.is_ready:
            return ChannelTest(
                channel=status.name, ok=False, detail=f"{status.label} is not set up. {status.hint}"
            )
        if channel is None:
            self.dispatcher.show(status.name, message)
            return ChannelTest(
                channel=status.name, ok=True, detail=f"{status.label}: shown where one is open."
            )
        try:
            async with asyncio.timeout(_TEST_TIMEOUT):
                where = await channel.send(message, self._store.state.preferences)
        except TimeoutError:
            return self._fail(status, "it did not answer in time")
        except DeliveryError as error:
            return self._fail(status, error.message)
        self._problems.pop(status.name, None)
        return ChannelTest(channel=status.name, ok=True, detail=f"{status.label}: sent to {where}.")

    def _fail(self, status: ChannelStatus, problem: str) -> ChannelTest:
        self._problems[status.name] = problem
        return ChannelTest(
            channel=status.name, ok=False, detail=f"{status.label} failed: {problem}."
        )

    def _report(self, name: NoticeChannel, problem: str | None) -> None:
        if problem is None:
            self._problems.pop(name, None)
            return
        self._problems[name] = problem
        detail = _describe_problem(name, problem)
        self._store.record(TaskCompleted(task=TASK, ok=False, detail=detail))

    def _on_disk_short(self, text: str) -> None:
        if "disk" not in self._store.state.notices:
            self.watcher.raise_lasting("disk", "", "", text)

    def _on_disk_enough(self) -> None:
        self.watcher.withdraw("disk")


def _describe_problem(name: NoticeChannel, problem: str) -> str:
    return f"A notice could not be sent by {CHANNEL_LABELS[name]}: {problem}."
