"""What is below the landing desk: the row under the cursor, in sentences."""

import time
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.amounts import format_age
from model.base.plural import count
from model.base.text import clean_line
from tui.draw.line_parts import one_line, truncate_start
from tui.landing.columns import (
    NEXT_TONES,
    Names,
    Tone,
    check_word,
    conflict_partners,
    phase_words,
)
from tui.terminal.screen_reader import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.domain.landing import CheckResult, DeskPullRequest, LandingRow, MergedBy

_STYLES: "Final[Mapping[Tone, str]]" = {
    "strong": "bold $foreground", "text": "$foreground", "muted": "$text-muted",
    "accent": "$text-accent", "success": "$success", "warning": "$warning", "error": "$error",
}  # fmt: skip
_MERGED_BY: "Final[Mapping[MergedBy, str]]" = {
    "commits": "Its commits are in {base}.",
    "squash": "Its changes are in {base}, under other commits.",
    "content": "{base} has the same content.",
    "pull_request": "Its pull request was merged.",
}
_MAX_NAME: Final = 40
_MAX_REASON: Final = 150
_MAX_FILES: Final = 4
"""Files in conflict that are named."""


def describe_row(row: "LandingRow", names: Names) -> Content:
    """The next step with its reason, then what is known of branch, conflicts, check and request."""
    reason = one_line(clean_line(row.reason), _MAX_REASON)
    lines = [
        Content.assemble(
            (row.next.capitalize(), f"bold {_STYLES[NEXT_TONES[row.next]]}"), f"  {reason}"
        )
    ]
    facts = [_branch_line(row), *_conflict_lines(row, names)]
    facts += [" ".join(filter(None, (check_line(row.check), _request_line(row.pull_request))))]
    lines += [Content.styled(fact, "$text-muted") for fact in facts if fact]
    return Content("\n").join(lines)


def _branch_line(row: "LandingRow") -> str:
    base = one_line(clean_line(row.base), _MAX_NAME)
    parts = [f"{one_line(clean_line(row.branch), _MAX_NAME)} → {base}: {count(row.files, 'file')}"]
    removed = format_count(row.removed, "−", "removed")
    parts.append(f"{format_count(row.added, '+', 'added')} {removed}")
    parts.append(f"{count(row.ahead, 'commit')} ahead, {row.behind} behind")
    if row.uncommitted:
        parts.append(f"{count(row.uncommitted, 'file')} not committed")
    merged = f" {_MERGED_BY[row.merged].format(base=base)}" if row.merged else ""
    merged += f" {base} has taken its changes back since." if row.reverted else ""
    return f"{', '.join(parts)}.{merged}"


def _conflict_lines(row: "LandingRow", names: Names) -> list[str]:
    lines = []
    for partner, conflict in zip(conflict_partners(row, names), row.conflicts, strict=True):
        files = [truncate_start(clean_line(p), _MAX_NAME) for p in conflict.files[:_MAX_FILES]]
        more = len(conflict.files) - len(files)
        rest = f" and {more} more" if more else ""
        lines.append(f"In conflict with {one_line(partner, _MAX_NAME)}: {', '.join(files)}{rest}.")
    return [" ".join(lines)] if lines else []


def check_line(check: "CheckResult") -> str:
    """The check's result in a sentence, with its age and the reason of a failure."""
    word = check_word(check)
    if not word:
        return "The repository has no check script."
    if word == "stale":
        return f"The check {check.status}, but files have changed since."
    if word == "not run":
        return "The check has not run."
    when = "" if check.ended_at is None else f", {_ago(check.ended_at)}"
    why = clean_line(check.error)
    if check.status == "failed" and not why and check.exit_code is not None:
        why = f"exit code {check.exit_code}"
    return f"Check: {word}{when}{f' ({why})' if why else ''}."


def _ago(moment: float) -> str:
    age = format_age(moment, time.time())
    return "just now" if age == "now" else f"{age} ago"


def _request_line(request: "DeskPullRequest | None") -> str:
    if request is None:
        return ""
    parts = [phase_words(request)]
    if request.checks is not None:
        parts.append(f"checks {request.checks}")
    if request.unresolved:
        parts.append(f"{count(request.unresolved, 'unresolved comment')}")
    if request.unanswered:
        parts.append(f"{count(request.unanswered, 'unanswered comment')}")
    return f"Pull request #{request.number}: {', '.join(parts)}."
