"""Probing all agent programs: a failed probe does not affect the others."""

import asyncio

import pytest

from model.agents.catalog import Catalog
from model.backends import probing
from model.backends.base import Probe
from model.backends.probing import probe_all
from model.base.errors import SpinneyError
from model.commands.doctor import list_agents, list_backends
from model.runtime.workspace import Workspace
from tests.fakes import FakeBackend


class BrokenBackend(FakeBackend):
    """A backend whose probe raises `fault`, or hangs if that is `None`."""

    def __init__(self, fault: Exception | None) -> None:
        super().__init__()
        self._fault = fault

    async def probe(self) -> Probe:
        if self._fault is None:
            await asyncio.Event().wait()
        assert self._fault is not None
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (SpinneyError("It is not installed."), "It is not installed."),
        (ValueError("surprise"), "Checking Codex failed. See Spinney's log for details."),
        (None, "Codex did not report its version within 0.05 seconds."),
    ],
)
async def test_a_failed_probe_is_reported_and_does_not_affect_the_others(
    fault: Exception | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "_TIMEOUT", 0.05)
    backends = {"backend_a": FakeBackend(), "backend_b": BrokenBackend(fault)}
    found = {row.name: probe for row, probe in await probe_all(Catalog().backends, backends)}
    assert found["backend_a"] == Probe("/bin/true", "1.0")
    assert (found["backend_b"].problem or "").startswith(message)


async def test_list_backends_has_every_row_of_the_catalogue_with_its_label(
    workspace: Workspace,
) -> None:
    listed = await list_backends(workspace)
    assert [report.label for report in listed] == ["Claude Code", "Codex", "OpenCode"]
    ready, missing, _ = listed
    assert (ready.program, ready.version, ready.supported) == ("/bin/true", "1.0", True)
    assert ready.problem is None
    assert (missing.program, missing.supported, missing.fix) == (None, None, None)
    assert missing.problem == "Spinney cannot drive Codex here."


async def test_list_agents_names_agents_and_models_and_probes_no_program(
    workspace: Workspace,
) -> None:
    claude, codex, _ = await list_agents(workspace)
    assert (claude.name, claude.label, claude.program) == ("backend_a", "Claude Code", "claude")
    assert ("backend_b", codex.models[0].name) == (codex.name, Catalog().backends[1].models[0].name)
