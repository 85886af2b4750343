"""`spinney serve`: run Spinney without a terminal until it is stopped."""

import asyncio
import gc
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.base.instance import InstanceLock
from model.base.notification import notify_supervisor
from model.base.paths import Directories
from model.base.standard_streams import write_error, write_output
from model.commands.preferences import update_preferences
from model.commands.server import get_http_server_token, start_server
from model.service.certificates import CertificateFiles
from server.app import Server
from server.engine import create_workspace, open_local_endpoint


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of `spinney serve`; `None` means the value of the preferences."""

    port: int | None = None
    token: str | None = None
    localhost_only: bool | None = None
    host: str | None = None
    certificate: str | None = None
    key: str | None = None
    """Files in PEM format; both or neither."""
    token_required: bool | None = None
    unsafe_no_token: bool = False
    demo: bool = False

    @property
    def tls(self) -> CertificateFiles | None:
        """The certificate of this run, instead of that of the preferences."""
        if self.certificate is None or self.key is None:
            return None
        return CertificateFiles(Path(self.certificate).absolute(), Path(self.key).absolute())


Announce = Callable[[dict[str, Any], str, list[str]], None]
"""Called once the server is listening, with its status, the token, and problems as sentences."""


def serve(
    directories: Directories, lock: InstanceLock, options: ServeOptions, announce: Announce
) -> int | None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Raises `SpinneyError` if it cannot start.

    Returns the port if the program has to be started again there.
    """
    return asyncio.run(_serve(directories, lock, options, announce))


async def _serve(
    directories: Directories, lock: InstanceLock, options: ServeOptions, announce: Announce
) -> int | None:
    stopped = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)
    workspace = create_workspace(directories, demo=options.demo)
    await workspace.start()
    workspace.restarter.request_shutdown = workspace.request_shutdown
    workspace.http_server = Server(workspace, unsafe_no_token=options.unsafe_no_token)
    endpoint = None
    try:
        if options.token is not None:
            changes = {"http_server_token": options.token}
            await update_preferences(workspace, changes)
        status = await start_server(
            workspace,
            options.port,
            options.localhost_only,
            options.token_required,
            options.host,
            tls=options.tls,
        )
        endpoint = await open_local_endpoint(workspace, lock)
        token = await get_http_server_token(workspace)
        warning = [status["warning"]] if status["warning"] else []
        announce(status, token, [*workspace.problems, *warning])
        notify_supervisor("READY=1\nSTATUS=Running")
        # Everything up to here stays alive: exclude it from full garbage collections.
        gc.freeze()
        await stopped.wait()
        port = workspace.http_server.status()["port"]
        return port if workspace.restarter.is_requested else None
    finally:
        if endpoint is not None:
            await endpoint.close()
        await workspace.http_server.stop()
        await workspace.stop()


def announce(status: dict[str, Any], token: str, problems: list[str], *, as_json: bool) -> None:
    """Print the address, with the token; problems go to stderr."""
    for problem in problems:
        write_error(f"spinney: {problem}\n")
    if as_json:
        shown = {"base_url": status["base_url"], "port": status["port"]}
        line = json.dumps({**shown, "token": token, "pid": os.getpid()})
    elif status["token_required"]:
        line = f"Spinney answers at {status['base_url']}/#token={token}  (ctrl+c stops it)"
    else:
        line = f"Spinney answers at {status['base_url']}, without a token  (ctrl+c stops it)"
    write_output(line + "\n")
