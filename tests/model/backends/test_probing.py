"""Agent programs looked for: each is found or lacks something, and one cannot spoil the others."""

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


class Broken(FakeBackend):
    """A backend whose probe goes wrong in one of many ways."""

    def __init__(self, wrong: Exception | None) -> None:
        super().__init__()
        self._wrong = wrong

    async def probe(self) -> Probe:
        if self._wrong is None:
            await asyncio.Event().wait()
        assert self._wrong is not None
        raise self._wrong


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (SpinneyError("It is not installed."), "It is not installed."),
        (ValueError("surprise"), "Checking Codex failed. See Spinney's log for details."),
        (None, "Codex did not report its version within 0.05 seconds."),
    ],
)
async def test_one_that_cannot_be_looked_at_is_told_and_the_others_are_found(
    wrong: Exception | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "_TIMEOUT", 0.05)
    backends = {"backend_a": FakeBackend(), "backend_b": Broken(wrong)}
    found = {row.name: probe for row, probe in await probe_all(Catalog().backends, backends)}
    assert found["backend_a"] == Probe("/bin/true", "1.0")
    assert (found["backend_b"].problem or "").startswith(told)


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


async def test_list_agents_names_agents_and_models_and_looks_at_no_program(
    workspace: Workspace,
) -> None:
    claude, codex, _ = await list_agents(workspace)
    assert (claude.name, claude.label, claude.program) == ("backend_a", "Claude Code", "claude")
    assert ("backend_b", codex.models[0].name) == (codex.name, Catalog().backends[1].models[0].name)
