"""The address of the Spinney that holds this data directory.

Imports no asyncio, which takes longer than most commands of the command line.
"""

from model.base.errors import NotRunningError, SpinneyError
from model.base.instance import (
    RunningInstance,
    find_running_instance,
    read_server_address,
    wait_until_ready,
)
from model.base.paths import Directories


def find_running(paths: Directories) -> RunningInstance:
    """The running instance, once it accepts connections. Raises `SpinneyError`."""
    running = wait_until_ready(paths.lock)
    if running is None:
        raise NotRunningError("No Spinney is running here. Start one with: spinney")
    return running


def find_endpoint(paths: Directories) -> tuple[str, str]:
    """Address and token for scripts: the server's, otherwise those of the local endpoint."""
    running = find_running_instance(paths.lock)
    if running is None:
        raise NotRunningError(
            "No Spinney is running here. Start one with `spinney`, or with `spinney serve` where"
            " there is no terminal."
        )
    # The lock decides: the file may have been left by a process that was killed.
    server = read_server_address(paths.server, running)
    # Elsewhere, it may be unreachable from here, or have a certificate that this machine refuses.
    if server is not None and server[0].startswith("http://127.0.0.1:"):
        return server
    running = find_running(paths)
    return running.base_url, running.token


def timeout_error(paths: Directories, base_url: str) -> SpinneyError:
    """The error for an instance that accepted the connection and does not respond."""
    running = find_running_instance(paths.lock)
    return (
        running.timeout_error
        if running
        else NotRunningError(f"{base_url} does not answer.", "timeout")
    )
