"""Builders of the resources, states, changes and events that tests give to the terminal."""

from typing import Any

from model.api.changes import ChangedFile, Changes
from model.api.history import Commit
from model.api.stashes import Stash
from model.domain.events.messages import ContentDelta, MessageStarted
from model.domain.messages import Block, Message, TextBlock
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences.schema import Preferences
from model.state import State


def a_project(**fields: Any) -> Project:
    """A project."""
    given = {"id": "p1", "name": "alpha", "path": "/code/alpha", "default_branch": "main"}
    return Project(**{**given, "added_at": 1.0, **fields})


def a_folder(**fields: Any) -> Project:
    """A folder of projects."""
    given = {"id": "f", "name": "work", "path": "", "default_branch": "", "is_folder": True}
    return a_project(**{**given, **fields})


def a_worktree(**fields: Any) -> Worktree:
    """A worktree of `p1`."""
    given = {"id": "w1", "project_id": "p1", "name": "brave-otter", "path": "/trees/brave-otter"}
    return Worktree(**{**given, "branch": "brave-otter", "created_at": 1.0, **fields})


def a_session(**fields: Any) -> Session:
    """A session in `w1`."""
    given = {"id": "s1", "worktree_id": "w1", "name": "Fix the parser", "created_at": 1.0}
    return Session(**{**given, "model": "model_1", **fields})


def a_message(text: str, **fields: Any) -> Message:
    """A message of `s1`; its id is its text."""
    given = {"id": text, "role": "user", "session_id": "s1", "timestamp": 1.0}
    return Message(**{**given, "content": [TextBlock(text=text)], **fields})


def an_unfinished_answer(message_id: str, *blocks: Block, **fields: Any) -> Message:
    """An answer in `s1` that is still being written."""
    given = {"id": message_id, "role": "assistant", "status": "processing"}
    return a_message("", **{**given, "content": list(blocks), **fields})


def a_state(*resources: Project | Worktree | Session) -> State:
    """A state with these resources."""
    return State(
        projects={r.id: r for r in resources if isinstance(r, Project)},
        worktrees={r.id: r for r in resources if isinstance(r, Worktree)},
        sessions={r.id: r for r in resources if isinstance(r, Session)},
        preferences=Preferences(has_seen_feature_tour=True),
    )


def a_changed_file(path: str, **fields: Any) -> ChangedFile:
    """A modified file."""
    given: dict[str, Any] = {"old_path": None, "status": "modified", "added": 2, "removed": 1}
    given |= {"old_mode": "100644", "mode": "100644", "submodule": False, "path": path}
    return ChangedFile(**{**given, **fields})


def a_commit(sha: str, subject: str, **fields: Any) -> Commit:
    """A commit of the branch that was not pushed."""
    of_commit = {"body": "", "author": "Ada", "authored_at": 1.0, "is_pushed": False}
    of_commit |= {"is_in_base": False, "is_merge": False, "short_sha": sha[:7]}
    return Commit.model_validate({"sha": sha, "subject": subject, **of_commit, **fields})


def a_stash(stash_id: str, message: str, **fields: Any) -> Stash:
    """Changes that were put aside."""
    of_stash = {"branch": "brave-otter", "created_at": 1.0, "files": 2}
    return Stash.model_validate({"id": stash_id, "message": message, **of_stash, **fields})


def make_changes(*paths: str, operation: Any = None, **fields: Any) -> Changes:
    """Changes to these files, with the same fields for each."""
    files = [a_changed_file(path, **fields) for path in paths]
    return Changes(files=files, base="main", operation=operation)


def message_started(message: Message) -> MessageStarted:
    """The event that begins an answer."""
    return MessageStarted(message_id=message.id, session_id=message.session_id, message=message)


def content_delta(
    message_id: str, text: str, index: int = 0, *, session_id: str = "s1"
) -> ContentDelta:
    """The event that appends text to an answer."""
    return ContentDelta(
        message_id=message_id, content=text, content_index=index, session_id=session_id
    )
