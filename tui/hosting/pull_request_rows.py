"""A pull request as rows: merging, link, reviewers, checks, comments, description."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style

from model.base.amounts import format_age, format_duration
from model.base.plural import count
from model.base.text import clean_line, make_visible
from tui.hosting.page_list import PageWriter, Row
from tui.terminal import screen_reader

if TYPE_CHECKING:
    from model.domain.hosting import (
        Check,
        CheckState,
        PullRequestDetails,
        PullRequestPhase,
        Reviewer,
        ReviewThread,
    )
    from tui.draw.colors import Palette

CHECK_ORDER: "Final[tuple[CheckState, ...]]" = (
    "failed", "waiting", "running", "queued", "cancelled", "passed", "skipped",
)  # fmt: skip
"""States of checks, in the order in which they are listed."""
_FOLDED_CHECKS: Final = frozenset({"passed", "skipped"})
_FEW_CHECKS: Final = 12
"""Up to so many checks none are folded."""
_MAX_COMMENT_ROWS: Final = 8
_MAX_DESCRIPTION_ROWS: Final = 40
_MANY_ROWS: Final = 1000
"""Below so many rows comments are counted only: laying out all that a pull request can have, 300
threads of 20 comments, would take seconds.
"""
_RECENT: Final = 10
"""So many comments of the conversation, the newest, are not folded, nor are those that wait for an
answer.
"""

_SIGNS: "Final[dict[str, tuple[str, str]]]" = {
    "failed": ("✗", "error"),
    "waiting": ("?", "warning"),
    "running": ("◐", "accent"),
    "queued": ("…", "muted"),
    "cancelled": ("–", "muted"),
    "passed": ("✓", "success"),
    "skipped": ("–", "muted"),
    "approved": ("✓", "success"),
    "changes_requested": ("✗", "error"),
    "commented": ("·", "muted"),
    "requested": ("…", "muted"),
    "dismissed": ("–", "muted"),
}
"""Icons and the names of their styles; every state is also written as a word."""

_PHASES: "Final[dict[PullRequestPhase, str]]" = {
    "draft": "$text-muted",
    "open": "$accent",
    "approved": "$success",
    "changes_requested": "$error",
    "in_conflict": "$error",
    "queued": "$accent",
    "merged": "$success",
    "closed": "$text-muted",
}


def describe_phase(details: "PullRequestDetails") -> tuple[str, str]:
    """Return the phase in words, and its color."""
    return details.phase.replace("_", " "), _PHASES[details.phase]


def sort_checks(checks: "Iterable[Check]") -> "list[Check]":
    """Return the checks, failed ones first, then by name."""
    return sorted(checks, key=lambda check: (CHECK_ORDER.index(check.state), check.name))


def count_checks(checks: "Collection[Check]") -> str:
    """Return `2 failed · 497 passed`; empty without checks."""
    states = [check.state for check in checks]
    numbers = ((states.count(state), state) for state in CHECK_ORDER)
    return " · ".join(f"{number} {state}" for number, state in numbers if number)


def pull_request_rows(
    details: "PullRequestDetails",
    automatic: str,
    unfolded: Collection[str],
    palette: "Palette",
    width: int,
    now: float,
) -> Sequence[Row]:
    """Return the page.

    Args:
        details: The pull request.
        automatic: What a session does by itself about checks and comments, as a sentence.
        unfolded: The folded parts that were opened.
        palette: The colors.
        width: Cells of a row.
        now: The current time.
    """
    page = PageWriter(palette, width)
    _add_head(page, details, automatic)
    _add_reviewers(page, details.reviewers)
    _add_checks(page, details, unfolded, now)
    _add_threads(page, details, unfolded, now)
    _add_conversation(page, details, unfolded, now)
    page.add_heading("Description")
    text = make_visible(details.body).strip()
    style = palette.text if text else palette.muted
    page.add_text("body", "", 3, text or "It has none.", style, _MAX_DESCRIPTION_ROWS)
    return page.rows


def _add_head(page: PageWriter, details: "PullRequestDetails", automatic: str) -> None:
    palette = page.palette
    page.add_text("link", "title", 1, clean_line(details.title), palette.strong, 4)
    fork = " of a fork" if details.is_from_fork else ""
    behind = f", {count(details.behind, 'commit')} behind" if details.behind else ""
    branches = (
        f"{clean_line(details.author)} wants to merge {clean_line(details.head)}{fork} into "
        f"{clean_line(details.base)}{behind}"
    )
    page.add_text("link", "branches", 1, branches, palette.muted, 3)
    page.add_text("link", "address", 1, clean_line(details.url), palette.muted, 3)
    sentence, style = _describe_merge(details, palette)
    page.add_text("link", "merge", 1, sentence, style, 4)
    if automatic:
        page.add_text("link", "automatic", 1, automatic, palette.accent, 3)


def _describe_merge(details: "PullRequestDetails", palette: "Palette") -> tuple[str, Style]:
    note = make_visible(details.merge_note)
    if details.phase == "merged":
        return note or "It was merged.", palette.success
    if details.phase == "closed":
        return note or "It was closed without being merged.", palette.muted
    if details.phase == "queued":
        return note or "It is in the merge queue.", palette.accent
    if details.auto_merge is not None:
        sentence = f"It will be merged ({details.auto_merge}) as soon as everything holds."
        return f"{sentence} {note}".rstrip(), palette.accent
    if details.can_merge:
        return note or "It can be merged.", palette.success
    return note or "It cannot be merged now.", palette.warning


def _state(page: PageWriter, state: str) -> tuple[list[Segment], Style]:
    """Return the beginning of a row with the icon of a state, and the style of its word."""
    sign, name = _SIGNS[state]
    style: Style = getattr(page.palette, name)
    # In screen-reader mode the word alone says it.
    icon = Segment("   ") if screen_reader.is_enabled() else Segment(f" {sign} ", style)
    return [icon], style


def _add_reviewers(page: PageWriter, reviewers: "Sequence[Reviewer]") -> None:
    if not reviewers:
        return
    page.add_heading("Reviewers")
    for reviewer in reviewers:
        left, style = _state(page, reviewer.state)
        team = Segment(" team", page.palette.muted) if reviewer.is_team else Segment("")
        word = Segment(f"{reviewer.state.replace('_', ' '):<18}", style)
        name = Segment(clean_line(reviewer.name)[: page.width], page.palette.text)
        page.add("reviewer", reviewer.name, *left, word, name, team)


def _add_checks(
    page: PageWriter, details: "PullRequestDetails", unfolded: Collection[str], now: float
) -> None:
    checks = sort_checks(details.checks)
    page.add_heading("Checks", count_checks(checks))
    if details.checks_note or not checks:
        note = make_visible(details.checks_note) or "There are none."
        page.add_text("", "checks note", 3, note, page.palette.muted, 4)
    is_folded = "checks" not in unfolded and len(checks) > _FEW_CHECKS
    hidden = [check for check in checks if check.state in _FOLDED_CHECKS] if is_folded else []
    for check in checks:
        if not is_folded or check.state not in _FOLDED_CHECKS:
            _add_check(page, check, now)
    if hidden:
        sentence = f"   {count_checks(hidden)}: enter shows them"
        page.add("folded", "checks", Segment(sentence, page.palette.muted))


def _add_check(page: PageWriter, check: "Check", now: float) -> None:
    left, style = _state(page, check.state)
    muted = page.palette.muted
    took = age = ""
    if check.started_at is not None:
        ended = check.ended_at
        took = format_duration((now if ended is None else ended) - check.started_at)
        age = "" if ended is None else format_age(ended, now)
    right = [
        Segment(f"{check.state:<9}", style),
        Segment(f"{took:>5}", muted),
        Segment(f"{age:>6}", muted),
    ]
    name = clean_line(check.name) + (" (required)" if check.is_required else "")
    if check.summary and page.width >= 100:
        name += f" · {clean_line(check.summary)}"
    tone = page.palette.text if check.state not in _FOLDED_CHECKS else muted
    page.add_columns("check", check.id, left, name, tone, right)


def _add_threads(
    page: PageWriter, details: "PullRequestDetails", unfolded: Collection[str], now: float
) -> None:
    unresolved = details.unresolved_threads
    resolved = [thread for thread in details.threads if thread.is_resolved]
    about = f"{len(unresolved)} not resolved" if details.threads else ""
    page.add_heading("Review comments", about)
    if details.threads_note or not details.threads:
        note = make_visible(details.threads_note) or "There are none."
        page.add_text("", "threads note", 3, note, page.palette.muted, 4)
    for thread in unresolved:
        _add_thread(page, thread, now)
    if resolved and "threads" not in unfolded:
        sentence = f"   {len(resolved)} resolved: enter shows them"
        page.add("folded", "threads", Segment(sentence, page.palette.muted))
        return
    for thread in resolved:
        _add_thread(page, thread, now)


def _add_conversation(
    page: PageWriter, details: "PullRequestDetails", unfolded: Collection[str], now: float
) -> None:
    conversation, unanswered = details.conversation, details.unanswered_comments
    if not conversation and not details.conversation_note:
        return
    page.add_heading("Conversation", f"{len(unanswered)} not answered" if unanswered else "")
    if details.conversation_note:
        note = make_visible(details.conversation_note)
        page.add_text("", "conversation note", 3, note, page.palette.muted, 4)
    first = max(0, len(conversation) - _RECENT)
    if unanswered:
        first = min(first, conversation.index(unanswered[0]))
    if first and "conversation" not in unfolded:
        sentence = f"   {count(first, 'earlier comment')}: enter shows them"
        page.add("folded", "conversation", Segment(sentence, page.palette.muted))
    else:
        first = 0
    for remark in conversation[first:]:
        _add_remark(page, remark, now)


def _add_remark(page: PageWriter, remark: "ReviewThread", now: float) -> None:
    """Write a comment of the conversation: who wrote it, and what."""
    if len(page.rows) >= _MANY_ROWS:
        names = ", ".join(clean_line(comment.author) for comment in remark.comments[:1])
        hint = f"   {names}: enter shows it"
        page.add("thread", remark.id, Segment(hint[: page.width], page.palette.muted))
        return
    waits = remark.needs_answer and not remark.is_outdated
    _add_comments(page, remark, now, 3, "not answered" if waits else "")


def place_of(thread: "ReviewThread") -> str:
    """Return the file and line of a thread."""
    path = clean_line(thread.path) or "the whole pull request"
    return path if thread.line is None else f"{path}:{thread.line}"


def _add_thread(page: PageWriter, thread: "ReviewThread", now: float) -> None:
    palette = page.palette
    state = "resolved" if thread.is_resolved else ""
    state = ", ".join(filter(None, (state, "outdated" if thread.is_outdated else "")))
    right = [Segment(state, palette.muted)]
    page.add_columns("thread", thread.id, [Segment("   ")], place_of(thread), palette.strong, right)
    if len(page.rows) >= _MANY_ROWS:
        hint = f"       {count(len(thread.comments), 'comment')}: enter shows all"
        page.add("thread", thread.id, Segment(hint, palette.muted))
        return
    _add_comments(page, thread, now, 5)


def _add_comments(
    page: PageWriter, thread: "ReviewThread", now: float, indent: int, state: str = ""
) -> None:
    """Write the comments of a thread; beside the author of the first one, its state."""
    palette, space = page.palette, " " * indent
    for at, comment in enumerate(thread.comments):
        if at == 1 and thread.left_out:
            left_out = f"{space}{count(thread.left_out, 'comment')} left out"
            page.add("thread", thread.id, Segment(left_out, palette.muted))
        age = "" if comment.created_at is None else f"  {format_age(comment.created_at, now)}"
        age += "  app" if comment.is_bot else ""
        age += "  no role here" if comment.is_outsider else ""
        name = clean_line(comment.author)[: page.width]
        head = [Segment(f"{space}{name}", palette.accent), Segment(age, palette.muted)]
        if state and at == 0:
            head.append(Segment(f"  {state}", palette.warning))
        page.add("thread", thread.id, *head)
        text = make_visible(comment.body[: _MAX_COMMENT_ROWS * 4 * page.width])
        page.add_text("thread", thread.id, indent + 2, text, palette.text, _MAX_COMMENT_ROWS)
