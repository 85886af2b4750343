"""Pipelines: their jobs as checks, the logs of jobs, and lists of pipelines."""

import asyncio
import re
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.domain.hosting import Check, CheckLog, CheckState, WorkflowRun
from model.hosting.fields import Fields, get, get_line, get_number, get_rows, get_time
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.glab import download, get_object, get_page, get_pages
from model.hosting.gitlab.projects import find_project, locate
from model.hosting.log_end import LogEnd

_MAX_PAGES: Final = 10
_JOB: Final = re.compile(r"(\d{1,18})/(\d{1,18})")
_MERGE_REQUEST: Final = re.compile(r"refs/merge-requests/(\d{1,9})/\w{1,9}")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z \w\w[OE][+ ]")
_ERASE: Final = "\r\x1b[0K"
"""Ends the mark of a section, so that no terminal shows it."""
_CONTROL: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STATES: Final[dict[str, CheckState]] = {
    "running": "running",
    "canceling": "running",
    "success": "passed",
    "failed": "failed",
    "canceled": "cancelled",
    "skipped": "skipped",
}
"""Jobs in all other states have not begun."""


async def fetch_checks(project: Project, merge_request: Any, required: bool) -> list[Check]:
    """Return the newest of each of the jobs and external statuses of the newest pipeline.

    `required` says whether the project demands that pipelines succeed. Raises like `request`.
    """
    pipeline = get(merge_request, "head_pipeline")
    number = get_number(pipeline, "id")
    if not number:
        return []
    # The pipeline of a fork belongs to the fork.
    project_id = get_number(pipeline, "project_id") or get_number(merge_request, "project_id")
    owner = f"projects/{project_id}"
    commit = get_line(pipeline, "sha") or get_line(merge_request, "sha")
    (jobs, _), (triggers, _), (statuses, _) = await asyncio.gather(
        get_pages(project, f"{owner}/pipelines/{number}/jobs", pages=_MAX_PAGES),
        get_pages(project, f"{owner}/pipelines/{number}/bridges", pages=1),
        get_pages(project, f"{owner}/repository/commits/{commit}/statuses", pages=_MAX_PAGES),
    )
    own = {get_number(row, "id") for row in (*jobs, *triggers)}
    external = [
        row
        for row in statuses
        if get_number(row, "id") not in own and "/-/jobs/" not in get_line(row, "target_url")
    ]
    rows = _select_newest([*jobs, *triggers])
    return [
        *(_to_check(row, f"{project_id}/{get_number(row, 'id')}", required) for row in rows),
        *(
            _to_check(row, f"status:{get_number(row, 'id')}", required)
            for row in _select_newest(external)
        ),
    ]


def _select_newest(rows: list[Fields]) -> list[Fields]:
    """Return the newest row of each name, the oldest first.

    A commit has the statuses of all its pipelines, of which only those that were set again within
    one pipeline are left out by GitLab.
    """
    rows = sorted(rows, key=lambda row: get_number(row, "id") or 0)
    newest = {(get_line(row, "stage"), get_line(row, "name")): row for row in rows}
    return list(newest.values())


def _to_check(row: Any, check_id: str, required: bool) -> Check:
    stage, name = get_line(row, "stage"), get_line(row, "name")
    is_optional = get(row, "allow_failure") is True
    notes = [get_line(row, "description"), get_line(row, "failure_reason").replace("_", " ")]
    if is_optional:
        notes.append("allowed to fail")
    return Check(
        id=check_id,
        name=f"{stage} / {name}" if stage else name,
        state=_parse_state(get_line(row, "status"), is_optional),
        started_at=get_time(row, "started_at"),
        ended_at=get_time(row, "finished_at"),
        url=get_line(row, "web_url") or get_line(row, "target_url"),
        summary=", ".join(filter(None, notes)),
        has_log=get(row, "runner") is not None or bool(get_rows(row, "artifacts")),
        is_required=required and not is_optional,
    )


def _parse_state(status: str, is_optional: bool) -> CheckState:
    if status == "manual":
        # Pipelines wait for a manual job only if it must not be left out.
        return "skipped" if is_optional else "waiting"
    return _STATES.get(status, "queued")


async def fetch_log(path: Path, merge_request: int | str, check: Check) -> CheckLog:
    """Return the end of the log of a job."""
    project, _ = await locate(path, merge_request)
    job = _JOB.fullmatch(check.id)
    if job is None:
        raise SpinneyError(
            f"'{check.name}' is not a job of GitLab and has no log there. Open it in the browser.",
            "not_found",
        )
    text, left_out = await _read_log(project, f"projects/{job[1]}/jobs/{job[2]}")
    return CheckLog(check_id=check.id, name=check.name, text=text, left_out=left_out, url=check.url)


async def _read_log(project: Project, endpoint: str) -> tuple[str, int]:
    end = LogEnd(read_line)
    missing = "The log no longer exists. Start the job again to get a new one."
    await download(project, f"{endpoint}/trace", end, missing)
    return await asyncio.to_thread(end.finish)


def read_line(line: str) -> str | None:
    """Read a line of a log without time, control sequences and marks of sections."""
    text = _TIMESTAMP.sub("", line, count=1)
    if text.startswith("section_"):
        mark, erased, rest = text.rpartition(_ERASE)
        text = rest if erased else mark
        if not _CONTROL.sub("", text):
            return None
    return _CONTROL.sub("", text)


async def list_pipelines(path: Path, *, failed: bool, branch: str, page: int) -> list[WorkflowRun]:
    """Return a page of pipelines, the newest first."""
    project = await find_project(path)
    query = [("order_by", "id"), ("sort", "desc")]
    query += [("status", "failed")] if failed else []
    query += [("ref", branch)] if branch else []
    rows = await get_page(project, f"{project.endpoint}/pipelines", query, page)
    return [_to_run(row) for row in rows]


def _to_run(row: Any) -> WorkflowRun:
    number, ref = get_number(row, "id"), get_line(row, "ref")
    merge_request = find_merge_request(ref)
    source = get_line(row, "source").replace("_", " ")
    return WorkflowRun(
        id=str(number),
        title=get_line(row, "name") or f"Pipeline {number}",
        state=get_line(row, "status"),
        url=get_line(row, "web_url"),
        updated_at=get_time(row, "updated_at"),
        workflow=source or "pipeline",
        branch=f"!{merge_request}" if merge_request else ref,
        commit=get_line(row, "sha"),
        number=get_number(row, "iid") or 0,
    )


def find_merge_request(ref: str) -> int | None:
    """Return the merge request whose pipeline has this ref, which is then the name of no branch."""
    found = _MERGE_REQUEST.fullmatch(ref)
    return int(found[1]) if found else None


async def fetch_run(project: Project, number: int, missing: str) -> tuple[Any, list[Any], str]:
    """Return a pipeline, its failed jobs, and the ends of the logs of the first three."""
    endpoint = f"{project.endpoint}/pipelines/{number}"
    pipeline = await get_object(project, endpoint, missing=missing)
    query = (("scope[]", "failed"),)
    jobs, _ = await get_pages(project, f"{endpoint}/jobs", query, pages=1)
    jobs.sort(key=lambda job: (get(job, "allow_failure") is True, get_number(job, "id") or 0))
    logs = []
    for job in jobs[:3]:
        try:
            text, left_out = await _read_log(
                project, f"{project.endpoint}/jobs/{get_number(job, 'id')}"
            )
        except SpinneyError as error:
            text, left_out = error.message, 0
        note = f" [{left_out} lines left out]" if left_out else ""
        logs.append(f"== {get_line(job, 'stage')} / {get_line(job, 'name')}{note}\n{text}")
    return pipeline, jobs, "\n\n".join(logs)
