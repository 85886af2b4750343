"""`spinney new`: start a task with a worktree, a session and its first message."""

import uuid
from argparse import Namespace
from typing import Any

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.arguments import backend_of_agent
from model.cli.lookup import (
    SHORT_ID,
    Json,
    find_project,
    find_worktree,
    list_projects,
    list_worktrees,
)
from model.cli.messages import (
    read_attachments,
    read_id,
    read_message,
    wait_for_answer,
    without_none,
)
from model.cli.quick_call import Connection, connect_here


def new(options: Namespace) -> int:
    """Start it; returns the exit code."""
    if options.worktree is not None and (options.name or options.project):
        options.parser.error("--worktree: not together with --name or --project")
    message = read_message(options.prompt, options)
    settings = without_none(
        executionMode=options.mode,
        model=options.model,
        thinkingLevel=options.thinking,
        backend=backend_of_agent(options.agent) if options.agent else None,
    )
    with connect_here() as connection:
        start = _start_session if options.worktree is not None else _start_task
        started = start(connection, message, settings, options)
    if options.json:
        write_json(started)
    else:
        worktree, session = started["worktree"], started["session"]
        name, path = clean_line(worktree["name"]), clean_line(worktree["path"])
        write_output(f"{session['id'][:SHORT_ID]}  {name}  {path}\n")
    return wait_for_answer(started["session"]["id"], options) if options.wait else 0


def _start_task(
    connection: Connection, message: str, settings: dict[str, Any], options: Namespace
) -> Json:
    projects = list_projects(connection)
    worktrees = list_worktrees(connection, projects)
    project = find_project(projects, worktrees, options.project)
    started: Json = connection.call(
        "start_task",
        projectId=project["id"],
        prompt=message,
        # An id in any case: of a call that is lost, the task is known.
        taskId=read_id(options) or str(uuid.uuid4()),
        **settings,
        **read_attachments(options),
        **without_none(
            name=options.name,
            baseBranch=options.base,
            branch=options.branch,
            sessionName=options.session_name,
            context=_read_context(options),
        ),
    )
    return started


def _start_session(
    connection: Connection, message: str, settings: dict[str, Any], options: Namespace
) -> Json:
    """Create a session in an existing worktree and send its first message."""
    if options.id is not None:
        options.parser.error("--id: not together with --worktree; create the session first")
    worktrees = list_worktrees(connection, list_projects(connection))
    worktree = find_worktree(worktrees, options.worktree)
    session = connection.call(
        "create_session",
        worktreeId=worktree["id"],
        **settings,
        **without_none(name=options.session_name),
    )
    sent = connection.call(
        "send_chat_message",
        sessionId=session["id"],
        message=message,
        **read_attachments(options),
    )
    return {"worktree": worktree, "session": session, "message_id": sent["message_id"]}


def _read_context(options: Namespace) -> Json | None:
    for kind, item in (("issue", options.issue), ("pull_request", options.pr)):
        if item is not None:
            return {"kind": kind, "item_id": item.lstrip("#")}
    return None
