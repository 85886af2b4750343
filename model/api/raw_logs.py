"""Raw logs of agents."""

from typing import Final

from model.api.command import command
from model.domain.output import RawLog

PAGE_SIZE: Final = 256 * 1024
"""Bytes per response, the default and the maximum; no line is longer."""


@command
async def get_raw_log(
    session_id: str, before: int | None = None, after: int | None = None, limit: int = PAGE_SIZE
) -> RawLog:
    """Read a session's raw log: what its agent's program was sent and what it returned while
    `debug_mode_enabled` was on.

    Returns up to `limit` bytes (1,024 to 262,144): the last ones, or those `before` or `after` an
    offset. Offsets count all bytes ever written; the result's are `start` and `end`. Two files of 4
    MiB are kept for each session, until it is deleted. Lines start with the time and with `→` (to
    the program), `←` (from it) or `·` (about it); secrets are masked.
    """
