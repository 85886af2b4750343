"""All settings: key, bounds, default, group and one line of help.

The keys and values are those of the public interface (2.5). The settings pages and the
documentation are generated from this class; `apply` parses and changes settings.
"""

import json
from typing import Annotated, Any, Final, Literal

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
from model.domain.modes import ThinkingLevel
from model.domain.notices import CHANNELS, REASONS, NoticeChannel, NoticeReason

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
CustomAgent = Annotated[str, StringConstraints(pattern=r"^acp:[A-Za-z0-9][A-Za-z0-9._-]*$")]
"""An agent of `agents.toml`; a removed agent counts as unset."""
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
AGENT_PROMPTS: tuple[PromptKey, ...] = tuple(
    key for key in PROMPT_KEYS if key not in ("parallel_execution", "global_system_prompt")
)
"""Prompts for which an agent is started: each has an agent, a model and an account. The others are
parts of the system prompt.
"""
SMALL_PROMPTS: frozenset[PromptKey] = frozenset(
    {"commit_message", "pr_content", "release_notes", "session_naming", "session_recap"}
)
"""Prompts for summaries of a few lines, for which the smallest model is sufficient."""
MERGED_KEYS = (
    "magic_prompts", "magic_prompt_models", "magic_prompt_providers", "magic_prompt_backends",
    "notify_matrix",
)  # fmt: skip
"""Objects with a fixed set of entries: a partial value changes only the given entries."""
BACKEND = "one of backend_a, backend_b, backend_c, or acp: and the name of an agent in agents.toml"
TEXTS_OR_NULLS = "an object of texts or nulls"
LESS_THINKING = (
    "Lower thinking levels limit it further: megathink to high, think to medium, off to low."
)
QuietHours = Annotated[
    str, StringConstraints(pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$")
]
BELL = "Each browser with the page open plays it; the terminal rings its bell for any sound."


def _whole(value: Any) -> Any:
    """Accept `3.0` as the integer 3, for clients whose numbers are all floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = int | float
Whole = Annotated[int, BeforeValidator(_whole)]
BranchTemplate = Annotated[
    str,
    StringConstraints(
        max_length=100,
        pattern=r"^(?:[\w.+/-]|\{user\}|\{project\}|\{date\})*\{slug\}"
        r"(?:[\w.+/-]|\{user\}|\{project\}|\{date\})*$",
    ),
]
"""Contains `{slug}`, the name of the worktree, once."""

MAX_BUDGET: Final = 1_000_000
"""Dollars."""
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
    """A field with the metadata for the settings pages.

    `secret` values never leave this machine; `form` describes valid values if the type does not;
    `more` is further help, in full sentences. A setting that is not `shown` is accepted from
    clients and stored, but has no effect.
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
    """Named settings of an agent program, to switch between accounts and endpoints."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    name: str
    settings_json: str
    """JSON text in the program's own settings format; may hold keys."""
    file_path: str | None = None
    """A file with such settings, with lower precedence; read whenever an agent starts."""
    supports_thinking: bool | None = None
    """If false, sessions started with it do not think, whatever their thinking level."""

    def settings(self) -> dict[str, Any]:
        """Parse the settings. Raises `SpinneyError` if they are not a JSON object."""
        try:
            settings = json.loads(self.settings_json)
        except ValueError:
            settings = None
        if not isinstance(settings, dict):
            raise SpinneyError(
                f"The settings of the provider profile '{self.name}' are not a JSON object. Fix"
                " them in the preferences."
            )
        return settings


class Preferences(BaseModel):
    """All settings of the user. Unknown keys written by a newer version are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)

    # fmt: off
    theme: Theme = _setting("system", "Appearance", "Light, dark, or following the system")
    ui_font_size: Number = _setting(
        16, "Appearance", "Text size of the browser page, in pixels", low=12, high=24)
    chat_font_size: Number = _setting(
        16, "Appearance", "Text size of the chat in the browser, in pixels", low=12, high=24)
    ui_font: UiFont = _setting("geist", "Appearance", "Font of the browser page")
    chat_font: ChatFont = _setting("geist", "Appearance", "Font of the chat in the browser")
    syntax_theme_dark: SyntaxTheme = _setting(
        "vitesse-black", "Appearance", "Colors of code in dark mode")
    syntax_theme_light: SyntaxTheme = _setting(
        "hosting-light", "Appearance", "Colors of code in light mode")
    zoom_level: Number = _setting(
        90, "Appearance", "Zoom of the browser page, in percent", low=50, high=200)
    canvas_layout: Literal["grid", "list"] = _setting(
        "list", "Appearance", "Layout of a project's sessions")
    show_keybinding_hints: bool = _setting(
        True, "Appearance", "Show key hints at the bottom of the terminal's screen")

    selected_model: Model = _setting("model_1", "Models", "Model of new Claude Code sessions")
    thinking_level: ThinkingLevel = _setting(
        "ultrathink", "Models", "How much a new session thinks before it responds")
    default_effort_level: Literal["low", "medium", "high", "max"] = _setting(
        "high", "Models", "Maximum effort of models that support effort levels",
        more="While it is high, effortLevel in your Claude Code settings takes precedence. "
        + LESS_THINKING)
    default_backend: DefaultBackend | CustomAgent = _setting(
        "backend_a", "Models", "Agent of new sessions, unless the project sets one",
        form=BACKEND)
    selected_codex_model: CodexModel = _setting(
        "codex_model_1", "Models", "Model of new Codex sessions")
    selected_opencode_model: ProviderModel = _setting(
        "backend_c/codex_model_1", "Models", "Model of new OpenCode sessions, as provider/model",
        form="text of the form provider/model")
    default_codex_reasoning_effort: Literal["low", "medium", "high", "xhigh"] = _setting(
        "high", "Models", "Maximum reasoning effort of Codex",
        more="While it is high, model_reasoning_effort in your Codex configuration takes "
        "precedence. " + LESS_THINKING)
    codex_multi_agent_enabled: bool = _setting(
        False, "Models", "Let Codex use several agents at once")
    codex_max_agent_threads: Whole = _setting(
        3, "Models", "How many agents Codex may run at once", low=1, high=8)

    terminal: Terminal = _setting(
        "terminal", "Developer tools", "Terminal program for worktrees opened in a terminal",
        more="If it is not installed, or without a desktop, the shell opens on this screen.")
    editor: Editor = _setting(
        "zed", "Developer tools", "Editor for files and worktrees opened from the terminal",
        more="If it is not installed, or without a desktop, $EDITOR opens on this screen.")
    open_in: Literal["editor", "terminal", "finder", "hosting"] = _setting(
        "editor", "Developer tools", "Where the terminal opens a worktree",
        more="With hosting it opens the page of the worktree's pull request.")
    file_edit_mode: Literal["inline", "external"] = _setting(
        "external", "Developer tools", "Where the terminal opens files: a window, or this screen",
        more="External opens a window of the editor; inline opens $EDITOR on this screen.")

    agent_limit: Whole = _setting(
        20, "Sessions", "How many agents may run at once; others wait", low=1, high=1000)
    auto_session_naming: bool = _setting(
        True, "Sessions", "Name a session after its first message")
    session_naming_model: Model = _setting("model_5", "Sessions", "Model that names sessions")
    session_recap_enabled: bool = _setting(
        False, "Sessions", "Summarize what happened when you return to a session",
        more="After at least ten minutes, if it continued meanwhile.")
    restore_last_session: bool = _setting(
        False, "Sessions", "Open the newest session when the terminal starts",
        more="A session that was open before is always reopened.")
    close_original_on_clear_context: bool = _setting(
        True, "Sessions", "Archive a session when its plan continues in a new one")
    confirm_session_close: bool = _setting(
        True, "Sessions", "Ask before a session is archived",
        more="For a running session, Spinney always asks.")

    resume_after_limit: bool = _setting(
        True, "Away", "Continue by itself when an agent's usage limit resets",
        more="Otherwise a session that reached a limit stays paused until you resume it.")
    retry_attempts: Whole = _setting(
        10, "Away", "How often a turn is tried again after an overload or a lost network",
        more="With growing pauses of 10 seconds to 5 minutes; 0 reports the failure at once.",
        low=0, high=1000)

    budget_per_day: Whole = _setting(
        0, "Away", "Budget for each day, in dollars",
        more="When it is used up, sessions pause after their turns until the next day. 0 for no"
        " limit.", low=0, high=MAX_BUDGET)
    budget_per_project: Whole = _setting(
        0, "Away", "Budget for each project and day, in dollars",
        more="For projects without a budget of their own. 0 for no limit.",
        low=0, high=MAX_BUDGET)
    budget_per_session: Whole = _setting(
        0, "Away", "Budget for each session, in dollars",
        more="For sessions without a budget of their own (/budget). 0 for no limit.",
        low=0, high=MAX_BUDGET)
    tokens_per_dollar: Whole = _setting(
        1_000_000, "Away", "Tokens that count as a dollar of a budget, where the cost is unknown",
        more="0 to count turns of unknown cost as free.", low=0, high=1_000_000_000)

    notify_matrix: dict[NoticeReason, list[NoticeChannel]] = _setting(
        {reason: list(CHANNELS) for reason in REASONS},
        "Away", "Which channels carry what",
        more="Terminal and page show it themselves while they are open; the others reach you "
        "elsewhere, once they are set up below. Nothing is sent about a session that you look at.",
        form="an object of lists of channels: " + ", ".join(CHANNELS))
    notify_quiet_hours: QuietHours = _setting(
        "", "Away", "Hours in which nothing is sent, as 22:00-07:00; empty for none",
        more="In local time. What still stands at their end is sent then, as one summary.",
        form="a text of the form 22:00-07:00, or empty")
    notify_reminder_minutes: Whole = _setting(
        10, "Away", "Minutes after which a waiting session is mentioned again, once; 0 is never",
        low=0, high=1440)
    notify_details: Literal["title", "summary"] = _setting(
        "title", "Away", "What a notice says",
        more="With title it names the session and what it needs. With summary it also has the "
        "first line of the question, plan, command, error or answer; secrets are masked.")
    notify_command: list[str] = _setting(
        [], "Away", "Command to run for each notice: the program and its arguments",
        more="It gets the notice as JSON on its standard input. No shell takes part. After 20 "
        "seconds it is stopped; after another exit status than 0 it is tried again.")
    notify_urls: list[str] = _setting(
        [], "Away", "Apprise addresses to notify, such as tgram://… or slack://…",
        more="Telegram, Slack, Discord, mail and many more. They contain keys, so "
        "they never leave this machine.",
        secret=True)
    notify_ntfy_url: str | None = _setting(
        None, "Away", "Address of an ntfy topic, such as https://ntfy.sh/a-long-random-name",
        more="Who knows the topic's name can read it: choose one that cannot be guessed.",
        secret=True, form="an address with a topic: https://server/topic")
    notify_ntfy_token: str | None = _setting(
        None, "Away", "Access token of the ntfy server, if the topic needs one", secret=True)
    notify_link: str = _setting(
        "", "Away", "Address of this page in notices; empty is the server's own",
        more="For a server behind a proxy or a VPN name. The server's own address is used only if "
        "other devices can reach it.",
        form="a text with http:// or https:// in front, or empty")

    branch_template: BranchTemplate = _setting(
        "{slug}", "Worktrees and git", "What new branches are named",
        form="a name with {slug} in it, and maybe {user}, {project} or {date}",
        more="{slug} is the name of the worktree, {user} that of git's user.name. A name that you"
        " enter with a slash is the whole branch. A project may have its own.")
    auto_branch_naming: bool = _setting(
        True, "Worktrees and git", "Name a branch after its first message",
        more="Only if Spinney generated the branch name.")
    branch_naming_model: Model = _setting(
        "model_5", "Worktrees and git", "Model that names branches")
    auto_pull_base_branch: bool = _setting(
        True, "Worktrees and git", "Pull the base branch before a worktree is created")
    auto_archive_on_pr_merged: bool = _setting(
        True, "Worktrees and git", "Archive a worktree when its pull request is merged")
    git_poll_interval: Number = _setting(
        60, "Worktrees and git", "Seconds between checks for local changes", low=10, high=600)
    remote_poll_interval: Number = _setting(
        60, "Worktrees and git", "Seconds between checks of pull requests", low=30, high=600)

    secret_check: bool = _setting(
        True, "Worktrees and git", "Refuse to publish keys, tokens and passwords",
        more="Before a commit, push or pull request. A finding can be allowed in its project.")
    trace_notes: bool = _setting(
        False, "Worktrees and git", "Note on commits which turn they come from",
        more="As git notes in refs/notes/spinney, for commits made in Spinney.")

    landing_method: Literal["merge", "squash", "rebase"] = _setting(
        "merge", "Worktrees and git", "How a branch lands in its base",
        more="A project may have its own.")
    after_landing: Literal["keep", "archive", "delete"] = _setting(
        "keep", "Worktrees and git", "What becomes of a worktree that has landed")

    archive_retention_days: Number = _setting(
        7, "Archive", "Days to keep archived items; 0 keeps them forever",
        low=0, high=36500)
    removal_behavior: Literal["archive", "delete"] = _setting(
        "delete", "Archive", "Whether removing a worktree archives or deletes it")
    recovery_keep_days: Number = _setting(
        30, "Archive", "Days to keep recovery points; 0 keeps them forever", low=0, high=36500)
    recovery_max_mb: Number = _setting(
        2048, "Archive", "Megabytes of recovery points to keep in each repository",
        more="The oldest are deleted first. The newest of each deleted worktree stays.",
        low=1, high=10_000_000)
    recovery_include_ignored: bool = _setting(
        False, "Archive", "Keep ignored files of deleted worktrees",
        more="Files over 50 MB are never kept.")

    magic_prompts: dict[str, str | None] = _setting(
        dict.fromkeys(PROMPT_KEYS),
        "Magic prompts", "Your own prompt texts; null is the built-in text",
        more="A text may contain the variables that `list_prompts` lists for it, as {number}. "
        "{{number}} is the text {number} itself.",
        form=TEXTS_OR_NULLS)
    magic_prompt_models: dict[str, str] = _setting(
        {f"{key}_model": "model_5" if key in SMALL_PROMPTS else "model_1" for key in PROMPT_KEYS},
        "Magic prompts", "Model of each prompt")
    magic_prompt_providers: dict[str, str | None] = _setting(
        dict.fromkeys(f"{key}_provider" for key in PROMPT_KEYS),
        "Magic prompts", "Provider profile of each prompt; null is the default",
        more="The default is the project's provider profile, or else that of your preferences.",
        form=TEXTS_OR_NULLS)
    magic_prompt_backends: dict[str, str | None] = _setting(
        dict.fromkeys(f"{key}_backend" for key in PROMPT_KEYS),
        "Magic prompts", "Agent of each prompt; null is the default agent",
        form=TEXTS_OR_NULLS)
    parallel_execution_prompt_enabled: bool = _setting(
        False, "Magic prompts", "Instruct agents to work on independent steps in parallel")

    build_model: str | None = _setting(
        None, "Plan approval", "Model that builds an approved plan; null is the session's")
    yolo_model: str | None = _setting(
        None, "Plan approval", "Model that executes a plan in yolo mode; null is the session's")
    build_backend: DefaultBackend | CustomAgent | None = _setting(
        None, "Plan approval", "Agent that builds an approved plan; null is the session's",
        form=BACKEND)
    yolo_backend: DefaultBackend | CustomAgent | None = _setting(
        None, "Plan approval", "Agent that executes a plan in yolo mode; null is the session's",
        form=BACKEND)
    build_thinking_level: ThinkingLevel | None = _setting(
        None, "Plan approval", "Thinking level in build mode; null is the session's")
    yolo_thinking_level: ThinkingLevel | None = _setting(
        None, "Plan approval", "Thinking level in yolo mode; null is the session's")

    default_enabled_mcp_servers: list[str] = _setting(
        [], "Integrations", "MCP servers that new sessions use")
    known_mcp_servers: list[str] = _setting([], "Integrations", "All MCP servers seen so far")
    chrome_enabled: bool = _setting(
        True, "Integrations", "Let Claude Code use your Chrome, if its extension is set up",
        more="Requires a subscription account; other agents do not support it. Applies from the "
        "next start of a session's program.")
    tracker_api_key: str | None = _setting(
        None, "Integrations", "Personal API key of the issue tracker, Linear", secret=True,
        more="Created in Linear under Settings, Security & access. A project can have another.")

    http_server_enabled: bool = _setting(
        False, "Server", "Run the server, which gives other devices and programs access",
        more="Turning it on or off starts or stops the server immediately, like the keys of the "
        "server screen. After a restart of Spinney the server runs only if it is set to start "
        "with Spinney. `spinney serve` always runs it.")
    http_server_port: Whole = _setting(
        3456, "Server", "Port of the server; 0 selects any free port", low=0, high=65535)
    http_server_token: str | None = _setting(
        None, "Server", "Token that clients must send; generated when it is needed", secret=True)
    http_server_auto_start: bool = _setting(
        False, "Server", "Start the server whenever Spinney starts")
    http_server_localhost_only: bool = _setting(
        True, "Server", "Accept connections from this machine only")
    http_server_host: str = _setting(
        "", "Server", "Address of this machine that other devices connect to; empty for all",
        form="be an IP address of this machine, or empty",
        more="Such as the address of a VPN, which `spinney url` lists. Has no effect while only "
        "local connections are accepted.")
    http_server_token_required: bool = _setting(True, "Server", "Refuse clients without the token")
    http_server_certificate: str = _setting(
        "", "Server", "Certificate for HTTPS: a file in PEM format, with its chain; empty for HTTP",
        more="Needs its key as well. Renewed files are used within a minute, without a restart.")
    http_server_key: str = _setting(
        "", "Server", "Private key of the certificate: a file in PEM format, without a passphrase")

    check_for_updates: bool = _setting(
        False, "Advanced", "Look for a newer Spinney once a day",
        more="Sends nothing but the request. Nothing is installed: the terminal and the page say "
        "once how to update.")
    ai_language: str = _setting("", "Advanced", "Language of agents' responses; empty for any")
    allow_web_tools_in_plan_mode: bool = _setting(
        True, "Advanced", "Let agents search the web in plan mode")
    debug_mode_enabled: bool = _setting(
        False, "Advanced", "Debug mode: log the raw traffic with agents, by session",
        more="Takes effect immediately, also for running agents. Logs every line in both "
        "directions, the program's stderr, its start and its end. The log contains prompts and "
        "what agents read; keys and tokens known to Spinney are masked, images are left out. To "
        "see it, use 'Show the raw log' in the terminal's palette or in a session's menu on the "
        "page, or `spinney call get_raw_log sessionId=ID`. At most two files of 4 MiB per "
        "session, in raw-logs in the data directory, until the session is deleted.")
    default_provider: str | None = _setting(
        None, "Advanced", "Provider profile of agents; null is each program's own account",
        more="Applies to sessions from the next start of their program, and to texts that agents "
        "write. A project can set another. If the profile is for another agent, the session says "
        "so and its agent uses its own account; texts are not written then.")
    custom_cli_profiles: list[CliProfile] = _setting(
        [], "Advanced", "Provider profiles: named settings of an agent program",
        more="The settings are in the program's own format, as JSON, and optionally in a JSON or "
        "TOML file, which is read whenever an agent starts and has lower precedence.",
        secret=True, form="a list of profiles, each with a name and settings_json as text")
    waiting_sound: Sound = _setting(
        "none", "Advanced", "Sound when an agent waits for you", more=BELL)
    review_sound: Sound = _setting(
        "none", "Advanced", "Sound when an agent has finished", more=BELL)
    keybindings: dict[str, str] = _setting(
        {}, "Advanced", "Your own keys, by action; other actions keep their built-in keys",
        more="Action names are listed in docs/terminal.md and on the key screen; the terminal "
        "reports unknown names.")
    has_seen_feature_tour: bool = _setting(False, "Advanced", "Whether the tour was shown")
    has_seen_jean_config_wizard: bool = _setting(
        False, "Advanced", "Whether the wizard for a repository's scripts was shown", shown=False)
    # fmt: on

    @field_validator(*MERGED_KEYS)
    @classmethod
    def _fill_in_defaults(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Fill in the defaults of missing entries."""
        defaults: dict[str, Any] = cls.model_fields[str(info.field_name)].default
        return {**defaults, **value}
