"""Prompts that Spinney writes, session names, durations, and the detection of plans in text."""

import re
import time

from model.base.moments import format_moment
from model.base.plural import count
from model.base.text import clean_line

NAME_LENGTH = 48


def format_approved_plan(plan: str) -> str:
    """Return the prompt that carries out a plan whose agent is no longer running."""
    return f"The plan is approved. Carry it out now.\n\n{plan}"


def format_plan_for_new_session(plan: str) -> str:
    """Return the prompt that carries out a plan in a session without other context."""
    return (
        "Carry out this plan. It was worked out and approved in another conversation, of which you"
        f" know nothing; look at the files where something is not clear.\n\n{plan}"
    )


def format_answers(answers: dict[str, str]) -> str:
    """Return the prompt that answers the questions of an agent that is no longer running."""
    lines = [f"You asked: {question}\nMy answer: {answer}" for question, answer in answers.items()]
    return "\n\n".join(lines)


def make_session_name(message: str) -> str:
    """Return a short name for a first message: its first line, cut at a word boundary."""
    first = next((line for line in message.splitlines() if line.strip()), "")
    name = clean_line(re.sub(r"^[#>*\-/\s]+", "", first))
    if len(name) <= NAME_LENGTH:
        return name
    return name[:NAME_LENGTH].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


_STEP = re.compile(r"^[ \t]*(?:\d+[.)]|[-*])[ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.)、．][ \t]*\S", re.MULTILINE)
_MIN_STEPS = 3

_MENTIONS_PLAN = re.compile(
    r"\b(?:\w{0,40}plan|steps?|\w{0,40}schritte?|plano?s?|pasos?|passos?|passi|piano|étapes?|stappen"
    r"|steg|kroki?|kroků|kroky|plán|план\w?|шаги?)\b|计划|計劃|計画|步骤|步驟|手順|계획|단계",
    re.IGNORECASE,
)
"""'Plan' and 'steps' in the languages most used with agents."""


def looks_like_plan(text: str) -> bool:
    """Whether an unmarked message in plan mode proposes a plan.

    It lists steps and mentions them, or, in any language, numbers at least three of them and does
    not end with a question.
    """
    if len(_STEP.findall(text)) >= 2 and _MENTIONS_PLAN.search(text) is not None:
        return True
    numbers = _NUMBERED.findall(text)
    counts_up = [int(number) for number in numbers[:_MIN_STEPS]] == [1, 2, 3]
    return counts_up and not text.rstrip().endswith(("?", "？", "؟"))


def describe_limit_end(seconds: float) -> str:
    """Return when a rate limit ends, with the time of day unless that is near."""
    sentence = f"The limit ends in {format_duration(seconds)}"
    if seconds < 60:
        return f"{sentence}."
    now = time.time()
    return f"{sentence}, at {format_moment(now + seconds, now)}."


def format_duration(seconds: float) -> str:
    """Format a duration as `45 seconds`, `1 minute`, `2 hours`: the largest unit, rounded down."""
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        number = int(seconds) // size
        if number or size == 1:
            return count(number, unit)
    raise AssertionError
