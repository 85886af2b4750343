"""Where a service of this user can be installed: systemd, launchd, or nowhere."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.service.definition import LABEL, NAME, ServiceDefinition

_TIMEOUT: Final = 90.0
"""Seconds for a command of the system; starting waits until Spinney is ready."""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The state of the service."""

    path: Path
    """The file that defines it, whether it exists or not."""
    is_installed: bool
    is_current: bool
    """Whether the file is what would be installed now."""
    is_enabled: bool
    """Whether it starts by itself."""
    is_running: bool
    outlives_logout: bool | None
    """Whether it keeps running without a session of the user; `None` if that is unknown."""
    log_command: str
    """Shows its log."""


class ServiceSupervisor(Protocol):
    """What starts the service and keeps it running."""

    def is_available(self) -> bool:
        """Whether it runs and can be reached."""
        ...

    def status(self, definition: ServiceDefinition) -> ServiceStatus:
        """Return the state of the service."""
        ...

    def format(self, definition: ServiceDefinition) -> str:
        """Return the content of the file that defines the service."""
        ...

    def install(self, definition: ServiceDefinition) -> None:
        """Write the file and start the service, now and whenever the user's services start.

        A running service with another definition is started again. Raises `SpinneyError`.
        """
        ...

    def uninstall(self) -> None:
        """Stop the service and delete the file. Raises `SpinneyError`."""
        ...

    def keep_after_logout(self) -> None:
        """Keep the user's services running without a session. Raises `SpinneyError`."""
        ...


def find_supervisor(environ: Mapping[str, str]) -> ServiceSupervisor:
    """Return the one of this operating system, which may not be running."""
    return Launchd(Path.home()) if sys.platform == "darwin" else Systemd(environ)


class Systemd:
    """The user's systemd."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        runtime = f"/run/user/{os.getuid()}"
        if "XDG_RUNTIME_DIR" not in environ and Path(runtime).is_dir():
            self._environ["XDG_RUNTIME_DIR"] = runtime  # As after `su`.
        config = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        self._path = Path(config) / "systemd" / "user" / f"{NAME}.service"

    def is_available(self) -> bool:
        """See `ServiceSupervisor`."""
        return shutil.which("systemctl", path=self._environ.get("PATH")) is not None and (
            self._ask("show", "--property=Version") is not None
        )

    def status(self, definition: ServiceDefinition) -> ServiceStatus:
        """See `ServiceSupervisor`."""
        content = _read(self._path)
        return ServiceStatus(
            self._path,
            is_installed=content is not None,
            is_current=content == definition.format_unit(),
            is_enabled=self._ask("is-enabled", NAME) == "enabled",
            is_running=self._ask("is-active", NAME) in ("active", "activating", "reloading"),
            outlives_logout=self._lingers(),
            log_command=f"journalctl --user -u {NAME}",
        )

    def format(self, definition: ServiceDefinition) -> str:
        """See `ServiceSupervisor`."""
        return definition.format_unit()

    def install(self, definition: ServiceDefinition) -> None:
        """See `ServiceSupervisor`."""
        changed = _write(self._path, definition.format_unit().encode())
        self._run("daemon-reload")
        self._run("enable", NAME)
        self._run("restart" if changed else "start", NAME)

    def uninstall(self) -> None:
        """See `ServiceSupervisor`."""
        self._run("disable", "--now", NAME)
        self._path.unlink(missing_ok=True)
        self._run("daemon-reload")

    def keep_after_logout(self) -> None:
        """See `ServiceSupervisor`."""
        _run(["loginctl", "enable-linger"], self._environ)

    def _lingers(self) -> bool | None:
        user = str(os.getuid())
        found = _ask(["loginctl", "show-user", user, "--property=Linger", "--value"], self._environ)
        return None if found is None else found == "yes"

    def _run(self, *words: str) -> None:
        _run(["systemctl", "--user", *words], self._environ)

    def _ask(self, *words: str) -> str | None:
        return _ask(["systemctl", "--user", *words], self._environ)


class Launchd:
    """The user's launchd on macOS."""

    def __init__(self, home: Path) -> None:
        self._path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"
        self._environ = dict(os.environ)

    def is_available(self) -> bool:
        """See `ServiceSupervisor`."""
        return shutil.which("launchctl") is not None

    def status(self, definition: ServiceDefinition) -> ServiceStatus:
        """See `ServiceSupervisor`."""
        content = _read(self._path)
        loaded = _ask(["launchctl", "print", f"{self._domain}/{LABEL}"], self._environ)
        return ServiceStatus(
            self._path,
            is_installed=content is not None,
            is_current=content == self.format(definition),
            is_enabled=content is not None,
            is_running=loaded is not None and "state = running" in loaded,
            outlives_logout=False,
            log_command=f"tail -f {definition.log}",
        )

    def format(self, definition: ServiceDefinition) -> str:
        """See `ServiceSupervisor`."""
        return definition.format_plist().decode()

    def install(self, definition: ServiceDefinition) -> None:
        """See `ServiceSupervisor`."""
        changed = _write(self._path, definition.format_plist())
        if changed:
            _ask(["launchctl", "bootout", f"{self._domain}/{LABEL}"], self._environ)
        if _ask(["launchctl", "print", f"{self._domain}/{LABEL}"], self._environ) is None:
            _run(["launchctl", "bootstrap", self._domain, str(self._path)], self._environ)

    def uninstall(self) -> None:
        """See `ServiceSupervisor`."""
        _ask(["launchctl", "bootout", f"{self._domain}/{LABEL}"], self._environ)
        self._path.unlink(missing_ok=True)

    def keep_after_logout(self) -> None:
        """See `ServiceSupervisor`."""
        raise SpinneyError(
            "On macOS, a user's services end at logout. Stay logged in: switch the user instead."
        )


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return None


def _write(path: Path, content: bytes) -> bool:
    """Write the file; returns whether it is different from before. Raises `SpinneyError`."""
    if _read(path) == content.decode():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise SpinneyError(f"{path} cannot be written: {error.strerror}.") from None
    return True


def _run(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Run a command of the system. Raises `SpinneyError` with what it printed."""
    words = " ".join(command)
    try:
        ran = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=_TIMEOUT, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise SpinneyError(f"`{words}` has not ended after {_TIMEOUT:.0f} s.", "timeout") from None
    except OSError as error:
        raise SpinneyError(f"`{words}` cannot be started: {error.strerror}.") from None
    if ran.returncode:
        said = clean_line(ran.stderr or ran.stdout)[:500]
        raise SpinneyError(f"`{words}` failed: {said or f'exit code {ran.returncode}'}")


def _ask(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Return what a command prints; `None` if it prints nothing and fails, or cannot run."""
    try:
        ran = subprocess.run(
            command, env=environ, capture_output=True, text=True, timeout=_TIMEOUT, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = ran.stdout.strip()
    return said if said or not ran.returncode else None
