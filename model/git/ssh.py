"""Which host `ssh` goes to: people give hosts names of their own in `~/.ssh/config`."""

import asyncio
import contextlib
import os
import re
import signal
import time
from typing import Final

_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Others are not asked for: a repository names them, and `Match exec` puts them into commands."""
_PATIENCE: Final = 2.0
"""Seconds; ssh reads a file, but `Match exec` in it may run anything."""
_GOOD_FOR: Final = 300.0
"""Seconds that an answer serves."""

_answers: Final[dict[str, tuple[float, str]]] = {}


async def real_host(name: str) -> str:
    """The host that `ssh name` connects to; the name itself where there is no ssh to tell."""
    asked, host = _answers.get(name, (0.0, name))
    if not _HOST.fullmatch(name) or (asked and time.monotonic() - asked < _GOOD_FOR):
        return host
    settings = await _settings(name)
    found = re.search(r"^hostname (\S+)$", settings, re.MULTILINE)
    host = found[1] if found else name
    _answers[name] = (time.monotonic(), host)
    return host


async def _settings(name: str) -> str:
    """What `ssh -G` prints: one setting on each line. Nothing is connected to."""
    try:
        process = await asyncio.create_subprocess_exec(
            "ssh", "-G", "--", name,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_PATIENCE):
            out, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return out.decode("utf-8", "replace")
