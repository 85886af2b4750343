"""The parts of the main screen that need a connected client.

Imported after the first frame, in a thread, because it imports the actions and what they need.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from model.api.doctor import get_problems, list_backends
from model.client.base import Client
from tui.actions.about import welcome
from tui.actions.all import FUNCTIONS
from tui.actions.slash import list_values, perform_command
from tui.actions.targets import open_one
from tui.composer.slash_commands import Values
from tui.desk import ActionFunction, Desk
from tui.draw.colors import Palette
from tui.shell.action_runner import ActionRunner
from tui.shell.conversation_loader import ConversationLoader, palette_of
from tui.shell.event_reports import EventReports
from tui.shell.focus_report import FocusReport
from tui.shell.notifier import Notifier
from tui.shell.outbox import Outbox
from tui.shell.program_notices import ProgramNotices
from tui.shell.selection import Selection
from tui.store.agent_catalog import AgentCatalog
from tui.store.dialog_drafts import DialogDrafts
from tui.store.mirror import Change, Mirror
from tui.store.pending import Pending
from tui.terminal.capabilities import Terminal
from tui.transcript.targets import Target
from tui.widgets.chat import Chat


class Connection:
    """Actions, loader, outbox and notifier of a connected main screen."""

    def __init__(
        self,
        screen: Selection,
        *,
        agents_changed: Callable[[], None],
        show_server: Callable[[dict[str, Any], str], None],
    ) -> None:
        self._screen = screen
        self.actions: Mapping[str, ActionFunction] = FUNCTIONS
        self.drafts = DialogDrafts()
        self.pending = Pending()
        self.agents = AgentCatalog(screen.client, agents_changed)
        self.runner = ActionRunner(screen)
        self.conversation = ConversationLoader(screen, self.agents)
        self.outbox = Outbox(screen, self.agents, self.drafts, self.runner.start)
        self.reports = EventReports(
            screen, self.pending, self.agents, start=self.runner.start, show_server=show_server
        )
        self.notifier = Notifier(screen)
        self.focus = FocusReport(screen, self.runner.start)
        screen.mirror.followers += [self.notifier.follow, self.focus.follow]
        screen.mirror.followers.append(ProgramNotices(screen).follow)
        screen.chat.completion.search = self.outbox.find_files
        screen.chat.completion.load_commands = self.outbox.agent_commands
        screen.chat.completion.load_values = self._list_values
        screen.chat.composer.takes_images = not screen.host.remote_address
        screen.chat.composer.worktree_root = lambda: screen.worktree.path if screen.worktree else ""

    @staticmethod
    def mirror_of(client: Client, terminal: Terminal, follow: Callable[[Change], None]) -> Mirror:
        """Return a mirror that calls `follow` at most as often as this terminal can draw."""
        return Mirror(client, terminal.frame, follow, text_frame=terminal.text_frame)

    @property
    def palette(self) -> Palette:
        """The colors of conversations and diffs."""
        return palette_of(self._screen)

    async def _list_values(self, values: Values) -> list[tuple[str, str]]:
        screen = self._screen
        return await list_values(values, self.agents, screen.session, screen.project)

    def perform_command(self, desk: Desk, given: Chat.CommandGiven) -> bool:
        """Perform a command of the message box that has an argument; return whether it began."""
        subject = given.key, given.argument
        return self.runner.run_once(given.name, subject, perform_command(desk, given))

    async def open_targets(self, desk: Desk, targets: Sequence[Target]) -> None:
        """Open a file or page named in a message; ask which if there are several."""
        await open_one(desk, targets)

    async def run_startup_checks(self, desk: Desk) -> None:
        """Read agents, problems, server status and installed programs once at startup."""
        await self.agents.refresh()
        for problem in await desk.client.call(get_problems):
            desk.say(problem, bad=True)
        await self.reports.read_server()
        state = await desk.mirror.wait_for(lambda _: True)
        is_new = not state.projects and not state.preferences.has_seen_feature_tour
        if is_new and not desk.demo:
            await welcome(desk)
        elif not state.sessions and not desk.demo:
            desk.set_agents(await desk.client.call(list_backends))
