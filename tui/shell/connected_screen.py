"""The main screen's access to its client: commands, conversation, unused input, background work."""

from collections.abc import Coroutine, Hashable
from typing import TYPE_CHECKING, Any

from tui.shell.selection import Selection

if TYPE_CHECKING:
    from tui.desk import Conversation, Outbox
    from tui.draw.colors import Palette
    from tui.shell.connection import Connection
    from tui.store.agent_catalog import AgentCatalog
    from tui.store.dialog_drafts import DialogDrafts
    from tui.store.pending import Pending


class ConnectedScreen(Selection):
    """A main screen with the connection to its client, once there is one."""

    _connection: "Connection | None" = None

    @property
    def _connected(self) -> "Connection":
        assert self._connection is not None
        return self._connection

    @property
    def agents(self) -> "AgentCatalog":
        """Agents and models."""
        return self._connected.agents

    @property
    def outbox(self) -> "Outbox":
        """Messages and answers."""
        return self._connected.outbox

    @property
    def conversation(self) -> "Conversation":
        """The open conversation."""
        return self._connected.conversation

    @property
    def drafts(self) -> "DialogDrafts":
        """Unused input of dialogs."""
        return self._connected.drafts

    @property
    def pending(self) -> "Pending":
        """Requests that are not confirmed yet."""
        return self._connected.pending

    @property
    def palette(self) -> "Palette":
        """The colors of conversations and diffs."""
        return self._connected.palette

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; errors become notifications."""
        self._connected.runner.start(work)

    def run_once(self, action_id: str, subject: Hashable, work: Coroutine[Any, Any, None]) -> bool:
        """Run an action, unless it still runs for the same subject; return whether it began."""
        return self._connected.runner.run_once(action_id, subject, work)
