"""Lists the sessions of all projects as short rows: a pure function of the state."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from model.domain.projects import Project
from model.domain.session_rows import ArchivedFilter, SessionList, SessionRow
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are listed."""

    project_id: str | None = None
    worktree_id: str | None = None
    status: Collection[str] | None = None
    backend: str | None = None
    archived: ArchivedFilter = "exclude"
    search: Sequence[str] = ()
    """Words in lower case that the names of session, worktree, branch and project contain."""

    def accepts(self, session: Session, worktree: Worktree, project: Project) -> bool:
        """Whether a session is listed."""
        is_archived = session.archived_at is not None or worktree.archived_at is not None
        return (
            (self.archived == "include" or is_archived == (self.archived == "only"))
            and self.project_id in (None, project.id)
            and self.worktree_id in (None, worktree.id)
            and self.backend in (None, session.backend)
            and (self.status is None or session.status in self.status)
            and (not self.search or self._is_found(session, worktree, project))
        )

    def _is_found(self, session: Session, worktree: Worktree, project: Project) -> bool:
        names = (session.name, worktree.name, worktree.branch, project.name)
        text = "\n".join(names).casefold()
        return all(word in text for word in self.search)


def list_session_rows(
    state: State, wanted: SessionFilter, limit: int, offset: int = 0
) -> SessionList:
    """Return a page of the sessions that match, the last used first."""
    found: list[tuple[Session, Worktree, Project]] = []
    for session in state.sessions.values():
        worktree = state.worktrees.get(session.worktree_id)
        project = state.projects.get(worktree.project_id) if worktree else None
        if worktree and project and wanted.accepts(session, worktree, project):
            found.append((session, worktree, project))
    found.sort(key=lambda one: (-one[0].updated_at, one[0].id))
    rows = [_make_row(state, *one) for one in found[offset : offset + limit]]
    # Not validated: the values are those of validated resources.
    return SessionList.model_construct(sessions=rows, total=len(found))


def _make_row(state: State, session: Session, worktree: Worktree, project: Project) -> SessionRow:
    queued = state.queued.get(session.id, ())
    return SessionRow(
        id=session.id,
        name=session.name,
        status=session.status,
        waiting_for=session.waiting_for,
        held=worktree.setup_hold if worktree.setup_hold and state.is_held(session) else None,
        pause=session.pause,
        queued=len(queued),
        scheduled=sum(message.send_at is not None for message in queued) if queued else 0,
        unread=session.unread,
        last_run_status=session.last_run.status if session.last_run else None,
        project_id=project.id,
        project_name=project.name,
        worktree_id=worktree.id,
        worktree_name=worktree.name,
        worktree_path=worktree.path,
        branch=worktree.branch,
        backend=session.backend,
        model=session.model,
        execution_mode=session.execution_mode,
        message_count=session.message_count,
        created_at=session.created_at,
        updated_at=session.updated_at,
        archived_at=session.archived_at,
    )
