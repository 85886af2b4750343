"""The world of a guest: a state and a bus of its own, with what a link shares, masked.

Events of the workspace are filtered and masked here, folded into a state that holds nothing else,
and published on a bus that numbers them by itself. So everything that serves an owner from the
workspace serves a guest from its world; an id that is not shared is unknown there, and numbers have
no gaps. Each link in use has one world, for all its devices.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from model.access.masked_events import EventMasker
from model.access.shapes import show, show_message
from model.domain.guests import GuestTerms
from model.domain.messages import MessagePage
from model.domain.turns import Turn
from model.preferences.schema import Preferences
from model.state import State, apply
from model.store.bus import EventBus
from model.store.store import Store


class GuestWorld:
    """What a link shares, as it is now. Belongs to the core's event loop."""

    def __init__(self, terms: GuestTerms, store: Store, on_lost: Callable[[], None]) -> None:
        """`on_lost` is called when the world cannot be continued and has to be replaced."""
        self.terms = terms
        self.bus = EventBus()
        store.bus.seal()
        self._store = store
        self._on_lost = on_lost
        self._reader = store.bus.reader()
        self.state = share_state(store.state, terms)
        self._masker = EventMasker(terms, lambda: self.state)
        self._masker.start(store.state.streaming.values())
        self._unsubscribe = store.bus.listen(self._follow)

    def close(self) -> None:
        """Stop following the workspace."""
        self._unsubscribe()
        self._reader.close()

    def _follow(self) -> None:
        entries, missed = self._reader.take()
        if missed is not None:
            self._on_lost()
            return
        for entry in entries:
            for event in self._masker.mask(entry.event):
                self.state = apply(self.state, event)
                self.bus.publish(event)


class GuestStore:
    """The part of a store that commands read, for the world of a guest.

    What it lacks, no command that a guest may call needs.
    """

    def __init__(self, world: GuestWorld, store: Store) -> None:
        self._world = world
        self._store = store
        self.bus = world.bus

    @property
    def state(self) -> State:
        """What is shared."""
        self._store.bus.seal()
        return self._world.state

    async def flush(self) -> None:
        """See `Store.flush`."""
        await self._store.flush()

    async def messages(self, session_id: str, limit: int = 100, offset: int = 0) -> MessagePage:
        """A page of a shared conversation, masked; that of an unknown session is empty."""
        if session_id not in self.state.sessions:
            return MessagePage(messages=[])
        page = await self._store.messages(session_id, limit, offset)
        shown = await asyncio.to_thread(lambda: list(map(show_message, page.messages)))
        return page.model_copy(update={"messages": shown})

    async def turns(
        self, session_id: str, first: int = 0, before: int | None = None, limit: int | None = None
    ) -> list[Turn]:
        """The turns of a shared session, as `Store.turns`; none of an unknown one."""
        if session_id not in self.state.sessions:
            return []
        turns = await self._store.turns(session_id, first, before, limit)
        return await asyncio.to_thread(lambda: list(map(show, turns)))


def share_state(state: State, terms: GuestTerms) -> State:
    """What these terms share of a state, masked. Preferences are the defaults."""
    session = state.sessions.get(terms.session_id or "")
    worktrees = {
        key: show(each)
        for key, each in state.worktrees.items()
        if (each.id == session.worktree_id if session else each.project_id == terms.project_id)
    }
    sessions = {
        key: show(each)
        for key, each in state.sessions.items()
        if (each.id == terms.session_id if terms.session_id else each.worktree_id in worktrees)
    }
    shared_projects = {each.project_id for each in worktrees.values()} | {terms.project_id}
    return replace(
        State(preferences=Preferences()),
        projects={k: show(each) for k, each in state.projects.items() if k in shared_projects},
        worktrees=worktrees,
        sessions=sessions,
        queued={
            key: tuple(map(show_message, messages))
            for key, messages in state.queued.items()
            if key in sessions
        },
        streaming={
            key: show_message(each)
            for key, each in state.streaming.items()
            if each.session_id in sessions
        },
    )


def is_shared(state: State, terms: GuestTerms) -> bool:
    """Whether what the terms share still exists."""
    if terms.session_id is not None:
        return terms.session_id in state.sessions
    return terms.project_id in state.projects
