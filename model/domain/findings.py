"""Findings of `spinney doctor`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    ok: bool | None
    """`None`: neither good nor bad."""
    found: str
    remedy: str = ""
    fix: str | None = None
    """The command alone that fixes the problem, if there is one."""
    id: str = ""
    """For an agent: its `backend` in commands and preferences."""
