"""Spinney installed as a copy, whose files tests replace by another version."""

import shutil
import sys
from pathlib import Path

from tests.program import ROOT, Program


def make_installed_copy(installed: Path, place: Path) -> Program:
    """Copy the program's files to `installed`; return a program with its directories in `place`."""
    for name in ("model", "server", "tui", "themes"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, installed / name, ignore=ignored)
    shutil.copy(ROOT / "spinney.py", installed)
    return Program(place, (sys.executable, str(installed / "spinney.py")))


def install(program: Program, version: str, *, problem: str = "") -> None:
    """Replace the installed files by another version, which has a problem."""
    root = Path(program.command[-1]).parent
    text = (ROOT / "model" / "__init__.py").read_text()
    old = text.partition('__version__ = "')[2].partition('"')[0]
    (root / "model" / "__init__.py").write_text(text.replace(f'"{old}"', f'"{version}"'))
    (root / "server" / "app.py").write_text(problem + (ROOT / "server" / "app.py").read_text())
