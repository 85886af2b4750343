"""What joins the main screen to its client: conversations read, words sent, events told.

Imported after the first frame, in a thread: it brings in the model's commands.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from model.agents.catalog import BackendRow, Catalog, ModelRow
from model.base.errors import SpinneyError, foreseen
from model.client.base import Client
from model.commands import sessions as commands
from model.commands.agent_commands import list_agent_commands
from model.commands.doctor import (
    AgentKind,
    AgentModel,
    get_problems,
    list_agents,
    list_backends,
    list_models,
)
from model.commands.files import list_worktree_files
from model.commands.server import get_http_server_status
from model.commands.worktrees import mark_worktree_opened
from model.domain import events as e
from tui.actions.about import welcome
from tui.actions.all import DO
from tui.actions.editor import open_one
from tui.composer.slash_commands import for_the_agent
from tui.draw.colors import palette
from tui.screens.edit_plan import EditPlan
from tui.screens.new_worktree import WantedWorktree
from tui.shell.notifier import Notices
from tui.shell.preload import warm_up
from tui.store.history_cache import Histories
from tui.store.mirror import Change, Mirror
from tui.store.places import Place

if TYPE_CHECKING:
    from model.domain.resources import AgentCommand, Session
    from model.richtext.diff_comments import Comment
    from tui.draw.colors import Palette
    from tui.screens.commit import CommitDraft
    from tui.screens.pull_request import PullRequestDraft
    from tui.shell.main_screen import MainScreen
    from tui.transcript.targets import Target
    from tui.widgets.request_panel import RequestPanel

STEPS: Final = frozenset(
    {
        "cycle_mode", "next_waiting", "previous_session", "next_session", "move_up", "move_down",
        "find_next", "find_previous", "remove_queued", "canvas_layout",
        "diff_mark", "diff_next_side", "diff_layout", "diff_next_hunk", "diff_previous_hunk",
    }
)  # fmt: skip
"""Actions of which every press counts, also while an earlier one is being carried out."""

NOTICED: Final = 0.5
"""Seconds of waiting after which it is said what is waited for."""

REACH = 1000
"""Messages of a page on the way to one that is far back."""


class Link:
    """The main screen's end of the client."""

    def __init__(self, screen: "MainScreen", client: Client) -> None:
        self.client = client
        terminal = screen.terminal
        self.mirror = Mirror(client, terminal.frame, screen.follow, text_frame=terminal.text_frame)
        self._screen = screen
        screen.chat.completion.search = self.find_files
        screen.chat.completion.ask_commands = self.agent_commands
        screen.chat.composer.takes_images = not screen.spinney.elsewhere
        self._histories = Histories(client)
        self.catalog = Catalog()
        """The agents and models that can be chosen, once they were asked for."""
        self.unmade = (WantedWorktree(), "")
        """What was filled in for a worktree that could not be made, and the problem."""
        self.comments: dict[str, list[Comment]] = {}
        """Comments on differences that are not sent yet, by worktree."""
        self.commit_drafts: dict[str, CommitDraft] = {}
        self.pull_request_drafts: dict[str, PullRequestDraft] = {}
        self.told_here: set[tuple[str, str | None]] = set()
        """Work whose end is told where it was started: what it is, and its worktree."""
        self.not_made: dict[str, str] = {}
        """Why worktrees could not be made."""
        self.ordering = asyncio.Lock()
        """Held while a row of the tree changes places."""
        self.notices = Notices(screen)
        self.mirror.followers.append(self.notices.follow)
        self._performing: set[tuple[str, Hashable]] = set()
        """Actions that have not ended, and where they were begun."""
        self._reading: set[str] = set()
        """Sessions that are being marked as read."""

    # Work that people started -------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it; what goes wrong is told in its own words."""
        self._screen.run_worker(self._guarded(work), exit_on_error=False)

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except SpinneyError as error:
            self._screen.say(error.message, bad=True)
        except TimeoutError:
            self._screen.say("That took too long; look again in a moment.", bad=True)
        except Exception as error:
            self._screen.say(foreseen(error, "an action").message, bad=True)

    def perform(self, action_id: str, place: Hashable, work: Coroutine[Any, Any, None]) -> None:
        """Carry out an action of the key map.

        Not again at the same place before it has ended, unless it is one that steps: a key that is
        held, or pressed twice in one piece over a slow line, does its work once.
        """
        if (action_id, place) in self._performing and action_id not in STEPS:
            work.close()
            return
        self._performing.add((action_id, place))
        self._screen.spinney.type_ahead.expect(action_id)
        self.start(self._perform(action_id, place, work))

    async def _perform(self, action_id: str, place: Hashable, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self._performing.discard((action_id, place))
            self._screen.spinney.type_ahead.ended(action_id)

    async def do(self, action_id: str) -> None:
        """An action of the key map."""
        await DO[action_id](self._screen)

    async def said(self, key: str, text: str, images: tuple[str, ...] = ()) -> None:
        """Send what was written; in a worktree without a session, begin one."""
        draft = key
        try:
            if key in self.mirror.state.worktrees:
                await self._ready(key)
                session = await self.client.call(commands.create_session, worktree_id=key)
                await self.mirror.until(lambda state: session.id in state.sessions)
                if self._screen.place == Place("worktree", key):
                    self._screen.action_open_session(session.id)
                key = session.id
            await self.send(key, text, images)
        except (SpinneyError, TimeoutError):
            self._screen.chat.give_back(draft, text, images, to=key)
            raise
        self._screen.chat.arrived(draft, text, images)

    async def _ready(self, worktree_id: str) -> None:
        await self.mirror.until(
            lambda state: (
                worktree_id not in state.worktrees
                or state.worktrees[worktree_id].status != "creating"
            ),
            within=600,
        )

    async def send(self, session_id: str, text: str, images: tuple[str, ...] = ()) -> None:
        """Send a message; where it waits, the conversation and the status line say so."""
        given: dict[str, Any] = {"images": list(images)} if images else {}
        await self.client.call(
            commands.send_chat_message,
            session_id=session_id,
            message=for_the_agent(text),
            **given,
        )

    async def open_one(self, targets: "Sequence[Target]") -> None:
        """Open what a message speaks of."""
        await open_one(self._screen, targets)

    async def find_files(self, query: str) -> list[str]:
        """Files of the worktree that is open, for a mention."""
        worktree = self._screen.worktree
        if worktree is None:
            return []
        found = await self.client.call(list_worktree_files, worktree_id=worktree.id, query=query)
        return found.files

    async def agent_commands(self) -> "tuple[str, list[AgentCommand]]":
        """The agent that is written to, and what it takes after a `/`."""
        worktree, session = self._screen.worktree, self._screen.session
        if worktree is None:
            return "", []
        given = {"backend": session.backend} if session is not None else {}
        found = await self.client.call(list_agent_commands, worktree_id=worktree.id, **given)
        return self.labels(session)[0] if session is not None else "the agent", found

    def keep_words(self, session_id: str, words: str) -> None:
        """Put what was written elsewhere and not sent into the session's message box."""
        self._screen.chat.give_back(session_id, words)

    async def decide(self, chosen: "RequestPanel.Chosen") -> None:
        """Carry a plan out, or decide on a permission."""
        given: dict[str, Any] = {
            "session_id": chosen.session_id,
            "request_id": chosen.request.id,
        }
        async with self._answering(chosen.panel, chosen.session_id, chosen.reason):
            match chosen.choice:
                case "allow" | "allow_session" | "deny":
                    reason = {"reason": chosen.reason} if chosen.reason else {}
                    given |= {"decision": chosen.choice, **reason}
                    await self.client.call(commands.answer_permission, **given)
                case "fresh":
                    session = await self.client.call(
                        commands.approve_plan, mode="build", fresh=True, **given
                    )
                    await self._screen.mirror.until(lambda state: session.id in state.sessions)
                    self._screen.action_open_session(session.id)
                    self._say_archived(chosen.session_id)
                case "build" | "yolo":
                    await self.client.call(commands.approve_plan, mode=chosen.choice, **given)
                case "edit":
                    edited = await self._screen.app.push_screen_wait(EditPlan(chosen.request.plan))
                    if edited is None:
                        chosen.panel.reopen(chosen.session_id)
                        return
                    given |= {"mode": edited.mode, "plan": edited.text}
                    await self.client.call(commands.approve_plan, **given)

    def _say_archived(self, session_id: str) -> None:
        """Where the session is whose plan another one carries out; the tree has it no more."""
        screen, old = self._screen, self._screen.state.sessions.get(session_id)
        if old is not None and screen.state.preferences.close_original_on_clear_context:
            key = screen.key_of("show_archive")
            screen.say(f"“{old.name}” is archived; {key} brings it back.")

    async def answer(self, answered: "RequestPanel.Answered") -> None:
        """Answer the questions of a session."""
        words = "\n".join(answered.written)
        async with self._answering(answered.panel, answered.session_id, words):
            await self.client.call(
                commands.answer_question,
                session_id=answered.session_id,
                request_id=answered.request.id,
                answer=answered.answers,
            )

    @asynccontextmanager
    async def _answering(
        self, panel: "RequestPanel", session_id: str, words: str
    ) -> AsyncIterator[None]:
        """Ask again, with the words back in the message box, where an answer does not arrive."""
        try:
            yield
        except (SpinneyError, TimeoutError):
            panel.reopen(session_id)
            self.keep_words(session_id, words)
            raise

    def mark_read(self, session_id: str) -> None:
        """Note that somebody saw the session's end."""
        if session_id not in self._reading:
            self._reading.add(session_id)
            self.start(self._mark_read(session_id))

    async def _mark_read(self, session_id: str) -> None:
        try:
            await self.client.call(commands.mark_session_read, session_id=session_id)
        finally:
            self._reading.discard(session_id)

    def mark_opened(self, worktree_id: str) -> None:
        """Note that a person looks at a worktree."""
        self.start(self.client.call(mark_worktree_opened, worktree_id=worktree_id))

    # Conversations ------------------------------------------------------------------------------

    async def show(self, session: "Session") -> None:
        """Show a conversation, read from the model unless it is still live."""
        try:
            history = self._histories.get(session.id)
            if history is None:
                history = await self._histories.open(session.id, self.mirror.state)
        except SpinneyError as error:
            self._screen.beginning.lift()
            self._screen.say(error.message, bad=True)
            return
        if self._screen.chat.transcript is None:
            await asyncio.to_thread(warm_up)
        if self._screen.chat.session_id == session.id:
            worktree = self.mirror.state.worktrees.get(session.worktree_id)
            root = worktree.path if worktree is not None else ""
            look = self.palette, self.catalog
            self._screen.chat.show(history, *look, session, root)
            # What is shown now is laid out with the next frame and drawn with the one after it.
            self._screen.call_after_refresh(
                self._screen.call_after_refresh, self._screen.beginning.lift
            )

    async def older(self) -> None:
        """Read the page before what is shown."""
        chat = self._screen.chat
        history = self._histories.get(chat.session_id or "")
        if history is None or chat.transcript is None:
            return
        await self._histories.older(history)
        if chat.session_id == history.session_id:
            chat.transcript.changed(0)

    async def reveal(self, session_id: str, message_id: str) -> None:
        """Show a message of the session that was just opened, however far back it is."""
        screen = self._screen
        # The newest page is being read; what it is read for goes on here.
        screen.workers.cancel_group(screen, "opening")
        session = self.mirror.state.sessions[session_id]
        await self.show(session)
        history = self._histories.get(session_id)
        while history is not None and not any(m.id == message_id for m in history.messages):
            if not history.older or not await self._histories.older(history, REACH):
                screen.say("That message is not there any more.")
                return
        if screen.chat.session_id == session_id and screen.chat.transcript is not None:
            screen.chat.transcript.changed(0)
            screen.chat.transcript.reveal(message_id)

    def fold(self, change: Change, opened: str | None) -> int | None:
        """Fold events into the live conversations; the first index that changed in the open one."""
        if change.loaded:
            self._histories.forget()
            self.start(self._look_at_server())
        firsts = []
        for event in change.events:
            changed = self._histories.apply(event)
            if changed is not None and event.concerns == opened:
                firsts.append(changed)
            elif changed is not None and event.concerns is not None:
                self._histories.forget_if_large(event.concerns)
        return min(firsts, default=None)

    @property
    def palette(self) -> "Palette":
        """The colours of conversations, as the preferences say."""
        preferences = self.mirror.state.preferences
        if self._screen.spinney.is_dark:
            return palette("dark", preferences.syntax_theme_dark)
        return palette("light", preferences.syntax_theme_light)

    def labels(self, session: "Session") -> tuple[str, str]:
        """What people call the session's agent and model."""
        model = session.answering_model or session.model
        return self.catalog.label(session.backend), self.catalog.label(session.backend, model)

    # What happened ------------------------------------------------------------------------------

    def tell_events(self, events: Iterable[e.Event]) -> None:
        """Say what a person should hear of, wherever they are."""
        for event in events:
            match event:
                case e.ModelsUpdated():
                    self.start(self._look_at_agents())
                case e.TaskCompleted(task="http_server"):
                    self.start(self._look_at_server("" if event.ok else event.detail))
                case e.TaskCompleted() if (event.task, event.worktree_id) in self.told_here:
                    self.told_here.discard((event.task, event.worktree_id))
                case e.TaskCompleted(ok=False, task="setup" | "run" | "teardown"):
                    how = event.detail.partition("\n")[0]
                    key = self._screen.key_of("show_scripts")
                    self._screen.say(f"{how} {key} shows it whole.", bad=True)
                case e.TaskCompleted(ok=False, task="commit" | "pull" | "push"):
                    self._screen.say(f"The {event.task} failed: {event.detail}", bad=True)
                case e.TaskCompleted(ok=False):
                    self._screen.say(event.detail, bad=True)
                case e.WorktreeCreateFailed():
                    self.not_made[event.id] = event.error
                    self._screen.say(event.error, bad=True)

    async def _look_at_server(self, problem: str = "") -> None:
        """Show the server as it is, whoever started, moved or stopped it."""
        if problem and ("http_server", None) not in self.told_here:
            self._screen.say(problem, bad=True)
        self._screen.show_server(await self.client.call(get_http_server_status), problem)

    async def catalog_with_models(self, session: "Session") -> Catalog:
        """The catalogue, for choosing among the models of its agent, whose program may be asked."""
        backend = session.backend
        asking = f"Asking {self.catalog.label(backend)} for its models …"
        slow = asyncio.get_running_loop().call_later(NOTICED, self._screen.say, asking)
        project_id = self._screen.state.worktrees[session.worktree_id].project_id
        try:
            models = await self.client.call(list_models, backend=backend, project_id=project_id)
        finally:
            slow.cancel()
        await self._look_at_agents()
        return self.catalog.with_models(backend, map(_row, models))

    async def _look_at_agents(self) -> None:
        agents = await self.client.call(list_agents)
        session = self._screen.session
        shown = self.labels(session) if session is not None else None
        self.catalog = _catalog(agents)
        if session is not None and self.labels(session) != shown:
            await self.show(session)  # it was shown under other names
            if self._screen.session is not None:
                self._screen.follow_session()

    async def first_look(self) -> None:
        """What is asked once, at start: agents, problems, the server, what is installed."""
        await self._look_at_agents()
        for problem in await self.client.call(get_problems):
            self._screen.say(problem, bad=True)
        self._screen.show_server(await self.client.call(get_http_server_status))
        state = await self.mirror.until(lambda state: True)
        new_here = not state.projects and not state.preferences.has_seen_feature_tour
        if new_here and not self._screen.demo:
            await welcome(self._screen)
        elif not state.sessions and not self._screen.demo:
            self._screen.agents_found(await self.client.call(list_backends))


def _row(model: AgentModel) -> ModelRow:
    told = model.model_dump(include=set(AgentModel.model_fields))
    return ModelRow(**{**told, "efforts": tuple(model.efforts)})


def _catalog(agents: list[AgentKind]) -> Catalog:
    return Catalog(
        tuple(
            BackendRow(
                agent.name,
                agent.label,
                agent.program,
                tuple(_row(model) for model in agent.models),
            )
            for agent in agents
        )
    )
