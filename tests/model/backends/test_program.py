"""Probing an agent's program: missing, broken, hanging, too old, or newer than any known."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.backends import program as backend_program
from model.backends.base import Probe
from model.backends.program import AgentProgram
from model.base.errors import SpinneyError
from tests.model.backends.agents import children

LOOM = AgentProgram(
    "Loom", "loom", install="get loom", update="loom update", min_version=(1, 10, 0)
)


@pytest.fixture
def loom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Puts a shell script on PATH as `loom`; returns its path."""

    def loom(script: str) -> str:
        program = tmp_path / "loom"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return str(program)

    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), "/usr/bin", "/bin"]))
    return loom


async def test_a_missing_program_is_reported_with_its_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    probe, answers = await LOOM.probe(["status"])
    sentence = "Loom is not installed. Install it with: get loom"
    assert (probe, answers) == (Probe(None, problem=sentence, fix="get loom"), [])


@pytest.mark.parametrize("version", ["1.10.0", "loom 1.11.2 (beta)", "27.0.1"])
async def test_the_minimum_version_and_all_newer_ones_are_supported(
    loom: Callable[[str], str], version: str
) -> None:
    program = loom(f"[ $1 = --version ] && echo '{version}' || echo $1 $2; exit 0")
    probe, answers = await LOOM.probe(["who", "am I"])
    assert (probe.program, probe.supported, probe.problem) == (program, True, None)
    assert (probe.version or "-") in version
    assert answers == [(0, "who am I\n")]


async def test_a_version_that_is_too_old_is_reported_with_its_update_command(
    loom: Callable[[str], str],
) -> None:
    loom("echo 1.9.12")
    probe, _ = await LOOM.probe()
    assert (probe.version, probe.supported, probe.fix) == ("1.9.12", False, "loom update")
    assert probe.problem == (
        "Loom 1.9.12 is older than 1.10.0 and does not work with Spinney. Run: loom update"
    )


async def test_a_version_that_is_too_new_is_reported_and_started_for_nothing_else(
    loom: Callable[[str], str], tmp_path: Path
) -> None:
    limited = replace(LOOM, end_version=(2, 0, 0))
    program = loom(f"echo $1 >> '{tmp_path}/started'; echo 2.1.3")
    probe, answers = await limited.probe(["who"])
    assert (probe.version, probe.supported, probe.fix) == ("2.1.3", False, "get loom")
    assert probe.problem == (
        "Loom 2.1.3 does not work with Spinney yet, only earlier versions do."
        " Install one with: get loom"
    )
    with pytest.raises(SpinneyError, match="does not work with Spinney yet") as refused:
        await limited.find_supported(None)
    assert refused.value.error_type == "backend_unavailable"
    assert answers == []
    assert set((tmp_path / "started").read_text().split()) == {"--version"}
    # Another one that takes its place is looked at again.
    loom("[ $1 = --version ] && echo 1.20.3 || echo $1; exit 0")
    assert await limited.find_supported(None) == program
    assert (await limited.probe(["who"]))[1] == [(0, "who\n")]


@pytest.mark.parametrize("script", ["exit 3", "echo 1.10.0; exit 3", "echo no version"])
async def test_a_program_that_does_not_run_is_reported_with_its_install_command(
    loom: Callable[[str], str], script: str
) -> None:
    program = loom(script)
    probe, _ = await LOOM.probe()
    assert probe.problem == f"{program} does not run. Install it again: get loom"
    assert (probe.fix, probe.supported) == ("get loom", None)


async def test_a_program_that_hangs_is_reported_and_ended(
    loom: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "COMMAND_TIMEOUT", 0.2)
    loom("exec sleep 60")
    before = children()
    probe, _ = await LOOM.probe()
    while probe.problem is None:  # on a busy machine it may not sleep yet
        probe, _ = await LOOM.probe()
    assert (probe.fix, probe.supported) == (None, None)
    assert probe.problem == (
        "Loom did not report its version within 0.2 seconds."
        " Check whether this command finishes: loom --version"
    )
    assert children() <= before


async def test_a_busy_program_is_not_reported_as_hanging(
    loom: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "COMMAND_TIMEOUT", 0.2)
    program = loom("while :; do :; done")
    before = children()
    probe, _ = await LOOM.probe()
    assert probe == Probe(program)
    assert children() <= before
