"""Implements `model.api.tasks`."""

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import tasks as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.chat.user_messages import make_checked_message, make_message_events
from model.commands.hosting import announce_work, fetch_text
from model.commands.new_sessions import NewSession, choose_agent, make_session
from model.commands.registry import implements
from model.commands.worktrees import create_prepared
from model.domain.events.base import Event
from model.domain.events.sessions import SessionCreated
from model.domain.messages import Message
from model.domain.modes import ExecutionMode, ThinkingLevel
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.hosting.forge import ItemText
from model.state import State
from model.store.store import Change
from model.worktrees import creation, require_project
from model.worktrees.announcing import announce
from model.worktrees.starting_work import WorkPlan, plan_work

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.start_task)
async def start_task(
    workspace: "Workspace",
    project_id: str,
    prompt: str,
    task_id: uuid.UUID | None = None,
    name: str | None = None,
    branch: str | None = None,
    base_branch: str | None = None,
    session_name: str | None = None,
    execution_mode: ExecutionMode = "plan",
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
    files: list[str] | None = None,
    images: list[str] | None = None,
    context: api.TaskContext | None = None,
) -> api.StartedTask:
    project = require_project(workspace.store.state, project_id)
    session_id = str(task_id or uuid.uuid4())
    if session_id not in workspace.store.state.sessions:
        if [branch, base_branch, context].count(None) < 2:
            raise SpinneyError("Give one of 'branch', 'baseBranch' and 'context'.")
        wanted = NewSession(session_name, execution_mode, model, thinking_level, backend)
        agent = await choose_agent(workspace, project, Path(project.path), wanted)
        about = await _fetch(workspace, project, context) if context else None
        message = _NewMessage(prompt, files or [], images or [])
        task = _Task(workspace, session_id, message, wanted, agent, about)
        try:
            worktree = await _announce(workspace, project, task, name, branch, base_branch)
        except _AlreadyStartedError:
            pass  # By a call at the same time.
        else:
            return await _create(workspace, worktree, session_id, task)
    return await _wait_until_created(workspace, session_id)


class _AlreadyStartedError(SpinneyError):
    """An earlier call with the same id has started the task."""


@dataclass(frozen=True, slots=True)
class _NewMessage:
    """The first message as a client gave it."""

    prompt: str
    files: list[str]
    images: list[str]


@dataclass(frozen=True, slots=True)
class _Context:
    """What a task is about, and how its worktree begins from that."""

    about: api.TaskContext
    text: ItemText
    plan: WorkPlan


@dataclass(frozen=True, slots=True)
class _Task:
    """The session and the message that are accepted together with a new worktree."""

    workspace: "Workspace"
    id: str
    message: _NewMessage
    session: NewSession
    agent: tuple[str | None, str]
    context: _Context | None

    async def begin(self, worktree: Worktree) -> list[Change]:
        """Check the message, write its context, and return the changes to accept."""
        given = self.message
        attachments = (given.files, given.images)
        message = await asyncio.to_thread(
            make_checked_message, self.id, Path(worktree.path), given.prompt, *attachments, self.id
        )
        message = await self._with_context(message, worktree)

        def create_session(state: State) -> list[Event]:
            if self.id in state.sessions:
                raise _AlreadyStartedError("This task was started already.", "conflict")
            session = make_session(
                self.workspace, state, worktree, self.id, self.session, self.agent
            )
            return [SessionCreated(session=session)]

        return [create_session, lambda state: make_message_events(state, message)[1]]

    async def _with_context(self, message: Message, worktree: Worktree) -> Message:
        if self.context is None or message.text.lstrip().startswith("/"):
            return message
        contexts, about = self.workspace.contexts, self.context.about
        await contexts.write(worktree.id, about.kind, about.item_id, self.context.text)
        file = await contexts.find_file(worktree.id)
        return message.model_copy(update={"context": str(file)}) if file else message


async def _fetch(workspace: "Workspace", project: Project, about: api.TaskContext) -> _Context:
    text = await fetch_text(workspace, project, about.kind, about.item_id)
    return _Context(about, text, await plan_work(project, about.kind, about.item_id, text))


async def _announce(
    workspace: "Workspace",
    project: Project,
    task: _Task,
    name: str | None,
    branch: str | None,
    base_branch: str | None,
) -> Worktree:
    """Accept worktree, session and message together."""
    if task.context is not None:
        return await announce_work(workspace, project, task.context.plan, name, task.begin)
    return await announce(
        workspace.store, workspace.directories, project.id, base_branch, name,
        branch=branch, begin=task.begin,
    )  # fmt: skip


async def _create(
    workspace: "Workspace", worktree: Worktree, session_id: str, task: _Task
) -> api.StartedTask:
    """Create the worktree, and let agents name session and branch where preferences say so."""
    session, prompt = session_in(workspace.store.state, session_id), task.message.prompt
    pull_request = task.context.plan.pull_request if task.context else None
    workspace.run_in_background(create_prepared(workspace, worktree, pull_request))
    if workspace.naming.is_wanted(session, prompt):
        workspace.run_in_background(workspace.naming.name(session_id, prompt))
    started = await _wait_until_created(workspace, session_id)
    if workspace.branch_naming.should_name(session, prompt):
        workspace.run_in_background(workspace.branch_naming.name(worktree.id, prompt))
    return started


async def _wait_until_created(workspace: "Workspace", session_id: str) -> api.StartedTask:
    """Return the task once its worktree exists. Raises `SpinneyError` if it cannot be created."""
    worktree_id = session_in(workspace.store.state, session_id).worktree_id
    worktree = await creation.wait_until_created(workspace.store, worktree_id)
    session = session_in(workspace.store.state, session_id)
    return api.StartedTask(worktree=worktree, session=session, message_id=session_id)
