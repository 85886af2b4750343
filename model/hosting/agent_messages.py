"""The messages about failed checks and review comments that go to a session."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.foreign_text import mark_untrusted
from model.domain.hosting import Check, PullRequestDetails, ReviewThread
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.hosting.details import identify
from model.hosting.forges import find_forge
from model.preferences.prompts import describe_place, write_prompt
from model.preferences.schema import Preferences

MAX_MATERIAL: Final = 48_000
"""Characters of logs or comments in one message."""
_MAX_LOGS: Final = 8
"""Checks whose log is sent; of the others only the name is."""
_MAX_COMMENT: Final = 4000
_MAX_NAMES: Final = 50
"""Checks that are named."""

_COMMENTS: Final = (
    "People commented on the pull request #{number} of this branch. For each comment below, "
    "change what it rightly asks for; where you disagree or need a decision, leave the code as it "
    "is and say why. Run the tests that concern the changes, commit, and end with one line for "
    "each comment: what you did, or what you would reply. Do not reply at the hosting service "
    "yourself, and do not resolve the comments."
)
_PUSH: Final = (
    "When you are done, push the branch to where it was pushed before, without force, so that the "
    "checks run again."
)

_log = logging.getLogger(__name__)


async def compose_failed_checks(
    preferences: Preferences,
    project: Project | None,
    worktree: Worktree,
    details: PullRequestDetails,
    checks: Sequence[Check],
) -> str:
    """Return the message about failed checks, with the ends of their logs."""
    logs = await _fetch_logs(worktree, checks)
    values: Mapping[str, str] = {
        "checks": ", ".join(check.name for check in checks[:_MAX_NAMES]),
        "number": str(details.number),
        "title": details.title,
        "url": details.url,
        "commit": details.head_commit,
        **describe_place(project, worktree),
    }
    task = write_prompt("investigate_workflow_run", preferences, values)
    return f"{task}\n\n{mark_untrusted(format_checks(checks, logs))}"


def compose_comments(details: PullRequestDetails, threads: Sequence[ReviewThread]) -> str:
    """Return the message about review comments."""
    task = _COMMENTS.format(number=details.number)
    return f"{task}\n\n{mark_untrusted(format_threads(threads))}"


def with_push(text: str) -> str:
    """Return a message that also asks for the result to be pushed."""
    return f"{_PUSH}\n\n{text}"


def format_checks(checks: Sequence[Check], logs: Mapping[str, str]) -> str:
    """Return the failed checks with their logs, by check id; the end of each log is kept."""
    with_log = max(1, sum(check.id in logs for check in checks))
    room = MAX_MATERIAL // with_log
    parts = []
    for check in checks[: _MAX_NAMES * 10]:
        lines = [f"# Failed check: {check.name}", check.url, check.summary]
        log = logs.get(check.id, "")
        if log:
            cut = len(log) > room
            lines.append(f"End of its log{', shortened' if cut else ''}:\n\n{log[-room:]}\n")
        parts.append("\n".join(line for line in lines if line))
    return "\n\n".join(parts)[: 2 * MAX_MATERIAL]


def format_threads(threads: Sequence[ReviewThread]) -> str:
    """Return the comments by file and line; those that do not fit are counted."""
    parts: list[str] = []
    room = MAX_MATERIAL
    for done, thread in enumerate(threads):
        place = thread.path or "On the whole pull request"
        if thread.line is not None:
            place = f"{place}:{thread.line}"
        what = "the lines have" if thread.path else "the branch has"
        outdated = f" ({what} changed since)" if thread.is_outdated else ""
        lines = [f"# {place}{outdated}"]
        for number, comment in enumerate(thread.comments):
            if number == 1 and thread.left_out:
                lines.append(f"({thread.left_out} comments are left out here)")
            lines.append(f"{comment.author} wrote:\n{comment.body[:_MAX_COMMENT]}")
        text = "\n\n".join(lines)
        room -= len(text)
        if room < 0:
            parts.append(f"({len(threads) - done} more places with comments do not fit here)")
            break
        parts.append(text)
    return "\n\n".join(parts)


async def _fetch_logs(worktree: Worktree, checks: Sequence[Check]) -> dict[str, str]:
    """Return the logs that can be read, by check id."""
    path = Path(worktree.path)
    forge = await find_forge(path)
    wanted = [check for check in checks if check.has_log][:_MAX_LOGS]

    async def fetch(check: Check) -> str:
        try:
            return (await forge.fetch_check_log(path, identify(worktree), check)).text
        except SpinneyError as error:
            _log.info("no log of a check of %s: %s", worktree.id, error.message)
            return f"(The log could not be read: {error.message})"

    texts = await asyncio.gather(*(fetch(check) for check in wanted))
    return {check.id: text for check, text in zip(wanted, texts, strict=True)}
