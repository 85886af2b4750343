"""An application at a test's fingertips, with a fake client behind it."""

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import _wait
from textual.css.stylesheet import Stylesheet
from textual.notifications import Notification
from textual.pilot import Pilot

from tests.patience import PATIENCE
from tests.tui.fake_client import FakeClient
from tui.shell.app import SpinneyApp
from tui.widgets.request_panel import RequestPanel

_collect = gc.collect
_rules: dict[frozenset[tuple[str, str]], dict[Any, Any]] = {}

Started = tuple[SpinneyApp, "Pilot[None]"]
Start = Callable[..., AbstractAsyncContextManager[Started]]


@pytest.fixture(autouse=True)
def armed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request takes keys at once: tests do not type by accident."""
    monkeypatch.setattr(RequestPanel, "ARMED_AFTER", 0.0)
    monkeypatch.setattr(RequestPanel, "QUIET", 0.0)


@pytest.fixture(autouse=True)
def idle_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each key Textual's pilot sleeps twice, until the process was idle for 20 ms: three
    quarters of the time of a test. Half of that finds the same.
    """
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 1 / 100)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 1 / 2000)


@pytest.fixture(autouse=True)
def no_freezing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Applications that ended stay collectable: a program has one, a worker of the tests hundreds,
    and each would freeze those before it, some 4 MB, for good.

    What a program collects before it freezes is nobody's either: only a full collection, as tests
    ask for, is made at once. It is a twentieth of the time of a test.
    """
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.setattr(gc, "collect", lambda generation=2: _collect() if generation == 2 else 0)


@pytest.fixture(autouse=True)
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Style sheets with the same colours share the rules that were read from the same text.

    An application parses 70 texts as it starts, which is a twentieth of what a test costs.
    """
    made, recoloured = Stylesheet.__init__, Stylesheet.set_variables

    def make(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        made(sheet, variables=variables)
        sheet._parse_cache = _rules_with(sheet._variables)

    def recolour(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = {}  # this one is emptied
        recoloured(sheet, variables)
        sheet._parse_cache = _rules_with(variables)

    monkeypatch.setattr(Stylesheet, "__init__", make)
    monkeypatch.setattr(Stylesheet, "set_variables", recolour)


def _rules_with(variables: dict[str, str]) -> dict[Any, Any]:
    """The rules that were parsed with these variables; of a few themes at a time."""
    key = frozenset(variables.items())
    found = _rules.pop(key, {})
    while len(_rules) > 4:
        del _rules[next(iter(_rules))]
    return _rules.setdefault(key, found)


@pytest.fixture(autouse=True)
def toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A passing word is still there when a slow machine gets to look at it."""
    monkeypatch.setattr(Notification, "time_left", 2 * PATIENCE)


@pytest.fixture
def start() -> Start:
    """Start the program on a client, and wait until it shows the first state."""

    @asynccontextmanager
    async def started(
        client: FakeClient, *, size: tuple[int, int] = (120, 40), offer_path: Path | None = None
    ) -> AsyncIterator[Started]:
        app = SpinneyApp(lambda: client, offer_path=offer_path, environ={})
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and settled(client))
            yield app, pilot

    return started


def settled(client: FakeClient) -> bool:
    """Whether everything that was fed has been taken."""
    return client._updates.empty() and bool(client.called("get_http_server_status"))


async def until(pilot: "Pilot[None]", true: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until something holds; fail when it does not come."""
    waited = 0.0
    while not true():
        assert waited < within, "it did not come"
        await pilot.pause(0.02)
        waited += 0.02
    await pilot.pause()
