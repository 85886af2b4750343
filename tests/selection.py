"""Selects the tests of the longer tier that a change can reach: `pytest -m longer --reached`.

A change of a module selects the tests of its room, which are in the folder of the same name (rooms
are the folders below `model`, `server`, `tui`, `themes`), those that import the module or one that
imports it, and those that are named after the room. Beyond that, nearly everything imports nearly
everything: there the short tier, which always runs, stands for the rest, and the night runs that.
Tests of a whole program reach everything, so they run if the change is in a room that `STARTED`
names for them or that they import.

Tests marked `core` always run. Where the effect of a path is not known, everything runs.
`python -m tests.selection PATH …` says what would run.
"""

import ast
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from tests.changes import list_changed_paths
from tests.tiers import LONGER

ROOT: Final = Path(__file__).resolve().parents[1]
PRODUCT: Final = ("model", "server", "tui", "themes")
REACHES_ALL: Final = (
    "tests/conftest.py",
    "tests/tiers.py",
    "tests/selection.py",
    "model/base/",
    "model/store/",
    "constraints.txt",
    "pyproject.toml",
    ".ci/",
)
STARTED: Final = {
    "tests/page": ("server", "server/web", "server/lite", "themes", "model/api", "model/richtext"),
    "tests/terminal": ("tui/terminal", "tui/shell", "tui/draw", "tui/composer", "tui/transcript"),
    "tests/live": ("model/backends", "model/agents", "model/chat", "model/hosting"),
    "tests/journeys": ("model/chat", "model/landing", "tui/shell", "tui/composer", "server/web"),
    "tests/bench": ("server", "tui/shell"),
    "tests": (
        "model/cli",
        "model/client",
        "model/demo.py",
        "model/runtime",
        "model/service",
        "server",
    ),
}
"""Rooms whose changes tests of a whole program look at, by folder. All start `spinney.py`."""
MIRRORED: Final = {"tests/contract": ("model/api", "model/commands", "server")}
"""Folders that are named otherwise than the rooms that they test."""
READ: Final = ("docs/", "examples/", ".github/", "Makefile", "LICENSE", "tests/flaky.toml")
"""What only those tests look at that name it, besides all `.md` files."""

STEPS: Final = 1
"""How many imports away from a module its change reaches."""

_CODE: Final = tuple(f"{top}/" for top in (*PRODUCT, "tests"))

Imports = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Selection:
    """The test files that a change reaches; all if `files` is `None`."""

    files: frozenset[str] | None
    reason: str


@cache
def read_imports(root: Path) -> Imports:
    """Return which files of the product and the tests each of them imports, anywhere in it."""
    files = [root / "spinney.py"]
    for folder in (*PRODUCT, "tests"):
        files += sorted((root / folder).rglob("*.py"))
    modules = {_name_module(path := str(file.relative_to(root))): path for file in files}
    return {
        path: frozenset(_resolve(ast.parse((root / path).read_bytes()), modules))
        for path in modules.values()
    }


def _name_module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _resolve(tree: ast.Module, modules: Mapping[str, str]) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and node.value in modules and "." in node.value:
            names = [node.value]  # imported by its name
        else:
            continue
        for name in names:
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name:
                yield modules[name]


def room_of(path: str) -> str:
    """The room that a file of the product belongs to: a folder, or a module beside the folders."""
    top, _, rest = path.partition("/")
    if "/" in rest:
        return f"{top}/{rest.partition('/')[0]}" if top != "themes" else top
    return top if top in ("server", "themes") else path


def select(changed: Iterable[str], imports: Imports, root: Path = ROOT) -> Selection:
    """Return which files with tests the changed paths can reach, and why."""
    product, tests = set(), set()
    for path in changed:
        if path.startswith(REACHES_ALL):
            return Selection(None, f"{path} changed")
        if path.startswith(READ) or (path.endswith(".md") and not path.startswith(_CODE)):
            tests |= {file for file in _test_files(imports) if _names(root / file, path)}
        elif path.startswith("tests/"):
            tests |= _reach_tests(path, imports, root)
        elif path == "spinney.py" or path.startswith(_CODE):
            product.add(path)
        elif path not in (".gitignore", ".pre-commit-config.yaml"):
            return Selection(None, f"what {path} reaches is not known")
    if "tests/conftest.py" in tests:
        return Selection(None, "tests/conftest.py imports what changed")
    modules, selected = _reach_product(product, imports)
    tests |= selected
    files = frozenset(file for file in tests if Path(file).name.startswith("test_"))
    first = ", ".join(sorted(product)[:3]) + (", …" if len(product) > 3 else "")
    return Selection(
        files,
        f"{len(modules)} modules reached from {first or 'no room'};"
        f" {len(files)} of {len(_test_files(imports))} files with tests, and the core",
    )


def _reach_product(changed: set[str], imports: Imports) -> tuple[set[str], set[str]]:
    """Return the modules and the test files that changes of the product reach."""
    rooms = {room_of(path) for path in changed}
    # Of what is no module, or no longer one, the whole room may make use.
    used = {room_of(path) for path in changed if path not in imports}
    modules = {path for path in imports if not path.startswith("tests/")}
    start = {path for path in modules if path in changed or room_of(path) in used}
    reached = _find_importers(start, imports, STEPS) & modules
    tests = set()
    for file in _test_files(imports):
        if is_of_whole_program(file):
            near = {room_of(path) for path in imports[file]} | set(_started_by(file))
            found = not near.isdisjoint(rooms)
        else:
            found = _mirrored_by(file, rooms) or not reached.isdisjoint(imports[file])
        if found or _is_named_after(file, rooms):
            tests.add(file)
    return reached, tests


def is_of_whole_program(file: str) -> bool:
    """Whether a test file is in no folder that mirrors a part of the product."""
    return not file.startswith(tuple(f"tests/{top}/" for top in (*PRODUCT, "contract")))


def _started_by(file: str) -> tuple[str, ...]:
    folder = "/".join(file.split("/")[:2])
    return ("spinney.py", *STARTED.get(folder, STARTED["tests"]))


def _is_named_after(file: str, rooms: Iterable[str]) -> bool:
    words = {word.rstrip("s") for word in Path(file).stem.split("_")}
    return any(room.rpartition("/")[2].removesuffix(".py").rstrip("s") in words for room in rooms)


def _mirrored_by(file: str, rooms: Iterable[str]) -> bool:
    """Whether a file is in the folder of one of the rooms, or in one above it."""
    folder = file.rpartition("/")[0]
    mirrored = MIRRORED.get(folder, (folder.removeprefix("tests/"),))
    return any(
        room == place or room.startswith(f"{place}/") or place.startswith(f"{room}/")
        for room in rooms
        for place in mirrored
    )


def _reach_tests(path: str, imports: Imports, root: Path) -> set[str]:
    """Return the files of the suite that make use of one of them."""
    reached = _find_importers({path}, imports) if path in imports else set()
    if reached.isdisjoint(_test_files(imports)):
        reached = _find_beside(path, imports, root)
    for conftest in [file for file in reached if file.endswith("/conftest.py")]:
        folder_of_it = conftest.removesuffix("conftest.py")
        reached |= {file for file in imports if file.startswith(folder_of_it)}
    if path.startswith("tests/live/"):
        reached |= {file for file in imports if file.startswith("tests/live/every_backend/")}
    return reached


def _find_beside(path: str, imports: Imports, root: Path) -> set[str]:
    """The nearest tests to data, or to a program that tests start by its path; all if none are."""
    folder = Path(path).parent
    while folder != Path("tests") and not any((root / folder).glob("test_*.py")):
        folder = folder.parent
    if folder == Path("tests"):
        top = "/".join(Path(path).parts[:2])
        named = {file for file in _test_files(imports) if _is_named_after(file, (top,))}
        if named:
            return named
    return {file for file in imports if file.startswith(f"{folder}/")}


def _find_importers(files: set[str], imports: Imports, steps: float = math.inf) -> set[str]:
    """Return the files and those that are at most so many imports away from importing them."""
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, imported in imports.items():
        for file in imported:
            importers[file].add(importer)
    found, last = set(files), set(files)
    while last and steps > 0:
        last = set().union(*(importers[file] for file in last)) - found
        found |= last
        steps -= 1
    return found


def _test_files(imports: Imports) -> list[str]:
    return [file for file in imports if Path(file).name.startswith("test_")]


def _names(file: Path, path: str) -> bool:
    """Whether a test names a file, or the folder at the top that contains it."""
    top, is_below, _ = path.partition("/")
    names = [re.escape(Path(path).name)]
    if is_below and top != "tests":
        names.append(rf'"{re.escape(top)}["/]')
    return re.search("|".join(names), file.read_text()) is not None


_PLACES: Final = frozenset(ROOT / "tests" / place for place in LONGER)
_SELECTION: Final = pytest.StashKey[Selection]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reached", action="store_true", help="of longer tests, those that the change can reach"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read once what the change reaches: workers receive it."""
    if not config.getoption("reached"):
        return
    given = getattr(config, "workerinput", {}).get("reached")
    if given is not None:
        files, reason = given
        selection = Selection(None if files is None else frozenset(files), reason)
    else:
        changed = list_changed_paths(config.rootpath)
        if changed is None:
            selection = Selection(None, "git does not know what changed")
        else:
            selection = select(changed, read_imports(config.rootpath), config.rootpath)
    config.stash[_SELECTION] = selection


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker the selection."""
    selection = node.config.stash.get(_SELECTION, None)
    if selection is not None:
        files = None if selection.files is None else sorted(selection.files)
        node.workerinput["reached"] = (files, selection.reason)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which no test would run, so that each process starts sooner."""
    if not collection_path.name.startswith("test_") or not collection_path.is_file():
        return None
    if config.option.markexpr == "not longer":
        is_left_out = not _PLACES.isdisjoint((collection_path, *collection_path.parents))
        marker = "mark.short"
    else:
        is_left_out = config.option.markexpr == "longer" and not _is_reached(
            collection_path, config
        )
        marker = "mark.core"
    if is_left_out and marker not in collection_path.read_text("utf-8"):
        return True
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the longer tests that the change cannot reach, besides the core."""
    kept, others = [], []
    for item in items:
        is_free = item.get_closest_marker("longer") and not item.get_closest_marker("core")
        (others if is_free and not _is_reached(item.path, config) else kept).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was selected and why."""
    selection = terminalreporter.config.stash.get(_SELECTION, None)
    if selection is not None:
        extent = "all" if selection.files is None else "some"
        terminalreporter.write_line(f"SELECTED {extent} longer tests: {selection.reason}")


def _is_reached(path: Path, config: pytest.Config) -> bool:
    files = config.stash.get(_SELECTION, Selection(None, "")).files
    return (
        files is None
        or not path.name.startswith("test_")
        or (path.relative_to(config.rootpath).as_posix() in files)
    )


def main() -> None:
    """Print what the paths of the command line would select, or those of the change."""
    selection = select(sys.argv[1:] or list_changed_paths(ROOT) or (), read_imports(ROOT))
    print(*sorted(selection.files or ["tests"]), selection.reason, sep="\n")


if __name__ == "__main__":
    main()
