"""Blocks of ports: each worktree has one of its own, which it keeps as long as it exists."""

import zlib
from collections.abc import Collection
from functools import partial
from typing import Final

from model.base.ports import is_port_in_use
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktree_variables import PORT_COUNT
from model.domain.worktrees import Worktree
from model.state import State
from model.store.store import Store

_FIRST: Final = 12_000
_BLOCKS: Final = 1_800
"""Up to port 29,999: below Kubernetes' node ports and those that systems give out by themselves."""
_BATCH: Final = 20
"""Worktrees that get their block in one change; to look for one takes 0.15 ms."""


def choose_port(taken: Collection[int | None], worktree_id: str) -> int | None:
    """Return the first port of a block that is not in `taken` and on which nothing listens.

    The search begins at a place that follows from the id, so that the Spinneys of two users of a
    machine rarely meet. Returns `None` if there is no such block.
    """
    begin = zlib.crc32(worktree_id.encode())
    for step in range(_BLOCKS):
        first = _FIRST + (begin + step) % _BLOCKS * PORT_COUNT
        block = range(first, first + PORT_COUNT)
        if first not in taken and not any(map(is_port_in_use, block)):
            return first
    return None


def find_listening_ports(first: int) -> list[int]:
    """Return the ports of the block that begins with `first` on which a program listens."""
    return [port for port in range(first, first + PORT_COUNT) if is_port_in_use(port)]


def with_port(state: State, worktree: Worktree) -> Worktree:
    """Return the worktree with its port, or another one if it has none or a worktree has it.

    To be called with the newest state, within the change that adds the worktree.
    """
    taken = {other.port for other in state.worktrees.values() if other.id != worktree.id}
    if worktree.port is not None and worktree.port not in taken:
        return worktree
    return worktree.model_copy(update={"port": choose_port(taken, worktree.id)})


async def assign_missing(store: Store) -> None:
    """Give a block to the worktrees of an older version. Called once, at start."""
    without = [key for key, worktree in store.state.worktrees.items() if worktree.port is None]
    for start in range(0, len(without), _BATCH):
        batch = without[start : start + _BATCH]
        await store.accept(*(partial(_make_assignment, worktree_id=each) for each in batch))


def _make_assignment(state: State, worktree_id: str) -> list[Event]:
    worktree = state.worktrees.get(worktree_id)
    if worktree is None or worktree.port is not None:
        return []
    assigned = with_port(state, worktree)
    return [] if assigned.port is None else [WorktreeUpdated(worktree=assigned)]
