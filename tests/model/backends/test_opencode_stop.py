"""Stopping a turn of OpenCode: the abort is repeated until the turn has begun and ended."""

import asyncio

import pytest

from model.backends.opencode import stop
from model.backends.opencode.stop import TurnStopper
from model.backends.opencode.stream import OpenCodeStream
from tests.patience import PATIENCE


async def test_an_abort_that_comes_before_the_turn_began_is_repeated() -> None:
    answers = [("idle", "busy"), ("idle",)]
    aborts = []

    async def abort() -> None:
        aborts.append(1)
        for status in answers[len(aborts) - 1]:
            stopper.on_status(status)

    stopper = TurnStopper(abort, OpenCodeStream("ses_1"))
    stopper.on_prompt()
    await stopper.stop()
    assert len(aborts) == 2


async def test_an_end_reported_after_the_abort_was_answered_counts() -> None:
    aborts = []

    async def abort() -> None:
        aborts.append(1)

    async def report_idle_later() -> None:
        if len(aborts) == 1:
            asyncio.get_running_loop().call_soon(stopper.on_status, "idle")

    stopper = TurnStopper(abort, OpenCodeStream("ses_1"))
    stopper.kill_commands = report_idle_later  # type: ignore[method-assign]
    stopper.on_prompt()
    stopper.on_status("busy")
    await stopper.stop(PATIENCE)
    assert len(aborts) == 1


async def test_a_turn_that_begins_late_is_stopped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop, "_TIMEOUT", 0.3)
    monkeypatch.setattr(stop, "_RETRY_INTERVAL", 0.1)
    aborts = []

    async def abort() -> None:
        aborts.append(1)
        match len(aborts):
            case 6:
                stopper.on_status("busy")
            case 7:
                stopper.on_status("idle")

    stopper = TurnStopper(abort, OpenCodeStream("ses_1"))
    stopper.on_prompt()
    await stopper.stop(PATIENCE)
    assert len(aborts) == 7


async def test_a_turn_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop, "_TIMEOUT", 0.1)
    monkeypatch.setattr(stop, "_RETRY_INTERVAL", 0.01)

    async def abort() -> None:
        """Have no effect."""

    stopper = TurnStopper(abort, OpenCodeStream("ses_1"))
    stopper.on_prompt()
    stopper.on_status("busy")
    await stopper.stop(PATIENCE)
    assert not stopper.is_stopping
