"""What is due: paused sessions that go on, and queued messages with a time."""

from dataclasses import dataclass

from model.domain.sessions import Session
from model.state import State
from model.usage.accounts import account_of


@dataclass(frozen=True, slots=True, order=True)
class Due:
    """One thing that happens at a time; sorted in the order in which things happen."""

    at: float
    """Seconds since 1970."""
    since: float
    session_id: str
    message_id: str = ""
    """The queued message; empty if the session goes on."""
    account: str = ""


def list_due(state: State) -> list[Due]:
    """Return everything that waits for a time, the earliest first.

    Archived sessions and worktrees wait until they are brought back.
    """
    waiting = [
        Due(pause.until, pause.since, session.id, account=pause.account)
        for session in state.sessions.values()
        if (pause := session.pause) is not None
        and pause.until is not None
        and session.status == "paused"
        and _may_run(state, session)
    ]
    for session_id, queue in state.queued.items():
        for message in queue:
            session = state.sessions.get(session_id)
            if message.send_at is not None and session is not None and _may_run(state, session):
                account = account_of(state, session)
                waiting.append(
                    Due(message.send_at, message.timestamp, session_id, message.id, account)
                )
    return sorted(waiting)


def _may_run(state: State, session: Session) -> bool:
    worktree = state.worktrees.get(session.worktree_id)
    return (
        session.archived_at is None
        and worktree is not None
        and worktree.archived_at is None
        and worktree.status in ("ready", "missing")
    )
