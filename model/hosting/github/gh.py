"""Run `gh`, GitHub's own program, and translate its errors."""

import re
from pathlib import Path
from typing import Final

from model.base.errors import ErrorType, SpinneyError
from model.hosting.program import TIMEOUT, HostingProgram

_TIMEOUT: Final = TIMEOUT
_SIGNED_OUT_EXIT_CODE: Final = 4
"""gh's exit code if it is not signed in."""

PROGRAM: Final = HostingProgram(
    name="gh",
    website="https://cli.github.com",
    sign_in="gh auth login",
    environment={
        "GH_PROMPT_DISABLED": "1",
        "GH_NO_UPDATE_NOTIFIER": "1",
        "GH_PAGER": "cat",
    },
)
_KNOWN_ERRORS: Final[tuple[tuple[str, str, ErrorType], ...]] = (
    (  # First: gh 2.23 adds "please use `gh auth login`" to this message.
        r"no git remotes found|none of the git remotes configured|no remotes? (?:found|configured)",
        "The repository has no remote on GitHub. Add one with 'git remote add origin <url>', "
        "then try again.",
        "conflict",
    ),
    (
        r"gh auth login|authentication required|HTTP 401|Bad credentials",
        "gh is not signed in to GitHub. Run 'gh auth login' in a terminal, then try again.",
        "backend_unavailable",
    ),
    (
        r"Could not resolve to a PullRequest|no pull requests? found|Could not resolve to an? issue"
        r" or pull request",
        "The pull request no longer exists. Clear it from the worktree, or save another one.",
        "not_found",
    ),
    (
        r"Could not resolve to a Repository|HTTP 404",
        "There is no such repository on GitHub, or the account that gh is signed in with cannot "
        "see it. Check the account with 'gh auth status'.",
        "not_found",
    ),
    (
        r"rate limit|HTTP 429",
        "GitHub's rate limit for this account is exceeded. Try again later.",
        "rate_limit_error",
    ),
    (
        r"HTTP 403|does not have the correct permissions|Resource not accessible|must have push"
        r"|must be a collaborator|permission(?! denied)|SAML",
        "The account that gh is signed in with does not have permission to do that in this "
        "repository. Check the account with 'gh auth status'.",
        "forbidden",
    ),
    (
        r"HTTP 5\d\d",
        "GitHub has a problem at the moment (see https://www.githubstatus.com). "
        "Try again in a few minutes.",
        "backend_unavailable",
    ),
    (
        r"error connecting to|dial tcp|no such host|i/o timeout|TLS handshake|network is unreach",
        "GitHub cannot be reached. Check the network connection, then try again.",
        "backend_unavailable",
    ),
)


async def gh(cwd: Path, *args: str, stdin: str = "") -> str:
    """Run `gh` in `cwd` and return its standard output.

    Args:
        cwd: A working tree; its remotes determine the repository.
        args: Subcommand and arguments.
        stdin: Standard input.

    Raises:
        SpinneyError: A plain message for known errors, otherwise gh's own message.
    """
    found = await PROGRAM.run(cwd, args, stdin, timeout=_TIMEOUT)
    if found.code != 0:
        raise _to_error(found.err or found.out, found.code)
    return found.out


def _to_error(output: str, code: int) -> SpinneyError:
    if code == _SIGNED_OUT_EXIT_CODE:
        output = f"gh auth login\n{output}"
    for pattern, message, kind in _KNOWN_ERRORS:
        if re.search(pattern, output, re.IGNORECASE):
            return SpinneyError(message, kind)
    return SpinneyError(output.strip() or f"gh failed (exit code {code}).", "backend_error")
