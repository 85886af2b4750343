"""Notifications of events that matter on every screen: failed tasks, the HTTP server."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from model.api.server import get_http_server_status
from model.domain.events.base import Event
from model.domain.events.program import ModelsUpdated, TaskCompleted
from model.domain.events.worktrees import WorktreeCreateFailed
from tui.shell.selection import Selection
from tui.store.agent_catalog import AgentCatalog
from tui.store.pending import Pending


class EventReports:
    """Turns events into notifications, and reloads what they report as changed."""

    def __init__(
        self,
        screen: Selection,
        pending: Pending,
        agents: AgentCatalog,
        *,
        start: Callable[[Coroutine[Any, Any, None]], None],
        show_server: Callable[[dict[str, Any], str], None],
    ) -> None:
        self._screen = screen
        self._pending = pending
        self._agents = agents
        self._start = start
        self._show_server = show_server

    def report(self, events: Iterable[Event]) -> None:
        """Notify the user of failures, and refresh models and the server status."""
        say, reported = self._screen.say, self._pending.reported
        for event in events:
            match event:
                case ModelsUpdated():
                    self._start(self._agents.refresh())
                case TaskCompleted(task="http_server"):
                    self._start(self.read_server("" if event.ok else event.detail))
                case TaskCompleted() if (event.task, event.worktree_id) in reported:
                    reported.discard((event.task, event.worktree_id))
                case TaskCompleted(ok=False, task="setup" | "run" | "teardown" | "check"):
                    summary = event.detail.partition("\n")[0]
                    key = self._screen.key_of("show_scripts")
                    say(f"{summary} {key} shows the full output.", bad=True)
                case TaskCompleted(ok=False, task="commit" | "pull" | "push"):
                    say(f"{event.task.capitalize()} failed: {event.detail}", bad=True)
                case TaskCompleted(ok=True, task="review"):
                    say(event.detail)
                case TaskCompleted(ok=False):
                    say(event.detail, bad=True)
                case WorktreeCreateFailed():
                    self._pending.failed_worktrees[event.id] = event.error
                    say(event.error, bad=True)

    async def read_server(self, problem: str = "") -> None:
        """Show the HTTP server's status, whichever client changed it."""
        if problem and ("http_server", None) not in self._pending.reported:
            self._screen.say(problem, bad=True)
        self._show_server(await self._screen.client.call(get_http_server_status), problem)
