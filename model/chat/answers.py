"""What people answer to one session's agent: to its plans, its questions and its tool calls."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.chat.agent_messages import AgentMessages
from model.chat.agent_process import AgentProcess, LaunchResolver
from model.chat.answer_delivery import AnswerDelivery
from model.chat.message_builder import MessageBuilder
from model.chat.requests import RequestQueue
from model.chat.stall_monitor import StallMonitor
from model.chat.user_messages import make_prompt
from model.domain.messages import Message
from model.domain.modes import ExecutionMode
from model.domain.requests import Decision
from model.store.store import Store

_REFUSED: Final = "Outside of a turn the agent asked for a permission, which was denied:"
_UNANSWERED: Final = "Outside of a turn the agent asked a question, which got no answer."
_NO_TURN: Final = "The turn is over, so the user cannot be asked. Ask again in the next turn."
"""What the agent reads."""

_log = logging.getLogger(__name__)


class Answers:
    """Delivers answers to the requests of an agent that runs, and shows them in its messages."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        process: AgentProcess,
        messages: AgentMessages,
        requests: RequestQueue,
        delivery: AnswerDelivery,
        stall_monitor: StallMonitor,
        launch_resolver: LaunchResolver,
        turn_over: asyncio.Event,
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._process = process
        self._messages = messages
        self._requests = requests
        self._delivery = delivery
        self._stall_monitor = stall_monitor
        self._launch_resolver = launch_resolver
        self._turn_over = turn_over
        self._own_answers: set[asyncio.Task[None]] = set()
        """Answers that are given without people."""

    async def approve(self, mode: ExecutionMode, plan: str | None) -> None:
        """Approve the agent's plan and apply the session's settings."""
        request = self._requests.take("plan")
        session = self._store.state.sessions[self._session_id]
        settings = self._launch_resolver.resolve_settings(session)
        edited = self._requests.restore_plan(request.id, plan) if plan else None
        async with self._delivery.deliver(request):
            await self._call_agent(lambda agent: agent.approve(request.id, settings, edited))
            self._messages.mark(request.id, approved=mode, **({"text": plan} if plan else {}))

    async def discuss(self, message: Message) -> None:
        """Answer a proposed plan or a question with a free-form message.

        The message joins the conversation once the agent has accepted it; until then it counts as
        unsent.
        """
        request = self._requests.first
        assert request is not None, "no request is open"
        self._requests.withdraw(request.id)
        prompt = make_prompt(message, message.text)
        async with self._delivery.deliver(request):
            if request.kind == "plan":
                await self._call_agent(lambda agent: agent.discuss(request.id, prompt))
            else:
                text = prompt.text_with_paths
                answers = self._requests.restore_answers(
                    {q.question: text for q in request.questions}
                )
                await self._call_agent(lambda agent: agent.answer(request.id, answers))
            if self._turn_over.is_set():
                raise SpinneyError(
                    "The agent stopped before it received this. Send it again.", "conflict"
                )
            self._messages.split(message)

    async def answer(self, answers: Mapping[str, str]) -> None:
        """Answer the agent's questions."""
        request = self._requests.take("question")
        original_answers = self._requests.restore_answers(answers)
        async with self._delivery.deliver(request):
            await self._call_agent(lambda agent: agent.answer(request.id, original_answers))
            self._messages.mark(request.id, answer=dict(answers))

    async def permit(self, request_id: str, decision: Decision, reason: str) -> None:
        """Allow or deny a tool call. Raises `conflict` if it was already answered."""
        request = self._requests.take("permission", request_id)
        verdict: base.Verdict = "deny" if decision == "deny" else "allow"
        async with self._delivery.deliver(request):
            await self._call_agent(lambda agent: agent.permit(request_id, verdict, reason))
            if decision == "deny":
                self._messages.deny(request_id, reason)
            else:
                self._messages.allow(request_id)
            if decision == "allow_session":
                self._requests.allow_for_session(request_id)

    def add_request(
        self,
        event: agent_events.PlanProposed
        | agent_events.QuestionAsked
        | agent_events.PermissionRequested,
        builder: MessageBuilder,
    ) -> None:
        """Ask people what the agent asks, unless they allowed it for the whole session before."""
        if isinstance(event, agent_events.PermissionRequested) and self._requests.is_allowed(event):
            self._answer_alone(lambda agent: agent.permit(event.request_id, "allow"))
            return
        request = self._requests.make_request(event, builder.message_id)
        tool_use_id = (
            event.tool_use_id if isinstance(event, agent_events.PermissionRequested) else None
        )
        builder.add_request(request, tool_use_id)
        self._requests.add(request, event)

    def refuse(self, event: agent_events.QuestionAsked | agent_events.PermissionRequested) -> None:
        """Refuse a request that belongs to no turn, for which the agent would wait without end."""
        if isinstance(event, agent_events.PermissionRequested):
            self._messages.note(f"{_REFUSED} {clean_line(event.tool_name)}.", each_time=True)
            self._answer_alone(lambda agent: agent.permit(event.request_id, "deny", _NO_TURN))
        else:
            self._messages.note(_UNANSWERED, each_time=True)
            self._answer_alone(lambda agent: agent.answer(event.request_id, {}))

    def _answer_alone(self, answer: Callable[[base.Agent], Coroutine[Any, Any, None]]) -> None:
        self._own_answers.add(task := asyncio.create_task(self._try_to_answer(answer)))
        task.add_done_callback(self._own_answers.discard)

    async def _try_to_answer(
        self, answer: Callable[[base.Agent], Coroutine[Any, Any, None]]
    ) -> None:
        try:
            await self._call_agent(answer)
        except SpinneyError as error:
            # It was withdrawn meanwhile, or the agent has exited.
            _log.info("a request was not answered without people: %s", error.message)

    async def _call_agent(self, call: Callable[[base.Agent], Coroutine[Any, Any, None]]) -> None:
        if self._process.agent is None:
            raise SpinneyError(
                "The agent is no longer running. Send a message to start it.", "conflict"
            )
        self._stall_monitor.note_activity()
        await call(self._process.agent)
