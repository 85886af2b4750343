"""The whole state on the wire (`GET /api/init`): writing and reading it."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from model.base.errors import SpinneyError
from model.domain.messages import Message
from model.domain.notices import Notice
from model.domain.program import ProgramStatus
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences.apply import redact
from model.preferences.schema import Preferences
from model.state import State

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

MESSAGES_OF_ACTIVE = 50
"""Messages included for each session that is running or waiting."""


async def build_snapshot(workspace: "Workspace") -> dict[str, Any]:
    """The state for remote clients, with the number of the last event that it contains."""
    store = workspace.store
    with suppress(SpinneyError):  # With a full disk, the state can still be read.
        await store.flush()
    messages: dict[str, list[Message]] = {}
    # Sessions may become active meanwhile: repeat until all that are in the state have been read.
    while new := [key for key in _active(store.state) if key not in messages]:
        for key in new:
            messages[key] = (await store.messages(key, MESSAGES_OF_ACTIVE)).messages
    store.bus.seal()
    state = store.state
    sessions = list(state.sessions.values())
    worktrees = list(state.worktrees.values())
    return {
        "projects": [_project(project) for project in state.projects.values()],
        "worktreesByProject": {
            key: [w.model_dump(mode="json") for w in worktrees if w.project_id == key]
            for key in state.projects
        },
        "sessionsByWorktree": {
            key: [s.model_dump(mode="json") for s in sessions if s.worktree_id == key]
            for key in state.worktrees
        },
        "activeSessions": {
            key: {
                **state.sessions[key].model_dump(mode="json"),
                "messages": _newest(state, key, messages[key]),
            }
            for key in _active(state)
        },
        "runningSessions": [s.id for s in sessions if s.status == "running"],
        "queuedBySession": {
            key: [message.model_dump(mode="json") for message in queued]
            for key, queued in state.queued.items()
        },
        "notices": [notice.model_dump(mode="json") for notice in state.notices.values()],
        "preferences": redact(state.preferences).model_dump(mode="json"),
        "program": state.program.model_dump(mode="json"),
        "uiState": {},
        "seq": store.bus.seq,
    }


def _project(project: Project) -> dict[str, Any]:
    return project.model_copy(update={"tracker_api_key": None}).model_dump(mode="json")


def _active(state: State) -> list[str]:
    return [s.id for s in state.sessions.values() if s.is_active]


def _newest(state: State, session_id: str, saved: list[Message]) -> list[dict[str, Any]]:
    """The saved messages, with the unfinished one in its present form."""
    unfinished = state.streaming_in(session_id)
    messages = [m for m in saved if unfinished is None or m.id != unfinished.id]
    messages += [unfinished] if unfinished is not None else []
    return [message.model_dump(mode="json") for message in messages[-MESSAGES_OF_ACTIVE:]]


def parse_snapshot(snapshot: dict[str, Any]) -> State:
    """Read the state that `build_snapshot` built; secrets are missing."""
    streaming = [
        Message.model_validate(message)
        for session in snapshot["activeSessions"].values()
        for message in session["messages"]
        if message["role"] == "assistant" and message["status"] == "processing"
    ]
    return State(
        projects=_by_id(Project.model_validate(item) for item in snapshot["projects"]),
        worktrees=_by_id(
            Worktree.model_validate(item)
            for items in snapshot["worktreesByProject"].values()
            for item in items
        ),
        sessions=_by_id(
            Session.model_validate(item)
            for items in snapshot["sessionsByWorktree"].values()
            for item in items
        ),
        queued={
            key: tuple(Message.model_validate(item) for item in items)
            for key, items in snapshot["queuedBySession"].items()
        },
        streaming=_by_id(streaming),
        preferences=Preferences.model_validate(snapshot["preferences"]),
        # Missing at a server of an older version.
        notices=_by_id(Notice.model_validate(item) for item in snapshot.get("notices", ())),
        program=ProgramStatus.model_validate(snapshot.get("program", {})),
    )


def _by_id(resources: Any) -> dict[str, Any]:
    return {resource.id: resource for resource in resources}
