"""The `/commands` of Spinney in the message box; all others are the agent's.

A message that would be a command, or run in a shell, is sent as it is if it begins with the
command's own escape: `//name` and `\\!`.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tui.keys.keymap import BY_ID

Values = Literal["", "agents", "models", "modes", "thinking"]
"""What completes the argument of a command; '' for a free text."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command; without an argument it performs the action of the key map."""

    action: str
    argument: str = ""
    """Its argument as shown in the list; empty if it takes none."""
    values: Values = ""
    is_rare: bool = False
    """Whether it is below all others in the list, where a common one is completed first."""

    @property
    def title(self) -> str:
        """What it does."""
        return BY_ID[self.action].title


SLASH_COMMANDS: Final[Mapping[str, SlashCommand]] = {
    "adopt": SlashCommand("adopt_worktree", is_rare=True),
    "agent": SlashCommand("choose_agent", "[name]", "agents"),
    "approve": SlashCommand("review_plan"),
    "archive": SlashCommand("archive_worktree"),
    "budget": SlashCommand("set_budget_of_session", "[dollars]"),
    "at": SlashCommand("send_later", "[time] [message]", is_rare=True),
    "clear": SlashCommand("begin_afresh"),
    "code-review": SlashCommand("code_review", is_rare=True),
    "commit": SlashCommand("commit"),
    "compact": SlashCommand("compact", "[what to keep]"),
    "compare": SlashCommand("compare", is_rare=True),
    "conflicts": SlashCommand("show_conflicts", is_rare=True),
    "continue": SlashCommand("continue_session", "[now|18:00|in 2 h|never]", is_rare=True),
    "cost": SlashCommand("show_usage"),
    "diff": SlashCommand("open_diff"),
    "editor": SlashCommand("open_worktree"),
    "elsewhere": SlashCommand("continue_elsewhere", is_rare=True),
    "fork": SlashCommand("fork_session"),
    "guests": SlashCommand("show_guests", is_rare=True),
    "help": SlashCommand("help"),
    "import": SlashCommand("continue_foreign_session", is_rare=True),
    "issues": SlashCommand("open_work"),
    "land": SlashCommand("land", is_rare=True),
    "landing": SlashCommand("show_landing"),
    "log": SlashCommand("log"),
    "mode": SlashCommand("cycle_mode", "[plan|build|yolo]", "modes"),
    "model": SlashCommand("choose_model", "[name]", "models"),
    "new": SlashCommand("new_session"),
    "notices": SlashCommand("show_notices"),
    "now": SlashCommand("send_now", "[message]"),
    "paste": SlashCommand("paste_image"),
    "pr": SlashCommand("pull_request"),
    "push": SlashCommand("push"),
    "quit": SlashCommand("quit"),
    "port": SlashCommand("open_port", is_rare=True),
    "recreate": SlashCommand("recreate_worktree", is_rare=True),
    "redo": SlashCommand("redo_turn", is_rare=True),
    "release-notes": SlashCommand("release_notes", is_rare=True),
    "rename": SlashCommand("rename_session", "[name]"),
    "resume": SlashCommand("resume_session"),
    "review": SlashCommand("open_diff"),
    "search": SlashCommand("search", "[text]"),
    "share": SlashCommand("share_session", is_rare=True),
    "shell": SlashCommand("open_shell"),
    "stash": SlashCommand("stash"),
    "sweep": SlashCommand("show_sweep", is_rare=True),
    "theme": SlashCommand("theme"),
    "thinking": SlashCommand("choose_thinking", "[level]", "thinking"),
    "train": SlashCommand("show_train", is_rare=True),
    "turns": SlashCommand("show_turns"),
    "undo": SlashCommand("undo_turn"),
    "usage": SlashCommand("show_usage"),
    "work": SlashCommand("open_work"),
}

_SHORTEST_TYPO: Final = 3
"""Letters of a name that may be taken for a mistyped command."""
_LIKENESS: Final = 0.75


def split_command(text: str) -> tuple[str, str] | None:
    """The name and the argument of a command of Spinney; `None` if the text is none."""
    line = text.strip()
    if not line.startswith("/") or "\n" in line:
        return None
    name, _, argument = line[1:].partition(" ")
    return (name, argument.strip()) if name in SLASH_COMMANDS else None


def is_slash_command(text: str) -> bool:
    """Whether a message is a command of Spinney: a single line that starts with one."""
    return split_command(text) is not None


def find_problem(name: str, argument: str) -> str:
    """Why a command cannot be run, or ''."""
    if not argument or SLASH_COMMANDS[name].argument:
        return ""
    return (
        f"/{name} is a command of Spinney and takes no arguments. "
        f"Start with //{name} to send it to the agent."
    )


def suggest_command(text: str, known: Container[str]) -> str:
    """The command of Spinney that a message was probably meant to be, or ''.

    `known` contains the commands of the agent, with their slashes.
    """
    line = text.strip()
    word = line.partition(" ")[0]
    name = word[1:]
    is_name = name.isalpha() and len(name) >= _SHORTEST_TYPO
    if not line.startswith("/") or "\n" in line or not is_name or word in known:
        return ""
    import difflib  # only for an unknown command

    found = difflib.get_close_matches(name.lower(), SLASH_COMMANDS, 1, _LIKENESS)
    return f"/{found[0]}" if found else ""


def unescape_text(text: str) -> str:
    """Remove the escape of a message that is no command of Spinney and runs in no shell."""
    is_escaped = text.startswith("//") and is_slash_command(text[1:])
    return text[1:] if is_escaped or _is_shell_escape(text) else text


def escape_text(text: str) -> str:
    """Escape a message that is put back into the box, so that sending it sends the same."""
    if is_slash_command(text):
        return f"/{text.lstrip()}"
    return f"\\{text}" if text.startswith("!") or _is_shell_escape(text) else text


def _is_shell_escape(text: str) -> bool:
    return text.startswith("\\") and text.lstrip("\\").startswith("!")
