"""What the owner has given to others: guest links, and tokens that act once."""

import time
from collections.abc import Callable
from pathlib import Path

from model.access.actions import ActionDecision, OneTimeActions
from model.access.audit import GuestActionLog
from model.access.links import Guest, GuestLinks
from model.access.world import is_shared
from model.domain.events.program import GuestActed, GuestLinksUpdated
from model.domain.guests import GuestAction
from model.store.store import Store


class Grants:
    """All grants of a workspace. Belongs to the core's event loop."""

    def __init__(self, store: Store, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self.actions = OneTimeActions(folder / "actions.json", lambda: store.state, clock)
        self.links = GuestLinks(
            folder / "links.json",
            lambda link: is_shared(store.state, link),
            lambda link_id: store.record(GuestLinksUpdated(link_id=link_id)),
            clock,
        )
        self.log = GuestActionLog(folder / "log.json")

    async def load(self) -> None:
        """Take over what was granted before the start."""
        await self.actions.load()
        await self.links.load()
        await self.log.load()

    async def close(self) -> None:
        """Write what is not written yet."""
        await self.links.close()
        await self.log.close()

    async def create_action(
        self, session_id: str, request_id: str, decision: ActionDecision, answer: str = ""
    ) -> str:
        """Make a token with which `POST /act/{token}` answers this request, once.

        Raises `conflict` if the request is no longer pending, or is not of the decision's kind.
        """
        return await self.actions.create(session_id, request_id, decision, answer)

    def note_action(
        self, guest: Guest, action: str, session_id: str | None, *, ok: bool = True
    ) -> None:
        """Log what a guest did."""
        entry = GuestAction(
            at=self._clock(),
            link_id=guest.link.id,
            name=guest.link.name,
            device=guest.device,
            session_id=session_id,
            action=action,
            ok=ok,
        )
        self.log.append(entry)
        self._store.record(GuestActed(action=entry))
