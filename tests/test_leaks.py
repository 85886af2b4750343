"""A test that leaves something behind fails, and no other one does."""

import os
import subprocess
import sys
from pathlib import Path

from tests.program import ROOT

SUITE = """\
import asyncio
import logging
import socket
import subprocess
import threading

import pytest

kept = []
end = threading.Event()

@pytest.fixture(scope="module")
def shared():
    kept.append(socket.socket())
    thread = threading.Thread(target=end.wait, name="shared")
    thread.start()
    yield
    end.set()
    kept.clear()

@pytest.fixture
def own():
    made = socket.socket()
    yield
    made.close()

@pytest.mark.parametrize("asked", [False, True])
def test_tidy(shared, own, request, asked):
    threading.Thread(target=threading.Event().wait, args=(0.1,), name="ends").start()
    if asked:
        request.getfixturevalue("late")

async def test_generator():
    async def count():
        yield 1
        yield 2

    async for _ in count():
        break

@pytest.fixture(scope="module")
def late():
    kept.append(socket.socket())

def test_socket():
    kept.append(socket.socket())

def test_thread():
    threading.Thread(target=threading.Event().wait, name="left", daemon=True).start()

def test_process():
    kept.append(subprocess.Popen(["sleep", "600"]))

def test_handler():
    logging.getLogger("some").addHandler(logging.StreamHandler())

async def test_task():
    kept.append(asyncio.create_task(asyncio.sleep(600)))

def test_after():
    for process in [one for one in kept if isinstance(one, subprocess.Popen)]:
        process.kill()
        process.wait()
"""


def test_the_test_that_left_something_is_named_with_it(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environ |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    plugins = ["-p", "tests.leaks", "-p", "pytest_asyncio.plugin", "-o", "asyncio_mode=auto"]
    ran = subprocess.run(
        [sys.executable, "-c", RUN, *plugins, "-q", "-rE", "test_suite.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )
    errors = [line for line in ran.stdout.splitlines() if line.startswith("ERROR")]
    names = ["socket", "thread", "process", "handler", "task"]
    expected = [f"ERROR test_suite.py::test_{name} - " for name in names]
    assert len(errors) == len(expected), ran.stdout
    for error, beginning, what in zip(
        errors, expected, ["open socket:", "thread left", "process", "log handler", "task"],
        strict=True,
    ):  # fmt: skip
        assert error.startswith(beginning + f"Failed: The test left: {what}"), ran.stdout


RUN = """\
import sys, pytest, tests.leaks
tests.leaks._GRACE = 2.0
sys.exit(pytest.main(sys.argv[1:]))
"""
"""Waits less for what is left on purpose."""
