"""`spinney service`: install Spinney as a service of the user, remove it, and show its state."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from model.base.errors import SpinneyError
from model.base.instance import find_running_instance
from model.base.paths import Directories, resolve_directories
from model.base.standard_streams import write_json, write_output
from model.cli.choices import confirm
from model.service.definition import ServiceDefinition, define_service
from model.service.supervisor import ServiceStatus, ServiceSupervisor, find_supervisor

_NOT_HERE: Final = (
    "Neither a systemd of the user nor launchd can be reached here. Let your own supervisor run "
    "`spinney serve --wait`, for example from cron with @reboot."
)
_LINGER: Final = "loginctl enable-linger"
_SECRET_ENDINGS: Final = ("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN")


def service(options: Namespace) -> int:
    """Run what the command line asks for; returns the exit code, 3 if `status` finds it stopped."""
    paths = resolve_directories()
    supervisor = find_supervisor(os.environ)
    definition = define_service(paths.data, os.environ)
    if options.print:
        write_output(supervisor.format(definition))
        return 0
    if not supervisor.is_available():
        raise SpinneyError(_NOT_HERE)
    match options.action:
        case "install":
            return _install(supervisor, definition, paths, options)
        case "uninstall":
            return _uninstall(supervisor, definition)
    status = supervisor.status(definition)
    if options.json:
        write_json({**asdict(status), "path": str(status.path)})
    else:
        write_output("".join(f"{line}\n" for line in describe(status)))
    return 0 if status.is_running else 3


def describe(status: ServiceStatus) -> Iterator[str]:
    """The state of the service, as lines."""
    if not status.is_installed:
        yield "The service is not installed. Install it with: spinney service install"
        return
    yield f"The service is {'running' if status.is_running else 'stopped'}."
    yield f"Defined in  {status.path}"
    yield f"Log         {status.log_command}"
    if not status.is_enabled:
        yield "It does not start by itself. Turn that on with: spinney service install"
    if not status.is_current:
        yield "It was installed from another shell or version. Update it: spinney service install"
    if status.outlives_logout is False:
        yield _advise_linger()


def _advise_linger() -> str:
    if sys.platform == "darwin":
        return "It starts when you log in, and ends when you log out."
    return f"It ends when you log out. To keep it running, also after a restart: {_LINGER}"


def _install(
    supervisor: ServiceSupervisor,
    definition: ServiceDefinition,
    paths: Directories,
    options: Namespace,
) -> int:
    before = supervisor.status(definition)
    running = find_running_instance(paths.lock)
    supervisor.install(definition)
    status = supervisor.status(definition)
    is_new = not (before.is_current and before.is_running)
    write_output(f"{'Wrote' if not before.is_current else 'Unchanged:'} {status.path}\n")
    if running is not None and not before.is_running:
        write_output(
            f"Spinney is running already (process {running.pid}). The service takes over when "
            "that one ends: spinney stop\n"
        )
    else:
        write_output(f"The service is {'started' if is_new else 'running'}.\n")
    write_output(f"Log: {status.log_command}\nAddress: spinney url\n")
    secrets = [name for name in os.environ if name.endswith(_SECRET_ENDINGS)]
    if secrets and sys.platform != "darwin":
        write_output(
            f"Not copied, because the file is not secret: {', '.join(secrets)}. If agents need "
            "them, add them with: systemctl --user edit spinney\n"
        )
    if status.outlives_logout is False:
        _offer_linger(supervisor, options)
    return 0


def _offer_linger(supervisor: ServiceSupervisor, options: Namespace) -> None:
    write_output(f"{_advise_linger()}\n")
    if sys.platform == "darwin":
        return
    can_ask = sys.stdin.isatty() and sys.stdout.isatty()
    question = "Keep your services running when you are logged out?"
    if options.linger or (can_ask and confirm(options, question, "enable it")):
        supervisor.keep_after_logout()
        write_output("It keeps running when you are logged out.\n")


def _uninstall(supervisor: ServiceSupervisor, definition: ServiceDefinition) -> int:
    status = supervisor.status(definition)
    if not status.is_installed:
        write_output("The service is not installed.\n")
        return 0
    supervisor.uninstall()
    write_output(f"Stopped the service and deleted {status.path}. Your data is kept.\n")
    if status.outlives_logout:
        write_output(
            "Services of yours still run without you: loginctl disable-linger ends that.\n"
        )
    return 0
