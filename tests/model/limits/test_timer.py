"""One timer for all paused sessions: everything once, nothing early, one after another."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from model.domain.messages import Message
from model.domain.projects import Project
from model.domain.sessions import Pause, Session
from model.domain.worktrees import Worktree
from model.limits.due import list_due
from model.limits.timer import ResumeTimer
from model.state import State
from model.store.bus import EventBus
from model.store.store import Store

GAP = 3.0


@dataclass
class Machine:
    """A state whose sessions go on, with a wall clock and the event loop's clock."""

    pauses: list[tuple[str, float | None]]
    wall: float = 1000.0
    awake: float = 0.0
    started: list[tuple[str, float, float]] = field(default_factory=list)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        sessions = {
            f"s{number}": Session(
                id=f"s{number}", worktree_id="w", name="s", created_at=1, backend=account,
                status="paused",
                pause=Pause(kind="usage_limit", since=number, until=until, account=account),
            )
            for number, (account, until) in enumerate(self.pauses)
        }  # fmt: skip
        worktree = Worktree(id="w", project_id="p", name="n", path="/w", branch="b", created_at=1)
        project = Project(id="p", name="p", path="/p", added_at=1)
        self.state = State(projects={"p": project}, worktrees={"w": worktree}, sessions=sessions)

    async def resume(self, session_id: str) -> None:
        """Note the start; the session is no longer paused."""
        session = self.state.sessions[session_id]
        self.started.append((session.backend, self.wall, self.awake))
        assert session.pause is not None, "it was resumed twice"
        rest = {**self.state.sessions, session_id: session.model_copy(update={"pause": None})}
        self.state = State(
            projects=self.state.projects, worktrees=self.state.worktrees, sessions=rest
        )


def run_timer(machine: Machine, jumps: Iterator[tuple[float, float]]) -> None:
    """Run the timer's steps; each step, time passes as it says, or a clock jumps."""

    async def steps() -> None:
        loop = asyncio.get_running_loop()
        loop.time = lambda: machine.awake  # type: ignore[method-assign]

        async def send(session_id: str, message_id: str) -> None:
            raise AssertionError

        timer = ResumeTimer(
            cast(Store, machine), EventBus(), machine.resume, send,
            lambda: machine.wall, lambda: GAP,
        )  # fmt: skip
        for _ in range(2000):
            wait = timer.start_due()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            wait = timer.start_due() if wait == 0 else wait
            if wait is None:
                return
            wall, awake = next(jumps, (0.0, 0.0))
            machine.wall += wait + wall
            machine.awake += wait + awake
        raise AssertionError("it never ends")

    asyncio.run(steps())


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 5000)), max_size=8),
    st.lists(st.tuples(st.sampled_from([0.0, 3600.0, -3600.0, 86_400.0, -20.0]), st.just(0.0))),
)
def test_everything_goes_on_once_and_not_early_whatever_the_clocks_do(
    pauses: list[tuple[str, float]], jumps: list[tuple[float, float]]
) -> None:
    """Jumps of the wall clock: it was set, the laptop slept, a restart far later."""
    machine = Machine(list(pauses))
    run_timer(machine, iter(jumps))
    assert Counter(account for account, _, _ in machine.started) == Counter(a for a, _ in pauses)
    for account in "ab":
        moments = [awake for name, _, awake in machine.started if name == account]
        assert all(later - earlier >= GAP for earlier, later in pairwise(moments))
        earliest = sorted(until for name, until in pauses if name == account)
        starts = sorted(wall for name, wall, _ in machine.started if name == account)
        assert all(wall >= until for until, wall in zip(earliest, starts, strict=True)) or jumps


def test_two_accounts_go_on_independently() -> None:
    machine = Machine([("a", 900.0), ("a", 901.0), ("b", 902.0), ("b", 5000.0), ("b", None)])
    run_timer(machine, iter(()))
    assert [name for name, _, _ in machine.started] == ["a", "b", "a", "b"]
    assert machine.started[1][2] == 0.0, "the other account does not wait"
    assert machine.started[-1][1] >= 5000.0


def test_what_is_archived_or_has_no_time_is_not_due() -> None:
    machine = Machine([("a", None), ("a", 10.0)])
    assert [due.session_id for due in list_due(machine.state)] == ["s1"]
    archived = machine.state.worktrees["w"].model_copy(update={"archived_at": 1.0})
    queued = {"s0": (Message(id="m", role="user", timestamp=1, session_id="s0", send_at=5.0),)}
    state = State(
        projects=machine.state.projects, worktrees=machine.state.worktrees,
        sessions=machine.state.sessions, queued=queued,
    )  # fmt: skip
    assert [(due.session_id, due.message_id) for due in list_due(state)] == [
        ("s0", "m"),
        ("s1", ""),
    ]
    hidden = State(worktrees={"w": archived}, sessions=machine.state.sessions, queued=queued)
    assert list_due(hidden) == []
