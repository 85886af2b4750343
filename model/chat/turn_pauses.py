"""Decides whether a session's turn that failed goes on later, and with what.

A turn that succeeds shows that the usage limit of its account is over.
"""

import time

from model.backends import agent_events
from model.chat.user_messages import make_user_message
from model.domain.messages import Message
from model.domain.sessions import Pause
from model.limits.pauses import CONTINUE_PROMPT, lift_limit, make_pause
from model.store.store import Store
from model.usage.accounts import account_of


class TurnPauses:
    """The failures of one session's turns for which it pauses."""

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._attempts = 0
        """Turns that failed in a row."""
        self._message_id: str | None = None
        """The user's message that the turn answers, if it is known."""
        self._is_sent = False
        """Whether the agent has received the turn's message."""
        self._account = ""
        """The account with which the turn began."""
        self._began_at = 0.0
        """When it began, in seconds since 1970."""
        self._is_command = False
        """Whether it runs one of the agent's own commands, which may need no provider."""

    def note_start(self, message: Message | None) -> None:
        """Note that a turn starts, with a message of the conversation or to continue one."""
        self._note_time()
        self._is_sent = self._is_command = False
        if message is not None:
            self._message_id = message.id
            self._is_command = message.text.lstrip().startswith("/")

    def note_sent(self) -> None:
        """Note that the agent has received the turn's message."""
        self._is_sent = True

    def note_own_start(self) -> None:
        """Note that the agent began a turn by itself."""
        self._note_time()
        self._is_sent, self._is_command, self._message_id = True, False, None

    def _note_time(self) -> None:
        state = self._store.state
        self._account = account_of(state, state.sessions[self._session_id])
        self._began_at = time.time()

    def note_end(self) -> None:
        """Note that a turn ended otherwise: the next failure is the first one again."""
        self._attempts = 0

    def note_success(self, *, is_metered: bool) -> None:
        """End the pause of the account; `is_metered`: whether the turn used tokens."""
        if is_metered or not self._is_command:
            lifted = lift_limit(self._store.state, self._account, self._began_at, time.time())
            self._store.record(*lifted)

    def plan(self, failed: agent_events.TurnFailed) -> Pause | None:
        """Return the pause after a failed turn; `None` if the turn has failed for good."""
        state = self._store.state
        session = state.sessions[self._session_id]
        pause = make_pause(failed, session, state, self._attempts + 1, time.time())
        if pause is None:
            return None
        self._attempts = pause.attempts
        has_message = self._message_id is None or (self._is_sent and failed.has_message)
        goes_on = "turn" if has_message else "message"
        return pause.model_copy(update={"goes_on": goes_on, "message_id": self._message_id})

    async def find_prompt(self, pause: Pause) -> tuple[Message, bool] | None:
        """Return the message with which a paused turn goes on, and whether it is stored.

        `None` if only the queue goes on. The pause may be one of before the last start.
        """
        self._attempts, self._message_id = pause.attempts, pause.message_id
        if pause.goes_on == "queue":
            return None
        if pause.goes_on == "message" and pause.message_id is not None:
            message = await self._store.message(pause.message_id)
            if message is not None and not message.rewound:
                return message, True
        return make_user_message(self._session_id, CONTINUE_PROMPT), False
