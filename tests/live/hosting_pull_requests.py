"""Pull requests at the stub of GitHub, with checks and review threads, and what changes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]

FIRST_JOB = 1000
"""The id of the first check of a pull request; those of the others follow."""


@dataclass(frozen=True)
class Check:
    """A check run (`conclusion` is empty while it runs), or with `classic` a commit status."""

    conclusion: str = ""
    classic: str = ""
    name: str = ""
    app: str = "github-actions"
    required: bool = False
    title: str = ""

    def to_json(self, number: int) -> Json:
        if self.classic:
            context = {"context": self.name or f"ci/{number}", "state": self.classic}
            return {
                "__typename": "StatusContext",
                **context,
                "targetUrl": "",
                "description": self.title,
                "createdAt": "2026-01-01T00:00:00Z",
                "isRequired": self.required,
            }
        is_job = self.app == "github-actions"
        return {
            "__typename": "CheckRun",
            "databaseId": FIRST_JOB + number,
            "name": self.name or f"check {number}",
            "title": self.title,
            "checkSuite": {
                "app": {"slug": self.app, "name": self.app},
                "workflowRun": {"workflow": {"name": "CI"}} if is_job else None,
            },
            "status": "COMPLETED" if self.conclusion else "IN_PROGRESS",
            "conclusion": self.conclusion,
            "startedAt": "2026-01-01T00:00:00Z",
            "completedAt": "2026-01-01T00:01:00Z",
            "detailsUrl": "" if is_job else f"https://{self.app}.example/{number}",
            "isRequired": self.required,
        }


@dataclass(frozen=True)
class Comment:
    """A comment of a review thread or the conversation; `author` may be the stub's account."""

    body: str = "Why?"
    author: str = "bob"
    association: str = "MEMBER"
    kind: str = "User"
    minute: int = 0
    """When it was written."""
    hidden: bool = False
    verdict: str = ""
    """If not empty, it is the text of a review with this state."""

    def to_json(self, comment_id: str, account: str) -> Json:
        at = f"2026-01-01T00:{self.minute:02}:00Z"
        time = {"submittedAt": at, "state": self.verdict} if self.verdict else {"createdAt": at}
        return {
            "id": comment_id,
            "body": self.body,
            **time,
            "isMinimized": self.hidden,
            "url": "https://github.com/ada/engine/pull/7#discussion_r1",
            "viewerDidAuthor": self.author == account,
            "authorAssociation": self.association,
            "author": {"__typename": self.kind, "login": self.author},
        }


@dataclass(frozen=True)
class Thread:
    """A review thread."""

    path: str = "swim.py"
    line: int | None = 3
    comments: Sequence[Comment] = (Comment(),)
    resolved: bool = False
    outdated: bool = False

    def to_json(self, thread_id: str, account: str) -> Json:
        comments = [
            comment.to_json(f"{thread_id}.{place}", account)
            for place, comment in enumerate(self.comments)
        ]
        return {
            "id": thread_id,
            "path": self.path,
            "line": self.line,
            "isResolved": self.resolved,
            "isOutdated": self.outdated,
            "subjectType": "LINE",
            "first": {"totalCount": len(comments), "nodes": comments[:1]},
            "comments": {"nodes": comments[-20:]},
        }


@dataclass(frozen=True)
class PullRequest:
    """A pull request at the service."""

    number: int = 7
    head: str = "otter"
    owner: str = "ada"
    """Owner of the repository of the head; it is a fork if that is not the stub's owner."""
    base: str = "main"
    title: str = ""
    body: str = ""
    state: str = "OPEN"
    draft: bool = False
    decision: str = ""
    asked: Sequence[str] = ()
    """Logins asked for a review; `organization/team` for a team."""
    reviewed: Sequence[str] = ()
    """Logins that wrote a review."""
    verdicts: Sequence[tuple[str, str]] = ()
    """Logins and their verdicts, such as `APPROVED`."""
    checks: Sequence[Check] = ()
    threads: Sequence[Thread] = ()
    conversation: Sequence[Comment] = ()
    commits: Sequence[tuple[int, int]] = ()
    """Minute and number of parents of the newest commits."""
    commit: str = "a" * 40
    behind: int = 0
    mergeable: str = "MERGEABLE"
    standing: str = "CLEAN"
    """`mergeStateStatus`."""
    auto_merge: str = ""
    in_queue: bool = False
    has_base: bool = True
    has_head: bool = True
    can_update: bool = True
    can_edit: bool = True

    def to_json(self, owner: str, name: str, place: str) -> Json:
        """All fields that `gh` uses; it reads those that it requested.

        Args:
            owner: The owner of the repository; also the account of `gh`.
            name: The name of the repository.
            place: The URL of the repository.
        """
        return {
            "id": f"PR_{self.number}",
            "number": self.number,
            "url": f"{place}/pull/{self.number}",
            "title": self.title,
            "body": self.body,
            "state": self.state,
            "isDraft": self.draft,
            "author": {"login": owner},
            "baseRefName": self.base,
            "baseRef": {"name": self.base} if self.has_base else None,
            "headRefName": self.head,
            "headRefOid": self.commit,
            "headRef": {"name": self.head} if self.has_head else None,
            "headRepository": {"id": "R_1", "name": name},
            "headRepositoryOwner": {"id": "U_1", "login": self.owner, "name": ""},
            "isOwn": True,
            "isCrossRepository": self.owner != owner,
            "mergeable": self.mergeable,
            "mergeStateStatus": self.standing,
            "viewerCanUpdate": self.can_edit,
            "viewerCanUpdateBranch": self.can_update and self.behind > 0,
            "autoMergeRequest": {"mergeMethod": self.auto_merge} if self.auto_merge else None,
            "isInMergeQueue": self.in_queue,
            "reviewDecision": self.decision,
            "reviewRequests": {"nodes": [_requested(login) for login in self.asked]},
            "latestReviews": {"nodes": [_review(login) for login in self.reviewed]},
            "latestOpinionatedReviews": {
                "nodes": [_review(login, state) for login, state in self.verdicts]
            },
            "statusCheckRollup": rollup(self.checks, after=0),
        }

    def threads_to_json(self, account: str, after: int) -> Json:
        """The review threads, in pages of 50."""
        page = self.threads[after : after + 50]
        nodes = [
            thread.to_json(f"T_{self.number}_{after + place}", account)
            for place, thread in enumerate(page)
        ]
        more = {"hasNextPage": after + 50 < len(self.threads), "endCursor": str(after + 50)}
        return {"totalCount": len(self.threads), "nodes": nodes, "pageInfo": more}

    def conversation_to_json(self, account: str) -> Json:
        """The last 100 comments and reviews, and the newest commits."""
        texts = [
            (comment, comment.to_json(f"IC_{place}", account))
            for place, comment in enumerate(self.conversation)
        ]
        comments = [text for comment, text in texts if not comment.verdict]
        reviews = [text for comment, text in texts if comment.verdict]
        commits = [
            {"committedDate": f"2026-01-01T00:{minute:02}:00Z", "parents": {"totalCount": parents}}
            for minute, parents in self.commits
        ]
        return {
            "conversation": {"totalCount": len(comments), "nodes": comments[-100:]},
            "reviewTexts": {"totalCount": len(reviews), "nodes": reviews[-100:]},
            "recent": {"nodes": [{"commit": commit} for commit in commits[-20:]]},
        }

    def to_rest(self) -> Json:
        """What the REST API says of it, as far as it can change."""
        head = {"sha": self.commit, "ref": self.head}
        return {
            "number": self.number,
            "state": "open" if self.state == "OPEN" else "closed",
            "merged": self.state == "MERGED",
            "head": head,
            "all": repr(replace(self, checks=(), threads=())),
        }

    def after(self, mutation: str, given: Json) -> "PullRequest":
        """The pull request after a mutation with these variables."""
        match mutation:
            case "PullRequestMerge":
                return replace(self, state="MERGED", auto_merge="")
            case "PullRequestEnqueue":
                return replace(self, in_queue=True)
            case "PullRequestDequeue":
                return replace(self, in_queue=False)
            case "PullRequestAutoMerge":
                return replace(self, auto_merge=given["method"])
            case "PullRequestNoAutoMerge":
                return replace(self, auto_merge="")
            case "PullRequestUpdateBranch":
                return replace(self, behind=0, commit="b" * 40)
            case "PullRequestToDraft" | "PullRequestReady":
                return replace(self, draft=mutation == "PullRequestToDraft")
            case _:
                known = {"title": self.title, "body": self.body}
                return replace(self, **{**known, **{k: given[k] for k in known if k in given}})

    def after_in_thread(self, mutation: str, thread_id: str, given: Json) -> "PullRequest":
        """The pull request after a reply to a thread, or after it was resolved."""
        place = int(thread_id.rsplit("_", 1)[1])
        thread = self.threads[place]
        if mutation == "ThreadReply":
            reply = Comment(given["body"], "ada")
            thread = replace(thread, comments=[*thread.comments, reply])
        else:
            thread = replace(thread, resolved=True)
        return replace(self, threads=[*self.threads[:place], thread, *self.threads[place + 1 :]])


MUTATIONS = (
    "PullRequestMerge", "PullRequestEnqueue", "PullRequestDequeue", "PullRequestAutoMerge",
    "PullRequestNoAutoMerge", "PullRequestUpdateBranch", "PullRequestToDraft", "PullRequestReady",
    "PullRequestEdit",
)  # fmt: skip


def _requested(login: str) -> Json:
    if "/" in login:
        organization, slug = login.split("/")
        team = {"organization": {"login": organization}, "name": slug, "slug": slug}
        return {"requestedReviewer": {"__typename": "Team", **team}}
    return {"requestedReviewer": {"__typename": "User", "login": login}}


def _review(login: str, state: str = "COMMENTED") -> Json:
    who = {"author": {"login": login}, "authorAssociation": "MEMBER", "id": f"PRR_{login}"}
    return {**who, "submittedAt": "2026-01-01T00:00:00Z", "body": "hm", "state": state}


def rollup(checks: Sequence[Check], after: int) -> Json:
    """The checks of the last commit, in pages of a hundred as at the service."""
    if not checks:
        return {"nodes": [{"commit": {"statusCheckRollup": None}}]}
    page = checks[after : after + 100]
    more = {"hasNextPage": after + 100 < len(checks), "endCursor": str(after + 100)}
    nodes = [check.to_json(after + place) for place, check in enumerate(page)]
    contexts = {"totalCount": len(checks), "nodes": nodes, "pageInfo": more}
    return {"nodes": [{"commit": {"statusCheckRollup": {"contexts": contexts}}}]}


@dataclass
class Job:
    """A job of a workflow with its log, which may be longer than memory."""

    steps: Sequence[Json] = ()
    log: bytes = b""
    repeat: int = 1
    """How often `log` is sent."""
    end: bytes = b""
    has_log: bool = True
