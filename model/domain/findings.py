"""What `spinney doctor` reports."""

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
    """The command alone that mends it, where one does."""
    id: str = ""
    """Of an agent: the `backend` that commands and preferences call it."""
