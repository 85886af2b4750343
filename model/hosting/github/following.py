"""The state of a pull request on GitHub, asked for only if something has changed.

The REST API answers conditional requests about the pull request, the check runs and the statuses of
its newest commit; "unchanged" costs nothing of the rate limit. If something is new, one query reads
the state, because only GraphQL has the decision of the reviews. Each request is a run of `gh`,
which takes about 80 ms of processor time, so checks that have all ended are asked for at every
third call only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.hosting.fields import get_line, get_number
from model.hosting.forge import PullRequestState
from model.hosting.github.api import PullRequestPlace, RestAnswer, parse_place, request
from model.hosting.github.pull_requests import fetch_pull_request_state

_PAGE: Final = 100
"""Checks of one answer. If a commit has more, its state is read each time."""
_NOT_READABLE: Final = (403, 404)
_SKIPS: Final = 2
"""Calls without a request about checks that have ended."""


@dataclass(frozen=True, slots=True)
class _Version:
    """The `etag` of each answer; empty if the next request is to be unconditional."""

    pull: str = ""
    commit: str = ""
    is_open: bool = True
    checks: str = ""
    statuses: str = ""
    is_settled: bool = False
    """Whether all checks had ended."""
    skips: int = 0

    def is_same(self, other: "_Version") -> bool:
        """Whether nothing has changed between the two."""
        return replace(self, is_settled=False, skips=0) == replace(other, is_settled=False, skips=0)


async def fetch_state(
    path: Path, pull_request: int | str, version: str
) -> tuple[PullRequestState | None, str]:
    """Return the state, or `None` if it still has the given version, and its version."""
    known, new = _parse(version), _Version()
    if isinstance(pull_request, str):
        try:
            new = await _fetch_version(path, parse_place(pull_request), known)
        except SpinneyError as error:
            if error.error_type == "rate_limit_error":
                raise
            # The query says better what is wrong, or works nevertheless.
    if new.pull and new.is_same(known):
        return None, _format(new)
    return await fetch_pull_request_state(path, pull_request), _format(new)


async def _fetch_version(path: Path, place: PullRequestPlace, known: _Version) -> _Version:
    """Return the present version; an empty one if it is not known."""
    repository = place.repository
    endpoint = f"{repository.endpoint}/pulls/{place.number}"
    answer = await request(path, repository.host, endpoint, version=known.pull)
    commit, is_open = known.commit, known.is_open
    if not answer.is_unchanged:
        fields = await answer.parse()
        fields = fields if isinstance(fields, dict) else {}
        commit = get_line(fields, "head", "sha")
        is_open = fields.get("state") == "open"
    pull = _get_etag(answer, known.pull)
    if not is_open or not commit.isalnum():
        return _Version(pull, commit, is_open)
    if answer.is_unchanged and known.is_settled and known.skips < _SKIPS:
        return replace(known, skips=known.skips + 1)
    same = known if known.commit == commit else _Version()
    endpoint = f"{repository.endpoint}/commits/{commit}"
    checks = await request(
        path, repository.host, f"{endpoint}/check-runs?per_page={_PAGE}",
        version=same.checks, accept=_NOT_READABLE,
    )  # fmt: skip
    if not checks.is_unchanged and await _has_many(checks):
        return _Version()
    statuses = await request(
        path, repository.host, f"{endpoint}/status?per_page={_PAGE}",
        version=same.statuses, accept=_NOT_READABLE,
    )  # fmt: skip
    check_tags = _get_etag(checks, same.checks), _get_etag(statuses, same.statuses)
    is_settled = same.is_settled
    if not (checks.is_unchanged and statuses.is_unchanged):
        is_settled = await _have_ended(checks) and await _have_ended(statuses)
    return _Version(pull, commit, is_open, *check_tags, is_settled)


def _get_etag(answer: RestAnswer, known: str) -> str:
    return known if answer.is_unchanged else answer.headers.get("etag", "")[:200]


async def _has_many(answer: RestAnswer) -> bool:
    if answer.status in _NOT_READABLE:
        return False
    fields = await answer.parse()
    return isinstance(fields, Mapping) and (get_number(fields, "total_count") or 0) > _PAGE


async def _have_ended(answer: RestAnswer) -> bool:
    """Whether no check of an answer is awaited; an unchanged one is asked for again."""
    if answer.is_unchanged:
        return False
    if answer.status in _NOT_READABLE:
        return True
    fields = await answer.parse()
    if not isinstance(fields, Mapping):
        return False
    runs = fields.get("check_runs")
    if isinstance(runs, list):
        return all(isinstance(run, dict) and run.get("status") == "completed" for run in runs)
    return fields.get("state") != "pending" or not get_number(fields, "total_count")


def _format(version: _Version) -> str:
    return json.dumps(asdict(version)) if version.pull else ""


def _parse(version: str) -> _Version:
    return _Version(**json.loads(version)) if version else _Version()
