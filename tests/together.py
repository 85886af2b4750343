"""Distributes the tests over xdist's workers: which ones stay together, and which ones start first.

The tests of a file share fixtures, such as a server process or an agent's server, which start once
if one worker runs the whole file. `--dist loadfile` does that; with `worksteal` a worker that takes
tests from another's file would start them again. Real agents are shared by more than a file, or
less; a browser by all tests of the page in the short tier.
"""

from collections import Counter

import pytest

try:
    from xdist.scheduler import LoadScopeScheduling
except ImportError:  # without xdist there is one process
    LoadScopeScheduling = object

SECONDS = {
    "tests/live/every_backend": 6.0,
    "tests/live/opencode": 4.0,
    "tests/live": 2.0,
    "tests/journeys": 8.0,
    "tests/page": 2.5,
    "tests/terminal": 4.0,
    "tests/tui": 0.6,
    "tests/contract": 0.4,
    "tests/model/backends": 0.3,
    "tests/model": 0.1,
    "tests/server": 0.05,
    "tests/themes": 0.05,
    "tests": 1.5,
}
"""Rough duration of a test in each folder: long files start first."""

KINDS = {"demo", "claude", "codex", "opencode", "acp"}
"""The agents that `tests/live/every_backend` runs with."""

OPENCODE = "tests/live/opencode/"
STARTS_ITS_OWN = ("test_acp.py", "test_server.py")
"""Tests of OpenCode that do not share the others' server."""

PAGE = "tests/page/"
FEW_PAGES = 80
"""Up to so many tests of the page are one unit: a browser, a server and the first page cost 4 s of
CPU time, as much as three tests."""


def unit_of(nodeid: str) -> str:
    """The key of the tests that run in the same worker: the file, as a rule."""
    file, _, name = nodeid.partition("::")
    if file.startswith(OPENCODE) and not file.endswith(STARTS_ITS_OWN):
        return OPENCODE
    if file.startswith("tests/live/every_backend/"):
        kinds = KINDS.intersection(name.rpartition("[")[2].rstrip("]").split("-"))
        return f"{file} {' '.join(kinds)}"
    return file


def seconds_of(nodeid: str) -> float:
    """The rough duration of a test."""
    folder = nodeid.partition("::")[0]
    while folder and folder not in SECONDS:
        folder = folder.rpartition("/")[0]
    return SECONDS.get(folder, 1.0)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort the units in the order in which the workers take them."""
    seconds: Counter[str] = Counter()
    for item in items:
        seconds[unit_of(item.nodeid)] += seconds_of(item.nodeid)  # type: ignore[assignment]
    items.sort(key=lambda item: (-seconds[unit_of(item.nodeid)], unit_of(item.nodeid)))


class Together(LoadScopeScheduling):
    """Gives each worker a unit at a time, or a single test if there are few units."""

    _is_fine: bool | None = None
    _has_few_pages = False

    def _split_scope(self, nodeid: str) -> str:
        if self._is_fine is None:
            collected = next(iter(self.registered_collections.values()))
            self._is_fine = len({unit_of(one) for one in collected}) < 2 * len(self.nodes)
            self._has_few_pages = sum(one.startswith(PAGE) for one in collected) <= FEW_PAGES
        if self._is_fine:
            return nodeid
        return PAGE if self._has_few_pages and nodeid.startswith(PAGE) else unit_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Use it with `--dist loadfile`."""
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return Together(config, log)
