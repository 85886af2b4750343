"""The words that Spinney itself says, and how names and plans are found in words."""

import re
import time

from model.base.text import clean_line

NAME_LENGTH = 48


def approved_plan(plan: str) -> str:
    """The prompt that carries out a plan whose agent is not running any more."""
    return f"The plan is approved. Carry it out now.\n\n{plan}"


def plan_from_elsewhere(plan: str) -> str:
    """The prompt that carries out a plan in a session that knows nothing else."""
    return (
        "Carry out this plan. It was worked out and approved in another conversation, of which you"
        f" know nothing; look at the files where something is not clear.\n\n{plan}"
    )


def answered(questions: dict[str, str]) -> str:
    """The prompt that answers questions of an agent that is not running any more."""
    lines = [
        f"You asked: {question}\nMy answer: {answer}" for question, answer in questions.items()
    ]
    return "\n\n".join(lines)


def session_name(message: str) -> str:
    """A short name from a first message: its first line, cut at a word."""
    first = next((line for line in message.splitlines() if line.strip()), "")
    name = clean_line(re.sub(r"^[#>*\-/\s]+", "", first))
    if len(name) <= NAME_LENGTH:
        return name
    return name[:NAME_LENGTH].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


_STEP = re.compile(r"^[ \t]*(?:\d+[.)]|[-*])[ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.)、．][ \t]*\S", re.MULTILINE)
_FEWEST_STEPS = 3

_SPEAKS_OF_A_PLAN = re.compile(
    r"\b(?:\w{0,40}plan|steps?|\w{0,40}schritte?|plano?s?|pasos?|passos?|passi|piano|étapes?|stappen"
    r"|steg|kroki?|kroků|kroky|plán|план\w?|шаги?)\b|计划|計劃|計画|步骤|步驟|手順|계획|단계",
    re.IGNORECASE,
)
"""“Plan” and “steps” in the languages that agents are asked for most."""


def looks_like_plan(text: str) -> bool:
    """Whether an answer in plan mode without marks proposes one.

    It lists steps and speaks of them, or, in any language, numbers three or more of them and asks
    nothing after them.
    """
    if len(_STEP.findall(text)) >= 2 and _SPEAKS_OF_A_PLAN.search(text) is not None:
        return True
    numbers = _NUMBERED.findall(text)
    counts_up = [int(number) for number in numbers[:_FEWEST_STEPS]] == [1, 2, 3]
    return counts_up and not text.rstrip().endswith(("?", "？", "؟"))


def limit_ends_in(seconds: float) -> str:
    """When a limit ends, with the time of day where that is not near."""
    sentence = f"The limit ends in {spoken(seconds)}"
    if seconds < 60:
        return f"{sentence}."
    end = time.localtime(time.time() + seconds)
    is_today = end[:3] == time.localtime()[:3]
    return f"{sentence}, at {time.strftime('%H:%M' if is_today else '%H:%M on %Y-%m-%d', end)}."


def spoken(seconds: float) -> str:
    """`45 seconds`, `1 minute`, `2 hours`: the largest unit that fits, cut down."""
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        number = int(seconds) // size
        if number or size == 1:
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    raise AssertionError
