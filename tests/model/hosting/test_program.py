"""Running the program of a hosting service: what of its output is kept, and how it ends."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.hosting.program import HostingProgram, Output


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostingProgram:
    """A program that runs its last argument as Python."""
    file = tmp_path / "forge-program"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "$1"\n')
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("UNWANTED", "1")
    return HostingProgram(
        "forge-program", "https://example.org", "sign in", {"WANTED": "1"}, frozenset({"UNWANTED"})
    )


@pytest.mark.longer
async def test_the_beginning_of_a_long_output_is_kept(
    program: HostingProgram, tmp_path: Path
) -> None:
    code = "for n in range(100_000): print(n)"
    found = await program.run(tmp_path, (code,), limit=12)
    assert (found.out, found.is_cut) == ("0\n1\n2\n3\n4\n5\n", True)
    whole = bytearray()
    await program.run(tmp_path, (code,), limit=12, take=whole.extend)
    assert whole.endswith(b"\n99999\n") and whole.count(b"\n") == 100_000


async def test_input_exit_code_and_environment_are_passed(
    program: HostingProgram, tmp_path: Path
) -> None:
    code = (
        "import os, sys; print(sys.stdin.read(), os.environ.get('WANTED'), "
        "os.environ.get('UNWANTED')); print('\\x1b]0;no', file=sys.stderr); sys.exit(3)"
    )
    found = await program.run(tmp_path, (code,), "given")
    assert found == Output("given 1 None\n", "␛]0;no\n", 3)


async def test_a_program_that_does_not_read_its_input_does_no_harm(
    program: HostingProgram, tmp_path: Path
) -> None:
    found = await program.run(tmp_path, ("print('done')",), "x" * 1_000_000)
    assert (found.out, found.code) == ("done\n", 0)


async def test_what_it_started_ends_with_it(program: HostingProgram, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = f"exec > '{pipe}'; echo up; sleep 600"
    code = f"import subprocess; subprocess.run(['sh', '-c', {script!r}])"
    running = asyncio.create_task(program.run(tmp_path, (code,)))
    written = await asyncio.to_thread(pipe.open)
    assert await asyncio.to_thread(written.readline) == "up\n"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # The pipe is at its end once no process has it open for writing.
    assert await asyncio.to_thread(written.read) == ""
    written.close()


async def test_it_is_stopped_after_a_time_limit(program: HostingProgram, tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match=r"took longer than 0\.01 seconds and was stopped"):
        await program.run(tmp_path, ("import time; time.sleep(600)",), timeout=0.01)


async def test_a_missing_program_is_named_with_what_to_do(
    program: HostingProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SpinneyError, match=r"Install it \(https://example.org\), run 'sign in'"):
        await program.run(tmp_path, ())
