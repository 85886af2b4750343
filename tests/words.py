"""Finds words that names, docstrings and texts must not use, because readers have to guess them.

    python -m tests.words

Part of `make lint`. Prints each place with the words to use instead; exits with 1 if there is any.
In tests, only names, comments and docstrings are checked: their data may hold any word.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]

INSTEAD: Final = {
    r"tell(?:s|ing)?|told": "report, notify, send, show, say",
    r"heard|overheard": "received",
    r"whoever|nobody|somebody": "a subject: the user, a client, no session",
    r"strangers?": "unauthenticated client, unknown name, untrusted text",
    r"knock(?:s|ed|ing)?|doorman": "connect, connection limiter",
    r"own door|come in": "local endpoint, sign in",
    r"leash": "supervisor",
    r"for ears|for-ears": "screen reader",
    r"all the same": "anyway",
    r"as usual": "the default",
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"wishes": "settings, options",
    r"leftovers": "orphans",
    r"putting away|put_away|put away|let_go": "archive, hide, release",
    r"what is none|by and by|in vain|at hand": "plain words",
}  # fmt: skip
"""A pattern of words, and what to say instead."""

_WORDS: Final = re.compile(
    r"\b(?:" + "|".join(f"(?P<g{n}>{words})" for n, words in enumerate(INSTEAD)) + r")\b", re.I
)
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_PYTHON: Final = ("model", "server", "tui", "themes", "tests", "docs", "spinney.py")
_TEXTS: Final = ("*.md", "docs/*.md", "docs/decisions/*.md", "server/web/**/*.js",
                 "server/web/*.html", "server/web/**/*.css", "tui/**/*.tcss")  # fmt: skip
_CHECKED: Final = (tokenize.NAME, tokenize.STRING, tokenize.COMMENT)


def main() -> int:
    """Print every place; return 1 if there is any."""
    places = [*_in_python(), *_in_texts()]
    for place in places:
        print(place)
    return 1 if places else 0


def _in_python() -> Iterator[str]:
    for root in _PYTHON:
        path = ROOT / root
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if file == Path(__file__):
                continue
            for token in tokenize.generate_tokens(io.StringIO(file.read_text()).readline):
                if token.type in _CHECKED and not (root == "tests" and _is_data(token)):
                    yield from _found(file, token.start[0], token.string)


def _is_data(token: tokenize.TokenInfo) -> bool:
    """Whether it is a string other than a docstring."""
    return token.type == tokenize.STRING and not token.string.startswith('"""')


def _in_texts() -> Iterator[str]:
    for pattern in _TEXTS:
        for file in sorted(ROOT.glob(pattern)):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                yield from _found(file, number, line)


def _found(file: Path, line: int, text: str) -> Iterator[str]:
    # The parts of names are checked as well: `toldOf`, `put_away`.
    found = {match[0]: match for match in _WORDS.finditer(f"{text} {_HUMPS.sub(' ', text)}")}
    for word, match in found.items():
        instead = list(INSTEAD.values())[int(str(match.lastgroup)[1:])]
        yield f"{file.relative_to(ROOT)}:{line}: '{word}': {instead}"


if __name__ == "__main__":
    sys.exit(main())
