"""Tests of many rows that share their fixtures: what these start is started once for all rows."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import pytest

AsyncTest = Callable[..., Awaitable[None]]


def table(names: str | tuple[str, ...], rows: Collection[Any]) -> Callable[[AsyncTest], AsyncTest]:
    """As `pytest.mark.parametrize`, but in one test.

    For rows that leave nothing behind. All are tried, and those that fail are named.
    """
    own = (names,) if isinstance(names, str) else names

    def decorate(test: AsyncTest) -> AsyncTest:
        @functools.wraps(test)
        async def try_rows(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for row in rows:
                values = (row,) if isinstance(names, str) else row
                given = dict(zip(own, values, strict=True))
                try:
                    await test(**fixtures, **given)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the row {given!r}"[:1000])
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} rows failed", failures)

        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in own]
        try_rows.rows = tuple(rows)  # type: ignore[attr-defined]
        try_rows.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return try_rows

    return decorate
