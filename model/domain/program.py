"""The running program: its version, newer ones, and a restart that waits."""

from typing import Literal

from model import __version__
from model.domain.resource import Resource


class ProgramStatus(Resource):
    """The running Spinney and what could replace it."""

    version: str = __version__
    """Of the running program."""
    started_at: float = 0.0
    """In seconds of the epoch; a client that reconnects recognizes a restart by it."""
    restarted_from: str | None = None
    """The version before, if it was started by `restart_spinney`."""
    installed_version: str | None = None
    """Set if other files have been installed since: the version that a restart would use."""
    release: str | None = None
    """A newer version that was published, if `check_for_updates` is on."""
    update_command: str = ""
    """Installs the newest version, as this one was installed."""
    restart: Literal["idle", "now"] | None = None
    """`idle`: it restarts when nothing runs; `now`: it is restarting."""


class RestartAnswer(Resource):
    """The result of `restart_spinney`."""

    restarting: bool
    """False if it waits for the sessions of `running`."""
    running: list[str]
    """The names of the sessions that a restart interrupts."""
