"""ntfy: one JSON request with priority, a link and buttons. Works with ntfy.sh and own servers."""

import base64
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from model.domain.notices import NoticeChannel
from model.notices.links import Links
from model.notices.outgoing import DeliveryError, Outgoing
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    import aiohttp

_TIMEOUT: Final = 15.0
_MAX_ANSWER: Final = 10_000
"""Bytes of an answer that are read."""
_MAX_ACTIONS: Final = 3
"""Buttons that ntfy shows."""

_PRIORITY: Final = {
    "permission": 4, "question": 4, "plan": 4, "failed": 4, "limit": 4, "disk": 4,
}  # fmt: skip
"""ntfy's priorities: 3 is the default, 4 is high."""

_TAGS: Final = {
    "permission": "lock", "question": "question", "plan": "clipboard",
    "finished": "white_check_mark", "failed": "x", "limit": "hourglass", "check_failed": "x",
    "review": "eyes", "disk": "floppy_disk",
}  # fmt: skip
"""ntfy shows these names as emoji."""

_REFUSED: Final = (400, 401, 403, 404, 413)


class NtfyChannel:
    """Publishes to the topic of `notify_ntfy_url`.

    Args:
        links: Makes the addresses of the page and of buttons.
    """

    name: NoticeChannel = "ntfy"

    def __init__(self, links: Links) -> None:
        self._links = links

    def is_ready(self, preferences: Preferences) -> bool:
        """Whether there is a topic."""
        return bool(preferences.notify_ntfy_url)

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        """Publish the message."""
        server, topic, headers = _target(preferences)
        body: dict[str, Any] = {
            "topic": topic,
            "title": message.title,
            "message": message.text or "Open Spinney to answer or read on.",
            "priority": _PRIORITY.get(message.reason or "", 3),
            "tags": [_TAGS.get(message.reason or "", "seedling")],
            "sequence_id": _sequence(message.key),
        }
        if click := self._links.page(message):
            buttons = [
                {"action": "http", "label": each.label, "url": each.url, "method": "POST",
                 "clear": True}
                for each in await self._links.make_actions(message)
            ]  # fmt: skip
            view = {"action": "view", "label": "Open", "url": click}
            body |= {"click": click, "actions": [*buttons, view][:_MAX_ACTIONS]}
        await _request("POST", f"{server}/", headers, body)
        return urlsplit(server).netloc

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        """Remove the notification from the phone; servers before 2.16 cannot, which is ignored."""
        try:
            server, topic, headers = _target(preferences)
            await _request("DELETE", f"{server}/{topic}/{_sequence(key)}", headers, None)
        except DeliveryError:
            pass


def _sequence(key: str) -> str:
    """The id by which ntfy replaces and removes a notification: letters, digits, `-` and `_`."""
    return key.replace(".", "_")[:64]


def _target(preferences: Preferences) -> tuple[str, str, dict[str, str]]:
    """Return the server's address, the topic and the headers for the account."""
    parts = urlsplit(preferences.notify_ntfy_url or "")
    base, _, topic = parts.path.rstrip("/").rpartition("/")
    host = parts.netloc.rpartition("@")[2]
    headers = {}
    if preferences.notify_ntfy_token:
        headers["Authorization"] = f"Bearer {preferences.notify_ntfy_token}"
    elif parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    return f"{parts.scheme}://{host}{base}", topic, headers


async def _request(
    method: str, url: str, headers: dict[str, str], body: dict[str, Any] | None
) -> None:
    import aiohttp  # Slow to import, and most people have no topic.

    host = urlsplit(url).netloc
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as client,
            client.request(
                method, url, json=body, headers=headers, allow_redirects=False
            ) as response,
        ):
            await response.content.read(_MAX_ANSWER)
            _check(response, host)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise DeliveryError(f"{host} cannot be reached. Check the address and network") from error


def _check(response: "aiohttp.ClientResponse", host: str) -> None:
    """Raise `DeliveryError` unless the request was accepted."""
    status = response.status
    if status < 300:
        return
    if status in (401, 403):
        raise DeliveryError(
            f"{host} does not allow publishing to the topic. Check ntfy's token", retry=False
        )
    if status in _REFUSED or 300 <= status < 400:
        raise DeliveryError(
            f"{host} refused the request ({status}). Check the topic's address", retry=False
        )
    if status == 429:
        after = response.headers.get("Retry-After", "")
        seconds = float(after) if after.isascii() and after.isdecimal() and len(after) < 9 else None
        raise DeliveryError(f"{host} accepts no more messages for now", retry_after=seconds)
    raise DeliveryError(f"{host} has a problem ({status})")
