"""Sends messages and answers; restores the draft if sending fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from model.api import sessions as commands
from model.api.agent_commands import list_agent_commands
from model.api.files import list_worktree_files
from model.api.worktrees import mark_worktree_opened
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.requests import Request
from tui.composer.slash_commands import escape_text, unescape_text
from tui.screens.edit_plan import EditedPlan, EditPlan, PlanDraft
from tui.shell.selection import Selection
from tui.store.agent_catalog import AgentCatalog
from tui.store.dialog_drafts import DialogDrafts
from tui.store.places import Place
from tui.widgets.request_panel import RequestPanel

CREATION_LIMIT = 600
"""Seconds to wait for a worktree to be created before sending its first message."""


class Outbox:
    """Messages, answers and read marks on their way to the model."""

    def __init__(
        self,
        screen: Selection,
        agents: AgentCatalog,
        drafts: DialogDrafts,
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._screen = screen
        self._client = screen.client
        self._agents = agents
        self._drafts = drafts
        self._start = start
        self._creations: dict[str, asyncio.Future[str]] = {}
        """The sessions that are being created, by worktree."""
        self._being_read: set[str] = set()
        """Sessions that are being marked as read."""

    # Messages -----------------------------------------------------------------------------------

    async def send_draft(
        self, key: str, text: str, images: tuple[str, ...] = (), *, steers: bool = False
    ) -> None:
        """Send the draft of a session, or of a worktree, for which a session is created."""
        screen, draft = self._screen, key
        try:
            if key in screen.state.worktrees:
                key = await self.start_session(key, partial(self.create_session, key))
                if not key:
                    raise SpinneyError(
                        "The session could not be created, so your message was not sent. It is in "
                        "the message box, or comes back with ↑."
                    )
            await self.send(key, text, images, steers=steers)
        except (SpinneyError, TimeoutError):
            screen.chat.return_message(draft, text, images, to=key)
            raise
        screen.chat.confirm_sent(draft, text, images)

    async def start_session(
        self, worktree_id: str, create: Callable[[], Coroutine[Any, Any, str]]
    ) -> str:
        """Create a session, or wait for the one that is being created; a second message joins it.

        Returns the session's id, or '' if the creation that was waited for failed.
        """
        if (begun := self._creations.get(worktree_id)) is not None:
            return await asyncio.shield(begun)
        creation = asyncio.get_running_loop().create_future()
        self._creations[worktree_id], session_id = creation, ""
        try:
            session_id = await create()
            return session_id
        finally:
            del self._creations[worktree_id]
            creation.set_result(session_id)

    async def create_session(self, worktree_id: str, **wanted: Any) -> str:
        """Create a session and return its id; what is in the worktree's box moves to its box."""
        screen = self._screen
        await self._wait_for_creation(worktree_id)
        session = await self._client.call(
            commands.create_session, worktree_id=worktree_id, **wanted
        )
        await screen.mirror.wait_for(lambda state: session.id in state.sessions)
        screen.chat.move_draft(worktree_id, session.id)
        # The user may have moved on during a large checkout; do not pull them back.
        if screen.place == Place("worktree", worktree_id):
            screen.open_session(session.id)
        return session.id

    async def _wait_for_creation(self, worktree_id: str) -> None:
        await self._screen.mirror.wait_for(
            lambda state: (
                worktree_id not in state.worktrees
                or state.worktrees[worktree_id].status != "creating"
            ),
            timeout=CREATION_LIMIT,
        )

    async def send(
        self,
        session_id: str,
        text: str,
        images: tuple[str, ...] = (),
        *,
        steers: bool = False,
        send_at: float | str | None = None,
    ) -> None:
        """Send a message, queue it behind the run or until a time, or send it into the run.

        Raises `SpinneyError`.
        """
        arguments: dict[str, Any] = {"images": list(images)} if images else {}
        if steers:
            arguments["steer"] = True
        if send_at is not None:
            arguments["send_at"] = send_at
        await self._client.call(
            commands.send_chat_message,
            session_id=session_id,
            message=unescape_text(text),
            **arguments,
        )

    def return_text(self, session_id: str, text: str) -> None:
        """Put text that was not sent into the session's message box."""
        self._screen.chat.return_message(session_id, escape_text(text))

    # Completion ---------------------------------------------------------------------------------

    async def find_files(self, query: str) -> list[str]:
        """Return files of the open worktree that match, to complete a mention."""
        worktree = self._screen.worktree
        if worktree is None:
            return []
        found = await self._client.call(list_worktree_files, worktree_id=worktree.id, query=query)
        return found.files

    async def agent_commands(self) -> tuple[str, list[AgentCommand]]:
        """Return the agent's name and its slash commands."""
        worktree, session = self._screen.worktree, self._screen.session
        if worktree is None:
            return "", []
        arguments = {"backend": session.backend} if session is not None else {}
        found = await self._client.call(list_agent_commands, worktree_id=worktree.id, **arguments)
        agent = self._agents.labels(session)[0] if session is not None else "the agent"
        return agent, found

    # Answers ------------------------------------------------------------------------------------

    async def decide(self, chosen: RequestPanel.Chosen) -> None:
        """Approve a plan, or decide on a permission."""
        arguments: dict[str, Any] = {
            "session_id": chosen.session_id,
            "request_id": chosen.request.id,
        }
        async with self._answering(chosen.panel, chosen.session_id, chosen.reason):
            match chosen.choice:
                case "allow" | "allow_session" | "deny":
                    reason = {"reason": chosen.reason} if chosen.reason else {}
                    arguments |= {"decision": chosen.choice, **reason}
                    await self._client.call(commands.answer_permission, **arguments)
                case "fresh":
                    await self._approve_in_new_session(chosen.session_id, arguments)
                case "build" | "yolo":
                    await self._client.call(commands.approve_plan, mode=chosen.choice, **arguments)
                case "edit":
                    edited = await self._edit_plan(chosen.request)
                    if edited is None:
                        chosen.panel.reopen(chosen.session_id)
                        return
                    arguments |= {"mode": edited.mode, "plan": edited.text}
                    await self._client.call(commands.approve_plan, **arguments)

    async def _edit_plan(self, request: Request) -> EditedPlan | None:
        """Ask for the plan's text; an edit that was left is there the next time."""
        dialog = EditPlan(self._drafts.get(PlanDraft, request.id).text or request.plan)
        edited = await self._screen.app.push_screen_wait(dialog)
        self._drafts.set(PlanDraft(dialog.text), request.id)
        return edited

    async def _approve_in_new_session(self, session_id: str, arguments: dict[str, Any]) -> None:
        screen = self._screen
        session = await self._client.call(
            commands.approve_plan, mode="build", fresh=True, **arguments
        )
        await screen.mirror.wait_for(lambda state: session.id in state.sessions)
        screen.open_session(session.id)
        old = screen.state.sessions.get(session_id)
        if old is not None and screen.state.preferences.close_original_on_clear_context:
            key = screen.key_of("show_archive")
            screen.say(f"'{old.name}' was archived. {key} restores it.")

    async def answer(self, answered: RequestPanel.Answered) -> None:
        """Answer the questions of a session."""
        text = "\n".join(answered.written)
        async with self._answering(answered.panel, answered.session_id, text):
            await self._client.call(
                commands.answer_question,
                session_id=answered.session_id,
                request_id=answered.request.id,
                answer=answered.answers,
            )

    @asynccontextmanager
    async def _answering(
        self, panel: RequestPanel, session_id: str, text: str
    ) -> AsyncIterator[None]:
        """Reopen the request and put the text back in the message box if answering fails."""
        try:
            yield
        except (SpinneyError, TimeoutError):
            panel.reopen(session_id)
            self.return_text(session_id, text)
            raise

    # Marks --------------------------------------------------------------------------------------

    def mark_read(self, session_id: str) -> None:
        """Mark a session as read, unless that is already in progress."""
        if session_id not in self._being_read:
            self._being_read.add(session_id)
            self._start(self._mark_read(session_id))

    async def _mark_read(self, session_id: str) -> None:
        try:
            await self._client.call(commands.mark_session_read, session_id=session_id)
        finally:
            self._being_read.discard(session_id)

    def mark_opened(self, worktree_id: str) -> None:
        """Mark a worktree as opened."""
        self._start(self._client.call(mark_worktree_opened, worktree_id=worktree_id))
