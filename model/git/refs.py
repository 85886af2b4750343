"""Validate names of branches, refs and remotes before git sees them, and derive branch names.

Applies git's own rules (git-check-ref-format) and also rejects anything that git could parse as an
option, a full ref name or a revision expression.
"""

import re
import unicodedata
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line

_MAX_BYTES: Final = 200
"""Bytes; file systems allow 255, and git appends `.lock`."""
_SLUG_LENGTH: Final = 48
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff~^:?*\[\\]")


def check_branch_name(name: str) -> str:
    """Return `name` if it is a valid local branch name; raises `SpinneyError` otherwise."""
    return _check(name, "branch name")


def check_ref(name: str) -> str:
    """Return `name` if it can name a branch, a remote branch (`origin/main`), a tag or a commit."""
    return name if name == "HEAD" else _check(name, "branch or commit")


def check_remote_name(name: str) -> str:
    """Return `name` if it is a valid name for a remote."""
    return _check(name, "remote name")


def make_branch_name(title: str) -> str:
    """Return a branch name for a title: `Fix the café's door!` becomes `fix-the-café-s-door`.

    Empty if the title has neither letters nor digits.
    """
    characters = map(_to_slug_character, unicodedata.normalize("NFC", title).lower())
    slug = re.sub(r"-+", "-", "".join(characters)).strip("-")
    if clean_line(slug) != slug:  # a stack of combining marks
        slug = "".join(character for character in slug if not _is_mark(character))
    if len(slug) > _SLUG_LENGTH:
        cut = slug[: _SLUG_LENGTH + 1].rpartition("-")[0]
        slug = cut or slug[:_SLUG_LENGTH]
    while len(slug.encode()) > _MAX_BYTES:
        slug = slug[:-1]
    return slug


def _to_slug_character(character: str) -> str:
    if not (character.isalnum() or _is_mark(character)):
        return "-"
    # Some letters and marks are invisible: fillers, variation selectors.
    return character if clean_line(character) == character else ""


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _check(name: str, kind: str) -> str:
    reason = _find_problem(name)
    if reason:
        raise SpinneyError(f"'{clean_line(name)[:80]}' is not a valid {kind}: {reason}.")
    return name


def _find_problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if name.startswith("-"):
        return "it begins with '-'"
    if _FORBIDDEN.search(name) or clean_line(name) != name:
        return "it contains a space, a control character or one of ~ ^ : ? * [ \\"
    if len(name.encode()) > _MAX_BYTES:
        return f"it is longer than {_MAX_BYTES} bytes"
    if name in ("@", "HEAD") or "@{" in name:
        return "git reserves it"
    if name.startswith("refs/"):
        return "leave out 'refs/heads/'"
    if ".." in name or name.endswith("."):
        return "it contains '..' or ends with a dot"
    parts = name.split("/")
    if not all(parts):
        return "it begins or ends with '/' or contains '//'"
    if any(part.startswith(".") or part.endswith(".lock") for part in parts):
        return "a part of it begins with a dot or ends with '.lock'"
    return None
