"""What a session is asked to do for a pull request: fix checks, answer comments."""

from model.api.command import command
from model.domain.messages import SessionMessage
from model.domain.sessions import Session


@command
async def fix_checks(worktree_id: str, session_id: str | None = None) -> SessionMessage:
    """Send the failed checks with the end of their logs to a session, which is to fix them.

    The text is that of the prompt `investigate_workflow_run`. Without `sessionId`, it goes to the
    session that was used last, or a new one. Fails with `conflict` if no check has failed.
    """


@command
async def answer_comments(worktree_id: str, session_id: str | None = None) -> SessionMessage:
    """Send the comments that are not resolved or not answered to a session, which is to deal with
    them.

    Fails with `conflict` if there is none.
    """


@command
async def set_pull_request_loop(
    session_id: str, enabled: bool, limit: int | None = None
) -> Session:
    """Let a session fix red checks and answer new comments by itself after each push.

    Comments of people without a role in the repository are left to `answer_comments`. It does so at
    most `limit` times (3, or 1 to 20), then it waits for a person; enabling it again resets the
    count.
    """
