"""The agent of one session: a thread of a Codex server. Implements `base.Agent`.

One turn of the session may consist of several of the program's: it ends its turn with a plan, and
begins another one to carry it out. The session's turn stays open until no user's answer and no
sub-agent is pending.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from model.backends import agent_events, base
from model.backends.base import Launch, Prompt, Settings
from model.backends.channel import Channel
from model.backends.codex import builtins, commands, errors
from model.backends.codex import prompt as codex_prompt
from model.backends.codex.approvals import (
    PendingRequest,
    parse_request,
    stricter_mode,
)
from model.backends.codex.requests import Requests
from model.backends.codex.running_turns import RunningTurns
from model.backends.codex.server import NAME, CodexServer
from model.backends.codex.session_cleanup import SessionCleanup
from model.backends.codex.stream import CodexStream, get_turn_field
from model.backends.codex.thread import CodexThread
from model.backends.codex.turn_start import TurnStarter
from model.backends.json_rpc import RpcError
from model.backends.json_values import Json, as_object
from model.backends.process import build_agent_environment
from model.base.errors import SpinneyError
from model.domain.usage import Usage, UsageWindow

CLOSE_TIMEOUT: Final = 1.0
"""Seconds for each request before closing."""


class CodexSession:
    """A session's agent, on a server shared with other sessions."""

    def __init__(
        self, server: CodexServer, launch: Launch, thread: CodexThread, release: Callable[[], None]
    ) -> None:
        self._server = server
        self.rpc = server.rpc.with_recorder(launch.recorder)
        self.recorder = launch.recorder
        self._release = release
        self._launch = launch
        self._settings = launch.settings
        self._channel = Channel(NAME)
        self._stream = CodexStream(launch.worktree, thread.id)
        self._starter = TurnStarter(server, self.rpc, launch, thread, self._stream, self, self.emit)
        self._requests = Requests(server, self.rpc, self.emit)
        self._turns = RunningTurns()
        self._deferred_ending: agent_events.TurnFinished | agent_events.TurnFailed | None = None
        """The end of the turn, deferred until the sub-agents have ended."""
        self._failure: agent_events.TurnFailed | None = None
        self._fallback_task: asyncio.Task[None] | None = None
        self._unread: set[str] = set()
        """The ids of messages sent into the turn that the model has not got."""
        self._has_goal = False
        """Whether the program begins turns by itself until a goal is reached."""
        self._is_identified = False
        self._is_closing = False
        self._cleanup = SessionCleanup(launch.worktree, thread.mark)
        self.startup_events = [
            event
            for method, params in server.subscribe(thread.id, self)
            for event in self._stream.idle_events(method, params, is_turn_open=False)
        ]
        """Events from notifications about the thread that arrived before."""
        self._commands = commands.CommandLoader(
            self.rpc, launch.worktree, build_agent_environment(launch.environment), self.emit
        )

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """The agent's events, until its program has ended."""
        return self._channel.events()

    async def emit(self, *events: agent_events.AgentEvent) -> None:
        """Queue events for the engine; while the session closes, only the end of a turn."""
        for event in events:
            if not self._is_closing or isinstance(
                event, agent_events.TurnFinished | agent_events.TurnFailed
            ):
                await self._channel.emit(event)

    async def send(self, prompt: Prompt) -> None:
        """Start a turn, or run a slash command of the program's own screen."""
        self._channel.begin_turn()
        self._stream.begin_turn()
        try:
            match await self._commands.parse_command(prompt.text):
                case None:
                    await self._starter.start(
                        await self._commands.build_input(prompt), self._settings
                    )
                case str() as reason:
                    await self._emit_answer(reason)
                case command:
                    await self._run_command(command)
        except SpinneyError:
            if not self._channel.is_turn_open:
                return  # the program's exit has already ended the turn
            self._channel.is_turn_open = False
            raise

    async def steer(self, message_id: str, prompt: Prompt) -> bool:
        """Send a message into the program's turn, unless it is a command of its screen."""
        # One that waits for an answer or for its sub-agents does not start.
        if self._channel.is_turn_open and not self._requests and self._deferred_ending is None:
            await self._turns.wait_for_start()
        if not self._can_steer() or await self._commands.parse_command(prompt.text) is not None:
            return False
        message = await self._commands.build_input(prompt)
        if not self._can_steer():
            return False
        self._unread.add(message_id)
        accepted = await self._server.steer(
            self._starter.thread.id, self._turns.id, message, message_id
        )
        if not accepted:
            self._unread.discard(message_id)
        return accepted

    def _can_steer(self) -> bool:
        return bool(self._turns.id) and self._channel.is_turn_open and not self._channel.is_stopping

    async def take_back(self, message_id: str) -> bool:
        """Return `False`: the model gets it at once."""
        return False

    async def stop(self) -> None:
        """Interrupt the turn, its commands and its sub-agents."""
        await self._channel.stop_turn(self._interrupt, self._abandon_turn)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry out the plan with these settings, in the same turn."""
        request = self._requests.take(request_id)
        self._settings = settings
        await self._continue_turn(codex_prompt.build_approval(request.plan, plan))

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Continue in plan mode with a comment."""
        self._requests.take(request_id)
        self._settings = replace(self._settings, mode="plan")
        await self._continue_turn(codex_prompt.build_message(comment, self._launch.worktree))

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, keyed by their text."""
        if await self._requests.answer(request_id, answers):
            return
        message = codex_prompt.build_answers(answers)
        # Pending until it is delivered: if the program's turn ends meanwhile, ours stays open.
        steered = self._turns.id and await self._server.steer(
            self._starter.thread.id, self._turns.id, message
        )
        self._requests.take(request_id)
        if not steered:
            await self._continue_turn(message)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny; the agent reads the `reason`."""
        await self._requests.permit(request_id, decision, reason)

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on; each turn sends them all."""
        self._settings = settings
        if self._channel.is_turn_open:  # its sandbox and instructions cannot change
            await self.emit(agent_events.TurnModeReported(self._starter.mode))

    async def close(self) -> None:
        """End the turn and everything its commands started; the program itself is shared."""
        self._is_closing = True
        if self._channel.is_turn_open and not self._server.ended.is_set():
            self._channel.is_stopping = True
            await self._channel.request_stop(self._interrupt, CLOSE_TIMEOUT)
        with suppress(SpinneyError):
            if not self._server.ended.is_set():
                await self._starter.call("thread/backgroundTerminals/clean", {}, CLOSE_TIMEOUT)
                await self._starter.call("thread/unsubscribe", {}, CLOSE_TIMEOUT)
        self._server.unsubscribe(self._starter.thread.id)
        self._commands.close()
        await self._cleanup.kill_and_remove()
        self._channel.end()
        release, self._release = self._release, lambda: None
        release()

    # Messages from the program ------------------------------------------------------------------

    def claims_thread(self, thread_id: str, params: Json) -> bool:
        """Whether a thread belongs to this session: its sub-agents' turns name our turn as root."""
        if self._turns.id and get_turn_field(params, "rootTurnId") == self._turns.root_id:
            self._stream.adopt_thread(thread_id)
        return thread_id in self._stream.children

    async def on_notification(self, method: str, params: Json) -> None:
        """Handle a notification about our thread or a sub-agent's."""
        thread = str(params.get("threadId"))
        is_child = thread != self._starter.thread.id
        child = thread if is_child else None
        is_late = self._turns.is_late(params, child)
        self._turns.follow(method, params, child)
        if method == "turn/started" and not is_child:
            await self._on_turn_started()
        elif method == "serverRequest/resolved":
            await self._requests.withdraw_resolved(params.get("requestId"))
        elif method in ("thread/goal/updated", "thread/goal/cleared") and not is_child:
            self._has_goal = as_object(params.get("goal")).get("status") == "active"
        if is_late or not self._channel.is_turn_open:
            await self.emit(
                *self._stream.idle_events(method, params, is_turn_open=self._channel.is_turn_open)
            )
            return
        if method == "item/started" and not is_child:
            await self._report_read(as_object(params.get("item")))
        await self.emit(*self._stream.events(method, params))
        if method == "turn/completed" and is_child:
            if (
                self._deferred_ending is not None
                and not self._turns.children
                and not self._turns.id
            ):
                await self._finish_turn(self._deferred_ending)
        elif method == "turn/completed":
            await self._on_turn_completed(params)
        elif method == "item/completed" and not is_child:
            await self._requests.add_questions(as_object(params.get("item")))
        elif method == "error" and params.get("willRetry"):
            await self._abort_key_retries(params)

    async def _report_read(self, item: Json) -> None:
        """Report that the model gets a message that was sent into the turn."""
        message_id = str(item.get("clientId"))
        if item.get("type") == "userMessage" and message_id in self._unread:
            self._unread.discard(message_id)
            await self.emit(agent_events.SteerTaken(message_id))

    async def on_request(self, request_id: object, method: str, params: Json) -> bool:
        """Handle a request; return whether its method is known."""
        request = parse_request(request_id, method, params, self._stream)
        if request is not None:
            is_watched = self._channel.is_turn_open and not self._launch.text_only
            mode = stricter_mode(self._starter.mode, self._settings.mode)
            await self._requests.handle(request, mode if is_watched else None)
        return request is not None

    async def on_invalid_line(self, reason: str) -> None:
        """Handle a line that is not a message."""
        if self._channel.is_turn_open:
            await self.emit(agent_events.Notice(f"Skipped output of {NAME} ({reason})."))

    async def on_limits(self, windows: tuple[UsageWindow, ...]) -> None:
        """Report usage windows; no thread is named, so they concern those that work now."""
        if self._channel.is_turn_open:
            await self.emit(agent_events.LimitsReported(windows))

    async def on_exit(self, reason: str) -> None:
        """Handle the exit of the program: this agent ends, too."""
        self._turns.id = ""
        # Before the last event: the engine may no longer read, and nothing must wait for it.
        self._channel.end()
        usage, is_stopping = self._stream.tokens.turn_usage, self._channel.is_stopping
        failed = agent_events.TurnFailed(reason, "backend_error", usage)
        await self._channel.emit(
            agent_events.TurnFinished("stopped", usage) if is_stopping else failed
        )

    async def _on_turn_started(self) -> None:
        if not self._is_identified and not self._launch.text_only:
            # A thread is stored from its first message on; before that, its id is useless.
            self._is_identified = self._starter.thread.is_persisted = True
            await self.emit(agent_events.ConversationIdentified(self._starter.thread.id))
        if not self._channel.is_turn_open:
            self._channel.begin_turn()
            self._stream.begin_turn()
            await self.emit(agent_events.TurnStarted())

    async def _on_turn_completed(self, params: Json) -> None:
        # Pending requests end with the turn, except those that the turn ended for.
        await self._requests.withdraw_awaited()
        await self.emit(*self._stream.end_open_tools(is_stopped=self._channel.is_stopping))
        if await self._try_fallback(params):
            return
        ending = self._build_ending(params)
        if isinstance(ending, agent_events.TurnFinished) and ending.stop_reason == "end_turn":
            # In other modes nothing needs approval.
            plan = self._stream.proposed_plan if self._starter.mode == "plan" else ""
            if plan:
                request = PendingRequest(id=f"{get_turn_field(params, 'id')}-plan", plan=plan)
                self._requests[request.id] = request
                await self.emit(agent_events.PlanProposed(request.id, plan))
            if self._requests:
                return  # the user's answer starts the next turn of the program
        if self._turns.children and not self._channel.is_stopping:
            self._deferred_ending = ending
            return
        await self._finish_turn(ending)

    async def _finish_turn(
        self, ending: agent_events.TurnFinished | agent_events.TurnFailed
    ) -> None:
        self._deferred_ending = self._failure = None
        self._unread.clear()  # the program forgets them with the turn
        await self._requests.withdraw(*self._requests)
        if isinstance(ending, agent_events.TurnFinished):
            ending = agent_events.TurnFinished(
                ending.stop_reason,
                self._stream.tokens.turn_usage,
                self._stream.tokens.context_tokens,
                self._stream.tokens.context_window,
            )
        if self._turns.last_id and not self._launch.text_only:
            await self.emit(agent_events.TurnMarked(self._turns.last_id))
        await self.emit(ending)
        await self._cleanup.remove_folders()

    def _build_ending(self, params: Json) -> agent_events.TurnFinished | agent_events.TurnFailed:
        usage = self._stream.tokens.turn_usage
        if self._channel.is_stopping:
            return agent_events.TurnFinished("stopped", usage)
        if self._failure is not None:
            return self._failure
        match get_turn_field(params, "status"):
            case "completed":
                return agent_events.TurnFinished("end_turn", usage)
            case "interrupted":
                return agent_events.TurnFinished("stopped", usage)
        error = as_object(as_object(params.get("turn")).get("error"))
        resets_in = self._server.limit_resets_in
        return errors.build_failure(error, self._starter.thread.provider_key, usage, resets_in)

    async def _abort_key_retries(self, params: Json) -> None:
        """End the turn if the key is refused: every retry fails too, and takes seconds."""
        error = as_object(params.get("error"))
        if self._failure is None and errors.is_key_refused(error) and self._turns.id:
            message, error_type, _ = errors.describe_error(error, self._starter.thread.provider_key)
            self._failure = agent_events.TurnFailed(message, error_type)
            interrupt = {"threadId": self._starter.thread.id, "turnId": self._turns.inner_id}
            # Not awaited: this reader itself delivers the response.
            await self.rpc.send(self.rpc.build_request("turn/interrupt", interrupt))

    # Messages to the program --------------------------------------------------------------------

    async def _continue_turn(self, items: list[Json]) -> None:
        """Start another turn of the program in the session's turn, with the current settings."""
        await self.emit(agent_events.TurnModeReported(self._settings.mode))
        try:
            await self._starter.start(items, self._settings)
        except SpinneyError as error:
            failed = agent_events.TurnFailed(
                error.message, error.error_type, self._stream.tokens.turn_usage
            )
            await self.emit(failed)

    async def _try_fallback(self, params: Json) -> bool:
        """If the turn failed because of an unknown preset model, continue with the default one."""
        if self._channel.is_stopping or not await self._starter.reject_model(
            params.get("turn"), self._settings
        ):
            return False
        # In a task: it awaits responses, which this reader delivers.
        self._fallback_task = asyncio.create_task(self._continue_turn(self._starter.last_input))
        return True

    async def _run_command(self, command: builtins.BuiltinCommand) -> None:
        self._starter.last_input = []
        match command.name:
            case "compact":
                await self._starter.call("thread/compact/start", {})
            case "init":
                prompt = codex_prompt.build_text(builtins.INIT_PROMPT)
                await self._starter.start(prompt, self._settings)
            case "review":
                await self._starter.start_review(command.review_target, self._settings)
                await self.emit(agent_events.Notice(f"{NAME} is reviewing…"))
            case "status":
                await self._emit_answer(await self._starter.describe(self._settings))

    async def _emit_answer(self, text: str) -> None:
        """Answer in place of the program, which gets no message."""
        await self.emit(
            agent_events.TextFinal("answer", text),
            agent_events.TurnFinished("end_turn", Usage()),
        )

    async def _interrupt(self) -> None:
        """Interrupt the program's turn and its sub-agents, and kill what their commands started."""
        async with self._starter.lock:
            # Now, while the parents run: one without its environment is found by descent.
            known = await self._cleanup.find_processes()
            if self._has_goal:  # before the turn's end, after which the next one would begin
                with suppress(RpcError):
                    await self._starter.call("thread/goal/clear", {})
            if self._requests and not self._turns.id:
                await self._finish_turn(agent_events.TurnFinished("stopped", Usage()))
            elif self._deferred_ending is None:
                # A turn that was just accepted does not have an id yet.
                await self._turns.is_running.wait()
            await self._server.interrupt(self._turns.by_thread(self._starter.thread.id))
            if self._deferred_ending is not None:
                await self._finish_turn(agent_events.TurnFinished("stopped", Usage()))
            await self._cleanup.kill_and_remove(known)

    async def _abandon_turn(self) -> None:
        """Give up on a turn that did not stop. The program is shared: kill it only if it hangs."""
        if not await self._server.is_responsive():
            await self._server.kill()
        else:
            self._server.unsubscribe(self._starter.thread.id)
            await self.on_exit("")
        await self._cleanup.kill_and_remove()
