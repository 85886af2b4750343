"""Events of the program as a whole: its version, preferences, agents, guests, background work."""

import json
from typing import Any, ClassVar

from model.domain.events.base import Event
from model.domain.guests import GuestAction
from model.domain.program import ProgramStatus
from model.domain.usage import AccountLimits


class ModelsUpdated(Event):
    """An agent program reported a changed list of models; `list_agents` returns it."""

    name: ClassVar[str] = "models:updated"
    numbered: ClassVar[bool] = True
    backend: str


class LimitsUpdated(Event):
    """The usage windows of an account changed; `list_usage_limits` returns those of all."""

    name: ClassVar[str] = "limits:updated"
    account: AccountLimits


class ProgramUpdated(Event):
    """Another version of Spinney can be used, or a restart is planned or begins."""

    name: ClassVar[str] = "program:updated"
    numbered: ClassVar[bool] = True
    program: ProgramStatus


class PreferencesUpdated(Event):
    """Preferences changed, by a client or in the file. Its frames never contain secrets."""

    name: ClassVar[str] = "preferences:updated"
    secret: ClassVar[frozenset[str]] = frozenset(
        {
            "http_server_token",
            "tracker_api_key",
            "custom_cli_profiles",
            "notify_urls",
            "notify_ntfy_url",
            "notify_ntfy_token",
        }
    )
    changes: dict[str, Any]

    def body(self, *, numbered: bool) -> str:
        """`{changes}` without secrets."""
        shown = {key: value for key, value in self.changes.items() if key not in self.secret}
        return json.dumps({"changes": shown})


class GuestLinksUpdated(Event):
    """A guest link was created, opened on another device, used or revoked."""

    name: ClassVar[str] = "guests:updated"
    link_id: str


class GuestActed(Event):
    """A guest did something, or failed to."""

    name: ClassVar[str] = "guest:acted"
    action: GuestAction


class TaskCompleted(Event):
    """Background work ended: a script, a pull, a push, a commit."""

    name: ClassVar[str] = "task:completed"
    task: str
    ok: bool
    detail: str
    worktree_id: str | None = None
