"""Web Push: notifications of browsers whose page is closed, encrypted for each."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from model.base.errors import SpinneyError
from model.domain.notices import WAITING, NoticeChannel
from model.notices.links import Links
from model.notices.outgoing import DeliveryError, Outgoing
from model.notices.push_subscriptions import PushSubscription, PushSubscriptions
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    from model.notices.push_crypto import PushKey

_TIMEOUT: Final = 15.0
_KEPT: Final = 4 * 3600
"""Seconds for which a push service keeps a message for a device that is off."""
_GONE: Final = (404, 410)
_MAX_KEPT: Final = 100
"""Messages of which it is known which browsers have them already."""


class PushChannel:
    """Sends to every subscribed browser; those that are gone are removed.

    Args:
        links: Makes the buttons.
        subscriptions: The browsers.
        clock: Returns seconds since 1970.
    """

    name: NoticeChannel = "push"

    def __init__(
        self,
        links: Links,
        subscriptions: PushSubscriptions,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._links = links
        self._subscriptions = subscriptions
        self._clock = clock
        self._done: dict[str, set[str]] = {}

    def is_ready(self, preferences: Preferences) -> bool:
        """Whether a browser has subscribed, and the package is there."""
        return bool(self._subscriptions.all) and self._subscriptions.is_available

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        """Send to all browsers that do not have the message yet."""
        try:
            key = await self._subscriptions.get_key()
        except SpinneyError as error:
            raise DeliveryError(error.message.rstrip("."), retry=False) from error
        identity = repr((message.key, message.title, message.is_reminder))
        done = self._done.setdefault(identity, set())
        while len(self._done) > _MAX_KEPT:
            del self._done[next(iter(self._done))]
        problems = []
        for browser in self._subscriptions.all:
            if browser.endpoint in done:
                continue
            try:
                await self._send_to(browser, key, await self._describe(message), message)
                done.add(browser.endpoint)
            except DeliveryError as error:
                problems.append(error)
        if problems:
            retry = any(each.retry for each in problems)
            after = max((each.retry_after or 0.0 for each in problems), default=0.0)
            raise DeliveryError(problems[0].message, retry=retry, retry_after=after)
        self._done.pop(identity, None)
        return f"{len(done)} browsers" if len(done) != 1 else "1 browser"

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        """Do nothing: browsers demand that every push shows something."""

    async def _describe(self, message: Outgoing) -> bytes:
        """Return the message as the page's service worker takes it."""
        actions = await self._links.make_actions(message)
        body = {
            "title": message.title,
            "body": message.text,
            "tag": message.key,
            "go": message.path.removeprefix("/") or "#/needs",
            "actions": [{"title": each.label, "path": each.path} for each in actions],
        }
        return json.dumps(body, ensure_ascii=False).encode()

    async def _send_to(
        self, browser: PushSubscription, key: "PushKey", body: bytes, message: Outgoing
    ) -> None:
        import aiohttp

        from model.notices.push_crypto import decode, encrypt

        host = urlsplit(browser.endpoint).netloc
        headers = {
            "Authorization": key.sign(browser.endpoint, self._clock()),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(_KEPT),
            "Urgency": "high" if message.reason in WAITING else "normal",
            # Of messages with the same topic, a service keeps only the newest for a device.
            "Topic": hashlib.sha256(message.key.encode()).hexdigest()[:32],
        }
        data = encrypt(body, decode(browser.p256dh), decode(browser.auth))
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=True) as client,
                client.post(
                    browser.endpoint, data=data, headers=headers, allow_redirects=False
                ) as response,
            ):
                status, after = response.status, response.headers.get("Retry-After", "")
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise DeliveryError(f"{host} cannot be reached. Check the network") from error
        if status in _GONE:
            await self._subscriptions.remove(browser.endpoint)
        elif status == 429 or status >= 500:
            known = after.isascii() and after.isdecimal() and len(after) < 9
            seconds = float(after) if known else None
            raise DeliveryError(f"{host} accepts nothing for now ({status})", retry_after=seconds)
        elif status >= 300:
            raise DeliveryError(
                f"{host} refused the message ({status}). Switch it off and on again in the page's "
                "preferences",
                retry=False,
            )
