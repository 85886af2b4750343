"""The agent of one session: a thread of a Codex server. Implements `base.Agent`.

One turn of the session may consist of several of the program's: it ends its turn with a plan, and
begins another one to carry it out. The session's turn stays open until no user's answer and no
sub-agent is pending.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from model.backends import base
from model.backends.base import Launch, Prompt, Settings
from model.backends.channel import Channel
from model.backends.codex import builtins, commands, errors, policy
from model.backends.codex import prompt as codex_prompt
from model.backends.codex.approvals import (
    PendingRequest,
    build_response,
    decide_by_policy,
    parse_request,
    stricter_mode,
)
from model.backends.codex.model_choice import ModelChoice
from model.backends.codex.server import NAME, CodexServer
from model.backends.codex.session_cleanup import SessionCleanup
from model.backends.codex.stream import CodexStream, get_turn_field
from model.backends.codex.thread import CodexThread, open_thread
from model.backends.json_values import Json, as_object
from model.backends.pending import PendingRequests
from model.backends.process import build_agent_environment
from model.base.errors import SpinneyError
from model.domain.usage import Usage, UsageWindow

TURN_TIMEOUT: Final = 30.0
"""Seconds to accept a turn."""

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
        self._mode = launch.settings.mode
        """The mode in which the program's turn began."""
        self._thread = thread
        self._channel = Channel(NAME)
        self._stream = CodexStream(launch.worktree, thread.id)
        self._pending = PendingRequests[PendingRequest](NAME, self.emit)
        self._turn_id = ""
        """The id of the program's running turn."""
        self._mark = ""
        """The id of the program's last turn."""
        self._inner_turn_id = ""
        self._turn_running = asyncio.Event()
        self._child_turns: dict[str, str] = {}
        """The running turns of sub-agents, by thread."""
        self._deferred_ending: base.TurnFinished | base.TurnFailed | None = None
        """The end of the turn, deferred until the sub-agents have ended."""
        self._failure: base.TurnFailed | None = None
        self._turn_lock = asyncio.Lock()
        """Held while a turn begins or is stopped, so that no stop hits the next turn."""
        self._model_choice = ModelChoice(self.emit)
        self._fallback_task: asyncio.Task[None] | None = None
        self._unread: set[str] = set()
        """The ids of messages sent into the turn that the model has not got."""
        self._last_input: list[Json] = []
        """The input of the program's turn."""
        self._is_identified = False
        self._is_resumed = thread.is_persisted
        self._is_closing = False
        self._cleanup = SessionCleanup(launch.worktree, thread.mark)
        self.startup_events = [
            event
            for method, params in server.subscribe(thread.id, self)
            for event in self._idle_events(method, params)
        ]
        """Events from notifications about the thread that arrived before."""
        self._commands = commands.CommandLoader(
            self.rpc, launch.worktree, build_agent_environment(launch.environment), self.emit
        )

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """The agent's events, until its program has ended."""
        return self._channel.events()

    async def emit(self, *events: base.AgentEvent) -> None:
        """Queue events for the engine; while the session closes, only the end of a turn."""
        for event in events:
            if not self._is_closing or isinstance(event, base.TurnFinished | base.TurnFailed):
                await self._channel.emit(event)

    async def send(self, prompt: Prompt) -> None:
        """Start a turn, or run a slash command of the program's own screen."""
        self._channel.begin_turn()
        self._stream.begin_turn()
        try:
            match await self._commands.parse_command(prompt.text):
                case None:
                    await self._start_turn(await self._commands.build_input(prompt))
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
        if not self._can_steer() or await self._commands.parse_command(prompt.text) is not None:
            return False
        message = await self._commands.build_input(prompt)
        if not self._can_steer():
            return False
        self._unread.add(message_id)
        accepted = await self._server.steer(self._thread.id, self._turn_id, message, message_id)
        if not accepted:
            self._unread.discard(message_id)
        return accepted

    def _can_steer(self) -> bool:
        return bool(self._turn_id) and self._channel.is_turn_open and not self._channel.is_stopping

    async def take_back(self, message_id: str) -> bool:
        """Return `False`: the model gets it at once."""
        return False

    async def stop(self) -> None:
        """Interrupt the turn, its commands and its sub-agents."""
        await self._channel.stop_turn(self._interrupt, self._abandon_turn)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry out the plan with these settings, in the same turn."""
        request = self._pending.take(request_id)
        self._settings = settings
        await self._continue_turn(codex_prompt.build_approval(request.plan, plan))

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Continue in plan mode with a comment."""
        self._pending.take(request_id)
        self._settings = replace(self._settings, mode="plan")
        await self._continue_turn(codex_prompt.build_message(comment, self._launch.worktree))

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, keyed by their text."""
        request = self._pending.get(request_id)
        if request is None or request.rpc_id is not None:
            request = self._pending.take(request_id)
            await self.rpc.respond(request.rpc_id, request.build_answers(answers))
            return
        message = codex_prompt.build_answers(answers)
        # Pending until it is delivered: if the program's turn ends meanwhile, ours stays open.
        steered = self._turn_id and await self._server.steer(
            self._thread.id, self._turn_id, message
        )
        self._pending.take(request_id)
        if not steered:
            await self._continue_turn(message)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny; the agent reads the `reason`."""
        request = self._pending.take(request_id)
        if decision == "deny" and reason.strip():
            # The refusal itself carries no reason; this input waits until the agent reads it.
            message = codex_prompt.build_text(f"The user does not allow this: {reason.strip()}")
            await self._server.steer(request.thread_id, request.turn_id, message)
        await self.rpc.respond(request.rpc_id, build_response(request, decision))

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on; each turn sends them all."""
        self._settings = settings
        if self._channel.is_turn_open:  # its sandbox and instructions cannot change
            await self.emit(base.TurnModeReported(self._mode))

    async def close(self) -> None:
        """End the turn and everything its commands started; the program itself is shared."""
        self._is_closing = True
        if self._channel.is_turn_open and not self._server.ended.is_set():
            self._channel.is_stopping = True
            await self._channel.request_stop(self._interrupt, CLOSE_TIMEOUT)
        with suppress(SpinneyError):
            if not self._server.ended.is_set():
                await self._call("thread/backgroundTerminals/clean", {}, CLOSE_TIMEOUT)
                await self._call("thread/unsubscribe", {}, CLOSE_TIMEOUT)
        self._server.unsubscribe(self._thread.id)
        self._commands.close()
        await self._cleanup.kill_and_remove()
        self._channel.end()
        release, self._release = self._release, lambda: None
        release()

    # Messages from the program ------------------------------------------------------------------

    def claims_thread(self, thread_id: str, params: Json) -> bool:
        """Whether a thread belongs to this session: its sub-agents' turns name our turn as root."""
        if self._turn_id and get_turn_field(params, "rootTurnId") == self._turn_id:
            self._stream.adopt_thread(thread_id)
        return thread_id in self._stream.children

    async def on_notification(self, method: str, params: Json) -> None:
        """Handle a notification about our thread or a sub-agent's."""
        thread = str(params.get("threadId"))
        is_child = thread != self._thread.id
        is_late = self._is_late(thread, params)
        if method == "turn/started" and not is_child:
            # A review contains an inner turn, which is the one to interrupt; notifications name
            # the outer one.
            self._inner_turn_id = get_turn_field(params, "id")
            await self._on_turn_started(
                get_turn_field(params, "rootTurnId") or get_turn_field(params, "id")
            )
        elif method == "turn/started":
            self._child_turns[thread] = get_turn_field(params, "id")
        elif method == "turn/completed" and is_child:
            self._child_turns.pop(thread, None)
        elif method == "turn/completed":
            self._mark, self._turn_id = self._turn_id, ""
            self._turn_running.clear()
        elif method == "serverRequest/resolved":
            resolved = params.get("requestId")
            await self._pending.withdraw(
                *(k for k, each in self._pending.items() if each.rpc_id == resolved)
            )
        if is_late or not self._channel.is_turn_open:
            await self.emit(*self._idle_events(method, params))
            return
        if method == "item/started" and not is_child:
            await self._report_read(as_object(params.get("item")))
        await self.emit(*self._stream.events(method, params))
        if method == "turn/completed" and is_child:
            if self._deferred_ending is not None and not self._child_turns and not self._turn_id:
                await self._finish_turn(self._deferred_ending)
        elif method == "turn/completed":
            await self._on_turn_completed(params)
        elif method == "item/completed" and not is_child:
            await self._emit_questions(params)
        elif method == "error" and params.get("willRetry"):
            await self._abort_key_retries(params)

    async def _report_read(self, item: Json) -> None:
        """Report that the model gets a message that was sent into the turn."""
        message_id = str(item.get("clientId"))
        if item.get("type") == "userMessage" and message_id in self._unread:
            self._unread.discard(message_id)
            await self.emit(base.SteerTaken(message_id))

    async def on_request(self, request_id: object, method: str, params: Json) -> bool:
        """Handle a request; one that is not for the user is answered immediately."""
        request = parse_request(request_id, method, params, self._stream)
        if request is None:
            return False
        decision = decide_by_policy(request, stricter_mode(self._mode, self._settings.mode))
        if self._launch.text_only or not self._channel.is_turn_open:
            decision = "deny"  # no user is watching
        if decision is not None:
            await self.rpc.respond(request_id, build_response(request, decision))
            return True
        self._pending[request.id] = request
        await self.emit(request.event)
        return True

    async def on_invalid_line(self, reason: str) -> None:
        """Handle a line that is not a message."""
        if self._channel.is_turn_open:
            await self.emit(base.Notice(f"Skipped output of {NAME} ({reason})."))

    async def on_limits(self, windows: tuple[UsageWindow, ...]) -> None:
        """Report usage windows; no thread is named, so they concern those that work now."""
        if self._channel.is_turn_open:
            await self.emit(base.LimitsReported(windows))

    async def on_exit(self, reason: str) -> None:
        """Handle the exit of the program: this agent ends, too."""
        self._turn_id = ""
        # Before the last event: the engine may no longer read, and nothing must wait for it.
        self._channel.end()
        usage, is_stopping = self._stream.tokens.turn_usage, self._channel.is_stopping
        failed = base.TurnFailed(reason, "backend_error", usage)
        await self._channel.emit(base.TurnFinished("stopped", usage) if is_stopping else failed)

    def _idle_events(self, method: str, params: Json) -> list[base.AgentEvent]:
        """The events of a notification outside a turn: notes, and results of open tools.

        Token totals are updated.
        """
        thread = str(params.get("threadId"))
        # A busy program reports the usage of a resumed thread when its next turn already runs.
        is_baseline = thread == self._thread.id and not self._stream.tokens.has_total(thread)
        open_tools = self._stream.open_tools
        events = list(self._stream.events(method, params))
        if is_baseline or not self._channel.is_turn_open:
            self._stream.tokens.set_baseline(thread)
        is_open = self._channel.is_turn_open
        return [
            event
            for event in events
            if isinstance(event, base.ConversationNote)
            or (is_open and isinstance(event, base.ToolResult) and event.tool_use_id in open_tools)
        ]

    def _is_late(self, thread: str, params: Json) -> bool:
        """Whether it concerns a turn that has ended; its background commands may end later."""
        turn = params.get("turnId")
        running = self._turn_id if thread == self._thread.id else self._child_turns.get(thread)
        return isinstance(turn, str) and turn != running

    async def _on_turn_started(self, turn: str) -> None:
        self._turn_id = turn
        self._turn_running.set()
        if not self._is_identified and not self._launch.text_only:
            # A thread is stored from its first message on; before that, its id is useless.
            self._is_identified = self._thread.is_persisted = True
            await self.emit(base.ConversationIdentified(self._thread.id))
        if not self._channel.is_turn_open:
            self._channel.begin_turn()
            self._stream.begin_turn()
            await self.emit(base.TurnStarted())

    async def _on_turn_completed(self, params: Json) -> None:
        # Pending requests end with the turn, except those that the turn ended for.
        await self._pending.withdraw(
            *(key for key, each in self._pending.items() if each.rpc_id is not None)
        )
        await self.emit(*self._stream.end_open_tools(is_stopped=self._channel.is_stopping))
        if await self._try_fallback(params):
            return
        ending = self._build_ending(params)
        if isinstance(ending, base.TurnFinished) and ending.stop_reason == "end_turn":
            if plan := self._proposed_plan():
                request = PendingRequest(id=f"{get_turn_field(params, 'id')}-plan", plan=plan)
                self._pending[request.id] = request
                await self.emit(base.PlanProposed(request.id, plan))
            if self._pending:
                return  # the user's answer starts the next turn of the program
        if self._child_turns and not self._channel.is_stopping:
            self._deferred_ending = ending
            return
        await self._finish_turn(ending)

    async def _finish_turn(self, ending: base.TurnFinished | base.TurnFailed) -> None:
        self._deferred_ending = self._failure = None
        self._unread.clear()  # the program forgets them with the turn
        await self._pending.withdraw(*self._pending)
        if isinstance(ending, base.TurnFinished):
            ending = base.TurnFinished(
                ending.stop_reason,
                self._stream.tokens.turn_usage,
                self._stream.tokens.context_tokens,
                self._stream.tokens.context_window,
            )
        if self._mark and not self._launch.text_only:
            await self.emit(base.TurnMarked(self._mark))
        await self.emit(ending)
        await self._cleanup.remove_folders()

    def _build_ending(self, params: Json) -> base.TurnFinished | base.TurnFailed:
        usage = self._stream.tokens.turn_usage
        if self._channel.is_stopping:
            return base.TurnFinished("stopped", usage)
        if self._failure is not None:
            return self._failure
        match get_turn_field(params, "status"):
            case "completed":
                return base.TurnFinished("end_turn", usage)
            case "interrupted":
                return base.TurnFinished("stopped", usage)
        error = as_object(as_object(params.get("turn")).get("error"))
        message, error_type, retry_after = errors.describe_error(error, self._thread.provider_key)
        if error_type == "rate_limit_error" and retry_after is None:
            retry_after = self._server.limit_resets_in or errors.find_reset(error, time.time())
        limit = errors.find_limit(error)
        if retry_after is None and errors.is_used_up(error):
            limit = None
        return base.TurnFailed(message, error_type, usage, retry_after, limit)

    def _proposed_plan(self) -> str:
        """The plan that the turn proposed in plan mode; in other modes nothing needs approval."""
        return self._stream.proposed_plan if self._mode == "plan" else ""

    async def _emit_questions(self, params: Json) -> None:
        """Emit the questions in a message, which the turn does not wait for."""
        item = params.get("item")
        request = PendingRequest.from_message(item) if isinstance(item, dict) else None
        if request is not None:
            self._pending[request.id] = request
            await self.emit(request.event)

    async def _abort_key_retries(self, params: Json) -> None:
        """End the turn if the key is refused: every retry fails too, and takes seconds."""
        error = as_object(params.get("error"))
        if self._failure is None and errors.is_key_refused(error) and self._turn_id:
            message, error_type, _ = errors.describe_error(error, self._thread.provider_key)
            self._failure = base.TurnFailed(message, error_type)
            interrupt = {"threadId": self._thread.id, "turnId": self._inner_turn_id}
            # Not awaited: this reader itself delivers the response.
            await self.rpc.send(self.rpc.build_request("turn/interrupt", interrupt))

    # Messages to the program --------------------------------------------------------------------

    async def _call(self, method: str, params: Json, timeout: float = TURN_TIMEOUT) -> Json:
        arguments = {"threadId": self._thread.id, **params}
        return await self.rpc.request(method, arguments, timeout)

    async def _continue_turn(self, items: list[Json]) -> None:
        """Start another turn of the program in the session's turn, with the current settings."""
        await self.emit(base.TurnModeReported(self._settings.mode))
        try:
            await self._start_turn(items)
        except SpinneyError as error:
            failed = base.TurnFailed(
                error.message, error.error_type, self._stream.tokens.turn_usage
            )
            await self.emit(failed)

    async def _start_turn(self, items: list[Json]) -> None:
        """Start a turn of the program with the current settings."""
        self._last_input = items
        policies = await self._build_policies()
        settings = self._settings
        if self._is_resumed and self._launch.system_prompt:
            # A thread keeps its initial instructions; identical ones are added only once.
            context = {"kind": "application", "value": self._launch.system_prompt}
            policies["additionalContext"] = {"spinney": context}
        async with self._turn_lock:
            if policy.is_web_disabled(self._launch, settings) != self._thread.is_web_disabled:
                await self._reopen_thread()
            self._stream.begin_part()
            self._mode = settings.mode
            await self._call("turn/start", {**policies, "input": items})

    async def _try_fallback(self, params: Json) -> bool:
        """If the turn failed because of an unknown preset model, continue with the default one."""
        if (
            self._channel.is_stopping
            or not self._model_choice.has_fallback(self._settings)
            or not self._last_input
            or not errors.is_model_unknown(params.get("turn"))
        ):
            return False
        await self._model_choice.reject(self._settings.model, self._thread.config)
        # In a task: it awaits responses, which this reader delivers.
        self._fallback_task = asyncio.create_task(self._continue_turn(self._last_input))
        return True

    async def _build_policies(self) -> Json:
        """The parameters of a turn with the current settings."""
        models, config = self._server.models, self._thread.config
        model = await self._model_choice.resolve(self._settings, models, config)
        supported = models.list_efforts(model)
        effort = policy.choose_effort(self._settings, config.effort, supported)
        return policy.build_turn_params(
            self._launch, self._settings, model, effort, self._thread.git_folders
        )

    async def _run_command(self, command: builtins.BuiltinCommand) -> None:
        self._last_input = []
        match command.name:
            case "compact":
                await self._call("thread/compact/start", {})
            case "init":
                await self._start_turn(codex_prompt.build_text(builtins.INIT_PROMPT))
            case "review":
                async with self._turn_lock:
                    # A review takes no settings, and the thread has the previous ones.
                    await self._call("thread/settings/update", await self._build_policies())
                    self._mode = self._settings.mode
                    review = {"target": command.review_target, "delivery": "inline"}
                    await self._call("review/start", review)
                await self.emit(base.Notice(f"{NAME} is reviewing…"))
            case "status":
                policies = (await self._build_policies())["collaborationMode"]["settings"]
                text = builtins.format_status(self._launch, self._settings, self._thread, policies)
                await self._emit_answer(text)

    async def _emit_answer(self, text: str) -> None:
        """Answer in place of the program, which gets no message."""
        await self.emit(
            base.TextFinal("answer", text),
            base.TurnFinished("end_turn", Usage()),
        )

    async def _reopen_thread(self) -> None:
        """Reopen the thread to change its web access, which is set when a thread is opened."""
        old = self._thread
        await self._call("thread/unsubscribe", {})
        token = old.id if old.is_persisted else None
        self._thread = await open_thread(
            self._server, self._launch, self._settings, token, old.mark
        )
        self._server.unsubscribe(old.id)
        self._stream.thread_id = self._thread.id
        self._server.subscribe(self._thread.id, self)

    async def _interrupt(self) -> None:
        """Interrupt the program's turn and its sub-agents, and kill what their commands started."""
        async with self._turn_lock:
            # Now, while the parents run: one without its environment is found by descent.
            known = await self._cleanup.find_processes()
            if self._pending and not self._turn_id:
                await self._finish_turn(
                    base.TurnFinished("stopped", self._stream.tokens.turn_usage)
                )
            elif self._deferred_ending is None:
                # A turn that was just accepted does not have an id yet.
                await self._turn_running.wait()
            own = {self._thread.id: self._inner_turn_id} if self._turn_id else {}
            await self._server.interrupt({**self._child_turns, **own})
            if self._deferred_ending is not None:
                await self._finish_turn(
                    base.TurnFinished("stopped", self._stream.tokens.turn_usage)
                )
            await self._cleanup.kill_and_remove(known)

    async def _abandon_turn(self) -> None:
        """Give up on a turn that did not stop. The program is shared: kill it only if it hangs."""
        if not await self._server.is_responsive():
            await self._server.kill()
        else:
            self._server.unsubscribe(self._thread.id)
            await self.on_exit("")
        await self._cleanup.kill_and_remove()
