"""What a Spinney that is not running has saved, read by the same calls as from a running one."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.chat.session_rows import SessionFilter, list_session_rows
from model.cli.export import reading
from model.domain.messages import Message
from model.domain.sessions import LastRun, Session
from model.state import State, sort_projects
from model.store.queries import DatabaseReader, SavedState


class SavedData:
    """Answers the commands that `spinney ls`, `sessions`, `status` and `logs` read with."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Return the result of a command. Raises `SpinneyError`."""
        return self.call_all([(name, arguments)])[0]

    def call_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Return the results of commands. Raises `SpinneyError`."""
        return asyncio.run(self._answer(calls))

    async def _answer(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        async with reading(self._database) as reader:
            state = _make_state(await reader.load())
            return [await _answer(state, reader, name, given) for name, given in calls]


async def _answer(state: State, reader: DatabaseReader, name: str, given: Mapping[str, Any]) -> Any:
    match name:
        case "list_projects":
            projects = sort_projects(state.projects.values())
            return [one.model_dump(mode="json", exclude={"tracker_api_key"}) for one in projects]
        case "list_worktrees":
            archived = bool(given.get("includeArchived"))
            worktrees = state.worktrees_of(given["projectId"], archived=archived)
            return [one.model_dump(mode="json") for one in worktrees]
        case "list_sessions":
            sessions = state.sessions_of(given["worktreeId"], archived=True)
            return [one.model_dump(mode="json") for one in sessions]
        case "list_all_sessions":
            wanted = SessionFilter(
                given.get("projectId"),
                given.get("worktreeId"),
                given.get("status"),
                given.get("backend"),
                given.get("archived", "exclude"),
                given.get("search", "").casefold().split(),
            )
            return list_session_rows(state, wanted, given["limit"], given["offset"]).model_dump(
                mode="json"
            )
        case "list_queued_messages":
            queued = state.queued.get(given["sessionId"], ())
            return [one.model_dump(mode="json") for one in queued]
        case "get_messages":
            session_in(state, given["sessionId"])
            page = await reader.messages(given["sessionId"], given["limit"], given["offset"])
            return page.model_dump(mode="json")
    raise SpinneyError(f"Without a running Spinney there is no {name}.")


def _make_state(saved: SavedState) -> State:
    queued: dict[str, tuple[Message, ...]] = {}
    for message in saved.queued:
        queued[message.session_id] = (*queued.get(message.session_id, ()), message)
    return State(
        projects={one.id: one for one in saved.projects},
        worktrees={one.id: one for one in saved.worktrees},
        sessions={one.id: _without_run(one) for one in saved.sessions},
        queued=queued,
    )


def _without_run(session: Session) -> Session:
    """Return a session as it will be after the next start: what ran has ended with its program."""
    if session.status != "running" and session.waiting_for != "permission":
        return session
    ended = {
        "status": "idle",
        "waiting_for": None,
        "request": None,
        "last_run": LastRun(status="interrupted"),
    }
    return session.model_copy(update=ended)
