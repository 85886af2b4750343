"""Tasks: a worktree, a session and its first message at once."""

import uuid

from model.api.command import command
from model.domain.hosting import WorkKind
from model.domain.modes import ExecutionMode, ThinkingLevel
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.worktrees import Worktree


class TaskContext(Resource):
    """What a task is about: an issue, a pull request, a workflow run or an alert."""

    kind: WorkKind
    item_id: str


class StartedTask(Resource):
    """The result of `start_task`."""

    worktree: Worktree
    session: Session
    message_id: str


@command
async def start_task(
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
    context: TaskContext | None = None,
) -> StartedTask:
    """Create a worktree and a session there, and send `prompt` as its first message.

    `name` is that of the worktree and of its new branch, which starts from `baseBranch`; with
    `branch` an existing branch is checked out instead. With `context` the worktree starts as
    `start_work` says, and the agent gets the text of that item. Other settings are those of
    `create_session`; paths of `files` and `images` are absolute.

    All three are accepted together, or none of them. The result comes once the worktree exists;
    the message is sent when its `setup` is done (`setup_hold`).

    `taskId` is a UUID that the client generates: the id of the session, and of the message. A
    client that does not know whether the task was started calls again with the same UUID: it is
    started only once, and the result is the same task as it is now.
    """
