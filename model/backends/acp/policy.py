"""Decides on an ACP agent's permission requests, and selects the option to answer with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from model.backends import base
from model.backends.plan_markers import PLAN_END, PLAN_START
from model.domain.modes import ExecutionMode

Verdict = Literal["allow", "ask", "deny"]
Option = Mapping[str, Any]

SWITCH_MODE: Final = "switch_mode"
"""The kind of the tool call with which an agent leaves plan mode; its content is the plan."""

PLAN_INSTRUCTIONS: Final = (
    "You are in plan mode: read and think, change nothing, and answer with a plan of the steps"
    f" between the lines {PLAN_START} and {PLAN_END}. A mere question is answered without a plan."
)
"""Sent with each message to an agent without a plan mode of its own."""

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
    has_plan_mode: bool,
    web: bool,
) -> Verdict:
    """Whether a call of this kind may run. Resolves symlinks on disk: call it in a thread.

    With `has_plan_mode` the agent itself enforces plan mode, so the user is asked about other
    calls; without it, all calls but reading are denied. `web`: whether plan mode may read the web.
    """
    if mode == "yolo":
        return "allow"
    inside = all(_is_inside(path, worktree) for path in paths)
    if kind in _READING:
        return "allow" if inside else "ask"
    if mode == "plan":
        if kind == "fetch":
            return "allow" if web else "deny"
        return "deny" if kind in _CHANGING or not has_plan_mode else "ask"
    return "allow" if kind == "edit" and paths and inside else "ask"


def find_option(decision: base.Verdict, options: Sequence[Option]) -> str | None:
    """The id of the option for this decision; `None` if the agent offers none."""
    for kind in _KINDS[decision]:
        for option in options:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return str(option["optionId"])
    return None


def _is_inside(path: str, worktree: Path) -> bool:
    """Whether the file is in the worktree after resolving symlinks."""
    try:
        return (worktree / path).resolve().is_relative_to(worktree.resolve())
    except (OSError, ValueError, RuntimeError):  # not a path, or a symlink loop
        return False
