"""After `kill -9` of Spinney, the next start kills its orphaned processes and no others."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.backends.orphans import OWNER_VARIABLE, build_owner_mark, kill_orphans
from tests.model.backends.agents import is_running, wait_until

ROOT = Path(__file__).parents[3]

OWNING_PROCESS = """
    import os, subprocess, sys
    from pathlib import Path
    from model.backends.orphans import build_owner_mark

    marked = {**os.environ, "SPINNEY_OWNER": build_owner_mark(Path(sys.argv[1]))}
    script = "sleep 60 & echo $!; setsid sleep 60 & echo $!; echo $$; wait"
    shell = subprocess.Popen(
        ["sh", "-c", script], env=marked, start_new_session=True, stdout=sys.stdout
    )
    shell.wait()
"""


class Owner:
    """A small process that owns marked grandchildren, as Spinney does."""

    def __init__(self, data_dir: Path) -> None:
        command = [sys.executable, "-c", textwrap.dedent(OWNING_PROCESS), str(data_dir)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.grandchildren = [int(self.process.stdout.readline()) for _ in range(3)]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    owner = Owner(tmp_path)
    yield owner
    owner.kill()
    kill_orphans(tmp_path)
    owner.process.stdout.close()  # type: ignore[union-attr]


async def test_orphans_of_a_killed_owner_are_killed(owner: Owner, tmp_path: Path) -> None:
    owner.kill()
    assert all(map(is_running, owner.grandchildren))
    assert set(owner.grandchildren) <= set(kill_orphans(tmp_path))
    await wait_until(lambda: not any(map(is_running, owner.grandchildren)))
    assert kill_orphans(tmp_path) == []


def test_processes_of_a_running_owner_are_kept(owner: Owner, tmp_path: Path) -> None:
    assert kill_orphans(tmp_path) == []
    assert all(map(is_running, owner.grandchildren))


def test_processes_of_another_data_directory_are_kept(owner: Owner, tmp_path: Path) -> None:
    owner.kill()
    other = tmp_path / "other"
    other.mkdir()
    assert kill_orphans(other) == []
    assert all(map(is_running, owner.grandchildren))


def test_a_reused_pid_is_not_mistaken_for_the_owner(tmp_path: Path) -> None:
    directory, pid, _start = build_owner_mark(tmp_path).split(":")
    mark = f"{directory}:{pid}:1"  # this process's pid with another start time
    # A process that is being started has no environment yet, so wait for its first output.
    left = subprocess.Popen(
        ["sh", "-c", "echo; read _"],
        env={**os.environ, OWNER_VARIABLE: mark},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert left.stdout is not None
        left.stdout.readline()
        assert kill_orphans(tmp_path) == [left.pid]
    finally:
        left.kill()
        left.communicate()


def test_the_mark_does_not_depend_on_how_the_path_is_written(tmp_path: Path) -> None:
    assert build_owner_mark(tmp_path) == build_owner_mark(tmp_path / "x" / "..")
    assert build_owner_mark(tmp_path) != build_owner_mark(tmp_path / "x")
