"""How this Spinney is installed: the program to start, how to update it, and whether it changed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import model
from model.base.git_layout import find_git_directories

Kind = Literal["pipx", "uv", "pip", "git"]

_ROOT: Final = Path(model.__file__).resolve().parent.parent
_UPDATES: Final[dict[Kind, str]] = {
    "pipx": "pipx upgrade spinney",
    "uv": "uv tool upgrade spinney",
    "pip": f"{sys.executable} -m pip install --upgrade spinney",
    "git": f"git -C {_ROOT} pull",
}


@dataclass(frozen=True, slots=True)
class Installation:
    """The files of a Spinney, by default those that this process runs."""

    root: Path = _ROOT
    """Has `spinney.py` and the packages."""
    prefix: Path = Path(sys.prefix)
    """Of the Python environment."""

    @property
    def kind(self) -> Kind:
        """What installed it."""
        if (self.root / ".git").exists():
            return "git"
        if (self.prefix / "pipx_metadata.json").exists():
            return "pipx"
        return "uv" if (self.prefix / "uv-receipt.toml").exists() else "pip"

    @property
    def update_command(self) -> str:
        """The command that installs the newest version."""
        return _UPDATES[self.kind]

    def read_version(self) -> str:
        """The version of the installed files, which may be newer than this process. Reads a file.

        Empty while they are being replaced.
        """
        try:
            text = (self.root / "model" / "__init__.py").read_text("utf-8")
        except (OSError, ValueError):
            return ""
        return text.partition('__version__ = "')[2].partition('"')[0][:40]

    def read_stamp(self) -> str:
        """A text that differs once other files are installed; empty while they are replaced.

        That is the version, and the last move of a checkout's HEAD or the time of an installation:
        the same version may be installed again from changed sources.
        """
        version = self.read_version()
        if not version:
            return ""
        directories = find_git_directories(self.root)
        moved = directories.git_dir / "logs" / "HEAD" if directories else self.root / "spinney.py"
        try:
            status = moved.stat()
        except OSError:
            return version if directories else ""
        # Installers give files the times that they have in the package.
        changed = status.st_mtime_ns if directories else status.st_ctime_ns
        return f"{version} {status.st_size} {changed}"


def find_program() -> list[str]:
    """Return the arguments that start this Spinney.

    A link such as `~/.local/bin/spinney` is kept, because it outlives an update.
    """
    called = Path(sys.argv[0]).absolute()
    if called.name == "spinney" and os.access(called, os.X_OK) and called.is_file():
        return [str(called)]
    return [sys.executable, str(_ROOT / "spinney.py")]
