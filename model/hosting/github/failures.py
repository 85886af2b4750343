"""The messages of `gh` and of GitHub's API as errors with the next step."""

import math
import re
from collections.abc import Mapping
from typing import Final

from model.base.errors import ErrorType, SpinneyError
from model.base.plural import count
from model.git.error_messages import without_credentials

_SIGNED_OUT_EXIT_CODE: Final = 4
"""gh's exit code if it is not signed in."""
_MAX_MESSAGE: Final = 2000
"""Characters of a message that is shown as it is."""

_NO_REMOTE: Final = (
    "The repository has no remote on GitHub. Add one with 'git remote add origin <url>', then try "
    "again."
)
_SIGNED_OUT: Final = (
    "gh is not signed in to GitHub. Run 'gh auth login' in a terminal, then try again."
)
_PUBLIC: Final = "github.com"
_KNOWN_ERRORS: Final[tuple[tuple[str, str, ErrorType], ...]] = (
    (  # First: gh 2.23 adds "please use `gh auth login`" to this message.
        r"no git remotes found|none of the git remotes configured|no remotes? (?:found|configured)",
        _NO_REMOTE,
        "conflict",
    ),
    (
        r"gh auth login|authentication required|HTTP 401|Bad credentials",
        _SIGNED_OUT,
        "backend_unavailable",
    ),
    (
        r"Could not resolve to a PullRequest|no pull requests? found|Could not resolve to an? issue"
        r" or pull request",
        "The pull request no longer exists. Clear it from the worktree, or save another one.",
        "not_found",
    ),
    (
        r"rate limit|HTTP 429",
        "GitHub's rate limit for this account is exceeded. Try again later.",
        "rate_limit_error",
    ),
    (
        r"Could not resolve to a Repository|HTTP 404",
        "There is no such repository on {service}, or the account that gh is signed in with cannot "
        "see it. Check the account with 'gh auth status'; if the repository was moved, set its new "
        "address with 'git remote set-url origin <url>'.",
        "not_found",
    ),
    (
        r"cannot be searched",
        "GitHub cannot search this repository: it was moved, or the account that gh is signed in "
        "with cannot see it. Set its new address with 'git remote set-url origin <url>', or check "
        "the account with 'gh auth status'.",
        "not_found",
    ),
    (
        r"Could not resolve to a node",
        "This no longer exists on GitHub. Refresh the pull request, then try again.",
        "not_found",
    ),
    (
        r"HTTP 410",
        "GitHub has removed this: it is kept for a limited time only.",
        "not_found",
    ),
    (
        r"Repository was archived",
        "The repository is archived on GitHub, so nothing in it can be changed.",
        "conflict",
    ),
    (
        r"HTTP 403|does not have the correct permissions|Resource not accessible|must have push"
        r"|must be a collaborator|permission(?! denied)|SAML|not authorized|required scopes",
        "The account that gh is signed in with does not have permission to do that in this "
        "repository. Check the account with 'gh auth status'.",
        "forbidden",
    ),
    (
        r"HTTP 5\d\d",
        "{service} has a problem at the moment{status}. Try again in a few minutes.",
        "backend_unavailable",
    ),
    (
        r"error connecting to|dial tcp|no such host|i/o timeout|TLS handshake|network is unreach",
        "{service} cannot be reached. Check the network connection, then try again.",
        "backend_unavailable",
    ),
)
"""A pattern in the output, the message for it, and the type of the error; the first one applies.

`{service}` is GitHub, with its host if that is another one, `{status}` where its problems are.
"""


def no_remote_error() -> SpinneyError:
    """Return the error for a repository without any remote."""
    return SpinneyError(_NO_REMOTE, "conflict")


def to_error(
    output: str, code: int, wait: float | None = None, host: str = _PUBLIC
) -> SpinneyError:
    """Return the error for the output of a failed `gh`.

    Args:
        output: What it printed.
        code: Its exit code.
        wait: Seconds until a rate limit ends, if GitHub named them.
        host: The host that was asked; empty if no remote names one.
    """
    if code == _SIGNED_OUT_EXIT_CODE:
        output = f"gh auth login\n{output}"
    for pattern, message, kind in _KNOWN_ERRORS:
        if not re.search(pattern, output, re.IGNORECASE):
            continue
        if kind != "rate_limit_error" or wait is None:
            return _to_known_error(message, kind, host)
        minutes = count(math.ceil(wait / 60), "minute")
        return SpinneyError(message.replace("later", f"in {minutes}"), kind, retry_after=wait)
    shown = without_credentials(output.strip()[:_MAX_MESSAGE])
    return SpinneyError(shown or f"gh failed (exit code {code}).", "backend_error")


def account_command(host: str, verb: str = "login") -> str:
    """Return the command that signs in to a host, or changes its token by another verb."""
    return f"gh auth {verb}" if host == _PUBLIC else f"gh auth {verb} --hostname {host}"


def _to_known_error(message: str, kind: ErrorType, host: str) -> SpinneyError:
    is_other = host not in ("", _PUBLIC)
    if is_other and message in (_NO_REMOTE, _SIGNED_OUT):
        # Which service a host is that no program is signed in to is not known.
        return SpinneyError(
            f"gh is not signed in to {host}. Run '{account_command(host)}' in a terminal, then try "
            f"again. If it is a GitLab host, run 'glab auth login --hostname {host}' instead.",
            "backend_unavailable",
        )
    service = f"GitHub at {host}" if is_other else "GitHub"
    status = "" if is_other else " (see https://www.githubstatus.com)"
    return SpinneyError(message.format(service=service, status=status), kind)


def find_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until a rate limit ends; `None` if the headers of an answer name none.

    Args:
        headers: By lower-case name.
        now: Seconds since 1970.
    """
    after = headers.get("retry-after", "")
    if after.isdecimal() and len(after) < 7:
        return float(after)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal() and len(reset) < 12:
        return max(1.0, float(reset) - now)
    return None
