"""What a new session is made of: its agent, model and mode as asked for, else as set."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.modes import ExecutionMode, ThinkingLevel
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences import profiles
from model.preferences.precedence import choose_backend
from model.preferences.schema import AGENT_PROMPTS, PromptKey
from model.state import State
from model.writing.prompt_agents import PromptAgent

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a client wants of a session; `None` is what project or preferences say."""

    name: str | None = None
    execution_mode: ExecutionMode = "plan"
    model: str | None = None
    thinking_level: ThinkingLevel | None = None
    backend: str | None = None
    prompt: PromptKey | None = None


async def choose_agent(
    workspace: "Workspace", project: Project, directory: Path, wanted: NewSession
) -> tuple[str | None, str]:
    """Return the wanted backend, if any, and the model, as known in `directory`.

    Raises `SpinneyError` for an unknown backend, or a prompt without an agent.
    """
    backend, model = wanted.backend, wanted.model
    if wanted.prompt is not None:
        chosen = _agent_of(workspace, project, wanted.prompt)
        # A model belongs to its backend: another backend has its own default.
        model = model or (chosen.model if backend in (None, chosen.backend) else None)
        backend = backend or chosen.backend
    if backend is not None:
        check_backend(workspace, backend)
    return backend, model or await choose_default_model(workspace, project, directory, backend)


def make_session(
    workspace: "Workspace",
    state: State,
    worktree: Worktree,
    session_id: str,
    wanted: NewSession,
    agent: tuple[str | None, str],
) -> Session:
    """Return a session, the last of its worktree; `agent` is what `choose_agent` returned."""
    backend, model = agent
    project = state.projects[worktree.project_id]
    orders = [s.order for s in state.sessions.values() if s.worktree_id == worktree.id]
    return Session(
        id=session_id,
        worktree_id=worktree.id,
        name=clean_line(wanted.name or "") or f"Session {len(orders) + 1}",
        named_by_user=bool(wanted.name),
        created_at=time.time(),
        updated_at=time.time(),
        execution_mode=wanted.execution_mode,
        model=model,
        thinking_level=wanted.thinking_level or state.preferences.thinking_level,
        backend=choose_backend(
            project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
        ),
        prompt=wanted.prompt,
        order=max(orders, default=-1) + 1,
    )


async def choose_default_model(
    workspace: "Workspace", project: Project, directory: Path, backend: str | None
) -> str:
    """Return the model of a session that is created without one."""
    preferences = workspace.store.state.preferences
    agent = choose_backend(
        project, preferences, backend, catalog=workspace.catalog, demo=workspace.demo
    )
    profile = profiles.resolve_name(preferences, project)
    return await workspace.models.choose_default_model(agent, preferences, directory, profile)


def check_backend(workspace: "Workspace", backend: str) -> None:
    """Raise `SpinneyError` unless this agent exists."""
    known = [row.name for row in workspace.catalog.backend_rows(demo=workspace.demo)]
    if backend not in known:
        names = ", ".join(f"'{name}'" for name in known)
        raise SpinneyError(f"Invalid field 'backend': must be one of {names}")


def _agent_of(workspace: "Workspace", project: Project, prompt: PromptKey) -> PromptAgent:
    """Return the agent of a prompt; raises if none is started for it."""
    if prompt not in AGENT_PROMPTS:
        raise SpinneyError(f"Invalid field 'prompt': must be one of {', '.join(AGENT_PROMPTS)}")
    return workspace.prompt_agents.choose(prompt, project)
