"""The slash commands of Codex's own screen: carried out where its server supports them, otherwise
answered with a hint.

The server does not know these commands: sent as a message they would be plain text to the model,
which is never intended. As of 0.169.0, which no longer reads the user's folder `prompts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from model.backends.base import Launch, Settings
from model.backends.codex.thread import CodexThread
from model.backends.json_values import Json
from model.domain.agent_commands import AgentCommand

COMMANDS: Final = (
    AgentCommand(name="compact", description="Shorten the conversation to a summary"),
    AgentCommand(
        name="review",
        description="Review uncommitted changes, or what you describe",
        argument_hint="[what to review]",
    ),
    AgentCommand(name="init", description="Write an AGENTS.md with instructions for agents"),
    AgentCommand(name="status", description="Show Codex's settings in this session"),
)

INIT_PROMPT: Final = (
    "Write a file AGENTS.md at the root of this repository: a short guide for people and agents who"
    " work on it. If there is one already, leave it as it is and say so. Look at the"
    " repository first, and write only what holds for it: how it is laid out, how it is built, run"
    " and tested, how code is written here, what commits and pull requests look like. At most 400"
    " words, with headings."
)

_IN_SETTINGS: Final = "Change it in the settings of the session in Spinney."
_IN_SPINNEY: Final = "Spinney has its own command for that."
_IN_TERMINAL: Final = "Run `codex` in a terminal to use it."

_UNSUPPORTED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("model", "permissions", "approvals", "plan", "rename", "reasoning"), _IN_SETTINGS
    ),
    **dict.fromkeys(
        (
            "archive", "clear", "copy", "delete", "diff", "exit", "export", "mention", "new",
            "quit", "resume", "worktree",
        ),
        _IN_SPINNEY,
    ),
    **dict.fromkeys(
        (
            "agents", "app", "apps", "approve", "btw", "cd", "daemon", "debug-config",
            "experimental", "feedback", "fork", "goal", "hooks", "ide", "import", "keymap",
            "login", "logout", "mcp", "memories", "personality", "pet", "plugins", "ps", "pwd",
            "raw", "recap", "rollout", "setup-default-sandbox", "side", "skills", "statusline",
            "stop", "subagents", "theme", "title", "usage", "vim", "voice", "warnings",
        ),
        _IN_TERMINAL,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BuiltinCommand:
    """A command that Spinney carries out."""

    name: Literal["compact", "review", "init", "status"]
    argument: str = ""

    @property
    def review_target(self) -> Json:
        """The target of a review request."""
        if self.argument:
            return {"type": "custom", "instructions": self.argument}
        return {"type": "uncommittedChanges"}


def parse_command(text: str, home: Path) -> BuiltinCommand | str | None:
    """The command in a message, or why it is not supported; `None` for any other message.

    Reads files in the program's `home`: call it in a thread.
    """
    name, _, argument = text.strip().partition(" ")
    if not name.startswith("/") or "\n" in name:
        return None
    name = name.removeprefix("/")
    match name:
        case "compact" | "review" | "init" | "status":
            return BuiltinCommand(name, argument.strip())
        case _ if name in _UNSUPPORTED:
            return f"`/{name}` belongs to Codex's own screen and was not sent. {_UNSUPPORTED[name]}"
        case _ if name.isidentifier() or name.replace("-", "_").isidentifier():
            return _describe_old_prompt(name, home)
    return None


def format_status(launch: Launch, settings: Settings, thread: CodexThread, chosen: Json) -> str:
    """The answer to `/status`, as Markdown."""
    fields = {
        "Model": f"{chosen['model']}, effort {chosen['reasoning_effort']}",
        "Mode": settings.mode,
        "Folder": f"`{launch.worktree}`",
        "Conversation": f"`{thread.id}`",
        "MCP servers": ", ".join(thread.mcp_servers) or "none",
    }
    return "\n".join(f"- {name}: {value}" for name, value in fields.items())


def _describe_old_prompt(name: str, home: Path) -> str | None:
    file = home / "prompts" / f"{name}.md"
    if not file.is_file():
        return None
    return (
        f"Codex no longer supports its folder `prompts`, so `/{name}` was not sent."
        f" Make a skill of {file}: a folder `skills/{name}` with a `SKILL.md`, next to `prompts`."
    )
