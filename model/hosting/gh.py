"""The one place that runs `gh`, GitHub's own program, and says in a sentence what went wrong.

It runs without a terminal, asks nothing, and is ended after a time limit.
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
from model.git.run import without_credentials

_TIMEOUT: Final = 60
"""Seconds; a slow network answers within a few."""
_MOST_BYTES: Final = 4_000_000
"""Bytes of an answer. Lists and comments may be longer: who asks for them asks again for less."""
_GRACE: Final = 1.0
_NOT_SIGNED_IN: Final = 4
"""gh's exit code."""

_ENVIRONMENT: Final = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PAGER": "cat",
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    # What `gh` asks of git must not run programs that a repository's configuration names.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "protocol.ext.allow",
    "GIT_CONFIG_VALUE_1": "never",
    "GIT_CONFIG_KEY_2": "protocol.fd.allow",
    "GIT_CONFIG_VALUE_2": "never",
}
_TROUBLES: Final[tuple[tuple[str, str, ErrorType], ...]] = (
    (  # First: gh 2.23 goes on with “please use `gh auth login`”.
        r"no git remotes found|none of the git remotes configured|no remotes? (?:found|configured)",
        "The repository has no remote on GitHub. Add one with “git remote add origin …”, "
        "then try again.",
        "conflict",
    ),
    (
        r"gh auth login|authentication required|HTTP 401|Bad credentials",
        "gh is not signed in to GitHub. Run “gh auth login” in a terminal, then try again.",
        "backend_unavailable",
    ),
    (
        r"Could not resolve to a PullRequest|no pull requests? found|Could not resolve to an? issue"
        r" or pull request",
        "The pull request does not exist any more. Clear it from the worktree, or save another.",
        "not_found",
    ),
    (
        r"Could not resolve to a Repository|HTTP 404",
        "GitHub knows no such repository, or does not show it to the account that gh is signed "
        "in with (see “gh auth status”).",
        "not_found",
    ),
    (
        r"rate limit|HTTP 429",
        "GitHub takes no more requests from this account for now. Try again later.",
        "rate_limit_error",
    ),
    (
        r"HTTP 403|does not have the correct permissions|Resource not accessible|must have push"
        r"|must be a collaborator|permission(?! denied)|SAML",
        "The account that gh is signed in with may not do that in this repository "
        "(see “gh auth status”).",
        "forbidden",
    ),
    (
        r"HTTP 5\d\d",
        "GitHub has a trouble of its own at the moment (see https://www.githubstatus.com). "
        "Try again in some minutes.",
        "backend_unavailable",
    ),
    (
        r"error connecting to|dial tcp|no such host|i/o timeout|TLS handshake|network is unreach",
        "GitHub cannot be reached. Check the connection, then try again.",
        "backend_unavailable",
    ),
)


async def gh(cwd: Path, *args: str, given: str = "") -> str:
    """Run `gh` in `cwd` and give its standard output.

    Args:
        cwd: A working tree; its remotes tell which repository is meant.
        args: Subcommand and arguments.
        given: Standard input.

    Raises:
        SpinneyError: a sentence for each trouble that people meet, with gh's own words where they
            say more.
    """
    program = await asyncio.to_thread(shutil.which, "gh")
    if program is None:
        raise SpinneyError(
            "The program “gh” is not installed. Install it (https://cli.github.com), run "
            "“gh auth login”, then try again.",
            "backend_unavailable",
        )
    out, err, code = await _run(program, cwd, args, given)
    if code != 0:
        raise _trouble(err or out, code)
    return out


async def _run(program: str, cwd: Path, args: tuple[str, ...], given: str) -> tuple[str, str, int]:
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
            out, err = await process.communicate(given.encode("utf-8", "replace"))
    except TimeoutError:
        raise SpinneyError(
            f"gh took longer than {_TIMEOUT} seconds and was stopped. Check the connection, "
            "then try again.",
            "timeout",
        ) from None
    finally:
        await _end(process)
    assert process.returncode is not None
    return _text(out[:_MOST_BYTES]), _text(err[:_MOST_BYTES]), process.returncode


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole group, should anything of it still run."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE)


def _trouble(said: str, code: int) -> SpinneyError:
    if code == _NOT_SIGNED_IN:
        said = f"gh auth login\n{said}"
    for pattern, sentence, kind in _TROUBLES:
        if re.search(pattern, said, re.IGNORECASE):
            return SpinneyError(sentence, kind)
    return SpinneyError(said.strip() or f"gh failed (exit code {code}).", "backend_error")


def _text(raw: bytes) -> str:
    return without_credentials(make_visible(raw.decode("utf-8", "replace")))
