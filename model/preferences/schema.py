"""Every setting: its key, bounds, default, group and one line of help.

The keys and values are those of the public interface (2.5). Both screens' settings pages and the
documentation are made from this class; reading and changing settings is in `preferences_changes`.
"""

import json
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from model.base.errors import SpinneyError
from model.domain.resources import ThinkingLevel

Theme = Literal["system", "light", "dark"]
UiFont = Literal["inter", "geist", "roboto", "lato", "system"]
ChatFont = Literal[
    "jetbrains-mono", "fira-code", "source-code-pro", "inter", "geist", "roboto", "lato",
]  # fmt: skip
SyntaxTheme = Literal[
    "vitesse-black", "vitesse-dark", "vitesse-light",
    "hosting-dark", "hosting-light", "hosting-dark-dimmed",
    "dracula", "dracula-soft", "nord",
    "catppuccin-mocha", "catppuccin-macchiato", "catppuccin-frappe", "catppuccin-latte",
    "one-dark-pro", "one-light", "tokyo-night",
    "rose-pine", "rose-pine-moon", "rose-pine-dawn",
]  # fmt: skip
Model = Literal["model_1", "model_2", "model_3", "model_4", "model_5"]
CodexModel = Literal[
    "codex_model_1", "codex_model_2", "codex_model_3", "codex_model_4", "codex_model_5",
]  # fmt: skip
DefaultBackend = Literal["backend_a", "backend_b", "backend_c"]
OwnAgent = Annotated[str, StringConstraints(pattern=r"^acp:[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""An agent of `agents.toml`; one that is not there any more counts as none."""
Terminal = Literal[
    "terminal", "warp", "ghostty", "iterm2", "windows-terminal", "powershell", "cmd",
]  # fmt: skip
Editor = Literal["zed", "vscode", "cursor", "xcode"]
Sound = Literal["none", "ding", "chime", "pop", "choochoo"]
PromptKey = Literal[
    "investigate_issue", "investigate_pr", "pr_content", "commit_message", "code_review",
    "context_summary", "resolve_conflicts", "investigate_workflow_run", "release_notes",
    "session_naming", "parallel_execution", "global_system_prompt", "session_recap",
    "investigate_security_alert", "investigate_advisory", "investigate_tracker_issue",
]  # fmt: skip

PROMPT_KEYS: tuple[PromptKey, ...] = PromptKey.__args__  # type: ignore[attr-defined]
WRITTEN_PROMPTS: tuple[PromptKey, ...] = (
    "pr_content", "commit_message", "context_summary", "session_naming", "session_recap",
)  # fmt: skip
"""Prompts of texts that an agent writes: each has an agent, a model and an account."""
TOLD_PROMPTS: tuple[PromptKey, ...] = (
    "resolve_conflicts", "parallel_execution", "global_system_prompt",
)  # fmt: skip
"""Prompts that are handed to a session's agent as they are. All others have no use yet."""
SMALL_PROMPTS: frozenset[PromptKey] = frozenset(
    {"commit_message", "pr_content", "release_notes", "session_naming", "session_recap"}
)
"""Prompts that sum up in a few lines, for which the smallest model is enough."""
MERGED_KEYS = (
    "magic_prompts", "magic_prompt_models", "magic_prompt_providers", "magic_prompt_backends",
)  # fmt: skip
"""Objects with a fixed set of entries: a partial value changes only the entries that it has."""
BACKEND = "one of backend_a, backend_b, backend_c, or acp: and the name of an agent of agents.toml"
TEXTS_OR_NULLS = "an object of texts or nulls"
LESS_THINKING = (
    "A session that thinks less has less of it: with megathink at most high, with think medium, "
    "with off low."
)
BELL = "The page plays it, in each browser that it is open in; for any of them the terminal rings."


def _whole(value: Any) -> Any:
    """`3.0` is the whole number 3 to a client whose numbers are all floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = int | float
Whole = Annotated[int, BeforeValidator(_whole)]
ProviderModel = Annotated[str, StringConstraints(pattern=r"^[^/\s]+/\S+$")]


def _setting(
    default: Any,
    group: str,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
    form: str = "",
    more: str = "",
    shown: bool = True,
) -> Any:
    """A field with all that the settings pages show.

    `secret` values never leave this machine; `form` says what a value must be, where its type
    does not; `more` is what else one should know, in sentences. What is not `shown` is taken from
    clients and kept, and does nothing.
    """
    return Field(
        default=default,
        description=description,
        ge=low,
        le=high,
        json_schema_extra={
            "group": group,
            "secret": secret,
            "form": form,
            "more": more,
            "shown": shown,
        },
    )


class CliProfile(BaseModel):
    """Settings of an agent program under a name, to switch between accounts and endpoints."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    name: str
    settings_json: str
    """JSON text in the program's own settings format; may hold keys."""
    file_path: str | None = None
    """A file with such settings, which those above stand over; read whenever an agent starts."""
    supports_thinking: bool | None = None
    """With false, sessions that are started with it do not think, whatever they say."""

    def settings(self) -> dict[str, Any]:
        """The settings as an object. Raises `SpinneyError` where they are none."""
        try:
            found = json.loads(self.settings_json)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise SpinneyError(
                f"The settings of the provider profile “{self.name}” are no JSON object. Mend them"
                " in the preferences."
            )
        return found


class Preferences(BaseModel):
    """All settings of this person. Keys that a newer version wrote are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    # fmt: off
    theme: Theme = _setting("system", "Appearance", "Light or dark, or as the system says")
    ui_font_size: Number = _setting(
        16, "Appearance", "Size of the browser page's text, in pixels", low=12, high=24)
    chat_font_size: Number = _setting(
        16, "Appearance", "Size of the chat's text in the browser, in pixels", low=12, high=24)
    ui_font: UiFont = _setting("geist", "Appearance", "Font of the browser page")
    chat_font: ChatFont = _setting("geist", "Appearance", "Font of the chat in the browser")
    syntax_theme_dark: SyntaxTheme = _setting(
        "vitesse-black", "Appearance", "Colours of code on a dark screen")
    syntax_theme_light: SyntaxTheme = _setting(
        "hosting-light", "Appearance", "Colours of code on a light screen")
    zoom_level: Number = _setting(
        90, "Appearance", "Zoom of the browser page, in percent", low=50, high=200)
    canvas_layout: Literal["grid", "list"] = _setting(
        "list", "Appearance", "How the sessions of a project are laid out")
    show_keybinding_hints: bool = _setting(
        True, "Appearance", "Show the keys at the foot of the terminal's screen")

    selected_model: Model = _setting("model_1", "Models", "Model of new Claude Code sessions")
    thinking_level: ThinkingLevel = _setting(
        "ultrathink", "Models", "How much a new session thinks before it answers")
    default_effort_level: Literal["low", "medium", "high", "max"] = _setting(
        "high", "Models", "The most effort of models that take one",
        more="While it is high, effortLevel of your Claude Code settings goes first. "
        + LESS_THINKING)
    default_backend: DefaultBackend | OwnAgent = _setting(
        "backend_a", "Models", "Agent of new sessions, where the project names none",
        form=BACKEND)
    selected_codex_model: CodexModel = _setting(
        "codex_model_1", "Models", "Model of new Codex sessions")
    selected_opencode_model: ProviderModel = _setting(
        "backend_c/codex_model_1", "Models", "Model of new OpenCode sessions, as provider/model",
        form="text of the form provider/model")
    default_codex_reasoning_effort: Literal["low", "medium", "high", "xhigh"] = _setting(
        "high", "Models", "The most that Codex reasons before it answers",
        more="While it is high, model_reasoning_effort of your Codex configuration goes first. "
        + LESS_THINKING)
    codex_multi_agent_enabled: bool = _setting(
        False, "Models", "Let Codex work with several agents at once")
    codex_max_agent_threads: Whole = _setting(
        3, "Models", "How many agents Codex may run at once", low=1, high=8)

    terminal: Terminal = _setting(
        "terminal", "Developer tools", "Program that opens a shell, where open_in says terminal",
        more="Without it, or without a desktop, the shell is on this screen.")
    editor: Editor = _setting(
        "zed", "Developer tools", "Program in which the terminal opens files and worktrees",
        more="Without it, or without a desktop, they are opened in $EDITOR on this screen.")
    open_in: Literal["editor", "terminal", "finder", "hosting"] = _setting(
        "editor", "Developer tools", "Where the terminal's “open” takes a worktree",
        more="With hosting it opens the page of the worktree's pull request.")
    file_edit_mode: Literal["inline", "external"] = _setting(
        "external", "Developer tools", "Where the terminal opens files: a window, or this screen",
        more="External is the window of the editor; inline is $EDITOR on this screen.")

    agent_limit: Whole = _setting(
        20, "Sessions", "How many agents may run at once; further ones wait", low=1, high=1000)
    auto_session_naming: bool = _setting(
        True, "Sessions", "Name a session after its first message")
    session_naming_model: Model = _setting("model_5", "Sessions", "Model that names sessions")
    session_recap_enabled: bool = _setting(
        False, "Sessions", "Sum up what happened when coming back to a session",
        more="After ten minutes, where it went on meanwhile.")
    restore_last_session: bool = _setting(
        False, "Sessions", "Open the newest session when the terminal starts",
        more="One that was open before is opened again in any case.")
    close_original_on_clear_context: bool = _setting(
        True, "Sessions", "Archive a session whose plan goes on in a fresh one")
    confirm_session_close: bool = _setting(
        True, "Sessions", "Ask before a session is archived",
        more="Of one that is at work it is always asked.")

    auto_branch_naming: bool = _setting(
        True, "Worktrees and git", "Name a branch after its first message",
        more="Where Spinney made up its name.")
    branch_naming_model: Model = _setting(
        "model_5", "Worktrees and git", "Model that names branches")
    auto_pull_base_branch: bool = _setting(
        True, "Worktrees and git", "Pull the base branch before a worktree is made")
    auto_archive_on_pr_merged: bool = _setting(
        True, "Worktrees and git", "Archive a worktree when its pull request is merged")
    git_poll_interval: Number = _setting(
        60, "Worktrees and git", "Seconds between looks at local changes", low=10, high=600)
    remote_poll_interval: Number = _setting(
        60, "Worktrees and git", "Seconds between looks at pull requests", low=30, high=600)

    archive_retention_days: Number = _setting(
        7, "Archive", "Days that archived things are kept; 0 keeps them for ever",
        low=0, high=36500)
    removal_behavior: Literal["archive", "delete"] = _setting(
        "delete", "Archive", "Whether removing a worktree archives or deletes it")

    magic_prompts: dict[str, str | None] = _setting(
        dict.fromkeys(PROMPT_KEYS), "Magic prompts", "Your own prompt texts; null is the built-in",
        form=TEXTS_OR_NULLS)
    magic_prompt_models: dict[str, str] = _setting(
        {f"{key}_model": "model_5" if key in SMALL_PROMPTS else "model_1" for key in PROMPT_KEYS},
        "Magic prompts", "Model of each prompt")
    magic_prompt_providers: dict[str, str | None] = _setting(
        dict.fromkeys(f"{key}_provider" for key in PROMPT_KEYS),
        "Magic prompts", "Provider profile that each text is written with; null is the usual one",
        more="The usual one is the project's, or else default_provider.",
        form=TEXTS_OR_NULLS)
    magic_prompt_backends: dict[str, str | None] = _setting(
        dict.fromkeys(f"{key}_backend" for key in PROMPT_KEYS),
        "Magic prompts", "Agent of each prompt; null is the default agent",
        form=TEXTS_OR_NULLS)
    parallel_execution_prompt_enabled: bool = _setting(
        False, "Magic prompts", "Tell agents to work on independent steps in parallel")

    build_model: str | None = _setting(
        None, "Plan approval", "Model that builds an approved plan; null is the session's")
    yolo_model: str | None = _setting(
        None, "Plan approval", "Model that carries a plan out in yolo; null is the session's")
    build_backend: DefaultBackend | OwnAgent | None = _setting(
        None, "Plan approval", "Agent that builds an approved plan; null is the session's",
        form=BACKEND)
    yolo_backend: DefaultBackend | OwnAgent | None = _setting(
        None, "Plan approval", "Agent that carries a plan out in yolo; null is the session's",
        form=BACKEND)
    build_thinking_level: ThinkingLevel | None = _setting(
        None, "Plan approval", "Thinking while building; null is the session's")
    yolo_thinking_level: ThinkingLevel | None = _setting(
        None, "Plan approval", "Thinking in yolo; null is the session's")

    default_enabled_mcp_servers: list[str] = _setting(
        [], "Integrations", "MCP servers that new sessions use")
    known_mcp_servers: list[str] = _setting([], "Integrations", "MCP servers ever seen")
    chrome_enabled: bool = _setting(
        True, "Integrations", "Let Claude Code use your Chrome, where its extension is set up",
        more="It wants a subscription's account for that. Other agents know of no such thing. It "
        "holds from a session's next start of the program on.")
    tracker_api_key: str | None = _setting(
        None, "Integrations", "Personal API key of the issue tracker", secret=True, shown=False)

    http_server_enabled: bool = _setting(
        False, "Server", "Let other devices and programs in: whether the server runs",
        more="On starts it and off stops it, at once; so do the keys of the server's screen. After "
        "the next start it runs where http_server_auto_start says so. `spinney serve` always does.")
    http_server_port: Whole = _setting(
        3456, "Server", "Port of the server; 0 takes any free one", low=0, high=65535)
    http_server_token: str | None = _setting(
        None, "Server", "Token that clients must show; made when it is needed", secret=True)
    http_server_auto_start: bool = _setting(
        False, "Server", "Start the server whenever Spinney starts")
    http_server_localhost_only: bool = _setting(True, "Server", "Reachable from this machine only")
    http_server_token_required: bool = _setting(True, "Server", "Refuse clients without the token")

    ai_language: str = _setting("", "Advanced", "Language that agents answer in; empty for any")
    allow_web_tools_in_plan_mode: bool = _setting(
        True, "Advanced", "Let agents search the web while they plan")
    debug_mode_enabled: bool = _setting(
        False, "Advanced", "Debug mode: a raw log per session of what agents are sent and say",
        more="From now on, also where an agent runs already: every line in both directions, what "
        "the program says on stderr, how it starts and ends. It holds prompts and what agents "
        "read; keys and tokens that Spinney knows are masked, pictures left out. “Show the raw "
        "log” shows it, in the terminal's palette and in a session's menu on the page, and so "
        "does `spinney call get_raw_log sessionId=ID`. Two files of 4 MiB for each session, in "
        "raw-logs in the data directory, until the session is deleted.")
    default_provider: str | None = _setting(
        None, "Advanced", "Provider profile of agents; null is each program's own account",
        more="For sessions, from their program's next start on, and for the texts that agents "
        "write. A project's settings may name another. Where the profile is another agent's, a "
        "session tells so and its agent has its own account; texts are not written then.")
    custom_cli_profiles: list[CliProfile] = _setting(
        [], "Advanced", "Provider profiles: settings of an agent program under a name",
        more="The settings are the program's own, as JSON, and in a file: JSON or TOML, read "
        "whenever an agent starts, below those that are given here.",
        secret=True, form="a list of profiles, each with a name and settings_json as text")
    waiting_sound: Sound = _setting(
        "none", "Advanced", "Sound when an agent waits for you", more=BELL)
    review_sound: Sound = _setting(
        "none", "Advanced", "Sound when an agent has finished", more=BELL)
    keybindings: dict[str, str] = _setting(
        {}, "Advanced", "Keys of your own, by action; an action without one has its built-in key",
        more="The names are those of docs/terminal.md and of the key screen; the terminal tells of "
        "a name that is none of them.")
    has_seen_feature_tour: bool = _setting(False, "Advanced", "The tour was shown")
    has_seen_jean_config_wizard: bool = _setting(
        False, "Advanced", "The wizard for a repository's scripts was shown", shown=False)
    # fmt: on

    @field_validator(*MERGED_KEYS)
    @classmethod
    def _complete(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Entries that are not given have their defaults."""
        defaults: dict[str, Any] = cls.model_fields[str(info.field_name)].default
        return {**defaults, **value}
