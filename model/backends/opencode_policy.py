"""What Spinney's modes mean for OpenCode: the agents of its configuration, and who decides about
what the program asks.

Whatever may change something asks; a mode is a policy of ours over those questions. So sub-agents,
which have rules of their own, keep to the mode of the conversation as well.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Any, Final, Literal

from model.backends.base import Launch, Settings
from model.profiles import merged
from model.resources import ExecutionMode

Verdict = Literal["allow", "ask", "deny"]

PLAN_DENIAL: Final = "Plan mode changes nothing. Put this step into the plan and propose it."
DENIAL: Final = "The user does not allow this. Find another way, or ask."
NO_TOOLS: Final = "There are no tools for this. Answer in text alone."

PLAN_START: Final = "<proposed_plan>"
PLAN_END: Final = "</proposed_plan>"

_PLAN_PROMPT: Final = (
    "You are in plan mode: read and think, but change nothing, neither files nor anything else. "
    "When the person wants something done, work out a plan for it and end your answer with the "
    f"whole plan between the lines {PLAN_START} and {PLAN_END}. It is shown to the person, who "
    "approves it, changes it or comments on it; so do not ask in words whether it is all right, "
    "and never carry it out before you are told that it is approved. A mere question is answered "
    "without a plan."
)

APPROVED: Final = "The plan is approved, and plan mode is over. Carry it out now."

_READING: Final[dict[str, Any]] = {
    "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},
    **dict.fromkeys(("glob", "grep", "list", "codesearch", "lsp", "skill", "question"), "allow"),
    **dict.fromkeys(("todowrite", "todoread"), "allow"),
}
"""Rules for what changes nothing; what a sub-agent does asks again under its own name."""

_ASKING: Final = {"*": "ask", **_READING}

_SUB_AGENT: Final = {"permission": dict.fromkeys(("edit", "bash", "webfetch", "websearch"), "ask")}

_TEXT_AGENT: Final = "spinney-text"
"""Writes one text, without tools."""

_AGENTS: Final[dict[str, Any]] = {
    # Their names stand in the program's own prompts: it tells `plan` not to change anything.
    "plan": {"disable": False, "permission": _ASKING},
    "build": {"disable": False, "permission": _ASKING},
    "yolo": {
        "mode": "primary",
        "description": "Works without asking",
        # The question comes before the file changes, so that what stood there can be read; and
        # how many sub-agents may work is not the mode's to say.
        "permission": {"*": "allow", "edit": "ask", "task": "ask"},
    },
    _TEXT_AGENT: {
        "mode": "primary",
        "description": "Writes short texts",
        "prompt": "You write the one text that is asked for, and nothing else.",
        "permission": {"*": "deny"},
    },
    "general": _SUB_AGENT,
    "explore": _SUB_AGENT,
}

_WEB: Final = frozenset({"webfetch", "websearch"})

_READING_COMMANDS: Final = frozenset(
    {"cat", "grep", "head", "ls", "pwd", "stat", "tail", "tree", "uname", "wc"}
)
_READING_GIT: Final = frozenset({"blame", "diff", "log", "ls-files", "rev-parse", "show", "status"})
# Git takes the beginning of a long option for the whole.
_WRITING_OPTION: Final = re.compile(r"-[a-zA-Z]*[oO]|--[oet]")
"""Options that may write a file, or run another program."""


def configuration(launch: Launch) -> dict[str, Any]:
    """What is laid over the person's configuration for this session: the profile and our own."""
    ours: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        # Its own copy of every state of the files takes seconds, and nobody here goes back to one.
        "snapshot": False,
        "agent": _AGENTS,
        # The agent reads why something is denied, and finds another way.
        "experimental": {"continue_loop_on_deny": True},
        "mcp": {name: {"enabled": False} for name in sorted(launch.mcp_off)},
    }
    return merged(launch.profile, ours)


def agent_of(mode: ExecutionMode, *, text_only: bool) -> str:
    """The agent that answers a prompt."""
    return _TEXT_AGENT if text_only else mode


def system_prompt(launch: Launch, mode: ExecutionMode) -> str:
    """What is added to the program's own prompt for this turn."""
    if launch.text_only or mode != "plan":
        return launch.system_prompt
    return "\n\n".join(filter(None, (launch.system_prompt, _PLAN_PROMPT)))


def judge(settings: Settings, permission: str, patterns: Sequence[str]) -> Verdict:
    """Whether what the program asks about may happen; sub-agents are not for this to decide."""
    if settings.mode == "yolo":
        return "allow"
    if permission in _WEB:
        if settings.mode == "plan":
            return "allow" if settings.web_in_plan else "deny"
        return "ask"
    if permission == "edit":
        return "deny" if settings.mode == "plan" else "allow"
    if permission == "bash" and patterns and all(map(_only_reads, patterns)):
        return "allow"
    return "ask"


def _only_reads(command: str) -> bool:
    """Whether a command plainly changes nothing: one program that reads, and no shell's tricks."""
    if re.search(r"[;&|<>`$(){}\n\\]", command):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or any(_WRITING_OPTION.match(word) for word in words[1:]):
        return False
    if words[0] == "git":
        return len(words) > 1 and words[1] in _READING_GIT
    return words[0] in _READING_COMMANDS
