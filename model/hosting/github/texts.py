"""The texts of items at GitHub, for the agents that work on them.

Long texts are cut by `gh` itself, and only the newest comments are requested.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from model.base.errors import SpinneyError
from model.domain.hosting import Check, WorkKind
from model.hosting.fields import Fields, get_fields, get_line, get_nodes, get_number, get_text
from model.hosting.forge import ItemText
from model.hosting.github.api import Repository, locate_repository, query, request
from model.hosting.github.check_logs import fetch_check_log
from model.hosting.github.checks import JOB_PREFIX

_MAX_BODY: Final = 32_000
"""Characters of a description or a comment."""
_MAX_LOGS: Final = 3
"""Failed jobs of a run whose logs are read."""
_MAX_LOG: Final = 8_000
"""Characters of each of those logs."""
_MAX_NAMES: Final = 20

_COMMON: Final = """\
title url body state author { login } labels(first: 20) { nodes { name } }
assignees(first: 10) { nodes { login } }
comments(last: 30) { nodes { body author { login } } }"""
_ISSUE: Final = f"""\
query IssueText($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{ item: issue(number: $number) {{ {_COMMON} }} }}
}}"""
_PULL_REQUEST: Final = f"""\
query PullRequestText($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{ item: pullRequest(number: $number) {{
    {_COMMON} isDraft baseRefName headRefName
    reviews(last: 20) {{ nodes {{ body state author {{ login }} }} }}
    reviewThreads(last: 50) {{ nodes {{
      isResolved path line comments(first: 10) {{ nodes {{ body author {{ login }} }} }}
    }} }}
  }} }}
}}"""
_CUT: Final = f'(.. | objects | select(.body | type == "string") | .body) |= .[:{_MAX_BODY}]'
_JOBS: Final = "[.jobs[] | {id, name, conclusion}]"
_CUT_ADVISORY: Final = f'.description |= ((. // "")[:{_MAX_BODY}])'
_CUT_ALERT: Final = f'.security_advisory.description |= ((. // "")[:{_MAX_BODY}])'
_FAILURES: Final = ("failure", "timed_out", "startup_failure")


async def fetch_text(path: Path, kind: WorkKind, item_id: str) -> ItemText:
    """Return the text of an item. Raises `not_found` if there is no such item."""
    repository = await locate_repository(path)
    match kind:
        case "issue":
            return await _fetch_issue(path, repository, _to_number(item_id))
        case "pull_request":
            return await _fetch_pull_request(path, repository, _to_number(item_id))
        case "workflow_run":
            return await _fetch_run(path, repository, _to_number(item_id))
        case "security_alert":
            return await _fetch_alert(path, repository, _to_number(item_id))
        case "advisory":
            return await _fetch_advisory(path, repository, item_id)
    raise SpinneyError("Issues of the issue tracker are not on GitHub.")


async def _fetch_issue(path: Path, repository: Repository, number: int) -> ItemText:
    item = await _query_item(path, repository, _ISSUE, number, f"There is no issue #{number}")
    return _make_text(item, (), _comments(item))


async def _fetch_pull_request(path: Path, repository: Repository, number: int) -> ItemText:
    missing = f"There is no pull request #{number}"
    item = await _query_item(path, repository, _PULL_REQUEST, number, missing)
    facts = [("base", get_line(item, "baseRefName")), ("head", get_line(item, "headRefName"))]
    if item.get("isDraft") is True:
        facts.append(("draft", "yes"))
    reviews = [
        (f"{_login(review)} (review: {get_line(review, 'state').lower()})", _body(review))
        for review in get_nodes(item, "reviews")
        if _body(review).strip()
    ]
    return _make_text(item, facts, [*_comments(item), *reviews, *_open_threads(item)])


async def _query_item(
    path: Path, repository: Repository, text: str, number: int, missing: str
) -> Fields:
    gone = SpinneyError(f"{missing} in {repository.owner}/{repository.name}.", "not_found")
    try:
        answer = await query(
            path, repository.host, text, jq=_CUT,
            owner=repository.owner, name=repository.name, number=number,
        )  # fmt: skip
    except SpinneyError as error:
        if "no longer exists" in error.message:
            raise gone from error
        raise
    item = get_fields(answer.data, "repository", "item")
    if not item:
        raise gone
    return item


async def _fetch_run(path: Path, repository: Repository, run_id: int) -> ItemText:
    endpoint = f"{repository.endpoint}/actions/runs/{run_id}"
    run = await _request_item(path, repository, endpoint, f"There is no workflow run {run_id}")
    jobs = await request(
        path, repository.host, f"{endpoint}/jobs?per_page=100", jq=_JOBS, accept=(404,)
    )
    rows = await jobs.parse() if jobs.status == 200 else []
    failed = [
        row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("conclusion") in _FAILURES
    ]
    names = [get_line(job, "name") for job in failed[:_MAX_NAMES]]
    workflow = get_line(run, "name")
    head = get_fields(run, "head_repository").get("full_name")
    own = get_fields(run, "repository").get("full_name")
    facts = [
        ("workflow", workflow),
        ("checks", ", ".join(names) or workflow),
        ("branch", get_line(run, "head_branch")),
        ("commit", get_line(run, "head_sha")),
        ("number", str(get_number(run, "run_number") or "")),
        ("event", get_line(run, "event")),
        ("state", (get_line(run, "conclusion") or get_line(run, "status")).lower()),
        ("fork", str(head) if head != own else ""),
    ]
    return ItemText(
        title=get_line(run, "display_title") or workflow,
        url=get_line(run, "html_url"),
        author=get_line(run, "actor", "login"),
        facts=_present(facts),
        log="\n\n".join([await _read_log(path, repository, job) for job in failed[:_MAX_LOGS]]),
    )


async def _read_log(path: Path, repository: Repository, job: Fields) -> str:
    """Return the end of a failed job's log, or why there is none."""
    name = get_line(job, "name")
    check = Check(
        id=f"{JOB_PREFIX}{get_number(job, 'id')}", name=name, state="failed", has_log=True
    )
    try:
        log = (await fetch_check_log(path, repository, check)).text
    except SpinneyError as error:
        log = error.message
    return f"### {name}\n\n{log[-_MAX_LOG:]}"


async def _fetch_alert(path: Path, repository: Repository, number: int) -> ItemText:
    endpoint = f"{repository.endpoint}/dependabot/alerts/{number}"
    missing = f"There is no Dependabot alert {number}"
    alert = await _request_item(path, repository, endpoint, missing, _CUT_ALERT)
    advisory = get_fields(alert, "security_advisory")
    vulnerability = get_fields(alert, "security_vulnerability")
    dependency = get_fields(alert, "dependency")
    facts = [
        ("package", get_line(dependency, "package", "name")),
        ("ecosystem", get_line(dependency, "package", "ecosystem")),
        ("severity", get_line(vulnerability, "severity") or get_line(advisory, "severity")),
        ("manifest", get_line(dependency, "manifest_path")),
        ("vulnerable", get_line(vulnerability, "vulnerable_version_range")),
        ("patched", get_line(vulnerability, "first_patched_version", "identifier")),
        ("advisory", get_line(advisory, "ghsa_id") or get_line(advisory, "cve_id")),
        ("state", get_line(alert, "state")),
    ]
    return ItemText(
        title=get_line(advisory, "summary"),
        url=get_line(alert, "html_url"),
        body=get_text(advisory, "description", limit=_MAX_BODY),
        facts=_present(facts),
    )


async def _fetch_advisory(path: Path, repository: Repository, item_id: str) -> ItemText:
    if not item_id.replace("-", "").isalnum():
        raise SpinneyError("Invalid field 'itemId': must be an id such as GHSA-…")
    endpoint = f"{repository.endpoint}/security-advisories/{quote(item_id, safe='')}"
    missing = f"There is no security advisory {item_id[:40]}"
    advisory = await _request_item(path, repository, endpoint, missing, _CUT_ADVISORY)
    facts = [
        ("severity", get_line(advisory, "severity")),
        ("cve", get_line(advisory, "cve_id")),
        ("state", get_line(advisory, "state")),
    ]
    return ItemText(
        title=get_line(advisory, "summary"),
        url=get_line(advisory, "html_url"),
        author=get_line(advisory, "author", "login"),
        body=get_text(advisory, "description", limit=_MAX_BODY),
        facts=_present(facts),
    )


async def _request_item(
    path: Path, repository: Repository, endpoint: str, missing: str, jq: str = ""
) -> Fields:
    answer = await request(path, repository.host, endpoint, jq=jq, accept=(404,))
    item: Any = await answer.parse() if answer.status == 200 else None
    if not isinstance(item, dict):
        raise SpinneyError(
            f"{missing} in {repository.owner}/{repository.name}, or the account that gh is signed "
            "in with cannot see it.",
            "not_found",
        )
    return item


def _make_text(
    item: Fields, facts: Sequence[tuple[str, str]], comments: Sequence[tuple[str, str]]
) -> ItemText:
    labels = ", ".join(get_line(label, "name") for label in get_nodes(item, "labels"))
    people = ", ".join(get_line(person, "login") for person in get_nodes(item, "assignees"))
    state = get_line(item, "state").lower()
    return ItemText(
        title=get_line(item, "title"),
        url=get_line(item, "url"),
        author=_login(item),
        body=_body(item),
        facts=_present([("state", state), *facts, ("labels", labels), ("assignees", people)]),
        comments=comments,
    )


def _comments(item: Fields) -> list[tuple[str, str]]:
    return [(_login(comment), _body(comment)) for comment in get_nodes(item, "comments")]


def _open_threads(item: Fields) -> list[tuple[str, str]]:
    """The comments of the threads that are not resolved, with their places."""
    found = []
    for thread in get_nodes(item, "reviewThreads"):
        if thread.get("isResolved") is True:
            continue
        line = get_number(thread, "line")
        place = get_line(thread, "path") + (f":{line}" if line is not None else "")
        found += [(f"{author} on {place}", body) for author, body in _comments(thread)]
    return found


def _login(item: Fields) -> str:
    return get_line(item, "author", "login")


def _body(item: Fields) -> str:
    return get_text(item, "body", limit=_MAX_BODY)


def _present(facts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in facts if value]


def _to_number(item_id: str) -> int:
    if not item_id.isdecimal() or len(item_id) > 18 or int(item_id) < 1:
        raise SpinneyError("Invalid field 'itemId': must be a number")
    return int(item_id)
