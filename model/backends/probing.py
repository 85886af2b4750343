"""Probes all agent programs concurrently; the failure of one does not affect the others."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from model.agents.catalog import BackendRow
from model.backends.base import Backend, Probe
from model.backends.program import timeout_message
from model.base.errors import SpinneyError

_TIMEOUT: Final = 15.0
"""Seconds; a probe should take at most 10."""

_log = logging.getLogger(__name__)


async def probe_all(
    rows: Sequence[BackendRow], backends: Mapping[str, Backend]
) -> list[tuple[BackendRow, Probe]]:
    """Probe the program of each row. Contacts no provider and never raises."""
    probes = await asyncio.gather(*(_probe(row, backends.get(row.name)) for row in rows))
    return list(zip(rows, probes, strict=True))


async def _probe(row: BackendRow, backend: Backend | None) -> Probe:
    if backend is None:
        return Probe(None, problem=f"Spinney cannot drive {row.label} here.")
    try:
        async with asyncio.timeout(_TIMEOUT):
            return await backend.probe()
    except TimeoutError:
        return Probe(None, problem=timeout_message(row.label, row.program, _TIMEOUT))
    except SpinneyError as error:
        return Probe(None, problem=error.message)
    except Exception:
        _log.exception("probing %s failed", row.label)
        return Probe(None, problem=f"Checking {row.label} failed. See Spinney's log for details.")
