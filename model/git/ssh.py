"""Resolve host aliases from `~/.ssh/config` to real host names."""

import asyncio
import contextlib
import os
import re
import signal
import time
from typing import Final

_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Other names are not resolved: a repository supplies them, and `Match exec` runs commands."""
_TIMEOUT: Final = 2.0
"""Seconds; ssh only reads a file, but `Match exec` in it may run anything."""
_CACHE_SECONDS: Final = 300.0
"""Seconds that a resolved host is cached."""

_cache: Final[dict[str, tuple[float, str]]] = {}


async def resolve_host(name: str) -> str:
    """Return the host that `ssh name` connects to, or `name` itself if ssh is not available."""
    cached_at, host = _cache.get(name, (0.0, name))
    if not _HOST.fullmatch(name) or (cached_at and time.monotonic() - cached_at < _CACHE_SECONDS):
        return host
    settings = await _read_settings(name)
    found = re.search(r"^hostname (\S+)$", settings, re.MULTILINE)
    host = found[1] if found else name
    _cache[name] = (time.monotonic(), host)
    return host


async def _read_settings(name: str) -> str:
    """Return the output of `ssh -G`, one setting per line, without connecting anywhere."""
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
        async with asyncio.timeout(_TIMEOUT):
            out, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return out.decode("utf-8", "replace")
