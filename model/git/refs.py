"""Names of branches, refs and remotes, checked before git sees them, and made from titles.

Git's own rules (git-check-ref-format), and beyond them nothing that git could read as an option,
a full ref name or an expression over commits.
"""

import re
import unicodedata
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line

_LONGEST: Final = 200
"""Bytes; file systems end at 255, and git adds `.lock`."""
_SLUG_LENGTH: Final = 48
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff~^:?*\[\\]")


def check_branch_name(name: str) -> str:
    """`name`, if a local branch may be called so; raises `SpinneyError` otherwise."""
    return _checked(name, "branch name")


def check_ref(name: str) -> str:
    """`name`, if it can name a branch, a remote's branch (`origin/main`), a tag or a commit."""
    return name if name == "HEAD" else _checked(name, "branch or commit")


def check_remote_name(name: str) -> str:
    """`name`, if a remote may be called so."""
    return _checked(name, "name of a remote")


def branch_name_from(title: str) -> str:
    """A branch name from a title: `Fix the café's door!` gives `fix-the-café-s-door`.

    Empty when the title has neither letters nor digits.
    """
    kept = (_kept(mark) for mark in unicodedata.normalize("NFC", title).lower())
    slug = re.sub(r"-+", "-", "".join(kept)).strip("-")
    if len(slug) > _SLUG_LENGTH:
        cut = slug[: _SLUG_LENGTH + 1].rpartition("-")[0]
        slug = cut or slug[:_SLUG_LENGTH]
    while len(slug.encode()) > _LONGEST:
        slug = slug[:-1]
    return slug


def _kept(mark: str) -> str:
    return mark if mark.isalnum() or unicodedata.category(mark).startswith("M") else "-"


def _checked(name: str, kind: str) -> str:
    reason = _objection(name)
    if reason:
        raise SpinneyError(f"“{clean_line(name)[:80]}” is not a valid {kind}: {reason}.")
    return name


def _objection(name: str) -> str | None:
    if not name:
        return "it is empty"
    if name.startswith("-"):
        return "it begins with “-”"
    if _FORBIDDEN.search(name) or clean_line(name) != name:
        return "it holds a space, a control character or one of ~ ^ : ? * [ \\"
    if len(name.encode()) > _LONGEST:
        return f"it is longer than {_LONGEST} bytes"
    if name in ("@", "HEAD") or "@{" in name:
        return "git uses it for something else"
    if name.startswith("refs/"):
        return "leave out “refs/heads/”"
    if ".." in name or name.endswith("."):
        return "it holds “..” or ends with a dot"
    parts = name.split("/")
    if not all(parts):
        return "it begins or ends with “/” or holds “//”"
    if any(part.startswith(".") or part.endswith(".lock") for part in parts):
        return "a part of it begins with a dot or ends with “.lock”"
    return None
