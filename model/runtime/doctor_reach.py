"""Checks whether Spinney stays reachable: the running one, its service, port and certificate."""

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model import __version__
from model.base.errors import SpinneyError
from model.base.instance import RunningInstance, find_running_instance
from model.base.paths import Directories
from model.domain.findings import Finding
from model.preferences.file import read_preferences
from model.preferences.schema import Preferences
from model.runtime.http_server import preferred_certificate
from model.service.certificates import load_certificate
from model.service.definition import define_service
from model.service.supervisor import find_supervisor

_SOON: Final = 14 * 86_400.0
"""Seconds before a certificate expires in which it is pointed out."""
_CONNECT_TIMEOUT: Final = 2.0


async def examine_reach(
    directories: Directories, environ: Mapping[str, str] = os.environ
) -> list[Finding]:
    """Check what keeps Spinney reachable. Takes some seconds at most."""
    preferences, _ = await asyncio.to_thread(read_preferences, directories.preferences)
    return await asyncio.to_thread(_examine, directories, preferences, environ)


def _examine(
    directories: Directories, preferences: Preferences, environ: Mapping[str, str]
) -> list[Finding]:
    try:
        running = find_running_instance(directories.lock)
    except SpinneyError:
        running = None  # The check of the data directory reports it.
    return [
        *_check_running(running),
        *_check_port(running, preferences),
        *_check_certificate(preferences),
        _check_service(directories.data, environ),
    ]


def _check_running(running: RunningInstance | None) -> list[Finding]:
    if running is None:
        return []
    found = f"process {running.pid}, version {running.version}"
    if running.version == __version__:
        return [Finding("running", True, found)]
    fix = "spinney call restart_spinney when=idle"
    remedy = f"This version is {__version__}. To use it: {fix}"
    return [Finding("running", None, found, remedy, fix)]


def _check_port(running: RunningInstance | None, preferences: Preferences) -> list[Finding]:
    port = preferences.http_server_port
    if running is not None or not port:
        return []
    try:
        socket.create_connection(("127.0.0.1", port), _CONNECT_TIMEOUT).close()
    except OSError:
        return []
    remedy = "Choose another one for the server: the preference http_server_port."
    return [Finding("port", None, f"{port} is in use by another program", remedy)]


def _check_certificate(preferences: Preferences) -> list[Finding]:
    files = preferred_certificate(preferences)
    if files is None:
        return []
    try:
        _, certificate = load_certificate(files)
    except SpinneyError as error:
        return [Finding("certificate", False, "cannot be used", error.message)]
    left = certificate.valid_until - time.time()
    until = time.strftime("%Y-%m-%d", time.localtime(certificate.valid_until))
    found = f"{files.certificate}, valid until {until}, for {', '.join(certificate.names)}"
    if left < _SOON:
        return [Finding("certificate", None, found, "It expires soon. Renew it.")]
    return [Finding("certificate", True, found)]


def _check_service(data: Path, environ: Mapping[str, str]) -> Finding:
    supervisor = find_supervisor(environ)
    if not supervisor.is_available():
        return Finding("service", None, "no systemd of the user or launchd can be reached")
    fix = "spinney service install"
    try:
        status = supervisor.status(define_service(data, environ))
    except SpinneyError as error:
        return Finding("service", None, "cannot be installed", error.message)
    if not status.is_installed:
        remedy = f"Only to start Spinney with this machine: {fix}"
        return Finding("service", None, "not installed", remedy)
    if not status.is_running:
        return Finding("service", False, "stopped", f"See why: {status.log_command}", fix)
    if status.outlives_logout is False:
        remedy = "It ends when you log out. To keep it running: loginctl enable-linger"
        return Finding("service", None, f"running, {status.path}", remedy)
    return Finding("service", True, f"running, {status.path}")
