"""What the owner has given to others: guest links, and tokens that act once."""

import time
from collections.abc import Callable
from pathlib import Path

from model.access.actions import ActionDecision, OneTimeActions
from model.store.store import Store


class Grants:
    """All grants of a workspace. Belongs to the core's event loop."""

    def __init__(self, store: Store, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.actions = OneTimeActions(folder / "actions.json", lambda: store.state, clock)

    async def load(self) -> None:
        """Take over what was granted before the start."""
        await self.actions.load()

    async def create_action(
        self, session_id: str, request_id: str, decision: ActionDecision, answer: str = ""
    ) -> str:
        """Make a token with which `POST /act/{token}` answers this request, once.

        Raises `conflict` if the request is no longer pending, or is not of the decision's kind.
        """
        return await self.actions.create(session_id, request_id, decision, answer)
