"""The marks between which an agent is asked to put its plan, where its program has none of its own.

They are Codex's; what stands between them is a plan in any language.
"""

from typing import Final

PLAN_START: Final = "<proposed_plan>"
PLAN_END: Final = "</proposed_plan>"


def parted(text: str) -> tuple[str, str]:
    """A text without its plan, and the plan; one without an end goes to the text's end."""
    before, start, rest = text.partition(PLAN_START)
    if not start:
        return text, ""
    plan, _, after = rest.partition(PLAN_END)
    return "\n\n".join(filter(None, (before.strip(), after.strip()))), plan.strip()
