"""The words of notices: one line each, bounded, plain, without secrets."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from model.base.masking import SecretMasker
from model.base.plural import count
from model.base.text import clean_line
from model.domain.notices import COMMENTS, Notice, NoticeReason
from model.domain.requests import Request
from model.domain.sessions import Session
from model.secrets.scanner import mask_secrets

MAX_NAME: Final = 60
"""Characters of the name of a session or worktree."""
MAX_TEXT: Final = 200
"""Characters of a summary."""
_MAX_ANSWER: Final = 40
"""Characters of an answer on a button."""
_READ: Final = 4000
"""Characters that are read of a longer text to find its first line."""

_TITLES: Final[dict[NoticeReason, str]] = {
    "permission": "{name} asks for permission",
    "question": "{name} asks a question",
    "plan": "{name} has a plan",
    "finished": "{name} has finished",
    "failed": "{name} has failed",
    "limit": "{name} has reached a usage limit",
    "check_failed": "Checks of {name} have failed",
    "review": "A review of {name} is there",
    "disk": "The disk is almost full",
}
_TITLES_OF_OCCASIONS: Final = {
    COMMENTS: "{name} has new comments",
    "budget": "{name} has used up a budget",
}

_COUNTED: Final[dict[NoticeReason, tuple[str, str]]] = {
    "permission": ("asks for permission", "ask for permission"),
    "question": ("asks a question", "ask a question"),
    "plan": ("has a plan", "have a plan"),
    "finished": ("has finished", "have finished"),
    "failed": ("has failed", "have failed"),
    "limit": ("has reached a limit", "have reached a limit"),
    "check_failed": ("has failed checks", "have failed checks"),
    "review": ("has a review", "have a review"),
    "disk": ("disk is almost full", "disks are almost full"),
}
"""What a summary says of one and of several."""


_mask_labeled = SecretMasker()
"""Masks what a label calls a secret, such as `token=…`, also if it looks like a word."""


def make_title(reason: NoticeReason, name: str, occasion: str = "") -> str:
    """Return the title of a notice about a session or worktree of this name."""
    template = _TITLES_OF_OCCASIONS.get(occasion, _TITLES[reason])
    return template.format(name=shorten(name, MAX_NAME) or "A session")


def shorten(text: str, longest: int = MAX_TEXT) -> str:
    """Return the first line with content, at most `longest` characters, without secrets."""
    lines = (line.strip(" \t#*>`-") for line in text[:_READ].splitlines())
    line = clean_line(mask_secrets(_mask_labeled(next(filter(None, lines), ""))))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def describe_request(request: Request | None) -> str:
    """Return what a session waits for, in one line."""
    if request is None:
        return ""
    match request.kind:
        case "plan":
            return shorten(request.plan)
        case "question":
            return shorten(request.questions[0].question if request.questions else "")
        case "permission":
            command = request.tool_input.get("command")
            what = command if isinstance(command, str) else request.description
            return shorten(f"{request.tool_name}: {what}" if what else request.tool_name)


def list_answers(request: Request | None) -> list[str]:
    """Return the options of a request's only question; empty if one of them fits on no button."""
    if request is None or len(request.questions) != 1 or request.questions[0].multi_select:
        return []
    labels = [option.label for option in request.questions[0].options]
    is_plain = all(label and shorten(label, _MAX_ANSWER) == label for label in labels)
    return labels if is_plain else []


def describe_end(session: Session) -> str:
    """Return how a session's latest turn failed, in one line."""
    run = session.last_run
    return shorten(run.error or "") if run is not None else ""


def summarize(notices: Sequence[Notice]) -> tuple[str, str]:
    """Return the title and text of a summary of several notices at once."""
    by_reason = Counter(notice.reason for notice in notices)
    parts = [f"{n} {_COUNTED[reason][n > 1]}" for reason, n in by_reason.items()]
    names = [notice.title for notice in notices[:3]]
    more = len(notices) - len(names)
    text = ". ".join([", ".join(parts), *names, *([f"And {more} more"] if more else [])])
    return f"{count(len(notices), 'notice')} while you were away", shorten(text)
