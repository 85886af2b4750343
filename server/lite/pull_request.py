"""The page of a worktree's pull request: its state, checks, open comments and conversation."""

import hashlib
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Final

from model.api.pull_request_acts import get_check_log, get_pull_request
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.hosting import Check, CheckState, PullRequestDetails, ReviewThread
from model.domain.worktrees import Worktree
from model.worktrees import require_worktree
from server.lite.html import Element, Node, make
from server.lite.layout import render_page
from server.lite.lists import make_select
from server.lite.page_request import PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import paginate_text, query_number

DONE: Final = {
    "merge": "Done: the hosting service merges it, or has put it into its queue.",
    "ready": "It is ready for review.",
    "reply": "Replied.",
}
"""What the page says after each form."""

_ORDER: Final[tuple[CheckState, ...]] = (
    "failed", "waiting", "running", "queued", "cancelled", "passed", "skipped",
)  # fmt: skip
"""Those that need attention first."""
_SHOWN_CHECKS: Final = 12
_SHOWN_THREADS: Final = 4
_SHOWN_REMARKS: Final = 4
_COMMENT_LENGTH: Final = 150
"""Characters of the first comment of a thread; the page of a thread has all of it."""


async def render_pull_request(page_request: PageRequest, worktree_id: str) -> str:
    """State, checks and comments, with forms; with `log` (a check's key) the end of its log.

    `checks`, `threads` and `conversation` show these from the given number on, `thread` (a key) one
    in full.
    """
    worktree = require_worktree(page_request.state, worktree_id)
    found = await run(page_request.workspace, get_pull_request, {"worktreeId": worktree.id})
    if "log" in page_request.query:
        return await _render_log(page_request, worktree, found)
    if "thread" in page_request.query:
        return _render_thread(page_request, worktree, found)
    done = DONE.get(page_request.query.get("done", ""))
    return render_page(
        page_request,
        f"#{found.number} {shorten(found.title, 120)}",
        nav(link(f"‹ {shorten(worktree.name)}", f"/lite/worktrees/{worktree.id}")),
        make("p", done, role="status") if done else None,
        make("p", make("b", found.phase.replace("_", " ")), f" {_summary(found)}"),
        nav(link("At the hosting service", found.url)),
        _merge(page_request, worktree, found),
        make("h2", "Checks"),
        _checks(page_request, worktree, found),
        make("h2", "Comments"),
        _threads(page_request, worktree, found),
        _conversation(page_request, worktree, found),
        _send(page_request, worktree, "answer-comments", "Answer the comments")
        if found.unresolved_threads or found.unanswered_comments
        else None,
    )


def pull_request_path(worktree_id: str) -> str:
    """The address of the page."""
    return f"/lite/worktrees/{worktree_id}/pull-request"


def _summary(found: PullRequestDetails) -> str:
    parts = [
        f"{shorten(found.head, 60)} → {shorten(found.base, 60)}",
        f"by {shorten(found.author, 40)}",
    ]
    parts += [f"{found.behind} behind"] if found.behind else []
    reviews = [
        f"{shorten(one.name, 40)} {one.state.replace('_', ' ')}" for one in found.reviewers[:10]
    ]
    return shorten(" · ".join([*parts, *reviews]), 400)


def _merge(page_request: PageRequest, worktree: Worktree, found: PullRequestDetails) -> list[Node]:
    if found.phase in ("merged", "closed"):
        return []
    note = make("p", shorten(found.merge_note, 250), class_="hint") if found.merge_note else None
    parts: list[Node] = [note]
    if found.phase == "draft":
        address = f"/lite/worktrees/{worktree.id}/ready"
        parts.append(page_request.make_form(address, button("Mark as ready for review")))
    is_auto = found.can_auto_merge and not found.can_merge and found.auto_merge is None
    if found.can_merge or is_auto:
        methods: dict[str, str] = {method: method for method in found.merge_methods}
        label = "Merge when everything holds" if is_auto else "Merge"
        parts.append(
            page_request.make_form(
                f"/lite/worktrees/{worktree.id}/merge",
                hidden("head_commit", found.head_commit),
                hidden("auto", "1") if is_auto else None,
                make_select("method", methods, found.merge_methods[0])
                if methods and not found.has_queue
                else None,
                make(
                    "label",
                    make("input", type="checkbox", name="sure", value="1", required=True),
                    "Yes: it cannot be undone from here",
                ),
                button("Add to the merge queue" if found.has_queue else label, class_="primary"),
            )
        )
    return parts


def _checks(page_request: PageRequest, worktree: Worktree, found: PullRequestDetails) -> list[Node]:
    ordered = sorted(found.checks, key=lambda check: _ORDER.index(check.state))
    counts = Counter(check.state for check in ordered)
    words = ", ".join(f"{counts[state]} {state}" for state in _ORDER if counts[state])
    first = query_number(page_request, "checks")
    shown = ordered[first : first + _SHOWN_CHECKS]
    more = len(ordered) - first - len(shown)
    address = f"{pull_request_path(worktree.id)}?checks={first + _SHOWN_CHECKS}"
    return [
        make("p", words or found.checks_note or "None."),
        make("ul", [_check(worktree, check) for check in shown], class_="rows") if shown else None,
        nav(link(count(more, "more check"), address)) if more > 0 else None,
        _send(page_request, worktree, "fix-checks", "Fix the checks") if counts["failed"] else None,
    ]


def _check(worktree: Worktree, check: Check) -> Element:
    name = f"{check.state}: {shorten(check.name, 60)}"
    has_log = check.has_log and check.state == "failed"
    address = f"{pull_request_path(worktree.id)}?log={_key(check.id)}"
    return make(
        "li",
        link(name, address) if has_log else name,
        make("small", shorten(check.summary, 100)) if check.summary else None,
    )


def _key(check_id: str) -> str:
    """Stands for the id of a check in an address."""
    return hashlib.sha256(check_id.encode(errors="replace")).hexdigest()[:16]


def _send(page_request: PageRequest, worktree: Worktree, name: str, label: str) -> Element:
    """A form that lets a session do something; it leads to the session."""
    address = f"/lite/worktrees/{worktree.id}/{name}"
    return page_request.make_form(
        address, hidden("once", secrets.token_hex(16)), button(f"{label}: send to a session")
    )


def _threads(
    page_request: PageRequest, worktree: Worktree, found: PullRequestDetails
) -> list[Node]:
    unresolved = found.unresolved_threads
    if not unresolved:
        return [make("p", found.threads_note or "No open comments.")]
    first = query_number(page_request, "threads")
    shown = unresolved[first : first + _SHOWN_THREADS]
    more = len(unresolved) - first - len(shown)
    address = f"{pull_request_path(worktree.id)}?threads={first + _SHOWN_THREADS}"
    return [
        [_thread(worktree, thread) for thread in shown],
        nav(link(count(more, "more open comment"), address)) if more > 0 else None,
    ]


def _conversation(
    page_request: PageRequest, worktree: Worktree, found: PullRequestDetails
) -> list[Node]:
    """The comments on the whole pull request, the newest first."""
    newest_first = found.conversation[::-1]
    if not newest_first and not found.conversation_note:
        return []
    first = query_number(page_request, "conversation")
    shown = newest_first[first : first + _SHOWN_REMARKS]
    more = len(newest_first) - first - len(shown)
    address = f"{pull_request_path(worktree.id)}?conversation={first + _SHOWN_REMARKS}"
    note = found.conversation_note
    return [
        make("h2", "Conversation"),
        make("p", note, class_="hint") if note else None,
        [_remark(worktree, remark) for remark in shown],
        nav(link(count(more, "earlier comment"), address)) if more > 0 else None,
    ]


def _remark(worktree: Worktree, remark: ReviewThread) -> list[Node]:
    address = f"{pull_request_path(worktree.id)}?thread={_key(remark.id)}"
    first, replies = remark.comments[0], len(remark.comments) - 1
    waits = remark.needs_answer and not remark.is_outdated
    marks = ["app"] * first.is_bot + ["no role here"] * first.is_outsider
    about = ", ".join([shorten(first.author, 40), *marks, *(["not answered"] if waits else [])])
    return [
        nav(link(about, address)),
        make(
            "p",
            shorten(first.body, _COMMENT_LENGTH),
            make("small", f" {replies} more") if replies > 0 else None,
        ),
    ]


def _place(thread: ReviewThread) -> str:
    path = shorten(thread.path, 120) or "The whole pull request"
    return path if thread.line is None else f"{path}:{thread.line}"


def _thread(worktree: Worktree, thread: ReviewThread) -> list[Node]:
    address = f"{pull_request_path(worktree.id)}?thread={_key(thread.id)}"
    first = thread.comments[0] if thread.comments else None
    replies = len(thread.comments) - 1
    return [
        nav(link(_place(thread), address)),
        None
        if first is None
        else make(
            "p",
            make("b", shorten(first.author, 40)),
            f" {shorten(first.body, _COMMENT_LENGTH)}",
            make("small", f" {replies} more") if replies > 0 else None,
        ),
    ]


def _find(keys: Sequence[str], wanted: str) -> str:
    """The id that a key of an address stands for. Raises `SpinneyError`."""
    found = next((one for one in keys if _key(one) == wanted), None)
    if found is None:
        raise SpinneyError("This is not part of the pull request any more.", "not_found")
    return found


def _render_thread(page_request: PageRequest, worktree: Worktree, found: PullRequestDetails) -> str:
    threads = [*found.threads, *found.conversation]
    wanted = _find([thread.id for thread in threads], page_request.query["thread"])
    thread = next(thread for thread in threads if thread.id == wanted)
    text = "\n\n".join(f"{comment.author}:\n{comment.body}" for comment in thread.comments)
    address = f"{pull_request_path(worktree.id)}?thread={_key(thread.id)}"
    return render_page(
        page_request,
        _place(thread),
        nav(link("‹ Pull request", pull_request_path(worktree.id))),
        paginate_text(text, address, query_number(page_request, "at")),
        page_request.make_form(
            f"/lite/worktrees/{worktree.id}/reply",
            hidden("thread_id", thread.id),
            make("label", "Reply", for_="message"),
            make(
                "textarea",
                page_request.typed.get("message"),
                name="message",
                id="message",
                rows=3,
                cols=60,
            ),
            None
            if thread.resolve_note
            else make(
                "label",
                make("input", type="checkbox", name="resolve", value="1"),
                "Mark as resolved",
            ),
            make("p", button("Send")),
        ),
    )


async def _render_log(
    page_request: PageRequest, worktree: Worktree, found: PullRequestDetails
) -> str:
    check_id = _find([check.id for check in found.checks], page_request.query["log"])
    arguments = {"worktreeId": worktree.id, "checkId": check_id}
    log = await run(page_request.workspace, get_check_log, arguments)
    address = f"{pull_request_path(worktree.id)}?log={_key(check_id)}"
    left_out = f"{count(log.left_out, 'line')} before are left out." if log.left_out else None
    return render_page(
        page_request,
        shorten(log.name),
        nav(link("‹ Pull request", pull_request_path(worktree.id))),
        make("p", left_out, class_="hint") if left_out else None,
        paginate_text(log.text, address, query_number(page_request, "at")),
    )
