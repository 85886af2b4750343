"""The addresses of `notify_urls` by the package Apprise: Slack, Telegram, Discord, mail, …"""

import asyncio
import threading
from typing import Final

from model.base.text import clean_line
from model.domain.notices import NoticeChannel
from model.notices.links import Links
from model.notices.outgoing import DeliveryError, Outgoing
from model.preferences.schema import Preferences

_MAX_KEPT: Final = 100
"""Messages of which it is known who has them already."""


class AppriseChannel:
    """Sends by Apprise in a thread. The addresses hold secrets: only their schemes are named.

    Args:
        links: Makes the address in the text.
    """

    name: NoticeChannel = "apprise"

    def __init__(self, links: Links) -> None:
        self._links = links
        self._done: dict[str, set[str]] = {}
        """By message, the addresses that have it already, so that a retry does not repeat it."""

    def is_ready(self, preferences: Preferences) -> bool:
        """Whether there is an address."""
        return bool(preferences.notify_urls)

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        """Send to all addresses that do not have the message yet."""
        identity = repr((message.key, message.title, message.is_reminder))
        done = self._done.setdefault(identity, set())
        while len(self._done) > _MAX_KEPT:
            del self._done[next(iter(self._done))]
        text = "\n".join(filter(None, (message.text, self._links.page(message))))
        urls = [url for url in preferences.notify_urls if url not in done]
        problems = []
        for url in urls:
            problem = await _in_thread(url, message.title, text or message.title)
            if problem is None:
                done.add(url)
            else:
                problems.append(problem)
        if problems:
            retry = any(each.retry for each in problems)
            raise DeliveryError(" and ".join(each.message for each in problems), retry=retry)
        self._done.pop(identity, None)
        return ", ".join(sorted({_scheme(url) for url in preferences.notify_urls}))

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        """Do nothing: these services keep what was sent."""


async def _in_thread(url: str, title: str, text: str) -> DeliveryError | None:
    """Send to one address in a daemon thread: a service that hangs must not delay an exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[DeliveryError | None] = loop.create_future()

    def set_result(result: DeliveryError | None) -> None:
        if not future.done():
            future.set_result(result)

    def work() -> None:
        try:
            result = _notify(url, title, text)
        except Exception as error:
            result = DeliveryError(f"{_scheme(url)} failed ({type(error).__name__})")
        try:
            loop.call_soon_threadsafe(set_result, result)
        except RuntimeError:
            pass  # Spinney has ended meanwhile.

    threading.Thread(target=work, name="spinney-apprise", daemon=True).start()
    return await future


def _notify(url: str, title: str, text: str) -> DeliveryError | None:
    import apprise  # 0.3 s, and most people have no such address.

    service = apprise.Apprise(asset=apprise.AppriseAsset(async_mode=False, secure_logging=True))
    if not service.add(url):
        return DeliveryError(
            f"'{_scheme(url)}://…' is not an address that Apprise can use. Correct it in the "
            "preferences",
            retry=False,
        )
    if not service.notify(body=text, title=title, body_format=apprise.NotifyFormat.TEXT):
        return DeliveryError(f"{_scheme(url)} did not accept the notice")
    return None


def _scheme(url: str) -> str:
    return clean_line(url.partition("://")[0])[:20]
