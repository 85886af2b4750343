"""Reads `tests/flaky.toml`: tests that are known to fail by chance, each for 14 days at most."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

LIFETIME: Final = timedelta(days=14)
MOST: Final = 10


@dataclass(frozen=True)
class FlakyTests:
    """The kind of each listed test, by its name, and what is wrong with the list."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_flaky_tests(file: Path, today: date) -> FlakyTests:
    """Read the list; a missing file is an empty one."""
    if not file.is_file():
        return FlakyTests()
    try:
        content = tomllib.loads(file.read_text("utf-8"))
        entries = content.pop("test", [])
        problems = [problem for entry in entries if (problem := _check_entry(entry, today))]
        kinds = {entry["name"]: entry["kind"] for entry in entries}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        return FlakyTests(problems=(f"{file.name} needs name, kind and date: {error!r}",))
    problems += [f"{file.name} has [[test]] tables only, not {name}" for name in content]
    if len(kinds) < len(entries):
        problems.append(f"{file.name} names a test twice")
    if len(entries) > MOST:
        problems.append(f"{file.name} has {len(entries)} tests, at most {MOST} may be in it")
    return FlakyTests(kinds, tuple(problems))


def _check_entry(entry: Mapping[str, Any], today: date) -> str:
    if entry["date"] > today + timedelta(days=1):  # It may be tomorrow where it was written.
        return f"{entry['name']} has a date in flaky.toml that is still to come: {entry['date']}"
    expiry = entry["date"] + LIFETIME
    if today <= expiry:
        return ""
    return f"{entry['name']} is in flaky.toml since {entry['date']}: mend it, it expired {expiry}"
