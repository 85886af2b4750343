"""List prices of models, to estimate costs that an agent program does not report."""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.domain.usage import Usage

_PROGRAM: Final = Path(__file__).with_name("price_lookup.py")
_TIMEOUT: Final = 60.0
"""Seconds; half a second is usual."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for each token, by kind."""

    input: float
    output: float
    cache_write: float
    cache_read: float

    def estimate(self, usage: Usage) -> float:
        """Return the cost of these tokens, as that of requests of usual length."""
        return (
            self.input * usage.input_tokens
            + self.output * usage.output_tokens
            + self.cache_write * usage.cache_creation_input_tokens
            + self.cache_read * usage.cache_read_input_tokens
        )


PriceLookup = Callable[[Iterable[str]], Awaitable[Mapping[str, Price | None]]]


async def look_up_prices(models: Iterable[str]) -> dict[str, Price | None]:
    """Look up prices in a program of its own; `None` for a model that it does not know."""
    names = sorted(models)
    # Isolated, as the demo agent: no file in the current directory can shadow a module.
    command = (sys.executable, "-I", str(_PROGRAM), json.dumps(names))
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_TIMEOUT):
                output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise ValueError(errors.decode(errors="replace"))
        found = json.loads(output)
    except (OSError, TimeoutError, ValueError):
        _log.exception("prices of models could not be looked up")
        return dict.fromkeys(names)
    return {name: Price(**found[name]) if found.get(name) else None for name in names}
