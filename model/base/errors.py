"""The exception whose message is shown to users, its types, and the interface's exact messages."""

import errno
import os
from typing import Final, Literal

ErrorType = Literal[
    "invalid_request",
    "authentication_error",
    "forbidden",
    "not_found",
    "conflict",
    "too_large",
    "rate_limit_error",
    "backend_unavailable",
    "backend_error",
    "git_error",
    "timeout",
    "internal_error",
]

HTTP_STATUS: Final[dict[ErrorType, int]] = {
    "invalid_request": 400,
    "authentication_error": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "rate_limit_error": 429,
    "backend_unavailable": 503,
    "backend_error": 502,
    "git_error": 500,
    "timeout": 504,
    "internal_error": 500,
}


EXIT_CODES: Final[dict[ErrorType, int]] = {
    "not_found": 4,
    "authentication_error": 5,
    "forbidden": 5,
    "rate_limit_error": 6,
    "timeout": 6,
    "backend_unavailable": 6,
}
"""Exit status of the command line by error; 1 for all others."""


class SpinneyError(Exception):
    """An error with a message for the user: what happened and what to do about it."""

    def __init__(
        self,
        message: str,
        error_type: ErrorType = "invalid_request",
        *,
        session_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.error_type: ErrorType = error_type
        self.session_id = session_id
        """The missing session, named in the error body of HTTP."""
        self.retry_after = retry_after
        """Seconds until a rate limit ends, if the agent's provider reported them."""


class UsageError(SpinneyError):
    """An invalid command line."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage
        """The usage text, one or more lines; printed before the message."""


class NotRunningError(SpinneyError):
    """No Spinney instance runs for this data directory, or it does not respond."""


def exit_code(error: SpinneyError) -> int:
    """The exit status of a command that failed with this error, as `spinney --help` documents."""
    match error:
        case UsageError():
            return 2
        case NotRunningError():
            return 3
        case _:
            return EXIT_CODES.get(error.error_type, 1)


def as_user_error(error: BaseException, operation: str) -> SpinneyError:
    """Convert to a `SpinneyError`; an unexpected error is logged and replaced by a reference."""
    if isinstance(error, SpinneyError):
        return error
    import logging  # It takes longer to import than some commands of the command line.

    reference = os.urandom(4).hex()
    log = logging.getLogger(__name__)
    log.error("internal error %s in %s", reference, operation, exc_info=error)
    return SpinneyError(
        f"Something went wrong inside Spinney. Its log has the details under {reference}.",
        "internal_error",
    )


def find_path_error(error: BaseException) -> SpinneyError | None:
    """Convert the error of a path that the system refuses to look at; `None` for any other.

    Until Python 3.14 even `Path.exists` raises it: in a folder that may not be entered, or for a
    name that is too long. Commands leave it to the entry point of the command line.
    """
    refusals = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR)
    if not isinstance(error, OSError) or error.filename is None or error.errno not in refusals:
        return None
    return SpinneyError(f"{os.fsdecode(error.filename)}: {error.strerror}.", "not_found")


def project_not_found(project_id: str) -> SpinneyError:
    """No project has this id."""
    return SpinneyError(f"Project not found: {project_id}", "not_found")


def worktree_not_found(worktree_id: str) -> SpinneyError:
    """No worktree has this id, or no known worktree has this path."""
    return SpinneyError(f"Worktree not found: {worktree_id}", "not_found")


def session_not_found(session_id: str) -> SpinneyError:
    """No session has this id."""
    return SpinneyError(f"Session not found: {session_id}", "not_found", session_id=session_id)


def worktree_name_exists(name: str) -> SpinneyError:
    """Another worktree of the project has this name."""
    return SpinneyError(f"Worktree name already exists: {name}", "conflict")


def worktree_path_exists(path: str) -> SpinneyError:
    """The target path of the worktree is in use."""
    return SpinneyError(f"Worktree path already exists: {path}", "conflict")


def branch_exists(branch: str) -> SpinneyError:
    """The repository has a branch of this name."""
    return SpinneyError(f"Branch already exists: {branch}", "conflict")


def worktree_creation_failed(reason: str) -> SpinneyError:
    """Git could not create the worktree; `reason` is git's own message."""
    return SpinneyError(f"Failed to create worktree: {reason}", "git_error")


def not_a_repository(path: str) -> SpinneyError:
    """The path has no git directory."""
    return SpinneyError(f"Path is not a git repository: {path}")


def project_exists(path: str) -> SpinneyError:
    """The repository is already a project."""
    return SpinneyError(f"Project already exists: {path}", "conflict")


def folder_not_found(folder_id: str) -> SpinneyError:
    """No folder has this id; it may be the id of a project."""
    return SpinneyError(f"Folder not found: {folder_id}", "not_found")


def project_directory_missing(path: str) -> SpinneyError:
    """The directory of a project was moved or removed by hand."""
    return SpinneyError(
        f"The project's directory is missing: {path}. Move it back, or remove the project and"
        " add it again from its new location.",
        "not_found",
    )


def worktree_directory_missing(path: str) -> SpinneyError:
    """The directory of a worktree was moved or removed by hand."""
    return SpinneyError(
        f"The worktree's directory is missing: {path}. Restore it, or recreate or archive the"
        " worktree.",
        "not_found",
    )


def folder_name_exists(name: str) -> SpinneyError:
    """The parent already has a folder of this name."""
    return SpinneyError(f"Folder name already exists: {name}", "conflict")
