"""What a hosting service has, for screens of pull requests and of open work."""

from typing import Any

from model.domain.hosting import (
    Check,
    CheckLog,
    ItemLabel,
    OpenIssue,
    OpenPullRequest,
    OpenWork,
    OpenWorkItem,
    OpenWorkProblem,
    PullRequestDetails,
    Reviewer,
    ReviewThread,
    ReviewThreadComment,
)

NOW = 1_790_000_000.0
URL = "https://github.com/ada/loom/pull/12"


def a_check(name: str, state: Any = "passed", **fields: Any) -> Check:
    """A check that ended an hour ago, after two minutes."""
    given: dict[str, Any] = {"id": name, "name": name, "state": state, "has_log": True}
    given |= {"started_at": NOW - 3720, "ended_at": NOW - 3600, "url": f"{URL}/checks"}
    return Check(**{**given, **fields})


def a_comment(author: str, body: str, **fields: Any) -> ReviewThreadComment:
    """A comment of yesterday."""
    given = {"id": f"{author} {body[:9]}", "created_at": NOW - 90_000, "url": f"{URL}#r1"}
    return ReviewThreadComment(**{**given, "author": author, "body": body, **fields})


def a_thread(path: str, line: int | None, *comments: ReviewThreadComment, **fields: Any) -> Any:
    """A thread that is not resolved."""
    return ReviewThread(
        **{"id": f"t-{path}", "path": path, "line": line, "comments": list(comments), **fields}
    )


def a_remark(author: str, body: str, **fields: Any) -> ReviewThread:
    """A comment of the conversation, which waits for an answer."""
    comment = a_comment(author, body)
    given = {"id": f"comment:{comment.id}", "path": "", "line": None, "comments": [comment]}
    given |= {"needs_answer": True, "resolve_note": "It cannot be resolved. Reply to it."}
    return ReviewThread(**{**given, **fields})


def a_pull_request(**fields: Any) -> PullRequestDetails:
    """A pull request with a failed check and a comment that is not resolved."""
    given: dict[str, Any] = {
        "number": 12,
        "url": URL,
        "title": "Read the last row of a file without a newline at its end",
        "body": "The loop ended one step early.\n\n- reads the tail\n- tests it",
        "phase": "changes_requested",
        "author": "ada",
        "base": "main",
        "head": "brave-otter",
        "head_commit": "a" * 40,
        "behind": 3,
        "reviewers": [
            Reviewer(name="grace", state="changes_requested"),
            Reviewer(name="loom/core", state="requested", is_team=True),
        ],
        "checks": [
            a_check("CI / lint"),
            a_check("CI / test (3.12)", "failed", is_required=True),
            a_check("CI / test (3.13)", "running", ended_at=None, has_log=False),
            a_check("deploy preview", "waiting", started_at=None, ended_at=None, has_log=False,
                    summary="Waits for an approval"),
        ],
        "threads": [
            a_thread(
                "src/parser.py", 42,
                a_comment("grace", "Why not `while row or tail`? The tail is lost otherwise."),
                a_comment("ada", "You are right, I will change it."),
            ),
            a_thread("README.md", None, a_comment("grace", "A typo."), is_resolved=True),
        ],
        "merge_methods": ["merge", "squash", "rebase"],
        "merge_note": "A review requests changes, and 1 required check failed.",
        "can_auto_merge": True,
        "can_update": True,
        "can_edit": True,
        "fetched_at": NOW,
    }  # fmt: skip
    return PullRequestDetails(**{**given, **fields})


def a_log(**fields: Any) -> CheckLog:
    """The log of the failed check."""
    text = "pytest -q\nFAILED test_parser.py::test_tail\n1 failed, 61 passed in 2.10s"
    given = {"check_id": "CI / test (3.12)", "name": "CI / test (3.12)", "text": text}
    return CheckLog(**{**given, "left_out": 4012, **fields})


def an_issue(number: int, title: str, **fields: Any) -> OpenIssue:
    """An open issue that was changed an hour ago."""
    given: dict[str, Any] = {"id": str(number), "number": number, "title": title, "state": "open"}
    given |= {"author": "grace", "updated_at": NOW - 3600 * number}
    given |= {"url": f"https://github.com/ada/loom/issues/{number}"}
    return OpenIssue(**{**given, **fields})


def an_open_request(number: int, title: str, **fields: Any) -> OpenPullRequest:
    """An open pull request."""
    given: dict[str, Any] = {"id": str(number), "number": number, "title": title, "state": "open"}
    given |= {"author": "linus", "updated_at": NOW - 7200, "head_ref_name": "tail"}
    return OpenPullRequest(**{**given, "base_ref_name": "main", **fields})


def open_work() -> OpenWork:
    """The open work of two projects; a third one could not be read."""
    issues = [
        an_issue(3, "The last row of a file is lost", worktree_ids=["w1"], assignees=["ada"],
                 labels=[ItemLabel(name="bug"), ItemLabel(name="parser")],
                 body="A file without a newline at its end loses its last row."),
        an_issue(8, "Read files from a pipe", labels=[ItemLabel(name="feature")],
                 body="cat rows | loom should work.\n\nIt says: no such file."),
    ]  # fmt: skip
    requests = [an_open_request(12, "Read the tail", worktree_ids=["w2"], draft=True)]
    items = [OpenWorkItem(project_id="p1", item=issue) for issue in issues]
    items += [OpenWorkItem(project_id="p2", item=request) for request in requests]
    problem = "You are not signed in to GitHub. Run 'gh auth login' in a terminal."
    return OpenWork(items=items, problems=[OpenWorkProblem(project_id="p2", message=problem)])
