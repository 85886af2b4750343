"""Reads the open conversation's messages and hands them to the conversation pane."""

import asyncio
from contextlib import suppress

from model.base.errors import SpinneyError
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from tui.draw.colors import Palette, get_palette
from tui.shell.preload import warm_up
from tui.shell.selection import Selection
from tui.store.agent_catalog import AgentCatalog
from tui.store.history import History

SEARCH_PAGE = 1000
"""Messages per page while reading back to an old message."""


def palette_of(screen: Selection) -> Palette:
    """Return the colors of conversations for the current theme and preferences."""
    preferences = screen.state.preferences
    if screen.application.is_dark:
        return get_palette("dark", preferences.syntax_theme_dark)
    return get_palette("light", preferences.syntax_theme_light)


class ConversationLoader:
    """Loads pages of messages on demand."""

    def __init__(self, screen: Selection, agents: AgentCatalog) -> None:
        self._screen = screen
        self._agents = agents
        self._histories = screen.mirror.histories

    async def show(self, session: Session) -> None:
        """Show a conversation, reading it from the model unless it is cached."""
        screen = self._screen
        try:
            history = self._histories.get(session.id)
            if history is None:
                history = await self._histories.open(session.id, screen.state)
        except SpinneyError as error:
            screen.say(error.message, bad=True)
            return
        if screen.chat.transcript is None:
            await asyncio.to_thread(warm_up)
        if screen.chat.session_id == session.id:
            worktree = screen.state.worktrees.get(session.worktree_id)
            root = worktree.path if worktree is not None else ""
            catalog, keys = self._agents.catalog, self._card_keys(session, worktree)
            screen.chat.show(history, palette_of(screen), catalog, session, root, keys)
            await self._show_turns(history)

    async def _show_turns(self, history: History) -> None:
        """Read what the turns changed, once; a server of an older version does not know that."""
        if history.has_turns:
            return
        history.has_turns = True
        with suppress(SpinneyError):
            if await self._histories.load_turns(history):
                transcript = self._screen.chat.transcript
                if transcript is not None and self._screen.chat.session_id == history.session_id:
                    transcript.update_messages(0)

    def update_card(self, session: Session, worktree: Worktree) -> None:
        """Offer what can be done with the changes now, such as to push what was committed."""
        if (transcript := self._screen.chat.transcript) is not None:
            transcript.set_keys(self._card_keys(session, worktree))

    def _card_keys(self, session: Session, worktree: Worktree | None) -> dict[str, str]:
        from tui.transcript.change_card import offered_actions  # not before the first frame

        offered = offered_actions(worktree, session.updated_at) if worktree is not None else []
        return {action: self._screen.key_of(action) for action in offered}

    async def read_older(self) -> None:
        """Read the page before the first loaded message."""
        chat = self._screen.chat
        history = self._histories.get(chat.session_id or "")
        if history is None or chat.transcript is None:
            return
        await self._histories.load_older(history)
        if chat.session_id == history.session_id:
            chat.transcript.update_messages(0)

    async def reveal(self, session_id: str, message_id: str) -> None:
        """Scroll to a message of the session just opened, reading the pages before it."""
        screen = self._screen
        # The worker that reads the newest page is superseded by this one.
        screen.workers.cancel_group(screen, "opening")
        session = screen.state.sessions[session_id]
        await self.show(session)
        history = self._histories.get(session_id)
        while history is not None and not any(m.id == message_id for m in history.messages):
            if not history.older_count or not await self._histories.load_older(
                history, SEARCH_PAGE
            ):
                screen.say("That message no longer exists.")
                return
        if screen.chat.session_id == session_id and screen.chat.transcript is not None:
            screen.chat.transcript.update_messages(0)
            screen.chat.transcript.reveal(message_id)
