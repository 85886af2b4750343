"""Every agent program looked for at once; what goes wrong with one is told of that one only."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from model.agents.catalog import BackendRow
from model.backends.base import Backend, Probe
from model.backends.program import hangs
from model.base.errors import SpinneyError

_PATIENCE: Final = 15.0
"""Seconds; a probe promises to take at most 10."""

_log = logging.getLogger(__name__)


async def probe_all(
    rows: Sequence[BackendRow], backends: Mapping[str, Backend]
) -> list[tuple[BackendRow, Probe]]:
    """What was found of the program of each row. Asks no provider and never raises."""
    probes = await asyncio.gather(*(_probe(row, backends.get(row.name)) for row in rows))
    return list(zip(rows, probes, strict=True))


async def _probe(row: BackendRow, backend: Backend | None) -> Probe:
    if backend is None:
        return Probe(None, problem=f"Spinney cannot drive {row.label} here.")
    try:
        async with asyncio.timeout(_PATIENCE):
            return await backend.probe()
    except TimeoutError:
        return Probe(None, problem=hangs(row.label, row.program, _PATIENCE))
    except SpinneyError as error:
        return Probe(None, problem=error.message)
    except Exception:
        _log.exception("looking for %s failed", row.label)
        return Probe(None, problem=f"Looking for {row.label} failed; Spinney's log says how.")
