"""Watching of folders, where the system permits it and where it does not."""

import subprocess
import sys
from contextlib import aclosing
from functools import partial
from pathlib import Path

from model.base.watching import watch_folders
from tests.program import ROOT

WITHOUT_FILES = """
import asyncio, resource, sys
from pathlib import Path
from model.base.watching import watch_folders

async def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    opened = []
    try:
        while True:
            opened.append(open("/dev/null"))
    except OSError:
        pass
    how = {"step_ms": 10, "debounce_ms": 20, "timeout_ms": 100, "recursive": False}
    try:
        async for _ in watch_folders({Path(sys.argv[1])}, bool, **how):
            print("watched")
            break
    except OSError as error:
        opened.clear()
        print("not watched:", error)

asyncio.run(main())
"""

watch = partial(watch_folders, step_ms=10, debounce_ms=20, timeout_ms=50, recursive=False)


async def test_relevant_changes_are_reported_and_a_timeout_is_empty(tmp_path: Path) -> None:
    async with aclosing(watch({tmp_path}, lambda path: path.endswith(".txt"))) as changes:
        assert await anext(changes) == []
        (tmp_path / "other").write_text("1")
        assert await anext(changes) == []
        (tmp_path / "one.txt").write_text("1")
        while not (files := await anext(changes)):
            pass
        assert files == [tmp_path / "one.txt"]


def test_a_system_that_permits_no_more_watchers_is_an_error_of_the_system(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_FILES, str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.stdout.startswith("not watched: "), ran.stderr
    assert "Too many open files" in ran.stdout
