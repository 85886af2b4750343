"""The service that keeps Spinney running: as a unit of systemd and as an agent of launchd."""

import os
import plistlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.service.installation import find_program

NAME: Final = "spinney"
"""Of the unit of systemd."""
LABEL: Final = "spinney.serve"
"""Of the agent of launchd."""
KEPT_VARIABLES: Final = (
    "PATH",
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SPINNEY_CONFIG_DIR",
    "SPINNEY_DATA_DIR",
    "SPINNEY_LOG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""Variables of the shell that installs it, with which agents and files are found as there."""

_UNIT: Final = """\
# Written by `spinney service install`, which replaces it. Your own changes belong into
# systemctl --user edit {name}
[Unit]
Description=Spinney: runs AI coding agents
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart={command}
{environment}
WorkingDirectory=%h
Restart=on-failure
RestartSec=5
# Spinney ends its agents itself.
KillMode=mixed
TimeoutStopSec=60

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class ServiceDefinition:
    """What the service runs."""

    program: tuple[str, ...]
    """The arguments that start Spinney, without a command."""
    environment: Mapping[str, str]
    log: Path
    """Output, where the system does not keep it."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The whole command line."""
        return (*self.program, "serve", "--wait")

    def format_unit(self) -> str:
        """The unit of systemd. Raises `SpinneyError` for values that it cannot contain."""
        program, *words = self.arguments
        if set(program) & set("\"'\\"):
            raise SpinneyError(
                f"systemd starts no program whose path has quotes or backslashes: {program}. "
                "Install Spinney elsewhere."
            )
        # Variables are replaced in the arguments, but not in the path of the program.
        quoted = [_quote(program), *(_quote(word).replace("$", "$$") for word in words)]
        command = " ".join(quoted)
        lines = [f"Environment={_quote(f'{k}={v}')}" for k, v in self.environment.items()]
        return _UNIT.format(name=NAME, command=command, environment="\n".join(lines))

    def format_plist(self) -> bytes:
        """The agent of launchd, as a property list. Raises `SpinneyError` as `format_unit` does."""
        for value in (*self.arguments, *self.environment.values()):
            _check(value)
        return plistlib.dumps(
            {
                "Label": LABEL,
                "ProgramArguments": list(self.arguments),
                "EnvironmentVariables": dict(self.environment),
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 10,
                "ExitTimeOut": 60,
                "StandardOutPath": str(self.log),
                "StandardErrorPath": str(self.log),
            }
        )


def define_service(data: Path, environ: Mapping[str, str]) -> ServiceDefinition:
    """Return what would be installed from this shell; the log is in the data directory."""
    kept = {name: environ[name] for name in KEPT_VARIABLES if environ.get(name)}
    if "PATH" in kept:
        kept["PATH"] = _make_lasting(kept["PATH"])
    return ServiceDefinition(tuple(find_program()), kept, data / "service.log")


def _make_lasting(path: str) -> str:
    """Return a PATH with where its folders lead at its end: fnm's ends with the shell it is of."""
    folders = [folder for folder in path.split(os.pathsep) if folder]
    return os.pathsep.join(dict.fromkeys([*folders, *map(os.path.realpath, folders)]))


def _quote(text: str) -> str:
    """Quote a word for a unit; `%` begins a specifier there."""
    _check(text)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _check(text: str) -> None:
    if not text.isprintable():
        raise SpinneyError(
            f"A service cannot contain control characters: {clean_line(text)[:200]}. "
            "Change the variable or path, then install it again."
        )
