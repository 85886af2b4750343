"""What somebody may have meant who wrote a name that does not exist."""

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], how: str = "{}") -> str:
    """` Did you mean add_project?` for the nearest of the known names; empty if none is near."""
    import difflib

    plain = {_plain(one): one for one in known}
    near = difflib.get_close_matches(_plain(name), plain, 1, cutoff=0.7)
    return f" Did you mean {how.format(plain[near[0]])}?" if near else ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
