"""The one exception that reaches people, its kinds, and the exact sentences of the interface."""

import logging
import os
from typing import Final, Literal

_log = logging.getLogger(__name__)

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


class SpinneyError(Exception):
    """Something that a person should read: what happened and what to do about it."""

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
        """Seconds until a limit ends, where the agent's provider told them."""


class UsageError(SpinneyError):
    """A command line that means nothing."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage
        """How it is used, a line or more; printed before the sentence."""


class NobodyThereError(SpinneyError):
    """No Spinney runs where one was asked for, or it does not answer."""


def exit_code(error: SpinneyError) -> int:
    """What a command line that ended with this error ends with, as `spinney --help` tells."""
    match error:
        case UsageError():
            return 2
        case NobodyThereError():
            return 3
        case _:
            return 4 if error.error_type == "not_found" else 1


def foreseen(error: BaseException, what: str) -> SpinneyError:
    """The error as people may read it; one that nobody foresaw stays in the log."""
    if isinstance(error, SpinneyError):
        return error
    reference = os.urandom(4).hex()
    _log.error("internal error %s in %s", reference, what, exc_info=error)
    return SpinneyError(
        f"Something went wrong inside Spinney; its log has the details under {reference}.",
        "internal_error",
    )


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
    """Something already stands where the worktree should go."""
    return SpinneyError(f"Worktree path already exists: {path}", "conflict")


def branch_exists(branch: str) -> SpinneyError:
    """The repository has a branch of this name."""
    return SpinneyError(f"Branch already exists: {branch}", "conflict")


def worktree_failed(reason: str) -> SpinneyError:
    """Git refused to make the worktree; `reason` is git's own text."""
    return SpinneyError(f"Failed to create worktree: {reason}", "git_error")


def not_a_repository(path: str) -> SpinneyError:
    """The path has no git directory."""
    return SpinneyError(f"Path is not a git repository: {path}")


def project_exists(path: str) -> SpinneyError:
    """The repository is a project already."""
    return SpinneyError(f"Project already exists: {path}", "conflict")


def folder_not_found(folder_id: str) -> SpinneyError:
    """What has this id is a project, where a folder is meant."""
    return SpinneyError(f"Folder not found: {folder_id}", "not_found")


def project_gone(path: str) -> SpinneyError:
    """The directory of a project was moved or removed by hand."""
    return SpinneyError(
        f"The project's directory is gone: {path}. Put it back where it was, or remove the"
        " project and add it at its new place.",
        "not_found",
    )


def folder_name_exists(name: str) -> SpinneyError:
    """A folder of this name lies in the same place."""
    return SpinneyError(f"Folder name already exists: {name}", "conflict")
