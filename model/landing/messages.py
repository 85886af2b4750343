"""The message of the commit with which a branch lands, as its commits suggest it."""

from collections.abc import Sequence
from typing import Final

from model.base.text import clean_line
from model.domain.hosting import MergeMethod
from model.git.history import CommitText

_MAX_LISTED: Final = 50
_MAX_LENGTH: Final = 20_000
_MAX_TRAILERS: Final = 100
_MAX_TRAILER: Final = 200
"""Characters of one."""
_CO_AUTHOR: Final = "Co-authored-by"
_SINGLE: Final = ("change-id",)
"""Trailers of which a commit has one: the newest counts."""


def suggest_message(
    branch: str, into: str, method: MergeMethod, commits: Sequence[CommitText], person: str
) -> str:
    """Return a message for a merge or squash commit.

    A squash keeps what the commits say: their bodies, and their trailers without doubles. Who
    wrote them is named as a co-author.

    Args:
        branch: The branch that lands.
        into: Its base, if that is not the project's default branch.
        method: How it lands.
        commits: Those of the branch, oldest first.
        person: The email address of who lands it, the author of a squash.
    """
    if method == "squash" and commits:
        return _squash(commits, person)
    title = f"Merge branch '{clean_line(branch)}'" + (f" into {into}" if into else "")
    if method == "squash":
        title = clean_line(branch)
    listed = [f"- {commit.subject}" for commit in commits[:_MAX_LISTED]]
    listed += _count_rest(commits)
    parts = [title, "\n".join(listed)] if len(listed) > 1 else [title]
    return "\n\n".join(parts)[:_MAX_LENGTH]


def _squash(commits: Sequence[CommitText], person: str) -> str:
    trailers = "\n".join(_join_trailers(commits, person))
    texts = [(commit.subject, _split_trailers(commit.body)[0]) for commit in commits[:_MAX_LISTED]]
    title, body = texts[0]
    if len(commits) > 1:
        items = (f"- {subject}{_indent(text)}" for subject, text in texts)
        body = "\n".join([*items, *_count_rest(commits)])
    text = f"{title}\n\n{body}".strip()[: _MAX_LENGTH - len(trailers)]
    return f"{text.rstrip()}\n\n{trailers}".strip()


def _count_rest(commits: Sequence[CommitText]) -> list[str]:
    rest = len(commits) - _MAX_LISTED
    return [f"- … and {rest} more"] if rest > 0 else []


def _indent(text: str) -> str:
    lines = (f"  {line}".rstrip() for line in text.splitlines())
    return "\n\n" + "\n".join(lines) + "\n" if text else ""


def _join_trailers(commits: Sequence[CommitText], person: str) -> list[str]:
    """Return the trailers of all commits, and their other authors, each once."""
    found: dict[str, str] = {}
    for commit in commits:
        for line in _split_trailers(commit.body)[1]:
            key = line.partition(":")[0].lower()
            found[key if key in _SINGLE else line.lower()] = line
    for author in dict.fromkeys(commit.author for commit in commits):
        line = f"{_CO_AUTHOR}: {author}"
        if author and f"<{person.lower()}>" not in author.lower():
            found.setdefault(line.lower(), line)
    return list(found.values())[:_MAX_TRAILERS]


def _split_trailers(body: str) -> tuple[str, list[str]]:
    """Return a body without its last paragraph, if that has nothing but trailers, and those."""
    text, _, last = body.rstrip().rpartition("\n\n")
    lines = [line.strip() for line in last.splitlines()]
    if not lines or not all(map(_is_trailer, lines)):
        return body.strip(), []
    return text.strip(), [line for line in lines if len(line) <= _MAX_TRAILER]


def _is_trailer(line: str) -> bool:
    token, separator, value = line.partition(": ")
    is_token = token.isascii() and token.replace("-", "").isalnum()
    return bool(separator and value.strip()) and is_token
