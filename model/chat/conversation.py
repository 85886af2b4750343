"""One session and its agent: turns, open requests, and error handling.

Independent of any program: all calls are those of `model.backends.base`, all events those
of `model.backends.agent_events`.
"""

import asyncio
import logging
import uuid
from typing import Any, Literal

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.chat.agent_messages import AgentMessages
from model.chat.agent_pool import AgentPool
from model.chat.agent_process import AgentProcess, LaunchResolver, Opener
from model.chat.answer_delivery import AnswerDelivery
from model.chat.answers import Answers
from model.chat.handover import Briefing, HandoverWriter
from model.chat.message_builder import MessageBuilder
from model.chat.queue_runner import QueueRunner
from model.chat.requests import RequestQueue, record_session, show_request
from model.chat.stall_monitor import StallMonitor
from model.chat.steering import Steering
from model.chat.tool_outputs import ToolOutputs
from model.chat.turn_pauses import TurnPauses
from model.chat.user_messages import make_prompt
from model.domain.events.messages import RunNoticed
from model.domain.events.sessions import SessionUpdated
from model.domain.messages import Message
from model.domain.requests import Request
from model.domain.sessions import Handover, LastRun, Pause, Session, SessionStatus
from model.domain.usage import Usage
from model.limits.budgets import Budgets
from model.limits.pauses import put_off_others
from model.store.store import Store
from model.turns.recorder import TurnRecorder
from model.usage.meter import UsageMeter

STOP_TIMEOUT = 1.5
"""Seconds that an agent has to end a turn before its process is closed; users wait for this."""

_OVER_BUDGET = "The agent went on by itself and was stopped: the budget is used up."

_log = logging.getLogger(__name__)


class Conversation:
    """The runtime of one session. `Conversations` owns one for each session that has been used."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        opener: Opener,
        launch_resolver: LaunchResolver,
        pool: AgentPool,
        outputs: ToolOutputs,
        handovers: HandoverWriter,
        recorder: TurnRecorder,
        meter: UsageMeter,
        budgets: Budgets,
    ) -> None:
        self._handovers = handovers
        self._recorder = recorder
        self._meter = meter
        self._budgets = budgets
        self._store = store
        self._launch_resolver = launch_resolver
        self._session_id = session_id
        self._process = AgentProcess(pool, opener, self._on_event, self._on_process_exit)
        self._turn: asyncio.Task[None] | None = None
        self._deciding: asyncio.Task[None] | None = None
        """Between two turns, while the budgets decide whether the queue goes on."""
        self._messages = AgentMessages(store, session_id, outputs)
        self._requests = RequestQueue(store, session_id)
        self._delivery = AnswerDelivery(self._requests, self._handle_event)
        self._stall_monitor = StallMonitor(self._send_notice, lambda: bool(self._requests))
        self._pauses = TurnPauses(store, session_id)
        self._stored_message: Message | None = None
        """The message in the conversation with which the turn began."""
        self._turn_over = asyncio.Event()
        self._turn_over.set()
        self.answers = Answers(
            store,
            session_id,
            self._process,
            self._messages,
            self._requests,
            self._delivery,
            self._stall_monitor,
            launch_resolver,
            self._turn_over,
        )
        """Delivers answers to the agent's requests."""
        self._stopping = False
        self._is_own_turn = False
        """Whether the agent began the turn by itself."""
        self._stopping_own: asyncio.Task[None] | None = None
        self._request_at_stop: Request | None = None
        """The request that was open when the turn was stopped."""
        self.commands = agent_events.CommandsListed(())
        """The agent's own commands, as last reported."""
        self.queue = QueueRunner(store, session_id, self._pauses, self.start_turn)
        """Runs what waits in the session."""
        self.steering = Steering(
            store, session_id, self._messages, self.queue.being_removed, self._send_notice
        )
        """The messages that are sent into the running turn."""
        self.answer_lock = asyncio.Lock()
        """Held while an answer is delivered, so that each request gets one answer."""

    @property
    def session(self) -> Session:
        """The session in its current state."""
        return self._store.state.sessions[self._session_id]

    @property
    def has_open_request(self) -> bool:
        """Whether the agent itself waits for an answer (not only the stored session)."""
        return bool(self._requests)

    # User actions ------------------------------------------------------------------------------

    def start_turn(self, message: Message, *, is_stored: bool = True) -> None:
        """Run a turn with a message that is already in the conversation, unless not stored."""
        self._turn_over.clear()
        self._stopping = self._is_own_turn = False
        self._stored_message = message if is_stored else None
        self._turn = asyncio.create_task(self._run_turn(message))

    async def stop(self) -> None:
        """Stop the turn, gracefully first; the session is idle when this returns."""
        if self._turn_over.is_set():
            self._keep_queue(LastRun(status="cancelled", stop_reason="stopped"))
            return
        self._stopping = True
        self._request_at_stop = self._requests.first  # the agent may withdraw it while stopping
        agent = self._process.agent
        if agent is not None and self._messages.current is not None:
            try:
                async with asyncio.timeout(STOP_TIMEOUT):
                    await agent.stop()
                    await self._turn_over.wait()
                return
            except (TimeoutError, SpinneyError):
                self._process.detach()
        await self._cancel_start()
        if not self._turn_over.is_set():
            self._finish("stopped", Usage())

    async def configure(self) -> None:
        """Apply the session's current settings to a running agent."""
        if self._process.agent is not None:
            await self._process.agent.configure(
                self._launch_resolver.resolve_settings(self.session)
            )

    async def close(self) -> None:
        """Close the agent's process; an open turn counts as interrupted.

        A plan or a question stays open and can be answered after the next start.
        """
        await self._cancel_start()
        self._keep_queue(LastRun(status="interrupted", stop_reason="interrupted"))
        if not self._turn_over.is_set() and self.session.waiting_for in ("plan", "question"):
            self._messages.close("interrupted")
            # Not through `_update`: the session waits since it asked, and not since this end.
            updates = {"turn_mode": None}
            self._store.record(SessionUpdated(session_id=self._session_id, updates=updates))
            self._requests.clear()
            self._stall_monitor.end()
            self.steering.end()
            self._turn_over.set()  # events sent while exiting withdraw nothing
            self._recorder.end(self.session)
        await self._process.close()
        if not self._turn_over.is_set():
            self._finish("interrupted", Usage())

    # The turn ----------------------------------------------------------------------------------

    async def _run_turn(self, message: Message) -> None:
        before = self.session
        self._pauses.note_start(self._stored_message)
        try:
            self._process.mark_busy()
            directory_id = await asyncio.to_thread(
                self._launch_resolver.identify_directory, self.session
            )
            if (agent := self._process.find_agent(directory_id)) is None:
                agent = await self._start_agent(directory_id)
            else:
                await self.configure()
            briefing = await self._write_briefing(message)
            self._meter.begin_turn(self._session_id)
            await self._recorder.begin(before, self._stored_message)
            self._open_message()
            self._stall_monitor.note_activity()
            text = briefing.prompt if briefing else message.text
            await agent.send(await asyncio.to_thread(make_prompt, message, text))
            self._pauses.note_sent()
            if not self._turn_over.is_set() and self._turn is asyncio.current_task():
                self.steering.begin(agent)
            if briefing:
                self._update(handover=None)
        except SpinneyError as error:
            # Otherwise the process exit has already ended the turn.
            if not self._turn_over.is_set():
                self._fail(
                    agent_events.TurnFailed(
                        error.message, error.error_type, retry_after=error.retry_after
                    )
                )
        except Exception:
            reference = uuid.uuid4().hex[:8]
            _log.exception("turn of session %s failed (%s)", self._session_id, reference)
            text = f"Something went wrong inside Spinney ({reference}, see its log)."
            self._fail(agent_events.TurnFailed(text, "internal_error"))

    async def _start_agent(self, directory_id: tuple[int, int]) -> base.Agent:
        """Start the agent; if it cannot continue where it should, in a new conversation."""
        try:
            return await self._process.start(self.session, directory_id, self._send_notice)
        except base.CannotForkError as error:
            self._messages.note(error.message, each_time=True)
            handover = Handover(backend=self.session.backend, since=0).model_dump()
            self._update(resume_token=None, fork_at=None, turn_mark=None, handover=handover)
        return await self._process.start(self.session, directory_id, self._send_notice)

    async def _write_briefing(self, message: Message) -> Briefing | None:
        """After a change of agents, write the new one's briefing and show it in the conversation.

        An agent's own command is sent unchanged, and the summary waits for the next message.
        """
        handover = self.session.handover
        if handover is None or message.text.lstrip().startswith("/"):
            return None
        label = self._launch_resolver.label_of(self.session.backend)
        self._send_notice(f"Writing a summary of the conversation for {label}…")
        briefing = await self._handovers.write_briefing(self.session, handover, message)
        self._open_message().add_text(agent_events.TextDelta("handover", briefing.note))
        self._messages.close("handover")
        return briefing

    def note(self, text: str) -> None:
        """Add a note on how the agent was started to the conversation, once."""
        self._messages.note(text)

    def _open_message(self) -> MessageBuilder:
        self._turn_over.clear()
        return self._messages.open()

    def _on_process_exit(self, reason: str) -> None:
        self._delivery.release()
        # If the prompt has not been sent yet, a new process is started for the turn.
        if self._messages.current is not None and not self._stopping:
            self._fail(
                agent_events.TurnFailed(f"{reason} Send a message to continue.", "backend_error")
            )

    def _on_event(self, event: agent_events.AgentEvent) -> None:
        if not self._delivery.defer(event):
            self._handle_event(event)

    def _handle_event(self, event: agent_events.AgentEvent) -> None:
        if self._turn_over.is_set() and not isinstance(event, agent_events.OutOfTurnEvent):
            if isinstance(event, agent_events.TurnFinished | agent_events.TurnFailed):
                # What it used was not counted when the turn was ended without it.
                self._update(**self._count(event.usage, event.cost_usd))
            if isinstance(event, agent_events.PermissionRequested | agent_events.QuestionAsked):
                self.answers.refuse(event)
                return
            _log.info("dropped an event that arrived after its turn: %s", type(event).__name__)
            return
        if self._messages.current is not None:
            self._stall_monitor.note_activity(event)
        match event:
            case agent_events.TurnStarted():
                self._stopping, self._is_own_turn = False, True
                self._pauses.note_own_start()
                self._process.mark_busy()
                self._open_message()
                self._stall_monitor.note_activity()
                self._update(status="running")
                self._meter.begin_turn(self._session_id)
                self._recorder.begin_in_background(self.session)
                if self._process.agent is not None:
                    self.steering.begin(self._process.agent)
            case _ if isinstance(event, agent_events.ContentEvent):
                self._turn_over.clear()
                self._messages.apply_event(event)
            case (
                agent_events.PlanProposed()
                | agent_events.QuestionAsked()
                | agent_events.PermissionRequested()
            ):
                self.answers.add_request(event, self._open_message())
            case agent_events.RequestWithdrawn():
                self._requests.withdraw(event.request_id)
            case agent_events.SteerTaken():
                self.steering.mark_taken(event.message_id)
            case agent_events.ModeChanged() if event.mode != self.session.execution_mode:
                self._update(execution_mode=event.mode)
            case agent_events.TurnModeReported():
                is_changed = event.mode != self.session.execution_mode
                self._update(turn_mode=event.mode if is_changed else None)
            case agent_events.Notice():
                self._send_notice(event.text)
            case agent_events.ConversationNote():
                self._messages.note(event.text, each_time=event.each_time)
            case agent_events.McpServersListed():
                self._launch_resolver.note_mcp_servers(self.session, event.names)
            case agent_events.CommandsListed():
                self.commands = event
            case agent_events.ModelsListed():
                self._launch_resolver.note_models(self.session, event.models)
            case agent_events.ModelReported():
                self._update(answering_model=event.name)
                if event.is_user_choice:
                    self._update(model=event.name)
            case agent_events.UsageReported():
                sums = self._meter.note_usage(self.session, event.usage, event.cost_usd)
                self._update(usage=sums.usage.model_dump(mode="json"))
            case agent_events.LimitsReported():
                self._meter.note_limits(self.session, event.windows)
            case agent_events.ConversationIdentified():
                if event.resume_token != self.session.resume_token:
                    # A mark is valid in its own conversation only.
                    token = event.resume_token
                    self._update(resume_token=token, fork_at=None, turn_mark=None)
            case agent_events.TurnMarked():
                self._update(turn_mark=event.mark)
            case agent_events.TurnFinished():
                counts = {
                    name: getattr(event, name) for name in ("context_tokens", "context_window")
                }
                known_counts = {name: count for name, count in counts.items() if count is not None}
                self._finish(event.stop_reason, event.usage, event.cost_usd, **known_counts)
            case agent_events.TurnFailed():
                self._fail(event)
        self._keep_within_budget()

    def _keep_within_budget(self) -> None:
        """Stop a turn that the agent began by itself once the budget is used up.

        One that a person began goes to its end; of these, each could be followed by another.
        """
        pause = self.session.pause
        if self._is_own_turn and pause is not None and pause.kind == "budget":
            self._is_own_turn = False
            self._messages.note(_OVER_BUDGET, each_time=True)
            self._stopping_own = asyncio.create_task(self.stop())

    # The end of a turn -------------------------------------------------------------------------

    def _finish(
        self, stop_reason: str, usage: Usage, cost_usd: float | None = None, **fields: int
    ) -> None:
        was_stopped = self._stopping or stop_reason in ("stopped", "interrupted")
        plan = self._messages.close(
            "stopped" if self._stopping else stop_reason,
            usage,
            may_propose=not was_stopped and self.session.execution_mode == "plan",
        )
        status: Literal["completed", "cancelled", "interrupted"] = "completed"
        if was_stopped:
            status = "interrupted" if stop_reason == "interrupted" else "cancelled"
        else:
            self._pauses.note_success(is_metered=usage.total > 0)
        run = LastRun(status=status, stop_reason=stop_reason)
        self._end_turn(run, plan, None, **self._count(usage, cost_usd), **fields)

    def _fail(self, failed: agent_events.TurnFailed) -> None:
        if self._stopping:
            self._finish("stopped", failed.usage, failed.cost_usd)
            return
        error, usage = failed.error, failed.usage
        pause = self._pauses.plan(failed)
        error = self._messages.fail(error, failed.error_type, usage, failed.retry_after)
        run = LastRun(
            status="failed" if pause is None else "paused",
            error=error,
            error_type=failed.error_type,
            retry_after=failed.retry_after,
        )
        self._end_turn(run, None, pause, **self._count(usage, failed.cost_usd))

    def _count(self, usage: Usage, cost_usd: float | None) -> dict[str, Any]:
        """Record what a turn used, and return the session's sums."""
        sums = self._meter.end_turn(self.session, usage, cost_usd)
        return {
            "usage": sums.usage.model_dump(mode="json"),
            "cost": sums.cost.model_dump(mode="json") if sums.cost else None,
        }

    def _end_turn(
        self, run: LastRun, plan: Request | None, pause: Pause | None, **fields: Any
    ) -> None:
        open_request = self._request_at_stop or self._delivery.first or self._requests.first
        if open_request is not None and open_request.kind == "plan":
            fields["set_aside_plan"] = open_request.model_dump(mode="json")
        self._request_at_stop = None
        self._delivery.clear()
        self._requests.clear()
        self._stall_monitor.end()
        self.steering.end()
        status: SessionStatus = "waiting" if plan else "idle"
        if run.status == "failed":
            status = "failed"
        if pause is not None:
            fields["pause"] = pause.model_dump(mode="json")
        if plan is None and (pause or self.session.pause) is not None:
            status = "paused"
        goes_on = run.status == "completed" and status == "idle"
        if is_undecided := (
            goes_on and self.queue.is_waiting and self._budgets.apply_to(self.session)
        ):
            status = "running"
        self._recorder.end(self.session)
        show_request(
            self._store,
            self._session_id,
            plan,
            status,
            last_run=run.model_dump(mode="json"),
            unread=True,
            turn_mode=None,
            **fields,
        )
        self._is_own_turn = False
        self._turn_over.set()
        self._process.mark_idle()
        if pause is not None:
            self._store.record(*put_off_others(self._store.state, self._session_id, pause))
        else:
            self._pauses.note_end()
        if is_undecided:
            self._deciding = asyncio.create_task(self._decide())
        elif goes_on:
            self.queue.start_next()

    async def _decide(self) -> None:
        """Let the queue go on, unless a budget is used up with the turn that has ended."""
        try:
            await self._budgets.settle()
        except Exception:
            _log.exception("the budgets of session %s were not checked", self._session_id)
        if self._turn_over.is_set():  # Otherwise the agent has begun a turn by itself.
            self._rest()
            self.queue.start_next_if_idle()

    def _keep_queue(self, run: LastRun) -> None:
        """Keep the queue from going on after a turn that has ended."""
        if self._deciding is not None and self._deciding.cancel() and self._turn_over.is_set():
            self._rest(last_run=run.model_dump(mode="json"))

    def _rest(self, **fields: Any) -> None:
        self._update(status="idle" if self.session.pause is None else "paused", **fields)

    def _send_notice(self, text: str) -> None:
        self._store.record(RunNoticed(session_id=self._session_id, text=clean_line(text)))

    def _update(self, **fields: Any) -> None:
        record_session(self._store, self._session_id, **fields)

    async def _cancel_start(self) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
            await asyncio.gather(self._turn, return_exceptions=True)
