"""What is shown of a pull request, by the real `gh`."""

# ruff: noqa: F811 - fixtures are imported, and named again where they are used

import time
import tracemalloc
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import Check as FoundCheck
from model.hosting.github.forge import GitHub
from tests.live.gh_service import service  # noqa: F401 - a fixture
from tests.live.hosting_cases import URL
from tests.live.hosting_pull_requests import Check, Comment, Job, PullRequest, Thread
from tests.live.hosting_stub import HostingStub
from tests.model.git.conftest import own_home  # noqa: F401 - a fixture

GITHUB = GitHub()


async def test_everything_about_a_pull_request_is_read(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(
        PullRequest(
            title="Teach the otter to swim",
            body="It was about time.",
            decision="CHANGES_REQUESTED",
            asked=["cleo", "looms/weavers"],
            verdicts=[("bob", "CHANGES_REQUESTED")],
            reviewed=["bob", "dan"],
            behind=3,
            standing="BLOCKED",
            checks=[
                Check("SUCCESS", name="test (3.12)", required=True),
                Check(name="lint"),
                Check("ACTION_REQUIRED", name="deploy"),
                Check("FAILURE", app="coverage", name="patch", title="71 % of the lines"),
                Check(classic="ERROR", name="ci/old"),
            ],
            threads=[
                Thread(comments=[Comment("Old."), Comment("Done.", "ada")], resolved=True),
                Thread("dive.py", None, [Comment("Why?\nReally?")], outdated=True),
            ],
        )
    )
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert (found.number, found.url, found.title) == (7, URL, "Teach the otter to swim")
    assert (found.body, found.author) == ("It was about time.", "ada")
    assert (found.base, found.head, found.head_commit) == ("main", "otter", "a" * 40)
    assert (found.phase, found.behind, found.can_update) == ("changes_requested", 3, True)
    assert [(one.name, one.state, one.is_team) for one in found.reviewers] == [
        ("cleo", "requested", False),
        ("looms/weavers", "requested", True),
        ("bob", "changes_requested", False),
        ("dan", "commented", False),
    ]
    assert [(one.name, one.state, one.has_log, one.is_required) for one in found.checks] == [
        ("CI / test (3.12)", "passed", True, True),
        ("CI / lint", "running", False, False),
        ("CI / deploy", "waiting", False, False),
        ("patch", "failed", False, False),
        ("ci/old", "failed", False, False),
    ]
    assert (found.checks[3].url, found.checks[3].summary) == (
        "https://coverage.example/3",
        "71 % of the lines",
    )
    review, first, second = found.threads
    assert (review.path, review.line, review.comments[0].body) == ("", None, "hm")
    assert (first.path, first.line, first.is_outdated, first.is_resolved) == (
        "dive.py", None, True, False,
    )  # fmt: skip
    assert [(one.author, one.body, one.is_own) for one in second.comments] == [
        ("bob", "Old.", False),
        ("ada", "Done.", True),
    ]
    assert found.merge_methods == ["merge", "squash", "rebase"]
    assert (found.can_merge, found.can_auto_merge, found.has_queue) == (False, True, False)
    assert found.merge_note.startswith("A reviewer requested changes.")


@pytest.mark.parametrize(
    ("shown", "phase", "note"),
    [
        (PullRequest(), "open", ""),
        (PullRequest(decision="APPROVED", standing="UNSTABLE"), "approved", ""),
        (PullRequest(draft=True), "draft", "The pull request is a draft. Mark it as ready"),
        (PullRequest(mergeable="CONFLICTING"), "in_conflict", "It is in conflict with 'main'."),
        (PullRequest(in_queue=True), "queued", "It is in the merge queue already"),
        (PullRequest(state="MERGED"), "merged", "The pull request is merged already."),
        (PullRequest(state="CLOSED"), "closed", "The pull request is closed. Open it again"),
        (
            PullRequest(state="CLOSED", has_head=False),
            "closed",
            "The pull request is closed, and its branch 'otter' was deleted. Push the branch",
        ),
        (PullRequest(has_base=False), "open", "The base branch 'main' no longer exists on GitHub"),
        (PullRequest(standing="BEHIND"), "open", "The branch must contain all of 'main' first."),
        (
            PullRequest(standing="BLOCKED", decision="REVIEW_REQUIRED"),
            "open",
            "An approving review is missing.",
        ),
        (
            PullRequest(standing="BLOCKED", checks=[Check("FAILURE", required=True)]),
            "open",
            "1 required check failed: CI / check 0. Fix",
        ),
        (
            PullRequest(standing="BLOCKED", checks=[Check(required=True), Check("FAILURE")]),
            "open",
            "1 required check did not pass yet: CI / check 0. Wait",
        ),
        (PullRequest(standing="BLOCKED"), "open", "A rule for 'main' does not allow the merge"),
    ],
)
async def test_what_stands_in_the_way_of_a_merge_is_a_sentence(
    service: HostingStub, tmp_path: Path, shown: PullRequest, phase: str, note: str
) -> None:
    service.set_pull_requests(shown)
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert found.phase == phase
    assert found.merge_note.startswith(note)
    assert found.can_merge == (not note)
    if note:
        with pytest.raises(SpinneyError) as refused:
            await GITHUB.merge(tmp_path, URL, "merge", auto=False, head_commit=None)
        assert refused.value.message == found.merge_note
        assert service.changes == []


async def test_comments_of_outsiders_are_marked(service: HostingStub, tmp_path: Path) -> None:
    comments = [
        Comment(),
        Comment(association="CONTRIBUTOR"),
        Comment(association="NONE", author="ada"),
        Comment(association="NONE", kind="Bot"),
    ]
    service.set_pull_requests(PullRequest(threads=[Thread(comments=comments)]))
    (thread,) = (await GITHUB.fetch_details(tmp_path, URL)).threads
    assert [one.is_outsider for one in thread.comments] == [False, True, False, False]


async def test_the_conversation_comes_with_the_details_and_a_reply_answers_it(
    service: HostingStub, tmp_path: Path
) -> None:
    said = [
        Comment("Before the push.", minute=1),
        Comment("Please rename this.", minute=11),
        Comment("Curl this.", "eve", "NONE", minute=12),
        Comment("71 % of the lines", "coverage", "NONE", "Bot", minute=13),
        Comment("Spam.", "eve", "NONE", minute=14, hidden=True),
        Comment("In general \x1b[31mfine\u202e.", minute=15, verdict="COMMENTED"),
        Comment("Very good.", "cleo", minute=16, verdict="APPROVED"),
        Comment("", minute=17, verdict="COMMENTED"),
        Comment("Not sent yet.", "ada", minute=18, verdict="PENDING"),
    ]
    merge = (30, 2)
    service.set_pull_requests(PullRequest(conversation=said, commits=[(5, 1), merge]))
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert service.asked == ["PullRequestDetails", "PullRequestBehind"]
    assert [
        (one.id, one.comments[0].author, one.needs_answer, one.is_outdated)
        for one in found.conversation
    ] == [
        ("comment:IC_0", "bob", True, True),
        ("comment:IC_1", "bob", True, False),
        ("comment:IC_2", "eve", True, False),
        ("comment:IC_3", "coverage", False, False),
        ("review:IC_5", "bob", True, False),
        ("review:IC_6", "cleo", False, False),
    ]
    comments = [one.comments[0] for one in found.conversation]
    assert [one.is_outsider for one in comments] == [False, False, True, False, False, False]
    assert [one.is_bot for one in comments].index(True) == 3
    assert comments[4].body.replace("^[", "␛") == "In general ␛[31mfine<U+202E>."
    with pytest.raises(SpinneyError, match=r"cannot be resolved. It counts as answered when you"):
        await GITHUB.resolve_thread(tmp_path, URL, "comment:IC_1")
    await GITHUB.reply_to_thread(tmp_path, URL, "comment:IC_1", "Renamed.")
    path = "/repos/ada/engine/issues/7/comments"
    assert service.changes == [(f"POST {path}", {"body": "Renamed."})]
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert (found.conversation[-1].comments[0].body, found.unanswered_comments) == ("Renamed.", [])
    assert found.conversation[-1].comments[0].is_own


async def test_five_hundred_checks_and_a_hundred_threads_are_read_in_pages(
    service: HostingStub, tmp_path: Path
) -> None:
    checks = [*[Check("SUCCESS")] * 499, Check("FAILURE", name="the last")]
    threads = [Thread(path=f"{number}.py") for number in range(120)]
    service.set_pull_requests(PullRequest(checks=checks, threads=threads))
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert (len(found.checks), found.checks[-1].name) == (500, "CI / the last")
    assert (len(found.threads), found.threads[-1].path) == (120, "119.py")
    assert (found.checks_note, found.threads_note) == ("", "")
    assert service.asked.count("PullRequestChecks") == 4


async def test_more_than_can_be_shown_is_said(service: HostingStub, tmp_path: Path) -> None:
    comments = [Comment(str(number)) for number in range(30)]
    threads = [Thread(comments=comments), *[Thread()] * 301]
    long = [Comment("x" * 65_536, minute=place % 60) for place in range(120)]
    service.set_pull_requests(
        PullRequest(checks=[Check("SUCCESS")] * 1100, threads=threads, conversation=long)
    )
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert found.checks_note.startswith("Only 1000 of 1100 checks are shown.")
    assert found.threads_note.startswith("Only 300 of 302 review threads are shown.")
    assert [one.body for one in found.threads[0].comments[:2]] == ["0", "10"]
    assert found.threads[0].left_out == 9
    assert found.conversation_note == "Older comments are on the page of the pull request."
    assert {len(one.comments[0].body) for one in found.conversation} == {8004}
    assert len(found.conversation) == 100


async def test_a_token_that_may_not_read_checks_or_threads_gets_the_rest(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(title="Otters", checks=[Check()], threads=[Thread()]))
    service.unreadable = ["statusCheckRollup", "reviewThreads", "conversation"]
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert (found.title, found.checks, found.threads) == ("Otters", [], [])
    assert found.conversation_note.startswith("The token that gh uses may not read comments of")
    assert found.checks_note.startswith("The token that gh uses may not read checks.")
    assert found.threads_note.startswith("The token that gh uses may not read review comments.")


async def test_a_service_without_merge_queues_is_asked_without_them(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(title="Otters"))
    service.unknown = "isInMergeQueue"
    assert (await GITHUB.fetch_details(tmp_path, URL)).title == "Otters"


async def test_hostile_texts_are_data(service: HostingStub, tmp_path: Path) -> None:
    body = "https://\x1b[31m\u202e[bold]\x00"
    service.set_pull_requests(
        PullRequest(
            title='x://","login":"@evil',
            body=body,
            checks=[Check("FAILURE", name="a\nb\x1b]0;c\x07", title=body)],
            threads=[Thread(path="../../etc/passwd", comments=[Comment(body)])],
        )
    )
    found = await GITHUB.fetch_details(tmp_path, URL)
    assert found.title == 'x://","login":"@evil'
    # gh replaces some control characters itself.
    assert found.body.replace("^[", "␛").replace("^@", "␀") == "https://␛[31m<U+202E>[bold]␀"
    assert found.threads[0].comments[0].body == found.body
    name = found.checks[0].name.replace("^[", "␛").replace("^G", "␇")
    assert (name, found.author) == ("CI / a b␛]0;c␇", "ada")


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "61"}, "in 2 minutes"),
        ({"x-ratelimit-remaining": "0"}, "in 25 minutes"),
        ({}, "later"),
    ],
)
async def test_a_rate_limit_says_when_it_ends(
    service: HostingStub, tmp_path: Path, headers: dict[str, str], wait: str
) -> None:
    # Not when the tests are collected, which may be half an hour before.
    reset = {"x-ratelimit-reset": str(int(time.time()) + 24 * 60 + 50)}
    service.status = 403
    service.headers = headers | (reset if "x-ratelimit-remaining" in headers else {})
    service.message = "You have exceeded a secondary rate limit."
    for asking in (
        GITHUB.fetch_details(tmp_path, URL),
        GITHUB.request_review(tmp_path, URL, ["bob"]),
    ):
        with pytest.raises(SpinneyError) as refused:
            await asking
        assert refused.value.error_type == "rate_limit_error"
        assert refused.value.message.endswith(f"Try again {wait}.")
        assert (refused.value.retry_after is None) == (not headers)


async def test_a_state_that_did_not_change_costs_nothing(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(checks=[Check(), Check(classic="PENDING")]))
    found, version = await GITHUB.fetch_state(tmp_path, URL)
    assert found is not None
    assert (found.status, found.checks) == ("open", "pending")
    assert service.unchanged == []
    service.asked.clear()
    assert await GITHUB.fetch_state(tmp_path, URL, version) == (None, version)
    assert len(service.unchanged) == len(service.asked) == 3
    changes = [
        PullRequest(checks=[Check("FAILURE"), Check(classic="PENDING")]),
        PullRequest(checks=[Check("FAILURE"), Check(classic="SUCCESS")]),
        PullRequest(draft=True, checks=[Check("FAILURE"), Check(classic="SUCCESS")]),
        PullRequest(draft=True, commit="c" * 40),
        PullRequest(state="MERGED"),
    ]
    for change in changes:
        service.set_pull_requests(change)
        found, newer = await GITHUB.fetch_state(tmp_path, URL, version)
        assert found is not None, change
        assert newer != version
        version = newer
    assert found is not None
    assert found.status == "merged"
    service.asked.clear()
    await GITHUB.fetch_state(tmp_path, URL, version)
    assert service.asked == ["GET /repos/ada/engine/pulls/7"]


async def test_checks_that_have_ended_are_asked_for_at_every_third_poll(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(checks=[Check("FAILURE")]))
    _, version = await GITHUB.fetch_state(tmp_path, URL)
    counts = []
    for _ in range(4):
        service.asked.clear()
        found, version = await GITHUB.fetch_state(tmp_path, URL, version)
        assert found is None
        counts.append(len(service.asked))
    assert counts == [1, 1, 3, 1]
    service.set_pull_requests(PullRequest(checks=[Check()]))
    states = [await GITHUB.fetch_state(tmp_path, URL, version)]
    states.append(await GITHUB.fetch_state(tmp_path, URL, states[-1][1]))
    assert [state.checks if state else None for state, _ in states] == [None, "pending"]


async def test_the_log_of_the_failed_steps_ends_with_what_failed(
    service: HostingStub, tmp_path: Path
) -> None:
    def step(conclusion: str, minute: int) -> dict[str, object]:
        start = f"2026-01-01T00:0{minute}:00Z"
        end = f"2026-01-01T00:0{minute}:59Z"
        return {"conclusion": conclusion, "started_at": start, "completed_at": end}

    service.jobs[1000] = Job(
        steps=[step("success", 1), step("failure", 2), step("success", 3)],
        log=b"\xef\xbb\xbf2026-01-01T00:01:01.1234567Z installs\n"
        b"2026-01-01T00:02:01.1234567Z runs\nwithout a time\n"
        b"2026-01-01T00:02:02.1234567Z \x1b[31mfails\x1b[0m\x07\r\n"
        b"2026-01-01T00:03:01.1234567Z cleans up\n",
    )
    service.set_pull_requests(PullRequest(checks=[Check("FAILURE")]))
    (check,) = (await GITHUB.fetch_details(tmp_path, URL)).checks
    log = await GITHUB.fetch_check_log(tmp_path, URL, check)
    assert log.text == "runs\nwithout a time\nfails␇"
    assert (log.left_out, log.name) == (0, "CI / check 0")


async def test_a_log_of_fifty_megabytes_is_not_held(service: HostingStub, tmp_path: Path) -> None:
    line = b"2026-01-01T00:01:01.1234567Z " + b"x" * 990 + b"\n"
    service.jobs[1000] = Job(log=line * 1000, repeat=50, end=b"2026-01-01T00:01:02Z the end")
    check = FoundCheck(id="job:1000", name="CI / test", state="failed", has_log=True)
    tracemalloc.start()
    try:
        log = await GITHUB.fetch_check_log(tmp_path, URL, check)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert log.text.endswith("x\nthe end")
    assert (len(log.text) <= 64_000, log.left_out > 49_900) == (True, True)
    assert peak < 12_000_000


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            FoundCheck(id="app:1", name="patch", state="failed", url="https://cover.example/1"),
            "'patch' is reported by an app, whose log is not on GitHub. See https://cover.exam",
        ),
        (FoundCheck(id="status:x", name="x", state="failed"), "'x' is reported by an app"),
        (FoundCheck(id="job:1", name="lint", state="running"), "'lint' has no log yet."),
        (
            FoundCheck(id="job:1", name="lint", state="failed", has_log=True),
            "The log of 'lint' is not on GitHub any more.",
        ),
    ],
)
async def test_a_check_without_a_log_says_where_to_look(
    service: HostingStub, tmp_path: Path, check: FoundCheck, message: str
) -> None:
    with pytest.raises(SpinneyError) as refused:
        await GITHUB.fetch_check_log(tmp_path, URL, check)
    assert refused.value.message.startswith(message)
