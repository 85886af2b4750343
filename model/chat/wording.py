"""The words that Spinney itself says to agents, and how names and plans are found in words."""

import re

from model.text import clean_line

NAME_LENGTH = 48


def approved_plan(plan: str) -> str:
    """The prompt that carries out a plan whose agent is not running any more."""
    return f"The plan is approved. Carry it out now.\n\n{plan}"


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


_STEP = re.compile(r"^\s*(?:\d+[.)]|[-*])\s+\S", re.MULTILINE)


def looks_like_plan(text: str) -> bool:
    """Whether an answer in plan mode proposes one: it speaks of a plan or steps and lists them."""
    return len(_STEP.findall(text)) >= 2 and re.search(r"\b(plan|steps?)\b", text, re.I) is not None
