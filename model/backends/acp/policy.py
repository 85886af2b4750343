"""Who decides about what an ACP agent asks, and which of its options is the answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from model.backends import base
from model.backends.plan_markers import PLAN_END, PLAN_START
from model.domain.resources import ExecutionMode

Verdict = Literal["allow", "ask", "deny"]
Option = Mapping[str, Any]

SWITCH_MODE: Final = "switch_mode"
"""The kind of a call by which an agent leaves plan mode; its content is the plan."""

PLAN_WORDS: Final = (
    "You are in plan mode: read and think, change nothing, and answer with a plan of the steps"
    f" between the lines {PLAN_START} and {PLAN_END}. A mere question is answered without a plan."
)
"""What an agent without a plan mode of its own is told with each message."""

_READING: Final = frozenset({"read", "search", "think"})
_CHANGING: Final = frozenset({"edit", "delete", "move"})

_KINDS: Final[Mapping[base.Verdict, tuple[str, ...]]] = {
    "allow": ("allow_once", "allow_always"),
    "deny": ("reject_once", "reject_always"),
}


def judge(
    mode: ExecutionMode,
    kind: str,
    paths: Sequence[str],
    worktree: Path,
    *,
    plans_itself: bool,
    web: bool,
) -> Verdict:
    """Whether a call of this kind may run. Looks at links on disk: call it in a thread.

    `plans_itself`: the agent keeps to plan mode, so a person may be asked for the rest; who only
    was told to plan is denied all but reading. `web`: whether plan mode may read the web.
    """
    if mode == "yolo":
        return "allow"
    inside = all(_is_inside(path, worktree) for path in paths)
    if kind in _READING:
        return "allow" if inside else "ask"
    if mode == "plan":
        if kind == "fetch":
            return "allow" if web else "deny"
        return "deny" if kind in _CHANGING or not plans_itself else "ask"
    return "allow" if kind == "edit" and paths and inside else "ask"


def option_for(decision: base.Verdict, options: Sequence[Option]) -> str | None:
    """The id of the option that says it, `None` where the agent offers no such one."""
    for kind in _KINDS[decision]:
        for option in options:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return str(option["optionId"])
    return None


def _is_inside(path: str, worktree: Path) -> bool:
    """Whether the file lies in the worktree, wherever links on the way to it lead."""
    try:
        return (worktree / path).resolve().is_relative_to(worktree.resolve())
    except (OSError, ValueError, RuntimeError):  # no path at all, or a circle of links
        return False
