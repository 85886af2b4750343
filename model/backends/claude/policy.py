"""Maps Spinney's modes and thinking levels to Claude Code, and decides about its tool calls.

`yolo` is a policy of Spinney: the program asks, and every request is allowed at once. The program's
own bypass mode is never used, because a process that may switch to it runs everything without
asking in plan mode (2.1.197).
"""

from typing import Any, Final, Literal

from model.domain.modes import ExecutionMode, ThinkingLevel

Decision = Literal["allow", "ask", "deny"]

PERMISSION_MODE: Final[dict[ExecutionMode, str]] = {
    "plan": "plan",
    "build": "acceptEdits",
    "yolo": "acceptEdits",
}

_PLAN_DENIAL: Final = (
    "Plan mode changes nothing. Put this step into the plan and propose it with ExitPlanMode."
)

USER_DENIAL: Final = "The user does not allow this. Find another way, or ask."

_WEB_TOOLS: Final = ("WebFetch", "WebSearch")

WEB_HOOK: Final = {"PreToolUse": [{"matcher": "|".join(_WEB_TOOLS), "hookCallbackIds": ["web"]}]}
"""Makes the program ask before it uses the web, even if that needs no permission."""

_WEB_DENIAL: Final = (
    "In plan mode the web may not be used. Plan with what is in the repository, or ask the user."
)

PLAN_TOOL: Final = "ExitPlanMode"
QUESTION_TOOL: Final = "AskUserQuestion"

HIDDEN_TOOLS: Final = frozenset({PLAN_TOOL, QUESTION_TOOL, "EnterPlanMode"})
"""Tools whose calls are shown as a plan, a question or a mode change, not as tool calls."""

EDIT_TOOLS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})

_SAFE_TOOLS: Final = frozenset(
    {
        "Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite",
        "Task", "Agent", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskUpdate", "Skill",
    }
)  # fmt: skip
"""Tools that change nothing themselves; the tools of a sub-agent ask under their own names."""


THINKING_TOKENS: Final[dict[ThinkingLevel, int]] = {
    "off": 0,
    "think": 4_000,
    "megathink": 10_000,
    "ultrathink": 31_999,
}
"""For models that take a token budget instead of an effort."""


def decide(mode: ExecutionMode, tool: str, web_in_plan: bool) -> Decision:
    """Decide whether a tool may run; plans and questions always ask the user."""
    if tool in (PLAN_TOOL, QUESTION_TOOL):
        return "ask"
    if mode == "yolo":
        return "allow"
    if mode == "plan":
        if tool in _WEB_TOOLS:
            return "allow" if web_in_plan else "deny"
        # "allow" would really run the tool in plan mode, even an edit.
        return "allow" if tool in _SAFE_TOOLS else "deny" if tool in EDIT_TOOLS else "ask"
    return "ask"


def denial_reason(tool: str) -> str:
    """The reason for the model when `decide` denies a tool."""
    return _WEB_DENIAL if tool in _WEB_TOOLS else _PLAN_DENIAL


def decide_web(mode: ExecutionMode, web_in_plan: bool) -> dict[str, Any]:
    """The response to `WEB_HOOK`; an empty one leaves the decision to the program's own rules."""
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


def resolve_mode(reported: str, mode: ExecutionMode) -> ExecutionMode:
    """Spinney's mode, given the one the program reports; to it, `build` and `yolo` are the same."""
    if reported == "plan":
        return "plan"
    return "build" if mode == "plan" else mode
