"""Keeps what a failed test left, in `.tools/failures/`: its report, its output and its files."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest

_MOST_TESTS: Final = 20
"""The oldest ones make room for new ones."""
_MOST_BYTES: Final = 4 << 20
_MOST_BYTES_OF_FILE: Final = 1 << 20
_MOST_FILES: Final = 200
_NOT_KEPT: Final = frozenset({".git", "objects", "node_modules", "__pycache__"})


def keep_artefacts(item: pytest.Item, report: pytest.TestReport) -> str:
    """Write them to a folder of the test; return its path below the root of the suite."""
    place = Path(".tools/failures", f"{_slug(item.name)}-{crc32(item.nodeid.encode()):08x}")
    folder = item.config.rootpath / place
    try:
        _make_room(folder.parent)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{report.when}.txt").write_text(describe_output(report, _MOST_BYTES_OF_FILE))
        made = getattr(item, "funcargs", {}).get("tmp_path")
        if isinstance(made, Path):
            _copy_files(made, folder / "files")
    except OSError as error:
        return f"nothing: {error}"
    return str(place)


def describe_output(report: pytest.TestReport, most: int) -> str:
    """Return how a test failed and what it printed and logged: `most` characters of each."""
    parts = [f"{report.nodeid} ({report.when})\n{report.longreprtext[-most:]}"]
    parts += [f"--- {title} ---\n{text[-most:]}" for title, text in report.sections]
    return "\n".join(parts)


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:80]


def _make_room(folder: Path) -> None:
    kept = sorted(folder.glob("*"), key=lambda path: path.stat().st_mtime)
    for old in kept[: max(0, len(kept) - _MOST_TESTS + 1)]:
        shutil.rmtree(old, ignore_errors=True)


def _copy_files(source: Path, target: Path) -> None:
    """Copy the newest of them first, as far as the bounds allow."""
    shutil.rmtree(target, ignore_errors=True)
    found = sorted(_find_files(source), key=lambda path: -path.stat().st_mtime)
    room = _MOST_BYTES
    for file in found[:_MOST_FILES]:
        size = file.stat().st_size
        if size <= min(room, _MOST_BYTES_OF_FILE):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            room -= size


def _find_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_KEPT]
        for path in (Path(place, name) for name in names):
            if path.is_file() and not path.is_symlink():
                yield path
