"""What is shown of a merge request: phase, reviewers, jobs as checks, threads, logs."""

from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import Check, Reviewer
from model.hosting.gitlab.details import fetch_details
from model.hosting.gitlab.forge import GitLab
from model.hosting.gitlab.pipelines import read_line
from model.hosting.log_end import MAX_LINE, LogEnd
from tests.live.gitlab_stub import HEAD, GitLabStub, job, note, user

ONE = ":p/merge_requests/7"
PIPELINE = {"id": 50, "project_id": 1, "sha": HEAD, "status": "running"}


async def test_a_merge_request_is_read_with_all_that_belongs_to_it(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request(
        title="Otters \x1b[31m\u202eevil",
        description="One\r\ntwo\x07",
        head_pipeline=PIPELINE,
        reviewers=[user("bob"), user("eve")],
        diverged_commits_count=3,
        detailed_merge_status="ci_still_running",
    )
    service.answers[f"GET {ONE}/reviewers"] = [
        {"user": user("bob"), "state": "unreviewed"},
        {"user": user("eve"), "state": "requested_changes"},
    ]
    service.answers[f"GET {ONE}/approvals"] = {"approved_by": [{"user": user("zoe")}]}
    service.answers["GET :p/pipelines/50/jobs"] = [
        job(12, "deploy", "manual", stage="deploy", runner=None),
        job(11, "lint", "failed", allow_failure=True, failure_reason="script_failure"),
        job(10, "unit", "running"),
    ]
    service.answers["GET :p/pipelines/50/bridges"] = [job(13, "child", "created", runner=None)]
    service.answers[f"GET :p/repository/commits/{HEAD}/statuses"] = [
        {"id": 10, "name": "unit", "status": "running"},
        {"id": 19, "name": "scan", "status": "failed", "target_url": "https://scan.example/0"},
        {"id": 20, "name": "scan", "status": "success", "target_url": "https://scan.example/1",
         "description": "nothing found"},
        {"id": 21, "name": "old", "status": "failed",
         "target_url": "https://gitlab.com/group/sub/engine/-/jobs/21"},
    ]  # fmt: skip
    found = await forge.fetch_details(root, 7)
    assert found.title == "Otters ␛[31m<U+202E>evil"
    assert found.body == "One\ntwo␇"
    assert (found.phase, found.behind, found.can_update) == ("changes_requested", 3, True)
    assert found.reviewers == [
        Reviewer(name="bob", state="requested"),
        Reviewer(name="eve", state="changes_requested"),
        Reviewer(name="zoe", state="approved"),
    ]
    assert [(check.name, check.state, check.has_log) for check in found.checks] == [
        ("test / unit", "running", True),
        ("test / lint", "failed", True),
        ("deploy / deploy", "waiting", False),
        ("test / child", "queued", False),
        ("scan", "passed", False),
    ]
    assert found.checks[1].summary == "script failure, allowed to fail"
    assert (found.can_merge, found.can_auto_merge) == (False, True)
    assert found.merge_note.startswith("The pipeline is still running.")
    assert found.merge_methods == ["merge", "squash"]


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({}, "open"),
        ({"draft": True, "detailed_merge_status": "draft_status"}, "draft"),
        ({"has_conflicts": True, "detailed_merge_status": "conflict"}, "in_conflict"),
        ({"state": "merged"}, "merged"),
        ({"state": "closed"}, "closed"),
        ({"detailed_merge_status": "not_approved"}, "open"),
    ],
)
async def test_the_phase_is_where_it_stands(
    service: GitLabStub, root: Path, forge: GitLab, fields: dict[str, Any], phase: str
) -> None:
    service.set_merge_request(**fields)
    found = await forge.fetch_details(root, 7)
    assert (found.phase, found.checks, found.checks_note) == (phase, [], "")
    assert found.can_merge is (phase == "open" and not fields)


async def test_in_a_merge_train_it_is_queued(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p"] = {
        "id": 1, "merge_method": "ff", "squash_option": "always", "merge_trains_enabled": True,
        "only_allow_merge_if_pipeline_succeeds": True,
    }  # fmt: skip
    service.answers["GET :p/merge_trains/merge_requests/7"] = {"status": "fresh"}
    service.answers["GET :p/pipelines/50/jobs"] = [job(1, "unit")]
    service.set_merge_request(
        merge_when_pipeline_succeeds=True, squash=True, head_pipeline=PIPELINE
    )
    found = await forge.fetch_details(root, 7)
    assert (found.phase, found.has_queue, found.auto_merge) == ("queued", True, "squash")
    assert (found.merge_methods, found.checks[0].is_required) == (["squash"], True)
    assert found.merge_note == "It is in the merge train."


async def test_five_hundred_jobs_are_all_listed(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request(head_pipeline=PIPELINE)
    service.answers["GET :p/pipelines/50/jobs"] = [job(n, f"job {n}") for n in range(500, 0, -1)]
    found = await forge.fetch_details(root, 7)
    assert [check.name for check in found.checks] == [f"test / job {n}" for n in range(1, 501)]


async def test_what_may_not_be_read_is_missing_with_the_reason(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request(head_pipeline=PIPELINE)
    service.answers["GET :p/pipelines/50/jobs"] = (403, {"message": "403 Forbidden"})
    service.answers[f"GET {ONE}/discussions"] = (403, {"message": "403 Forbidden"})
    found = await forge.fetch_details(root, 7)
    assert found.checks == [] and "does not have permission" in found.checks_note
    assert found.threads == [] and "does not have permission" in found.threads_note
    assert found.can_merge


def position(**fields: Any) -> dict[str, Any]:
    return {"new_path": "swim.py", "new_line": 3, "head_sha": HEAD, **fields}


async def test_threads_are_read_answered_and_resolved(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request()
    service.answers["GET user"] = user("ada")
    members = [{**user("eve"), "access_level": 30}, {**user("bob"), "access_level": 10}]
    service.answers["GET :p/members/all"] = members
    there = {"resolvable": True, "resolved": False, "position": position()}
    service.answers[f"GET {ONE}/discussions"] = [
        {"id": "d1", "notes": [note(1, "ada", "assigned to @bob", system=True)]},
        {"id": "d2", "notes": [note(2, "eve", "done?", **{**there, "resolved": True})]},
        {"id": "d3", "notes": [note(3, "eve", "why?", **there), note(4, "ada", "x" * 9_000)]},
        {"id": "d4", "notes": [note(5, "eve", "old", **{**there, "position": position(
            head_sha="b" * 40)})]},
        {"id": "d5", "notes": [note(6, "bob", "In general …", resolvable=True),
                               *[note(n, "ada", f"{n}") for n in range(100, 130)]]},
        {"id": "d6", "notes": [note(7, "bob", "just a comment")]},
        {"id": "d7", "notes": [note(8, "eve", "too old", created_at="2026-01-01T00:00:00Z")]},
        {"id": "d8", "notes": [note(9, "eve", "added 2 commits\n\n<ul><li>…", system=True,
                                    created_at="2026-01-01T00:00:01Z")]},
        {"id": "d9", "notes": [note(10, "project_7_bot_0a1b", "71 %")]},
    ]  # fmt: skip
    found = await forge.fetch_details(root, 7)
    threads = found.threads
    assert [
        (each.id, each.path, each.line, each.is_resolved, each.is_outdated) for each in threads
    ] == [
        ("d3", "swim.py", 3, False, False),
        ("d4", "swim.py", None, False, True),
        ("d5", "", None, False, False),
        ("d2", "swim.py", 3, True, False),
    ]
    conversation = [
        (one.id, one.needs_answer, one.is_outdated, one.comments[0].is_outsider)
        for one in found.conversation
    ]
    assert conversation == [
        ("d7", True, True, False),
        ("d6", True, False, True),
        ("d9", False, False, True),
    ]
    first, second = threads[0].comments
    assert (first.author, first.body, first.is_own, second.is_own) == ("eve", "why?", False, True)
    assert first.url.endswith("/merge_requests/7#note_3")
    assert len(second.body) < 8_100 and second.body.endswith("[… 1000 more characters]")
    # Only what members write may go to a session by itself.
    assert [each.comments[0].is_outsider for each in threads] == [False, False, True, False]
    assert not second.is_outsider
    assert [each.body for each in threads[2].comments[:2]] == ["In general …", "110"]
    assert (len(threads[2].comments), threads[2].left_out) == (21, 10)
    service.answers[f"POST {ONE}/discussions/d3/notes"] = (201, note(8, "ada", "because"))
    service.answers[f"PUT {ONE}/discussions/d3"] = {}
    await forge.reply_to_thread(root, 7, "d3", "because\n/approve")
    await forge.resolve_thread(root, 7, "d3")
    assert service.sent("POST", f"{ONE}/discussions/d3/notes") == [{"body": "because\n\\/approve"}]
    assert service.sent("PUT", f"{ONE}/discussions/d3") == [{"resolved": True}]
    with pytest.raises(SpinneyError, match="The thread no longer exists"):
        await forge.resolve_thread(root, 7, "../../gone")


CHECK = Check(id="1/11", name="test / unit", state="failed", url="https://gitlab.com/job")


async def test_the_end_of_a_log_of_fifty_megabytes_is_read(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    lines = 500_000
    service.answers["GET :p/jobs/11/trace"] = b"".join(
        b"%-99d\n" % number for number in range(lines)
    )
    log = await forge.fetch_check_log(root, 7, CHECK)
    shown = log.text.split("\n")
    assert (shown[-1].strip(), len(shown)) == (str(lines - 1), 200)
    assert log.left_out == lines - 200
    assert (log.check_id, log.name, log.url) == (CHECK.id, CHECK.name, CHECK.url)


async def test_a_check_without_a_log_says_so(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    with pytest.raises(SpinneyError, match="The log no longer exists"):
        await forge.fetch_check_log(root, 7, CHECK)
    external = Check(id="status:20", name="scan", state="failed")
    with pytest.raises(SpinneyError, match="'scan' is not a job of GitLab"):
        await forge.fetch_check_log(root, 7, external)


def test_marks_of_the_runner_are_left_out_of_a_log() -> None:
    end = LogEnd(read_line)
    end.take(
        b"section_start:1560896352:step_script[collapsed=true]\r\x1b[0K\x1b[0KExecuting\n"
        b"2024-05-22T12:43:46.962646Z 00O make test\n"
        b"2024-05-22T12:43:47.962646Z 01E+red \x1b[31;1m text\n"
        b"section_end:1560896353:step_script\r\x1b[0K\n"
        b"10%\r20%\n"
    )
    assert end.finish() == ("Executing\nmake test\nred  text\n10%␍\n20%", 0)


def test_an_endless_line_of_a_log_is_shortened() -> None:
    end = LogEnd(read_line)
    for piece in (b"a\n", b"x" * 100_000, b"x" * 100_000):
        end.take(piece)
    assert end.finish() == ("a\n" + "x" * MAX_LINE, 0)


async def test_an_answer_that_is_no_merge_request_is_an_error(
    service: GitLabStub, root: Path
) -> None:
    service.answers[f"GET {ONE}"] = []
    with pytest.raises(SpinneyError, match="glab returned unexpected data"):
        await fetch_details(root, 7)
