"""Metadata of each setting for the settings pages, the documentation and error messages."""

import re
import types
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from model.domain.notices import REASONS
from model.preferences.schema import AGENT_PROMPTS, PROMPT_KEYS, Preferences

Kind = Literal["switch", "choice", "number", "whole", "text", "list", "object"]


@dataclass(frozen=True, slots=True)
class PreferenceField:
    """The description of a setting."""

    key: str
    group: str
    help: str
    kind: Kind
    default: Any
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    nullable: bool = False
    secret: bool = False
    """Hidden from clients on other machines."""
    form: str = ""
    """The requirement for a value, if its kind does not describe it fully."""
    more: str = ""
    """Further help, in full sentences."""
    shown: bool = True
    """Whether it has an effect; otherwise it is only stored."""
    entries: tuple[str, ...] = ()
    """The entries that have an effect, for an object with a fixed set of entries."""

    @property
    def label(self) -> str:
        """The name that settings pages show in place of the key."""
        return label_of(self.key)

    @property
    def requirement(self) -> str:
        """The requirement for a value, worded to follow 'must'."""
        text = self.form or self._kind_requirement()
        return f"be {text} or null" if self.nullable else f"be {text}"

    def _kind_requirement(self) -> str:
        match self.kind:
            case "switch":
                return "true or false"
            case "choice":
                return "one of " + ", ".join(self.choices)
            case "number" | "whole":
                name = "a number" if self.kind == "number" else "a whole number"
                return f"{name} from {self.low} to {self.high}"
            case "text":
                return "text"
            case "list":
                return "a list of texts"
            case "object":
                return "an object of texts"


_LABELS: Final = {
    "agent_limit": "Maximum running agents",
    "ai_language": "Response language",
    "allow_web_tools_in_plan_mode": "Allow web tools in plan mode",
    "archive_retention_days": "Archive retention (days)",
    "build_backend": "Build agent",
    "chrome_enabled": "Chrome for Claude Code",
    "close_original_on_clear_context": "Archive original on new context",
    "codex_max_agent_threads": "Codex agent threads",
    "codex_multi_agent_enabled": "Codex multi-agent mode",
    "confirm_session_close": "Confirm archiving a session",
    "custom_cli_profiles": "Provider profiles",
    "debug_mode_enabled": "Debug mode",
    "default_backend": "Default agent",
    "default_enabled_mcp_servers": "Default MCP servers",
    "default_provider": "Default provider profile",
    "git_poll_interval": "Git poll interval (seconds)",
    "has_seen_feature_tour": "Feature tour seen",
    "http_server_auto_start": "Start server with Spinney",
    "http_server_certificate": "Certificate",
    "http_server_enabled": "Server",
    "http_server_host": "Listen on address",
    "http_server_key": "Certificate's key",
    "http_server_localhost_only": "Local connections only",
    "http_server_port": "Server port",
    "http_server_token": "Server token",
    "http_server_token_required": "Require token",
    "keybindings": "Key bindings",
    "magic_prompt_backends": "Magic prompt agents",
    "notify_command": "Notice command",
    "notify_details": "Notice details",
    "notify_link": "Link in notices",
    "notify_matrix": "Notices",
    "notify_ntfy_token": "ntfy token",
    "notify_ntfy_url": "ntfy topic",
    "notify_quiet_hours": "Quiet hours",
    "notify_reminder_minutes": "Reminder (minutes)",
    "notify_urls": "Apprise addresses",
    "open_in": "Open worktrees in",
    "parallel_execution_prompt_enabled": "Parallel execution prompt",
    "recovery_include_ignored": "Keep ignored files of deleted worktrees",
    "recovery_keep_days": "Keep recovery points (days)",
    "recovery_max_mb": "Recovery points per repository (MB)",
    "remote_poll_interval": "Remote poll interval (seconds)",
    "resume_after_limit": "Continue after a limit",
    "retry_attempts": "Attempts after a failure",
    "selected_codex_model": "Codex model",
    "selected_model": "Claude Code model",
    "selected_opencode_model": "OpenCode model",
    "session_recap_enabled": "Session recap",
    "show_keybinding_hints": "Show key hints",
    "syntax_theme_dark": "Syntax theme (dark)",
    "syntax_theme_light": "Syntax theme (light)",
    "tracker_api_key": "Issue tracker key",
    "yolo_backend": "Yolo agent",
}
"""Labels that cannot be derived from the key."""

_PROPER_WORDS: Final = {"codex": "Codex", "mcp": "MCP", "pr": "PR", "ui": "UI"}


def label_of(key: str) -> str:
    """The label of a setting, or of an entry of one: `zoom_level` is 'Zoom level'."""
    if key in _LABELS:
        return _LABELS[key]
    words = " ".join(_PROPER_WORDS.get(word, word) for word in key.split("_"))
    return words[:1].upper() + words[1:]


def entry_label(entry: str) -> str:
    """The label of an entry of an object setting, without a suffix such as `_model`."""
    return label_of(re.sub("_(model|provider|backend)$", "", entry))


_ENTRIES: Final[dict[str, tuple[str, ...]]] = {
    "notify_matrix": REASONS,
    "magic_prompts": PROMPT_KEYS,
    "magic_prompt_models": tuple(f"{key}_model" for key in AGENT_PROMPTS),
    "magic_prompt_providers": tuple(f"{key}_provider" for key in AGENT_PROMPTS),
    "magic_prompt_backends": tuple(f"{key}_backend" for key in AGENT_PROMPTS),
}


@cache
def preference_fields() -> dict[str, PreferenceField]:
    """All settings by key, in display order."""
    return {key: _describe(key, info) for key, info in Preferences.model_fields.items()}


@cache
def shown_fields() -> dict[str, PreferenceField]:
    """The settings that have an effect; the others are stored for clients that know them."""
    return {key: field for key, field in preference_fields().items() if field.shown}


def _describe(key: str, info: FieldInfo) -> PreferenceField:
    annotation, nullable = _without_null(info.annotation)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return PreferenceField(
        key=key,
        group=str(extra["group"]),
        help=info.description or "",
        kind=_kind(annotation),
        default=info.default,
        choices=get_args(annotation) if get_origin(annotation) is Literal else (),
        low=next((cast("float", at.ge) for at in info.metadata if isinstance(at, Ge)), None),
        high=next((cast("float", at.le) for at in info.metadata if isinstance(at, Le)), None),
        nullable=nullable,
        secret=bool(extra["secret"]),
        form=str(extra["form"]),
        more=str(extra["more"]),
        shown=bool(extra["shown"]),
        entries=_ENTRIES.get(key, ()),
    )


def _without_null(annotation: Any) -> tuple[Any, bool]:
    """The type inside `… | None`, and whether null is allowed.

    A union of fixed choices and custom names counts as the fixed choices.
    """
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    parts = tuple(part for part in get_args(annotation) if part is not type(None))
    choice = next((part for part in parts if get_origin(part) is Literal), None)
    return choice or Union[parts], len(parts) < len(get_args(annotation))  # noqa: UP007


def _kind(annotation: Any) -> Kind:
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice"
    if origin in (list, dict):
        return "list" if origin is list else "object"
    if annotation is bool:
        return "switch"
    if annotation is str:
        return "text"
    return "whole" if annotation is int else "number"
