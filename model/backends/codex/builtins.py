"""What Codex's own screen takes after a `/`: done as there where its server can, else told so.

Its server knows nothing of these words: as a message they would be text to the model, as which
nobody means them. Of 0.169.0; a folder `prompts` of the person means nothing to it any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from model.backends.base import Launch, Settings
from model.backends.codex.thread import Thread
from model.domain.resources import AgentCommand

Json = dict[str, Any]

OFFERED: Final = (
    AgentCommand(name="compact", description="Shorten the conversation to a summary"),
    AgentCommand(
        name="review",
        description="Review the changes that are not committed, or what you say",
        argument_hint="[what to review]",
    ),
    AgentCommand(name="init", description="Write an AGENTS.md with what agents should know here"),
    AgentCommand(name="status", description="Say with what settings Codex works here"),
)

INIT: Final = (
    "Write a file AGENTS.md at the root of this repository: a short guide for those who work on it,"
    " people and agents. If there is one already, leave it as it is and say so. Look at the"
    " repository first, and write only what holds for it: how it is laid out, how it is built, run"
    " and tested, how code is written here, what commits and pull requests look like. At most 400"
    " words, with headings."
)

_SETTING: Final = "It is a setting of the session in Spinney."
_OWN: Final = "Spinney does that itself."
_SCREEN: Final = "Run `codex` in a terminal for it."

_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("model", "permissions", "approvals", "plan", "rename", "reasoning"), _SETTING),
    **dict.fromkeys(
        (
            "archive", "clear", "copy", "delete", "diff", "exit", "export", "mention", "new",
            "quit", "resume", "worktree",
        ),
        _OWN,
    ),
    **dict.fromkeys(
        (
            "agents", "app", "apps", "approve", "btw", "cd", "daemon", "debug-config",
            "experimental", "feedback", "fork", "goal", "hooks", "ide", "import", "keymap",
            "login", "logout", "mcp", "memories", "personality", "pet", "plugins", "ps", "pwd",
            "raw", "recap", "rollout", "setup-default-sandbox", "side", "skills", "statusline",
            "stop", "subagents", "theme", "title", "usage", "vim", "voice", "warnings",
        ),
        _SCREEN,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """One that is carried out."""

    name: Literal["compact", "review", "init", "status"]
    argument: str = ""

    @property
    def target(self) -> Json:
        """What is to be reviewed."""
        if self.argument:
            return {"type": "custom", "instructions": self.argument}
        return {"type": "uncommittedChanges"}


def command_in(text: str, home: Path) -> Command | str | None:
    """The command that a message is, or why it is not done; `None` for any other message.

    Reads files below the program's `home`: call it in a thread.
    """
    name, _, argument = text.strip().partition(" ")
    if not name.startswith("/") or "\n" in name:
        return None
    name = name.removeprefix("/")
    match name:
        case "compact" | "review" | "init" | "status":
            return Command(name, argument.strip())
        case _ if name in _ELSEWHERE:
            return f"`/{name}` belongs to the screen of Codex and was not sent. {_ELSEWHERE[name]}"
        case _ if name.isidentifier() or name.replace("-", "_").isidentifier():
            return _as_prompt(name, home)
    return None


def status(launch: Launch, settings: Settings, thread: Thread, chosen: Json) -> str:
    """What `/status` tells of a session, as Markdown."""
    told = {
        "Model": f"{chosen['model']}, effort {chosen['reasoning_effort']}",
        "Mode": settings.mode,
        "Folder": f"`{launch.worktree}`",
        "Conversation": f"`{thread.id}`",
        "MCP servers": ", ".join(thread.servers) or "none",
    }
    return "\n".join(f"- {name}: {value}" for name, value in told.items())


def _as_prompt(name: str, home: Path) -> str | None:
    file = home / "prompts" / f"{name}.md"
    if not file.is_file():
        return None
    return (
        f"Codex takes no prompts of its folder `prompts` any more, so `/{name}` was not sent."
        f" Make a skill of {file}: a folder `skills/{name}` with a `SKILL.md`, beside `prompts`."
    )
