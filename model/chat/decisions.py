"""Answers to what agents ask: plans, questions and permissions.

A request outlives its agent: if the agent has exited, the answer to a plan or a question is sent to
a new one as text.
"""

import time
from collections.abc import Mapping

from model.base.errors import SpinneyError
from model.chat import texts
from model.chat.agent_messages import replace_stored_block
from model.chat.conversations import Conversations
from model.chat.lookup import approvable_plan, pending_request, session_in
from model.chat.plan_approval import make_plan_session, plan_overrides
from model.chat.user_messages import (
    check_answers,
    check_reason,
    make_resolved_events,
    make_user_message,
)
from model.domain.events.sessions import SessionArchived, SessionCreated, SessionUpdated
from model.domain.messages import PlanBlock, QuestionBlock
from model.domain.modes import WorkingMode
from model.domain.requests import Decision
from model.domain.sessions import Session
from model.store.store import Store


class Decisions:
    """Brings the answers of people to the agents that asked."""

    def __init__(self, store: Store, conversations: Conversations) -> None:
        self._store = store
        self._conversations = conversations

    async def approve(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry out the proposed plan in `mode`, with the edited text of `plan` if given.

        A plan that was set aside is selected by its id. Raises `conflict` if this plan no longer
        waits for approval, or none does.
        """
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            session = self._session(session_id)
            request = approvable_plan(session, request_id)
            updates = plan_overrides(self._store.state.preferences, mode, session)
            updates["set_aside_plan"] = None
            await self._store.accept(SessionUpdated(session_id=session_id, updates=updates))
            if updates.get("backend"):
                # Another agent carries out the plan: the one that proposed it is done.
                await self._conversations.end_agent(session_id)
            elif conversation.has_open_request:
                try:
                    await conversation.answers.approve(mode, plan)
                except SpinneyError:
                    # It is still planning, or has exited with its plan set aside.
                    del updates["set_aside_plan"]
                    previous = {name: getattr(session, name) for name in updates}
                    restored = SessionUpdated(session_id=session_id, updates=previous)
                    await self._store.accept(restored)
                    raise
                return self._session(session_id)
            text = plan or request.plan
            await replace_stored_block(
                self._store, session_id, request, PlanBlock(text=text, approved=mode)
            )
            await self._conversations.accept(
                make_user_message(session_id, texts.format_approved_plan(text))
            )
            return self._session(session_id)

    async def approve_in_new_session(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry out the plan in a new session of the same worktree; the old session is done.

        The old session is archived if the preference says so. Raises like `approve`, and nothing
        has changed then.
        """
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            session = self._session(session_id)
            request = approvable_plan(session, request_id)
            text, preferences = plan or request.plan, self._store.state.preferences
            new_session = make_plan_session(self._store.state, mode, session)
            await self._store.accept(SessionCreated(session=new_session))
            await self._conversations.accept(
                make_user_message(new_session.id, texts.format_plan_for_new_session(text))
            )
            await conversation.stop()
            await conversation.close()
            await replace_stored_block(
                self._store, session_id, request, PlanBlock(text=text, approved=mode)
            )
            final_events = make_resolved_events(session_id, status="idle", set_aside_plan=None)
            if preferences.close_original_on_clear_context:
                final_events.append(SessionArchived(session_id=session_id, archived_at=time.time()))
            await self._store.accept(*final_events)
        return self._session(new_session.id)

    async def answer(
        self, session_id: str, answer: str | Mapping[str, str], request_id: str | None = None
    ) -> Session:
        """Answer the pending questions: one text for all, or a mapping of question to answer."""
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            request = pending_request(self._session(session_id), "question", request_id)
            answers = check_answers(request, answer)
            if conversation.has_open_request:
                await conversation.answers.answer(answers)
                return self._session(session_id)
            block = QuestionBlock(id=request.id, questions=request.questions, answer=answers)
            await replace_stored_block(self._store, session_id, request, block)
            await self._conversations.accept(
                make_user_message(session_id, texts.format_answers(answers))
            )
            return self._session(session_id)

    async def permit(
        self, session_id: str, request_id: str, decision: Decision, reason: str = ""
    ) -> Session:
        """Allow or deny a tool call; the agent receives the `reason` of a denial."""
        self._session(session_id)
        reason = check_reason(decision, reason)
        await self._conversations.of(session_id).answers.permit(request_id, decision, reason)
        return self._session(session_id)

    def _session(self, session_id: str) -> Session:
        return session_in(self._store.state, session_id)
