"""Markers that an agent is asked to put around its plan, for programs without plans of their own.

They are Codex's; the text between them is the plan, in any language.
"""

from typing import Final

PLAN_START: Final = "<proposed_plan>"
PLAN_END: Final = "</proposed_plan>"


def parted(text: str) -> tuple[str, str]:
    """Split a text into the text without its plan, and the plan; an unclosed plan ends the text."""
    before, start, rest = text.partition(PLAN_START)
    if not start:
        return text, ""
    plan, _, after = rest.partition(PLAN_END)
    return "\n\n".join(filter(None, (before.strip(), after.strip()))), plan.strip()
