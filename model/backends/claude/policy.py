"""Maps Spinney's modes and thinking levels to Claude Code, and decides about its tool calls.

`yolo` is a policy of Spinney: the program asks, and every request is allowed at once. The program's
own bypass mode is never used, because a process that may switch to it runs everything without
asking in plan mode (2.1.197).
"""

from collections.abc import Mapping
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

_WEB_DENIAL: Final = (
    "In plan mode the web may not be used. Plan with what is in the repository, or ask the user."
)

PLAN_TOOL: Final = "ExitPlanMode"
QUESTION_TOOL: Final = "AskUserQuestion"

HIDDEN_TOOLS: Final = frozenset({PLAN_TOOL, QUESTION_TOOL, "EnterPlanMode"})
"""Tools whose calls are shown as a plan, a question or a mode change, not as tool calls."""

EDIT_TOOLS: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})

REFUSED_TOOLS: Final = (
    # They act for other sessions, on this machine or elsewhere: past their modes, unseen.
    "SendMessage", "SendFile", "ListAgents", "ListPeers", "FetchInboxMessage", "SendToProject",
    "TeamCreate", "TeamDelete", "RemoteTrigger", "PushNotification",
    # They start turns or agents of their own, or work on after the turn.
    "CronCreate", "CronDelete", "CronList", "Monitor", "ScheduleWakeup", "SubscribePR", "Workflow",
    # Spinney manages the worktrees.
    "EnterWorktree", "ExitWorktree",
)  # fmt: skip
"""Tools that no mode may use; versions without one of them ignore its name."""

SUB_AGENT_TOOLS: Final = ("Agent", "Task")
"""The tools that start sub-agents, in newer and in older versions."""

_KNOWN_TOOLS: Final = (
    *EDIT_TOOLS, *HIDDEN_TOOLS,
    "Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "LSP", "ReportFindings",
    "Bash", "BashOutput", "KillShell", "PowerShell", "TaskOutput", "TaskStop", "Skill",
    "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate",
    "SlashCommand", "StructuredOutput", "SubagentHandback",
    "ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool",
)  # fmt: skip
"""Tools for which the program itself asks whenever they could do harm."""

USE_HOOK: Final = "use"
EDIT_HOOK: Final = "edit"
WORKTREE_HOOK: Final = "worktree"

OTHER_TOOLS: Final = f"^(?!(?:{'|'.join(sorted(_KNOWN_TOOLS))})$|mcp__)"
"""Matches every tool but the known ones and those of MCP servers, about which the program asks."""

HOOKS: Final = {
    "PreToolUse": [
        {"matcher": OTHER_TOOLS, "hookCallbackIds": [USE_HOOK]},
        {"matcher": f"^(?:{'|'.join(sorted(EDIT_TOOLS))})$", "hookCallbackIds": [EDIT_HOOK]},
    ],
    "WorktreeCreate": [{"hookCallbackIds": [WORKTREE_HOOK]}],
}
"""Makes the program ask before it uses another tool or edits a file, even if that needs no
permission, and before it creates a worktree. `disableAllHooks` does not switch these off (2.1.330).
"""

_ISOLATION_DENIAL: Final = (
    "Spinney manages the worktrees: start the sub-agent without `isolation`, in this worktree."
)

WORKTREE_NOTE: Final = (
    "A sub-agent was to work in a worktree of its own (`isolation` in its definition), which is not"
    " created: take that line out of the definition, or create a worktree in Spinney."
)

_REFUSAL: Final = "This tool is not available in Spinney."

_UNKNOWN_TOOL: Final = "Spinney does not know what this tool may do."

_MEMORY_EDIT: Final = "Later sessions, in any mode, read this file as instructions."


THINKING_TOKENS: Final[dict[ThinkingLevel, int]] = {
    "off": 0,
    "think": 4_000,
    "megathink": 10_000,
    "ultrathink": 31_999,
}
"""For models that take a token budget instead of an effort."""


def decide(mode: ExecutionMode, tool: str, reason: str, web_in_plan: bool) -> Decision:
    """Decide about a tool for which the program asks; plans and questions always ask the user.

    `reason` is the kind of reason for which it asks. Plan mode allows nothing that build mode asks
    about, whatever the tool: only the program knows why it does not simply use it. The exception is
    the web, by preference.
    """
    is_web = tool in _WEB_TOOLS
    if tool in REFUSED_TOOLS:
        return "deny"
    if mode == "plan" and (tool in EDIT_TOOLS or (is_web and not web_in_plan)):
        return "deny"  # "allow" would really run the tool in plan mode, even an edit
    # The user's own rules and hooks ask even in the program's bypass mode (2.1.330).
    if tool in (PLAN_TOOL, QUESTION_TOOL) or reason in ("rule", "hook"):
        return "ask"
    return "allow" if mode == "yolo" or (mode == "plan" and is_web) else "ask"


def denial_reason(tool: str) -> str:
    """The reason for the model when `decide` denies a tool."""
    if tool in REFUSED_TOOLS:
        return _REFUSAL
    return _WEB_DENIAL if tool in _WEB_TOOLS else _PLAN_DENIAL


def decide_use(
    mode: ExecutionMode, tool: str, tool_input: Mapping[str, Any], web_in_plan: bool
) -> dict[str, Any]:
    """The response to `USE_HOOK`; an empty one leaves the decision to the program's own rules."""
    if tool in SUB_AGENT_TOOLS:
        return _answer_hook("deny", _ISOLATION_DENIAL) if tool_input.get("isolation") else {}
    if tool in REFUSED_TOOLS:
        return _answer_hook("deny", _REFUSAL)
    if tool in _WEB_TOOLS:
        if mode != "plan":
            return {}
        return _answer_hook("allow") if web_in_plan else _answer_hook("deny", _WEB_DENIAL)
    # The program may use it without asking, and then `decide` would not be called.
    return {} if mode == "yolo" else _answer_hook("ask", _UNKNOWN_TOOL)


def decide_edit(mode: ExecutionMode, *, is_plan: bool, is_memory: bool) -> dict[str, Any]:
    """The response to `EDIT_HOOK`; an empty one leaves the decision to the program's own rules.

    Those let it write its memory in any mode without asking (2.1.332), and what one session writes
    there is read by all others.
    """
    if is_plan or mode == "yolo":
        return {}
    if mode == "plan":
        return _answer_hook("deny", _PLAN_DENIAL)
    return _answer_hook("ask", _MEMORY_EDIT) if is_memory else {}


def _answer_hook(decision: Decision, reason: str = "") -> dict[str, Any]:
    because = {"permissionDecisionReason": reason} if reason else {}
    answer = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": {**answer, **because}}


def resolve_mode(reported: str, mode: ExecutionMode) -> ExecutionMode:
    """Spinney's mode, given the one the program reports; to it, `build` and `yolo` are the same."""
    if reported == "plan":
        return "plan"
    return "build" if mode == "plan" else mode
