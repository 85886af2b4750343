"""A Spinney that is killed while the real Claude Code runs a command leaves nothing for long."""

import json
import os
import subprocess
import sys
from pathlib import Path

from model.backends.leftovers import end_leftovers
from tests.model.backends.agents import becomes, lives

ROOT = Path(__file__).parents[2]

OWNING_PROCESS = """
import asyncio, json, sys
from pathlib import Path
from model.backends import base
from model.backends.claude import ClaudeBackend
from model.backends.leftovers import OWNER, owner_mark


async def main():
    place, environment = Path(sys.argv[1]), json.loads(sys.argv[2])
    environment[OWNER] = owner_mark(place)
    launch = base.Launch("s", place, base.Settings("yolo", "sonnet"), environment=environment)
    agent = await ClaudeBackend().open(launch)
    await agent.send(base.Prompt("bash: setsid sleep 300 & echo $! > pid; mv pid ready; wait"))
    async for _ in agent.events():
        pass


asyncio.run(main())
"""


async def test_the_next_start_ends_the_command_of_a_killed_spinney(
    claude_environment: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "data"
    place.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNING_PROCESS, str(place), json.dumps(claude_environment)],
        cwd=ROOT,
        env=dict(os.environ),
    )
    try:
        await becomes((place / "ready").exists, 30)
        command = int((place / "ready").read_text())
        assert end_leftovers(place) == []
    finally:
        owner.kill()
        owner.wait()
    assert lives(command)
    assert command in end_leftovers(place)
    await becomes(lambda: not lives(command))
    assert end_leftovers(place) == []
