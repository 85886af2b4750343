"""What Spinney's modes mean for OpenCode: who decides about what the program asks.

Whatever may change something asks (see `rules.js`); a mode is a policy of ours over those
questions. So sub-agents and the person's own agents keep to the mode of the conversation as well,
and a changed mode holds at once.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Any, Final, Literal

from model.backends.base import Launch, Settings
from model.backends.plan_markers import PLAN_END, PLAN_START
from model.domain.resources import ExecutionMode
from model.preferences.profiles import merged

Verdict = Literal["allow", "ask", "deny"]

OWN_DENIAL: Final = "The user's configuration of OpenCode does not allow this. Find another way."
PLAN_DENIAL: Final = "Plan mode changes nothing. Put this step into the plan and propose it."
DENIAL: Final = "The user does not allow this. Find another way, or ask."
NO_TOOLS: Final = "There are no tools for this. Answer in text alone."

_PLAN_PROMPT: Final = (
    "You are in plan mode: read and think, but change nothing, neither files nor anything else. "
    "When the person wants something done, work out a plan for it and end your answer with the "
    f"whole plan between the lines {PLAN_START} and {PLAN_END}. It is shown to the person, who "
    "approves it, changes it or comments on it; so do not ask in words whether it is all right, "
    "and never carry it out before you are told that it is approved. A mere question is answered "
    "without a plan."
)

APPROVED: Final = "The plan is approved, and plan mode is over. Carry it out now."

_TEXT_AGENT: Final = "spinney-text"
"""Writes one text, without tools."""

_HARMLESS: Final = frozenset(
    {"read", "glob", "grep", "list", "codesearch", "lsp", "skill", "todowrite", "todoread"}
)
"""What a person may allow in plan mode too: it changes nothing."""

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


def judge(
    settings: Settings, permission: str, patterns: Sequence[str], own: Verdict | None = None
) -> Verdict:
    """Whether what the program asks about may happen; sub-agents are not for this to decide.

    `own` is what the person's configuration says of it. A denial holds in every mode, and who wants
    to be asked is, but for yolo; what is allowed there does not widen plan mode.
    """
    verdict = _by_mode(settings, permission, patterns)
    if own == "deny" or settings.mode == "yolo":
        return own if own == "deny" else verdict
    if own == "allow" and (settings.mode == "build" or permission in _HARMLESS):
        return "allow"
    return "ask" if own == "ask" and verdict == "allow" else verdict


def _by_mode(settings: Settings, permission: str, patterns: Sequence[str]) -> Verdict:
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
