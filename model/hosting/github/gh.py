"""Run `gh`, GitHub's own program, and translate its errors.

It runs without a terminal and without prompts, and is terminated after a time limit.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Final

from model.base.errors import ErrorType, SpinneyError
from model.base.text import make_visible
from model.git.error_messages import without_credentials

_TIMEOUT: Final = 60
"""Seconds; even a slow network responds within a few."""
_MAX_BYTES: Final = 4_000_000
"""Bytes of output. Lists and comments may be longer: callers then request fewer fields."""
_GRACE_SECONDS: Final = 1.0
_SIGNED_OUT_EXIT_CODE: Final = 4
"""gh's exit code if it is not signed in."""

_ENVIRONMENT: Final = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PAGER": "cat",
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    # Git commands run by `gh` must not execute programs named by a repository's configuration.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "protocol.ext.allow",
    "GIT_CONFIG_VALUE_1": "never",
    "GIT_CONFIG_KEY_2": "protocol.fd.allow",
    "GIT_CONFIG_VALUE_2": "never",
}
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
    program = await asyncio.to_thread(shutil.which, "gh")
    if program is None:
        raise SpinneyError(
            "The program 'gh' is not installed. Install it (https://cli.github.com), run "
            "'gh auth login', then try again.",
            "backend_unavailable",
        )
    out, err, code = await _run(program, cwd, args, stdin)
    if code != 0:
        raise _to_error(err or out, code)
    return out


async def _run(program: str, cwd: Path, args: tuple[str, ...], stdin: str) -> tuple[str, str, int]:
    try:
        process = await asyncio.create_subprocess_exec(
            program, *args, cwd=cwd, env={**os.environ, **_ENVIRONMENT},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise SpinneyError(f"gh could not be started: {error}", "backend_unavailable") from None
    try:
        async with asyncio.timeout(_TIMEOUT):
            out, err = await process.communicate(stdin.encode("utf-8", "replace"))
    except TimeoutError:
        raise SpinneyError(
            f"gh took longer than {_TIMEOUT} seconds and was stopped. Check the network "
            "connection, then try again.",
            "timeout",
        ) from None
    finally:
        await _terminate(process)
    assert process.returncode is not None
    return _decode(out[:_MAX_BYTES]), _decode(err[:_MAX_BYTES]), process.returncode


async def _terminate(process: asyncio.subprocess.Process) -> None:
    """Terminate the process group if the process is still running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)


def _to_error(output: str, code: int) -> SpinneyError:
    if code == _SIGNED_OUT_EXIT_CODE:
        output = f"gh auth login\n{output}"
    for pattern, message, kind in _KNOWN_ERRORS:
        if re.search(pattern, output, re.IGNORECASE):
            return SpinneyError(message, kind)
    return SpinneyError(output.strip() or f"gh failed (exit code {code}).", "backend_error")


def _decode(raw: bytes) -> str:
    return without_credentials(make_visible(raw.decode("utf-8", "replace")))
