"""Counted nouns in sentences for people."""


def count(number: int, noun: str) -> str:
    """The number with its noun: `1 file`, `3 files`."""
    return f"{number} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun as it stands behind the number; its plural ends in a plain `s`."""
    return noun if number == 1 else f"{noun}s"
