"""Guest links: who may do what with which session or project, from which devices, and until when.

A link is opened once on each device, which gets a token of its own for its requests. Only hashes of
these tokens are stored. Links that have expired are forgotten after a week. One that is revoked
ends at once; while that cannot be saved, it stays in the list, and saving it is tried again.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field

from model.access.file import RecordFile
from model.access.tokens import DEVICE, LINK, hash_token, is_token, make_token
from model.base.errors import SpinneyError
from model.domain.guests import GuestLink
from model.domain.resource import Resource

MAX_LINKS: Final = 200
MAX_DEVICES: Final = 100
_KEPT_AFTER_EXPIRY: Final = 7 * 24 * 3600.0
_USE_INTERVAL: Final = 60.0
"""Seconds after which another use of a link is written down."""
_RETRY_INTERVAL: Final = 10.0
"""Seconds until saving that a link was revoked is tried again."""

_ENDED: Final = (
    "This guest access has ended: it was revoked, or its time is over. Ask for a new link."
)
_UNUSABLE: Final = (
    "This guest link was opened on as many devices as it is for, was revoked, or its time is over."
    " Ask for a new one."
)
_NOT_SAVED: Final = (
    "The access of '{name}' is ended, but that could not be saved: until it is, a restart of"
    " Spinney would let the guest in again. Spinney keeps trying. {reason}"
)

_log = logging.getLogger(__name__)


class LinkRecord(Resource):
    """A link as it is stored."""

    link: GuestLink
    token_hash: str
    device_hashes: list[str] = Field(default_factory=list)
    """Those of its devices, in the order in which they opened it."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A device that uses a link."""

    link: GuestLink
    device: int
    """From 1."""


class GuestLinks:
    """All links. Belongs to the core's event loop."""

    def __init__(
        self,
        path: Path,
        is_shared: Callable[[GuestLink], bool],
        on_changed: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`is_shared` says whether what a link shares still exists; `on_changed` gets link ids."""
        self._file = RecordFile(path, LinkRecord)
        self._is_shared = is_shared
        self._on_changed = on_changed
        self._clock = clock
        self._records: dict[str, LinkRecord] = {}
        """By the link's id, oldest first."""
        self._devices: dict[str, tuple[str, int]] = {}
        """Link and number of each device, by the hash of its token."""
        self._unsaved: dict[str, GuestLink] = {}
        """Links that were revoked, while the file still has them."""
        self._saving: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Take over what the file holds."""
        saved = await asyncio.to_thread(self._file.read)
        self._records = {record.link.id: record for record in saved}
        for record in saved:
            for number, device_hash in enumerate(record.device_hashes, 1):
                self._devices[device_hash] = (record.link.id, number)

    def list(self) -> list[GuestLink]:
        """All links, the newest first; also those that have expired within a week, and those of
        which it is not saved yet that they were revoked.
        """
        kept = [record.link for record in reversed(self._records.values())]
        return [*self._unsaved.values(), *kept]

    def get(self, link_id: str) -> GuestLink:
        """The link of this id. Raises `not_found`."""
        record = self._records.get(link_id)
        link = record.link if record is not None else self._unsaved.get(link_id)
        if link is None:
            raise SpinneyError(f"Guest link not found: {link_id}", "not_found")
        return link

    async def create(self, link: GuestLink) -> tuple[GuestLink, str]:
        """Keep a new link, which gets its id here; return it with its token."""
        limit = self._clock() - _KEPT_AFTER_EXPIRY
        for record in list(self._records.values()):
            if record.link.expires_at < limit or not self._is_shared(record.link):
                self._forget(record)
        if len(self._records) >= MAX_LINKS:
            raise SpinneyError(
                f"There are {MAX_LINKS} guest links. Revoke some that are no longer needed.",
                "conflict",
            )
        token = make_token(LINK)
        kept = link.model_copy(update={"id": str(uuid.uuid4())})
        self._records[kept.id] = LinkRecord(link=kept, token_hash=hash_token(token))
        try:
            await self._save(kept.id)
        except SpinneyError:
            del self._records[kept.id]
            raise
        return kept, token

    async def revoke(self, link_id: str) -> None:
        """End a link and all its devices, at once. Raises `not_found`, and says so if that could
        not be saved; it is tried until it is, and by revoking the link again.
        """
        link = self.get(link_id)
        if link_id in self._records:
            self._forget(self._records[link_id])
        try:
            await self._save(link_id)
        except SpinneyError as error:
            ended = min(link.expires_at, self._clock())
            self._unsaved[link_id] = link.model_copy(update={"expires_at": ended})
            self._on_changed(link_id)
            if self._saving is None or self._saving.done():
                self._saving = asyncio.create_task(self._save_later())
            said = _NOT_SAVED.format(name=link.name, reason=error.message)
            raise SpinneyError(said, error.error_type) from None

    async def close(self) -> None:
        """Save what is not saved yet."""
        if self._saving is not None:
            self._saving.cancel()
        if self._unsaved:
            try:
                await self._write()
            except SpinneyError as error:
                _log.error("could not save that guest links were revoked: %s", error.message)

    async def _save_later(self) -> None:
        while self._unsaved:
            await asyncio.sleep(_RETRY_INTERVAL)
            with suppress(SpinneyError):
                await self._write()

    async def open(self, token: str) -> tuple[Guest, str]:
        """Register a device; returns it with its token. Raises `authentication_error`.

        Of several devices that open a link at the same time, no more succeed than it is for.
        """
        record = self._find_record(token)
        if record is None or not self._is_alive(record.link):
            raise SpinneyError(_UNUSABLE, "authentication_error")
        if len(record.device_hashes) >= record.link.max_devices:
            raise SpinneyError(_UNUSABLE, "authentication_error")
        device_token = make_token(DEVICE)
        hashes = [*record.device_hashes, hash_token(device_token)]
        used = {"devices": len(hashes), "last_used": self._clock()}
        link = record.link.model_copy(update=used)
        self._records[link.id] = record.model_copy(update={"link": link, "device_hashes": hashes})
        self._devices[hashes[-1]] = (link.id, len(hashes))
        try:
            await self._save(link.id)
        except SpinneyError:
            self._take_back(link.id, hashes[-1])
            raise
        return Guest(link, len(hashes)), device_token

    def identify(self, token: str) -> Guest:
        """The guest that this device's token belongs to. Raises `authentication_error`."""
        link_id, device = self._devices.get(hash_token(token), ("", 0))
        record = self._records.get(link_id)
        if not is_token(token, DEVICE) or record is None or not self._is_alive(record.link):
            raise SpinneyError(_ENDED, "authentication_error")
        return Guest(self._note_use(record), device)

    def is_alive(self, link_id: str) -> bool:
        """Whether a link can be used."""
        record = self._records.get(link_id)
        return record is not None and self._is_alive(record.link)

    def _is_alive(self, link: GuestLink) -> bool:
        return link.expires_at > self._clock() and self._is_shared(link)

    def _find_record(self, token: str) -> LinkRecord | None:
        if not is_token(token, LINK):
            return None
        wanted = hash_token(token)
        return next((each for each in self._records.values() if each.token_hash == wanted), None)

    def _note_use(self, record: LinkRecord) -> GuestLink:
        """Note the time of a use; it is saved with the next change of any link."""
        now = self._clock()
        if record.link.last_used is not None and now - record.link.last_used < _USE_INTERVAL:
            return record.link
        link = record.link.model_copy(update={"last_used": now})
        self._records[link.id] = record.model_copy(update={"link": link})
        self._on_changed(link.id)
        return link

    def _forget(self, record: LinkRecord) -> None:
        del self._records[record.link.id]
        for device_hash in record.device_hashes:
            self._devices.pop(device_hash, None)

    def _take_back(self, link_id: str, device_hash: str) -> None:
        """Forget a device that could not be saved; its token was given to no one."""
        self._devices.pop(device_hash, None)
        record = self._records.get(link_id)
        if record is None:
            return
        hashes = [each for each in record.device_hashes if each != device_hash]
        for number, each in enumerate(hashes, 1):
            self._devices[each] = (link_id, number)
        link = record.link.model_copy(update={"devices": len(hashes)})
        self._records[link_id] = LinkRecord(
            link=link, token_hash=record.token_hash, device_hashes=hashes
        )
        self._on_changed(link_id)

    async def _save(self, link_id: str) -> None:
        self._on_changed(link_id)
        await self._write()

    async def _write(self) -> None:
        """Write the links that were not revoked. Raises `SpinneyError`."""
        await self._file.write(self._records.values())
        saved, self._unsaved = self._unsaved, {}
        for link_id in saved:
            self._on_changed(link_id)
