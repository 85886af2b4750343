"""Orphans of a Spinney that is killed while a real agent runs a command."""

import subprocess
import sys
from pathlib import Path

import pytest

from model.backends.orphans import kill_orphans
from tests.live.every_backend.kinds import KINDS
from tests.model.backends.agents import is_running, wait_until
from tests.program import ROOT

COMMAND = "setsid sleep 300 & echo $! > pid; mv pid ready; wait"

OWNING_PROCESS = """
import asyncio, sys
from pathlib import Path
from model.backends import base
from model.backends.registry import create_backends
from model.backends.orphans import OWNER_VARIABLE, build_owner_mark
from model.agents.catalog import Catalog


async def main():
    data, worktree, backend, model, command = sys.argv[1:]
    mark = {OWNER_VARIABLE: build_owner_mark(Path(data))}
    settings = base.Settings("yolo", model)
    launch = base.Launch("s", Path(worktree), settings, environment=mark)
    agent = await create_backends(Path(data), Catalog())[backend].open(launch)
    await agent.send(base.Prompt(f"bash: {command}"))
    async for _ in agent.events():
        pass


asyncio.run(main())
"""


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
async def test_the_next_start_kills_the_orphans_of_a_killed_spinney(name: str, place: Path) -> None:
    data, worktree = place / "data", place / "worktree"
    data.mkdir(exist_ok=True)
    worktree.mkdir()
    kind = KINDS[name]
    words = [str(data), str(worktree), kind.backend, kind.model or "", COMMAND]
    with kind.program(place) as program:
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNING_PROCESS, *words],
            cwd=ROOT,
            env={**program.environ, "HOME": str(program.home)},
        )
        try:
            await wait_until((worktree / "ready").exists, 60)
            command = int((worktree / "ready").read_text())
            assert kill_orphans(data) == []
        finally:
            owner.kill()
            owner.wait()
        assert is_running(command)
        ended = kill_orphans(data)
        assert command in ended
        await wait_until(lambda: not any(map(is_running, ended)))
        assert kill_orphans(data) == []
