"""Fixtures that run the application on a fake client."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import _time
from textual import app as textual_app
from textual import pilot as textual_pilot
from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet
from textual.notifications import Notification
from textual.pilot import Pilot

from tests.patience import PATIENCE
from tests.tui.fake_client import FakeClient
from tests.tui.settling_pilot import SettlingPilot, wait_for_nothing
from tests.tui.unpainted import skip_frame
from tests.tui.virtual_loop import VirtualLoop, monotonic
from tests.tui.waiting import settled, until
from tui.landing.land_dialog import Land
from tui.shell.app import SpinneyApp
from tui.shell.interrupt import StopGuard
from tui.terminal import output, screen_reader
from tui.widgets.request_panel import RequestPanel

_collect = gc.collect
_rules: dict[frozenset[tuple[str, str]], dict[Any, Any]] = {}

Started = tuple[SpinneyApp, "Pilot[None]"]
Start = Callable[..., AbstractAsyncContextManager[Started]]


@pytest.fixture(autouse=True)
def armed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let requests and dialogs accept keys at once, without the delay against accidental typing."""
    monkeypatch.setattr(RequestPanel, "ARMED_AFTER", 0.0)
    monkeypatch.setattr(RequestPanel, "QUIET", 0.0)
    monkeypatch.setattr(Land, "ALONE", 0.0)


@pytest.fixture(autouse=True)
def screen_reader_off() -> Iterator[None]:
    """Switch screen reader mode off after each test: it is a setting of the whole process."""
    yield
    screen_reader.set_enabled(False)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run each test on a loop that skips idle time."""
    return {"virtual": VirtualLoop}


@pytest.fixture(autouse=True)
def settling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what keys and clicks have caused, by the clock of the loop."""
    monkeypatch.setattr(textual_pilot, "Pilot", SettlingPilot)
    monkeypatch.setattr(textual_app, "wait_for_idle", wait_for_nothing)
    monkeypatch.setattr(time, "monotonic", monotonic)
    monkeypatch.setattr(_time, "get_time", monotonic)
    monkeypatch.setattr(output, "monotonic", monotonic)
    monkeypatch.setattr(RequestPanel, "clock", staticmethod(monotonic))
    monkeypatch.setattr(StopGuard.__init__, "__defaults__", (monotonic,))


@pytest.fixture(autouse=True)
def ended_by_quitting(monkeypatch: pytest.MonkeyPatch) -> None:
    """End applications as quitting does: updates may still come when the widgets are gone."""
    shut_down = textual_app.App._shutdown

    async def quit_app(app: textual_app.App[object]) -> None:
        app._exit = True
        await shut_down(app)

    monkeypatch.setattr(textual_app.App, "_shutdown", quit_app)


@pytest.fixture(autouse=True)
def unpainted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint no frames, unless the test is marked `painted`."""
    if request.node.get_closest_marker("painted") is None:
        monkeypatch.setattr(Compositor, "render_update", skip_frame)


@pytest.fixture(autouse=True)
def no_freezing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep ended applications collectable, and skip all but full collections.

    A program runs one application, a test worker hundreds; each would freeze those before it, some
    4 MB, for good. The collection before a freeze takes a twentieth of the time of a test; full
    collections, which tests request, still run.
    """
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.setattr(gc, "collect", lambda generation=2: _collect() if generation == 2 else 0)


@pytest.fixture(autouse=True)
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share parsed rules between style sheets with the same colors.

    An application parses 70 texts at its start, which takes a twentieth of the time of a test.
    """
    original_init, original_set_variables = Stylesheet.__init__, Stylesheet.set_variables

    def init(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        original_init(sheet, variables=variables)
        sheet._parse_cache = _rules_with(sheet._variables)

    def set_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = {}  # the next call clears it
        original_set_variables(sheet, variables)
        sheet._parse_cache = _rules_with(variables)

    monkeypatch.setattr(Stylesheet, "__init__", init)
    monkeypatch.setattr(Stylesheet, "set_variables", set_variables)


def _rules_with(variables: dict[str, str]) -> dict[Any, Any]:
    """The cache of rules parsed with these variables; those of a few themes are kept."""
    key = frozenset(variables.items())
    found = _rules.pop(key, {})
    while len(_rules) > 4:
        del _rules[next(iter(_rules))]
    return _rules.setdefault(key, found)


@pytest.fixture(autouse=True)
def toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep notifications on the screen until a slow machine has checked them."""
    monkeypatch.setattr(Notification, "time_left", 2 * PATIENCE)


@pytest.fixture
def start() -> Start:
    """Return a function that runs the application on a client and waits for the first state."""

    @asynccontextmanager
    async def started(
        client: FakeClient,
        *,
        size: tuple[int, int] = (120, 30),
        offer_path: Path | None = None,
        data: Path | None = None,
    ) -> AsyncIterator[Started]:
        app = SpinneyApp(lambda: client, offer_path=offer_path, data=data, environ={})
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.main.is_connected and settled(client))
            yield app, pilot

    return started
