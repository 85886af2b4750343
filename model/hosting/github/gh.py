"""Run `gh`, GitHub's own program, and translate its errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from model.git.hosts import find_remote_host
from model.hosting.github.failures import to_error
from model.hosting.program import TIMEOUT, HostingProgram, Output

_TIMEOUT: Final = TIMEOUT

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


async def gh(cwd: Path, *args: str, stdin: str = "") -> str:
    """Run `gh` in `cwd` and return its standard output.

    Args:
        cwd: A working tree; its remotes determine the repository.
        args: Subcommand and arguments.
        stdin: Standard input.

    Raises:
        SpinneyError: A plain message for known errors, otherwise gh's own message.
    """
    found = await run_gh(cwd, *args, stdin=stdin)
    if found.code != 0:
        raise to_error(found.err or found.out, found.code, host=await _find_host(cwd, args))
    return found.out


async def _find_host(cwd: Path, args: tuple[str, ...]) -> str:
    """Return the host in a URL among the arguments, or else that of the remote that `gh` asks."""
    hosts = (urlsplit(arg).hostname for arg in args if arg.startswith(("https://", "http://")))
    return next(filter(None, hosts), "") or await find_remote_host(cwd)


async def run_gh(
    cwd: Path,
    *args: str,
    stdin: str = "",
    timeout: float | None = None,
    take: Callable[[bytes], None] | None = None,
) -> Output:
    """Run `gh` and return its output, also if it failed.

    `timeout` (60 seconds) and `take` are as in `HostingProgram.run`.
    """
    return await PROGRAM.run(cwd, args, stdin, timeout=timeout or _TIMEOUT, take=take)
