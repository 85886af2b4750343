"""Suggests a known name for one that does not exist."""

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], how: str = "{}") -> str:
    """` Did you mean add_project?` for the closest of the known names; empty if none is close."""
    import difflib

    normalized = {_normalize(each): each for each in known}
    close = difflib.get_close_matches(_normalize(name), normalized, 1, cutoff=0.7)
    return f" Did you mean {how.format(normalized[close[0]])}?" if close else ""


def _normalize(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
