"""The issues and pull requests that are open, for people to begin work from."""

import json
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.hosting.gh import gh

T = TypeVar("T")

MOST: Final = 100
"""The newest that are listed; others are reached by their number."""


async def open_issues(path: Path) -> list[OpenIssue]:
    """The newest open issues of the repository at `path`. Raises the sentences of `gh`."""
    # A hundred long descriptions are more than `gh` may print, and a stranger can file them.
    found = await _listed(path, "issue", "number,title,body", "number,title")
    return _read(TypeAdapter(list[OpenIssue]), found)


async def open_pull_requests(path: Path) -> list[OpenPullRequest]:
    """The newest open pull requests of the repository at `path`. Raises the sentences of `gh`."""
    found = await _listed(path, "pr", "number,title,headRefName,baseRefName")
    named = [
        {
            "number": row.get("number"),
            "title": row.get("title"),
            "head_ref_name": row.get("headRefName"),
            "base_ref_name": row.get("baseRefName"),
        }
        for row in found
    ]
    return _read(TypeAdapter(list[OpenPullRequest]), named)


async def _listed(path: Path, what: str, *choices: str) -> list[dict[str, Any]]:
    """Each with the first choice of fields that is answered with a list."""
    for fields in choices:
        said = await gh(path, what, "list", f"--limit={MOST}", f"--json={fields}")
        try:
            found = json.loads(said)
        except ValueError:
            continue
        if isinstance(found, list) and all(isinstance(row, dict) for row in found):
            shown: list[dict[str, Any]] = make_json_visible(found)
            return shown
    raise _not_understood(said)


def _read(adapter: TypeAdapter[T], rows: list[dict[str, Any]]) -> T:
    try:
        return adapter.validate_python(rows)
    except ValidationError:
        raise _not_understood(str(rows)) from None


def _not_understood(said: str) -> SpinneyError:
    return SpinneyError(f"gh answered what is no list: {said[:200]}", "backend_error")
