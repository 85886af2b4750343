"""Conversations begun in the agent programs' own screens, and going on there."""

from model.api.command import command
from model.domain.foreign_sessions import ForeignSessions, ResumeCommand
from model.domain.modes import ExecutionMode
from model.domain.sessions import Session


@command
async def list_foreign_sessions(worktree_id: str) -> ForeignSessions:
    """List the conversations that were begun in the agent programs' own screens, in the directory
    of a worktree or of its project, and that no session of Spinney has: at most 100 of each
    program, newest first.

    This may take some seconds, as it starts programs.
    """


@command
async def continue_foreign_session(
    worktree_id: str,
    backend: str,
    conversation_id: str,
    execution_mode: ExecutionMode = "plan",
) -> Session:
    """Create a session that continues a conversation of `list_foreign_sessions`; its newest 200
    messages are in the history, without tools and their results.

    If a session continues it already, the result is that session. A conversation of the project's
    directory, when it is not the worktree's, is continued in a copy.
    """


@command
async def get_resume_command(session_id: str) -> ResumeCommand:
    """Get the command that continues a session in its agent's own screen.

    The session's agent is ended first, so that both do not write. What is said there is added to
    the session with its next message (`elsewhere_since`). Fails during a turn, if the agent has no
    screen of its own, and if it has no conversation yet.
    """
