"""The command about raw logs: what a session's program was sent and said."""

from typing import Final

from model.api.command import command
from model.domain.output import RawLog

PAGE: Final = 256 * 1024
"""Bytes of one answer: no line is longer."""


@command
async def get_raw_log(
    session_id: str, before: int | None = None, after: int | None = None, limit: int = PAGE
) -> RawLog:
    """Read what the session's program was sent and said while `debug_mode_enabled` was on: up to
    `limit` bytes, the last ones, or those `before` or `after` a place.

    Places are bytes of all that was ever written; a piece tells its own as `start` and `end`. Two
    files of 4 MiB are kept for each session, until it is deleted. Lines begin with the time and
    with `→` (to the program), `←` (from it) or `·` (about it); secrets are masked.
    """
