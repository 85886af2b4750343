"""Fails a test that leaves something behind: tasks, threads, processes, open files, log handlers.

What a test leaves disturbs a later one, in which nothing is wrong. What fixtures of a wider scope
have opened is theirs, and what ends by itself is waited for.
"""

import asyncio
import gc
import inspect
import logging
import os
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

_GRACE: Final = 10.0
"""Seconds for what is about to end: a thread that was asked to, a process that was killed."""
_COLLECTED_AFTER: Final = 0.1
_OPEN_FILES: Final = Path("/proc/self/fd")
_THREADS: Final = Path("/proc/self/task")
_UNIQUE: Final = ("socket:", "pipe:")
"""Open files by number: two of these are never the same."""
_OF_THE_PROCESS: Final = (
    *("git-read_", "git-write_", "asyncio_"),
    *("AnyIO worker thread", "ThreadPoolExecutor-"),  # of libraries
)
"""Threads of pools that live as long as the process or its event loop, by the beginnings of their
names.
"""
_cancel_all_tasks: Final = asyncio.runners._cancel_all_tasks  # type: ignore[attr-defined]

_tolerated: Final[set[str]] = set()
_tasks: Final[list[str]] = []
"""Tasks that ran when the main thread's loop was closed."""


@pytest.fixture(autouse=True)
def leaks() -> Iterator[None]:
    """Compare what is there before the first fixture of a test and after its last one."""
    _tolerated.clear()
    _tolerated.update(_find_open())
    _tasks.clear()
    yield
    left = [*_tasks, *_find_left()]
    if left:
        pytest.fail("The test left: " + "; ".join(sorted(left)), pytrace=False)


@contextmanager
def outliving_the_test() -> Iterator[None]:
    """Tolerate what the block opens: it is not the test's alone."""
    before = _find_open()
    try:
        yield
    finally:
        _tolerated.update(_find_open() - before)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Tolerate what a fixture of a wider scope opens while a test already runs."""
    if fixturedef.scope == "function":
        return (yield)
    with outliving_the_test():
        return (yield)


def pytest_configure() -> None:
    """Note the tasks that are cancelled when a loop is closed."""
    asyncio.runners._cancel_all_tasks = _note_tasks  # type: ignore[attr-defined]


def _note_tasks(loop: asyncio.AbstractEventLoop) -> None:
    if threading.current_thread() is threading.main_thread():
        running = [task for task in asyncio.all_tasks(loop) if not task.cancelling()]
        if running:
            _, running = loop.run_until_complete(asyncio.wait(running, timeout=_GRACE))
        made = [task.get_coro() for task in running]
        # Any other one is the loop's own, which closes a generator that was not read to its end.
        _tasks.extend(f"task {coroutine}" for coroutine in made if inspect.iscoroutine(coroutine))
    _cancel_all_tasks(loop)


def _find_left() -> set[str]:
    began = time.monotonic()
    is_collected = False
    while (left := _find_open() - _tolerated) and time.monotonic() < began + _GRACE:
        if not is_collected and time.monotonic() > began + _COLLECTED_AFTER:
            gc.collect()  # what only waits for that is no leak
            is_collected = True
        time.sleep(0.02)
    return left


def _find_open() -> set[str]:
    found = {
        f"thread {thread.name} {thread.ident}"
        for thread in threading.enumerate()
        if not thread.name.startswith(_OF_THE_PROCESS)
    }
    loggers = [logging.root, *logging.Logger.manager.loggerDict.values()]
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if not isinstance(handler, logging.NullHandler):  # those of libraries
                found.add(f"log handler {handler!r} of {logger.name}")
    if _OPEN_FILES.is_dir():
        found |= set(_find_open_files()) | set(_find_children())
    return found


def _find_open_files() -> Iterator[str]:
    for number in _OPEN_FILES.iterdir():
        try:
            target = str(number.readlink())
        except OSError:
            continue  # that of the listing itself
        if target.startswith((*_UNIQUE, "/")) and not target.startswith("/dev/"):
            yield f"open {target}"


def _find_children() -> Iterator[str]:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return  # There is none: no need to ask each thread.
    for thread in _THREADS.iterdir():
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue  # the thread has ended, or the kernel has no such file
        yield from (f"process {child}" for child in children)
