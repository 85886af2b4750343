"""One session with its agent: turns, what it waits for, and what happens when things go wrong.

Knows no program: everything comes and goes in the language of `model.backends.base`.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

from model.backends import base
from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line
from model.chat.agent_messages import Answers
from model.chat.agent_pool import Room
from model.chat.agent_process import Launching, Opener, Program
from model.chat.answer_delivery import Giving
from model.chat.handover import Briefing, Handovers
from model.chat.message_builder import Answer
from model.chat.requests import Requests, record_session, show_request
from model.chat.stall_monitor import Silence
from model.chat.tool_outputs import ToolOutputs
from model.chat.user_messages import prompt_of
from model.domain.events import MessageQueued, RunNoticed
from model.domain.resources import (
    Decision,
    ExecutionMode,
    LastRun,
    Message,
    Request,
    Session,
    SessionStatus,
    Usage,
)
from model.store.store import Store

STOP_PATIENCE = 1.5
"""Seconds that an agent has to end a turn before its program is ended; people wait for this."""

_log = logging.getLogger(__name__)


class Conversation:
    """A session's running side. `chats` owns one for each session that has been spoken to."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        opener: Opener,
        launching: Launching,
        room: Room,
        outputs: ToolOutputs,
        handovers: Handovers,
    ) -> None:
        self._handovers = handovers
        self._store = store
        self._launching = launching
        self._session_id = session_id
        self._program = Program(room, opener, self._on, self._program_ended)
        self._turn: asyncio.Task[None] | None = None
        self._answers = Answers(store, session_id, outputs)
        self._requests = Requests(store, session_id)
        self._giving = Giving(self._requests, self._hear)
        self._permitting: set[asyncio.Task[None]] = set()
        self._silence = Silence(self._notice, lambda: bool(self._requests))
        self._over = asyncio.Event()
        self._over.set()
        self._stopping = False
        self._stopped_at: Request | None = None
        """What waited for a person when the turn was stopped."""
        self.known = base.CommandsKnown(())
        """The agent's own commands, as it last told them."""
        self.taken_back: set[str] = set()
        """Ids of waiting messages that a person is just taking back."""
        self.answering = asyncio.Lock()
        """Held while a person's answer is given, so that each request has one."""

    @property
    def session(self) -> Session:
        """The session as it is by now."""
        return self._store.state.sessions[self._session_id]

    @property
    def holds_request(self) -> bool:
        """Whether the agent itself waits for an answer (not only the stored session)."""
        return bool(self._requests)

    # From people -------------------------------------------------------------------------------

    def start_turn(self, message: Message) -> None:
        """Run a turn with a message that already stands in the conversation."""
        self._over.clear()
        self._stopping = False
        self._turn = asyncio.create_task(self._run_turn(message))

    def go_on(self) -> None:
        """Run what waits, if the turn that it waited for ended while it was being accepted."""
        run = self.session.last_run
        if self.session.status == "idle" and run is not None and run.status == "completed":
            self._start_next()

    def send_queued(self) -> None:
        """Run what waits where nothing runs any more: after a stop or a failure."""
        if not self.session.is_active:
            self._start_next()

    async def stop(self) -> None:
        """End the turn, gently first; the session is idle when this returns."""
        if self._over.is_set():
            return
        self._stopping = True
        self._stopped_at = self._requests.first  # its agent may withdraw it in stopping
        agent = self._program.agent
        if agent is not None and self._answers.current is not None:
            try:
                async with asyncio.timeout(STOP_PATIENCE):
                    await agent.stop()
                    await self._over.wait()
                return
            except (TimeoutError, SpinneyError):
                self._program.let_go()
        await self._cancel_start()
        if not self._over.is_set():
            self._finish("stopped", Usage())

    async def approve(self, mode: ExecutionMode, plan: str | None) -> None:
        """Tell the waiting agent that its plan is approved, into the session's settings."""
        request = self._requests.take("plan")
        settings = self._launching.settings_of(self.session)
        edited = self._requests.restore_plan(request.id, plan) if plan else None
        async with self._giving.of(request):
            await self._tell_agent(lambda agent: agent.approve(request.id, settings, edited))
            self._answers.mark(request.id, approved=mode, **({"text": plan} if plan else {}))

    async def discuss(self, message: Message) -> None:
        """Answer a proposed plan or a question in free words; they are part of the conversation.

        Only once the agent has taken them: else they are still the person's to send.
        """
        request = self._requests.first
        assert request is not None, "only a waiting agent is answered"
        self._requests.withdraw(request.id)
        prompt = prompt_of(message, message.text)
        async with self._giving.of(request):
            if request.kind == "plan":
                await self._tell_agent(lambda agent: agent.discuss(request.id, prompt))
            else:
                text = prompt.text_with_paths
                answers = self._requests.as_asked({q.question: text for q in request.questions})
                await self._tell_agent(lambda agent: agent.answer(request.id, answers))
            if self._over.is_set():
                raise SpinneyError(
                    "The agent stopped before it took this. Send it again.", "conflict"
                )
            self._answers.split(message)

    async def answer(self, answers: Mapping[str, str]) -> None:
        """Answer the waiting agent's questions."""
        request = self._requests.take("question")
        asked = self._requests.as_asked(answers)
        async with self._giving.of(request):
            await self._tell_agent(lambda agent: agent.answer(request.id, asked))
            self._answers.mark(request.id, answer=dict(answers))

    async def permit(self, request_id: str, decision: Decision, reason: str) -> None:
        """Allow or deny what the agent asked for. Raises `conflict` when it was answered."""
        request = self._requests.take("permission", request_id)
        verdict: base.Verdict = "deny" if decision == "deny" else "allow"
        async with self._giving.of(request):
            await self._tell_agent(lambda agent: agent.permit(request_id, verdict, reason))
            if decision == "deny":
                self._answers.deny(request_id, reason)
            else:
                self._answers.allow(request_id)
            if decision == "allow_session":
                self._requests.allow_for_session(request_id)

    async def configure(self) -> None:
        """Hand the session's present settings to a running agent."""
        if self._program.agent is not None:
            await self._program.agent.configure(self._launching.settings_of(self.session))

    async def close(self) -> None:
        """End the agent's program; an open turn counts as interrupted.

        A plan or a question waits on, and is answered after the next start.
        """
        await self._cancel_start()
        if not self._over.is_set() and self.session.waiting_for in ("plan", "question"):
            self._answers.close("interrupted")
            self._update(turn_mode=None)
            self._requests.forget_all()
            self._silence.end()
            self._over.set()  # what the program says in ending takes nothing back
        await self._program.end()
        if not self._over.is_set():
            self._finish("interrupted", Usage())

    # The turn ----------------------------------------------------------------------------------

    async def _run_turn(self, message: Message) -> None:
        try:
            self._program.keep()
            place = await asyncio.to_thread(self._launching.directory_of, self.session)
            if (agent := self._program.agent_in(place)) is None:
                agent = await self._program.start(self.session, place, self._notice)
            else:
                await self.configure()
            briefing = await self._brief(message)
            self._open_answer()
            self._silence.heard()
            text = briefing.prompt if briefing else message.text
            await agent.send(await asyncio.to_thread(prompt_of, message, text))
            if briefing:
                self._update(handover=None)
        except SpinneyError as error:
            if not self._over.is_set():  # else its program's end was told as the turn's end
                self._fail(error.message, error.error_type, retry_after=error.retry_after)
        except Exception:
            reference = uuid.uuid4().hex[:8]
            _log.exception("turn of session %s failed (%s)", self._session_id, reference)
            self._fail(f"Something went wrong inside Spinney ({reference}, see its log).")

    async def _brief(self, message: Message) -> Briefing | None:
        """After a change of agents: what the new one is told, which is said in the conversation.

        A command of the agent's own is sent as it is, and the summary waits for the next message.
        """
        handover = self.session.handover
        if handover is None or message.text.lstrip().startswith("/"):
            return None
        label = self._launching.label_of(self.session.backend)
        self._notice(f"Writing a summary of the conversation for {label} …")
        briefing = await self._handovers.brief(self.session, handover, message)
        self._open_answer().add_text(base.TextDelta("handover", briefing.note))
        self._answers.close("handover")
        return briefing

    def note(self, text: str) -> None:
        """Say in the conversation, once, how its agent was started."""
        self._answers.note(text)

    def _open_answer(self) -> Answer:
        self._over.clear()
        return self._answers.open()

    def _program_ended(self, reason: str) -> None:
        self._giving.release()
        # Where the agent has not been asked yet, another program is started for the turn.
        if self._answers.current is not None and not self._stopping:
            self._fail(f"{reason} Send a message to go on.", "backend_error")

    def _on(self, event: base.AgentEvent) -> None:
        if not self._giving.holds(event):
            self._hear(event)

    def _hear(self, event: base.AgentEvent) -> None:
        if self._over.is_set() and not isinstance(event, base.BETWEEN_TURNS):
            _log.info("told after its turn, and dropped: %s", type(event).__name__)
            return
        if self._answers.current is not None:
            self._silence.heard(event)
        match event:
            case base.TurnStarted():
                self._program.keep()
                self._open_answer()
                self._silence.heard()
                self._update(status="running")
            case _ if isinstance(event, base.OfAnswer):
                self._open_answer().hear(event)
            case base.PlanProposed() | base.QuestionAsked() | base.PermissionAsked():
                self._ask(event)
            case base.RequestWithdrawn():
                self._requests.withdraw(event.request_id)
            case base.ModeChanged() if event.mode != self.session.execution_mode:
                self._update(execution_mode=event.mode)
            case base.TurnKeepsMode():
                is_changed = event.mode != self.session.execution_mode
                self._update(turn_mode=event.mode if is_changed else None)
            case base.Notice():
                self._notice(event.text)
            case base.Note():
                self._answers.note(event.text, each_time=event.each_time)
            case base.McpServersSeen():
                self._launching.note_mcp_servers(self.session, event.names)
            case base.CommandsKnown():
                self.known = event
            case base.ModelsKnown():
                self._launching.note_models(self.session, event.models)
            case base.ModelAnswers():
                self._update(answering_model=event.name)
                if event.chosen:
                    self._update(model=event.name)
            case base.ConversationIdentified():
                if event.resume_token != self.session.resume_token:
                    self._update(resume_token=event.resume_token)
            case base.TurnFinished():
                told = {name: getattr(event, name) for name in ("context_tokens", "context_window")}
                known = {name: count for name, count in told.items() if count is not None}
                self._finish(event.stop_reason, event.usage, **known)
            case base.TurnFailed():
                self._fail(event.error, event.error_type, event.usage, event.retry_after)

    # What it waits for -------------------------------------------------------------------------

    def _ask(self, event: base.PlanProposed | base.QuestionAsked | base.PermissionAsked) -> None:
        answer = self._open_answer()
        if isinstance(event, base.PermissionAsked) and self._requests.is_allowed(event):
            self._permitting.add(permitting := asyncio.create_task(self._permit_again(event)))
            permitting.add_done_callback(self._permitting.discard)
            return
        request = self._requests.request_of(event, answer.message_id)
        tool = event.tool_use_id if isinstance(event, base.PermissionAsked) else None
        answer.add_request(request, tool)
        self._requests.ask(request, event)

    async def _permit_again(self, event: base.PermissionAsked) -> None:
        try:
            await self._tell_agent(lambda agent: agent.permit(event.request_id, "allow"))
        except SpinneyError as error:
            # It was withdrawn meanwhile, or the agent is gone.
            _log.info("what is allowed for the session was not permitted: %s", error.message)

    async def _tell_agent(self, call: Callable[[base.Agent], Coroutine[Any, Any, None]]) -> None:
        if self._program.agent is None:
            raise SpinneyError("The agent is not running any more; send a message.", "conflict")
        self._silence.heard()
        await call(self._program.agent)

    # The end of a turn -------------------------------------------------------------------------

    def _finish(self, stop_reason: str, usage: Usage, **fields: int) -> None:
        stopped = self._stopping or stop_reason in ("stopped", "interrupted")
        proposed = self._answers.close(
            "stopped" if self._stopping else stop_reason,
            usage,
            may_propose=not stopped and self.session.execution_mode == "plan",
        )
        ending: Literal["completed", "cancelled", "interrupted"] = "completed"
        if stopped:
            ending = "interrupted" if stop_reason == "interrupted" else "cancelled"
        self._end_turn(LastRun(status=ending, stop_reason=stop_reason), usage, proposed, **fields)

    def _fail(
        self,
        error: str,
        error_type: ErrorType = "internal_error",
        usage: Usage | None = None,
        retry_after: float | None = None,
    ) -> None:
        if self._stopping:
            self._finish("stopped", usage or Usage())
            return
        error = self._answers.fail(error, error_type, usage, retry_after)
        run = LastRun(status="failed", error=error, error_type=error_type, retry_after=retry_after)
        self._end_turn(run, usage or Usage(), None)

    def _end_turn(
        self, run: LastRun, usage: Usage, proposed: Request | None, **fields: Any
    ) -> None:
        waited = self._stopped_at or self._giving.first or self._requests.first
        if waited is not None and waited.kind == "plan":
            fields["set_aside_plan"] = waited.model_dump(mode="json")
        self._stopped_at = None
        self._giving.forget_all()
        self._requests.forget_all()
        self._silence.end()
        status: SessionStatus = "waiting" if proposed else "idle"
        if run.status == "failed":
            status = "failed"
        show_request(
            self._store,
            self._session_id,
            proposed,
            status,
            last_run=run.model_dump(mode="json"),
            usage=(self.session.usage + usage).model_dump(mode="json"),
            unread=True,
            turn_mode=None,
            **fields,
        )
        self._over.set()
        self._program.rest()
        if run.status == "completed" and proposed is None:
            self._start_next()

    def _start_next(self) -> None:
        queued = self._store.state.queued.get(self._session_id, ())
        waiting = [message for message in queued if message.id not in self.taken_back]
        if waiting:
            now = {"timestamp": time.time(), "status": "completed"}
            message = waiting[0].model_copy(update=now)
            self._store.record(
                MessageQueued(session_id=self._session_id, message=message, status="processing")
            )
            self._update(status="running", message_count=self.session.message_count + 1)
            self.start_turn(message)

    def _notice(self, text: str) -> None:
        self._store.record(RunNoticed(session_id=self._session_id, text=clean_line(text)))

    def _update(self, **fields: Any) -> None:
        record_session(self._store, self._session_id, **fields)

    async def _cancel_start(self) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
            await asyncio.gather(self._turn, return_exceptions=True)
