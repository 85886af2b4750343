"""After kill -9 of a Spinney, the next start ends what it left, and nothing else."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.backends.orphans import OWNER_VARIABLE, build_owner_mark, kill_orphans
from tests.model.backends.agents import becomes, lives

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


async def test_what_a_killed_owner_left_is_ended(owner: Owner, tmp_path: Path) -> None:
    owner.kill()
    assert all(map(lives, owner.grandchildren))
    assert set(owner.grandchildren) <= set(kill_orphans(tmp_path))
    await becomes(lambda: not any(map(lives, owner.grandchildren)))
    assert kill_orphans(tmp_path) == []


def test_what_a_living_owner_runs_is_left_alone(owner: Owner, tmp_path: Path) -> None:
    assert kill_orphans(tmp_path) == []
    assert all(map(lives, owner.grandchildren))


def test_what_belongs_to_another_data_directory_is_left_alone(owner: Owner, tmp_path: Path) -> None:
    owner.kill()
    other = tmp_path / "other"
    other.mkdir()
    assert kill_orphans(other) == []
    assert all(map(lives, owner.grandchildren))


def test_a_pid_that_was_used_again_is_not_taken_for_the_owner(tmp_path: Path) -> None:
    directory, pid, _start = build_owner_mark(tmp_path).split(":")
    mark = f"{directory}:{pid}:1"  # our own pid, but of a process that started long ago
    # What is just being started shows no environment yet: it has to say that it runs.
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


def test_the_mark_names_the_directory_however_it_is_written(tmp_path: Path) -> None:
    assert build_owner_mark(tmp_path) == build_owner_mark(tmp_path / "x" / "..")
    assert build_owner_mark(tmp_path) != build_owner_mark(tmp_path / "x")
