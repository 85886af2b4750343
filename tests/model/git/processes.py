"""Count the processes of git that something starts, in whatever thread."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, Final

import pytest

from model.git import run, safe_config

_WITH_VALUE: Final = ("-c", "-C")
_started: ContextVar[list[str] | None] = ContextVar("started", default=None)


def count_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `counting` see each process of git that is started from now on."""
    run_in_thread = run._run_in_thread
    start = subprocess.Popen.__init__

    async def run_in_context(call: Any) -> run.GitResult:
        # The threads of the pools do not know for whom they work.
        context, run_call = copy_context(), call.run
        call.run = lambda: context.run(run_call)
        return await run_in_thread(call)

    def note_start(process: Any, args: Any, *rest: Any, **options: Any) -> None:
        started = _started.get()
        if started is not None and not isinstance(args, str) and Path(args[0]).name == "git":
            started.append(_find_subcommand(list(args[1:])))
        start(process, args, *rest, **options)

    monkeypatch.setattr(run, "_run_in_thread", run_in_context)
    monkeypatch.setattr(subprocess.Popen, "__init__", note_start)
    # Otherwise they are read again during whichever operation comes thirty seconds later.
    monkeypatch.setattr(safe_config, "_USER_SETTINGS_TTL", float("inf"))


@contextmanager
def counting() -> Iterator[list[str]]:
    """Yield the subcommands of the processes that are started for the body, not beside it."""
    started: list[str] = []
    token = _started.set(started)
    try:
        yield started
    finally:
        _started.reset(token)


def _find_subcommand(args: list[str]) -> str:
    while args[0].startswith("-"):
        del args[: 2 if args[0] in _WITH_VALUE else 1]
    return "-".join(args[:2]) if args[0] == "worktree" else args[0]
