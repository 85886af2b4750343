"""The open issues and pull requests that a worktree can be created for."""

import json
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from model.base.errors import SpinneyError
from model.base.text import make_json_visible
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.hosting.github.gh import gh

T = TypeVar("T")

LIMIT: Final = 100
"""Newest items that are listed; others can be entered by number."""


async def list_open_issues(path: Path) -> list[OpenIssue]:
    """Return the newest open issues of the repository at `path`. Raises the errors of `gh`."""
    # A hundred long descriptions exceed the output limit of `gh`, and anyone can file them.
    found = await _list_items(path, "issue", "number,title,body", "number,title")
    return _validate(TypeAdapter(list[OpenIssue]), found)


async def list_open_pull_requests(path: Path) -> list[OpenPullRequest]:
    """Return the newest open pull requests of the repository at `path`. Raises like `gh`."""
    found = await _list_items(path, "pr", "number,title,headRefName,baseRefName")
    renamed = [
        {
            "number": row.get("number"),
            "title": row.get("title"),
            "head_ref_name": row.get("headRefName"),
            "base_ref_name": row.get("baseRefName"),
        }
        for row in found
    ]
    return _validate(TypeAdapter(list[OpenPullRequest]), renamed)


async def _list_items(path: Path, kind: str, *field_sets: str) -> list[dict[str, Any]]:
    """List items with the first set of fields whose output is a valid list."""
    for fields in field_sets:
        output = await gh(path, kind, "list", f"--limit={LIMIT}", f"--json={fields}")
        try:
            found = json.loads(output)
        except ValueError:
            continue
        if isinstance(found, list) and all(isinstance(row, dict) for row in found):
            items: list[dict[str, Any]] = make_json_visible(found)
            return items
    raise _invalid_answer_error(output)


def _validate(adapter: TypeAdapter[T], rows: list[dict[str, Any]]) -> T:
    try:
        return adapter.validate_python(rows)
    except ValidationError:
        raise _invalid_answer_error(str(rows)) from None


def _invalid_answer_error(output: str) -> SpinneyError:
    return SpinneyError(f"gh did not return a list: {output[:200]}", "backend_error")
