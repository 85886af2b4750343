"""What Spinney's modes and thinking levels mean for Claude Code, and who decides about its tools.

`yolo` is a policy of ours: the program asks and is told yes at once. Its own bypass mode is never
used, because a process that may switch to it runs everything unasked in plan mode (2.1.197).
"""

from typing import Any, Final, Literal

from model.domain.resources import ExecutionMode, ThinkingLevel

Verdict = Literal["allow", "ask", "deny"]

PERMISSION_MODE: Final[dict[ExecutionMode, str]] = {
    "plan": "plan",
    "build": "acceptEdits",
    "yolo": "acceptEdits",
}

_PLAN_DENIAL: Final = (
    "Plan mode changes nothing. Put this step into the plan and propose it with ExitPlanMode."
)

DENIAL: Final = "The user does not allow this. Find another way, or ask."

_WEB_TOOLS: Final = ("WebFetch", "WebSearch")

WEB_HOOK: Final = {"PreToolUse": [{"matcher": "|".join(_WEB_TOOLS), "hookCallbackIds": ["web"]}]}
"""The program asks us before it uses the web, also where it would not ask for permission."""

_WEB_DENIAL: Final = (
    "In plan mode the web may not be used. Plan with what the repository tells, or ask the user."
)

PLAN_TOOL: Final = "ExitPlanMode"
QUESTION_TOOL: Final = "AskUserQuestion"

SHOWN_OTHERWISE: Final = frozenset({PLAN_TOOL, QUESTION_TOOL, "EnterPlanMode"})
"""Tools whose call is a plan, a question or a change of mode to us, not a tool's use."""

EDIT_TOOLS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})

_HARMLESS: Final = frozenset(
    {
        "Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite",
        "Task", "Agent", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskUpdate", "Skill",
    }
)  # fmt: skip
"""Tools that change nothing themselves; what a sub-agent does asks again under its own name."""


THINKING_TOKENS: Final[dict[ThinkingLevel, int]] = {
    "off": 0,
    "think": 4_000,
    "megathink": 10_000,
    "ultrathink": 31_999,
}
"""For models that do not take an effort instead."""


def judge(mode: ExecutionMode, tool: str, web_in_plan: bool) -> Verdict:
    """Whether a tool that the program asks about may run; plans and questions always ask."""
    if tool in (PLAN_TOOL, QUESTION_TOOL):
        return "ask"
    if mode == "yolo":
        return "allow"
    if mode == "plan":
        if tool in _WEB_TOOLS:
            return "allow" if web_in_plan else "deny"
        # An "allow" would really run there, also for an edit.
        return "allow" if tool in _HARMLESS else "deny" if tool in EDIT_TOOLS else "ask"
    return "ask"


def denial(tool: str) -> str:
    """What the model reads where `judge` denies a tool."""
    return _WEB_DENIAL if tool in _WEB_TOOLS else _PLAN_DENIAL


def judge_web(mode: ExecutionMode, web_in_plan: bool) -> dict[str, Any]:
    """The answer to `WEB_HOOK`; an empty one leaves the decision to the program's usual way."""
    if mode != "plan":
        return {}
    decision = (
        {"permissionDecision": "allow"}
        if web_in_plan
        else {
            "permissionDecision": "deny",
            "permissionDecisionReason": _WEB_DENIAL,
        }
    )
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


def mode_after(reported: str, mode: ExecutionMode) -> ExecutionMode:
    """Our mode, given the one the program reports; it cannot tell `build` from `yolo`."""
    if reported == "plan":
        return "plan"
    return "build" if mode == "plan" else mode
