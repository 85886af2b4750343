"""The browsers that get notices by Web Push, and the key that signs for them, in a private file."""

import asyncio
import importlib.util
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from model.base.errors import SpinneyError
from model.base.paths import find_backup_path, write_or_shorten
from model.notices.links import is_loopback

if TYPE_CHECKING:
    from model.notices.push_crypto import PushKey

MAX_SUBSCRIPTIONS: Final = 50
"""Browsers; the one that was added first goes when there are more."""

MISSING_PACKAGE: Final = (
    "Web Push needs the package cryptography. Install it with: pip install 'spinney[push]', then "
    "restart Spinney."
)

_log = logging.getLogger(__name__)


class PushSubscription(BaseModel):
    """A browser's address at its push service, and the keys by which only it can read."""

    model_config = ConfigDict(frozen=True)

    endpoint: str
    p256dh: str
    auth: str


class PushSubscriptions:
    """Reads and writes the file. Belongs to the core's event loop.

    Args:
        path: The file, readable by this user only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key_text = ""
        self._subscriptions: dict[str, PushSubscription] = {}
        self._is_saved = True
        self._lock = asyncio.Lock()

    @property
    def is_available(self) -> bool:
        """Whether the package for it is installed."""
        return importlib.util.find_spec("cryptography") is not None

    @property
    def all(self) -> tuple[PushSubscription, ...]:
        """The subscribed browsers."""
        return tuple(self._subscriptions.values())

    async def load(self) -> None:
        """Read the file; a damaged one is kept under another name."""
        try:
            await asyncio.to_thread(self._load)
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            _log.warning("%s cannot be read; browsers have to subscribe again", self._path)
            await asyncio.to_thread(self._path.rename, find_backup_path(self._path))

    def _load(self) -> None:
        saved: dict[str, Any] = json.loads(self._path.read_bytes())
        rows = [PushSubscription.model_validate(row) for row in saved["subscriptions"]]
        self._key_text = str(saved["key"])
        self._subscriptions = {row.endpoint: row for row in rows}

    async def get_key(self) -> "PushKey":
        """Return the key; makes it on first use. Raises `conflict` without the package."""
        if not self.is_available:
            raise SpinneyError(MISSING_PACKAGE, "conflict")
        from model.notices.push_crypto import PushKey

        async with self._lock:
            if not self._key_text:
                self._key_text = PushKey.generate().to_text()
                await self._save()
        return PushKey.from_text(self._key_text)

    async def add(self, subscription: PushSubscription) -> None:
        """Add a browser. Raises `SpinneyError` if its address or keys cannot be right."""
        await self.get_key()
        from model.notices.push_crypto import decode, encrypt

        url = subscription.endpoint
        if not url.startswith("https://") and not (url.startswith("http://") and is_loopback(url)):
            raise SpinneyError("Invalid field 'endpoint': must begin with https://")
        try:
            encrypt(b"", decode(subscription.p256dh), decode(subscription.auth))
        except ValueError:
            raise SpinneyError("Invalid field 'p256dh': it is not a key of a browser") from None
        async with self._lock:
            before = dict(self._subscriptions)
            self._subscriptions.pop(url, None)
            self._subscriptions[url] = subscription
            while len(self._subscriptions) > MAX_SUBSCRIPTIONS:
                del self._subscriptions[next(iter(self._subscriptions))]
            try:
                await self._save()
            except SpinneyError:
                self._subscriptions = before
                raise

    async def remove(self, endpoint: str) -> None:
        """Remove a browser, at once; an unknown one is ignored. Raises `SpinneyError` if that could
        not be saved, also when it is tried again.
        """
        async with self._lock:
            if self._subscriptions.pop(endpoint, None) is not None or not self._is_saved:
                await self._save()

    async def _save(self) -> None:
        saved = {
            "key": self._key_text,
            "subscriptions": [each.model_dump() for each in self._subscriptions.values()],
        }
        self._is_saved = False
        await asyncio.to_thread(write_or_shorten, self._path, json.dumps(saved).encode())
        self._is_saved = True
