"""A session's conversation on OpenCode's server: its turns, and the methods of `base.Agent`."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from model.backends import agent_events, base
from model.backends.base import Launch, Prompt, Settings
from model.backends.channel import Channel
from model.backends.json_values import as_object, as_objects
from model.backends.opencode import commands, history, policy
from model.backends.opencode import prompt as opencode_prompt
from model.backends.opencode.agents import CustomAgents
from model.backends.opencode.bodies import PromptBodies
from model.backends.opencode.discovery import discover
from model.backends.opencode.early_end import EarlyEnds
from model.backends.opencode.edits import EDIT_TOOLS, Edits
from model.backends.opencode.event_stream import ServerEvent
from model.backends.opencode.inbox import EventsMissed, Inbox, InboxItem, ServerLost, TurnAborted
from model.backends.opencode.models import Models
from model.backends.opencode.requests import PendingRequests
from model.backends.opencode.rules import Rules
from model.backends.opencode.server import NAME, Server
from model.backends.opencode.steering import UnreadPrompts
from model.backends.opencode.stop import TurnStopper
from model.backends.opencode.stream import OpenCodeStream
from model.backends.process import InvalidLine
from model.base.errors import SpinneyError

CLOSE_TIMEOUT: Final = 2.0
"""Seconds to obey the stop that precedes closing."""

_INPUT_TIMEOUT: Final = 0.5
"""Seconds that a permission request waits for the input of its tool, which arrives right after."""


class OpenCodeSession:
    """A conversation; see `base.Agent` for the contract of its methods."""

    def __init__(
        self,
        server: Server,
        launch: Launch,
        conversation: str,
        models: Models,
        agents: object,
        release: Callable[[], None],
    ) -> None:
        self._server = server
        self._launch = launch
        self._id = conversation
        self._models = models
        self._release = release
        self._settings = launch.settings
        self._edits = Edits(launch.worktree)
        self._stream = OpenCodeStream(conversation)
        rules = Rules.parse(agents)
        self._requests = PendingRequests(self._call, self._stream, self._edits, launch, rules)
        self._agents = CustomAgents(agents)
        self._channel = Channel(NAME)
        self._plan: agent_events.PlanProposed | None = None
        self._bodies = PromptBodies(launch, models, self._stream, self.notice)
        self._responding_model = ""
        self._is_introduced = False
        self._is_closed = False
        self._stopper = TurnStopper(self._send_abort, self._stream)
        self._inbox = Inbox(
            conversation, launch.recorder, self._stopper.on_status, self._handle,
            lambda: _INPUT_TIMEOUT if self._requests.early else None,
        )  # fmt: skip
        self._ends = EarlyEnds(
            self._stopper, self._stream, self._channel,
            self._read_busy, self._inbox.put, self._run_in_background,
        )  # fmt: skip
        self._unread = UnreadPrompts()
        self._background: set[asyncio.Task[None]] = set()
        server.attach(conversation, self._inbox)
        self._inbox_task = asyncio.create_task(self._process_inbox())

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """The agent's events, until its program has exited."""
        return self._channel.events()

    async def emit(self, event: agent_events.AgentEvent) -> None:
        """Send an event of the adapter itself to the engine."""
        await self._channel.emit(event)

    async def notice(self, text: str) -> None:
        """Send a notice of the adapter itself to the engine."""
        await self._channel.emit(agent_events.Notice(text))

    async def send(self, prompt: Prompt) -> None:
        """Start a turn."""
        parts = await asyncio.to_thread(opencode_prompt.build_parts, prompt, self._launch.worktree)
        await self._stopper.wait()
        self._ends.turn += 1
        self._stream.begin_turn(plans=self._plans)
        self._requests.begin_turn()
        self._channel.begin_turn()
        if not self._is_introduced:
            self._is_introduced = True
            await self._channel.emit(agent_events.ConversationIdentified(self._id))
            self._run_in_background(self._discover())
        try:
            await self._prompt(parts)
        except SpinneyError:
            if not self._channel.is_turn_open:
                return  # the server's exit was reported as the turn's end already
            self._channel.is_turn_open = False
            raise

    async def steer(self, message_id: str, prompt: Prompt) -> bool:
        """Send a message into the turn, unless it is a command of the program."""
        if not self._can_steer() or prompt.text.lstrip().startswith("/"):
            return False
        parts = await asyncio.to_thread(opencode_prompt.build_parts, prompt, self._launch.worktree)
        body = await self._bodies.build(parts, self._settings)
        if not self._can_steer():
            return False
        body["messageID"] = program_id = self._unread.add(message_id)
        try:
            path = f"/session/{self._id}/prompt_async"
            await self._call("POST", path, self._agents.address(body))
        except SpinneyError:
            self._unread.discard(program_id)
            raise
        return True

    def _can_steer(self) -> bool:
        is_ending = self._channel.is_stopping or self._stopper.is_stopping
        return self._channel.is_turn_open and self._plan is None and not is_ending

    async def take_back(self, message_id: str) -> bool:
        """Return `False`: the model may get it at any moment."""
        return False

    async def stop(self) -> None:
        """Interrupt the turn and its running tools."""
        await self._channel.stop_turn(self._abort, self._server.kill_if_unresponsive)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Execute the plan with these settings, in the same turn."""
        approval = policy.APPROVED
        if plan:
            approval = f"{approval} The person changed it; this is the plan now:\n\n{plan}"
        await self._answer_plan(request_id, settings, [{"type": "text", "text": approval}])

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment."""
        parts = await asyncio.to_thread(opencode_prompt.build_parts, comment, self._launch.worktree)
        await self._answer_plan(request_id, self._settings, parts)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        await self._requests.answer(request_id, answers)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        await self._requests.permit(request_id, decision, reason)

    async def configure(self, settings: Settings) -> None:
        """Apply changed settings: they are sent with each prompt, and apply to requests at once."""
        self._settings = self._requests.settings = settings

    async def close(self) -> None:
        """End the turn and all processes that it started; the server keeps running for others."""
        if self._is_closed:
            return
        self._is_closed = self._channel.is_stopping = True
        if self._channel.is_turn_open and not self._inbox_task.done():
            await self._channel.request_stop(self._abort, CLOSE_TIMEOUT)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._stopper.cancel()
        await self._stopper.kill_commands()
        if self._launch.text_only:
            with suppress(SpinneyError):  # if the server has exited, the conversation stays
                await self._call("DELETE", f"/session/{self._id}", None)
        self._server.detach(self._inbox)
        self._inbox.put(ServerLost(""))
        self._channel.lift_event_limit()
        await self._inbox_task
        self._release()

    # Handling of the inbox, in order -------------------------------------------------------------

    async def _process_inbox(self) -> None:
        """Handle the inbox until the server exits or the session is closed, and end then."""
        reason = await self._inbox.process()
        is_stopped = self._channel.is_stopping
        await self._end_early(
            None if is_stopped else agent_events.TurnFailed(reason, "backend_error")
        )
        self._channel.end()

    async def _handle(self, item: InboxItem | None) -> None:
        match item:
            case ServerEvent():
                await self._handle_event(item)
            case InvalidLine():
                if self._channel.is_turn_open:
                    await self.notice(f"{NAME} sent an invalid message, ignored ({item.reason}).")
            case EventsMissed():
                await self._catch_up()
            case TurnAborted() if item.turn == self._ends.turn:
                await self._end_early(item.failure)
        async for request in self._requests.handle_early(is_late=item is None):
            await self._channel.emit(request)

    async def _handle_event(self, event: ServerEvent) -> None:
        if not self._channel.is_turn_open and self._begins_turn(event):
            await self._begin_own_turn()
        if not self._channel.is_turn_open:
            for _ in self._stream.events(event.kind, event.properties):
                pass  # of a turn that is over; the stream only tracks its messages
            if event.kind in ("permission.asked", "question.asked"):
                self._run_in_background(self._requests.refuse(event))
            return
        if event.kind == "message.updated":
            for message_id in self._unread.find_read(as_object(event.properties.get("info"))):
                await self._channel.emit(agent_events.SteerTaken(message_id))
        match event.kind:
            case "permission.asked" | "question.asked":
                if (request := await self._requests.handle(event)) is not None:
                    await self._channel.emit(request)
            case "permission.replied" | "question.replied" | "question.rejected":
                await self._withdraw([str(event.properties.get("requestID"))])
            case _:
                for produced in self._stream.events(event.kind, event.properties):
                    for converted in await self._convert_edits(produced):
                        self._requests.track(converted)
                        await self._channel.emit(converted)
                await self._emit_model()
        if event.session_id == self._id:
            await self._handle_state(event)

    def _begins_turn(self, event: ServerEvent) -> bool:
        """Whether a prompt that is not ours begins a turn, such as one that a plugin sends."""
        info = as_object(event.properties.get("info"))
        return (
            event.kind == "message.updated"
            and info.get("role") == "user"
            and info.get("sessionID") == self._id
            and not self._stream.knows(info.get("id"))
            and not self._stopper.is_stopping
            and not self._is_closed
        )

    async def _begin_own_turn(self) -> None:
        self._ends.turn += 1
        self._stream.begin_turn(plans=self._plans)
        self._requests.begin_turn()
        self._channel.begin_turn()
        await self._channel.emit(agent_events.TurnStarted())

    async def _handle_state(self, event: ServerEvent) -> None:
        if event.status == "idle":
            await self._on_idle()
        self._ends.check(event.status, event.kind, event.properties)

    async def _convert_edits(
        self, event: agent_events.AgentEvent
    ) -> Iterable[agent_events.AgentEvent]:
        if isinstance(event, agent_events.ToolUse) and event.name in EDIT_TOOLS:
            return await asyncio.to_thread(self._edits.normalize, event)
        if isinstance(event, agent_events.ToolResult):
            return self._edits.results(event)
        return [event]

    async def _on_idle(self) -> None:
        """End the turn if the program has finished it or could not start it."""
        has_started = self._stream.has_started or self._stream.error is not None
        is_stopping = self._channel.is_stopping or self._stopper.is_stopping
        if not has_started or is_stopping or self._ends.is_given_up:
            return
        if self._unread and await self._is_busy():
            return  # it goes on with a message that arrived at the end
        result = self._stream.turn_result()
        if (
            self._stream.plan
            and isinstance(result, agent_events.TurnFinished)
            and self._plan is None
        ):
            self._plan = agent_events.PlanProposed(uuid.uuid4().hex, self._stream.plan)
            await self._channel.emit(self._plan)
        elif self._plan is None:
            await self._end_turn(result)

    async def _end_turn(self, result: agent_events.TurnFinished | agent_events.TurnFailed) -> None:
        if not self._channel.is_turn_open:
            return
        await self._delete_unread()
        self._requests.early.clear()
        for event in self._stream.interrupt_tools():
            for converted in await self._convert_edits(event):
                await self._channel.emit(converted)
        for request in self._requests.pending_ids:
            self._run_in_background(self._requests.dismiss(request))
        await self._withdraw(self._requests.pending_ids)
        if self._plan is not None:
            await self._channel.emit(agent_events.RequestWithdrawn(self._plan.request_id))
            self._plan = None
        if isinstance(result, agent_events.TurnFinished):
            window = self._models.context_window(self._stream.model)
            result = replace(result, context_window=window)
        if self._stream.prompt_id:
            await self._channel.emit(agent_events.TurnMarked(self._stream.prompt_id))
        await self._channel.emit(result)

    async def _is_busy(self) -> bool:
        busy = await self._read_busy()
        return isinstance(busy, Mapping) and self._id in busy

    async def _read_busy(self) -> object:
        return await self._call("GET", "/session/status", None)

    async def _delete_unread(self) -> None:
        """Delete what the model did not get in this turn: the engine sends it again."""
        for program_id in self._unread.program_ids:
            self._unread.discard(program_id)
            self._stream.forget_prompt(program_id)
            with suppress(SpinneyError):  # the server may have exited
                await self._call("DELETE", f"/session/{self._id}/message/{program_id}", None)

    async def _end_early(self, failure: agent_events.TurnFailed | None) -> None:
        """End the turn with a failure, or as stopped."""
        result = self._stream.turn_result()
        if failure is None:
            context = (
                result.context_tokens if isinstance(result, agent_events.TurnFinished) else None
            )
            await self._end_turn(
                agent_events.TurnFinished(
                    "stopped", result.usage, context, cost_usd=result.cost_usd
                )
            )
        else:
            await self._end_turn(replace(failure, usage=result.usage, cost_usd=result.cost_usd))

    async def _withdraw(self, request_ids: Iterable[str]) -> None:
        for request_id in request_ids:
            event = self._requests.withdraw(request_id)
            if event is not None:
                await self._channel.emit(event)

    async def _catch_up(self) -> None:
        """Read the messages and requests whose events were missed."""
        if not self._channel.is_turn_open or self._plan is not None:
            return
        path = f"/session/{self._id}/message?limit={history.LIMIT}"
        messages = await self._call("GET", path, None)
        for event in history.turn_events(messages, self._stream.has_message):
            await self._handle_event(event)
        for kind in ("permission", "question"):
            for each in as_objects(await self._call("GET", f"/{kind}", None)):
                if each.get("sessionID") in self._stream.conversations:
                    await self._handle_event(ServerEvent(f"{kind}.asked", each))
        if not await self._is_busy():
            await self._on_idle()

    # Calls to the server -----------------------------------------------------------------------

    @property
    def _plans(self) -> bool:
        """Whether a response may contain a plan."""
        return self._settings.mode == "plan" and not self._launch.text_only

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        directory, record = self._launch.worktree, self._launch.recorder
        return await self._server.call(method, path, directory, body, record=record)

    async def _prompt(self, parts: list[dict[str, Any]]) -> None:
        body = await self._bodies.build(parts, self._settings)
        self._stopper.on_prompt()
        path = f"/session/{self._id}"
        if command := await commands.build_call(self._call, path, body):
            self._run_in_background(self._run_command(*command))
        else:
            addressed = self._agents.address(body)
            await self._call("POST", f"{path}/prompt_async", addressed)

    async def _run_command(self, path: str, body: Mapping[str, Any]) -> None:
        """Let the program run a command; its response arrives at the end of the turn."""
        turn, directory = self._ends.turn, self._launch.worktree
        try:
            timeout = commands.TIMEOUT
            await self._server.call("POST", path, directory, body, timeout, self._launch.recorder)
        except SpinneyError as error:
            if not self._channel.is_stopping:
                failure = agent_events.TurnFailed(error.message, error.error_type)
                self._inbox.put(TurnAborted(turn, failure))

    async def _answer_plan(
        self, request_id: str, settings: Settings, parts: list[dict[str, Any]]
    ) -> None:
        """Answer the open plan, in the same turn."""
        plan = self._plan
        if plan is None or plan.request_id != request_id:
            raise SpinneyError(f"{NAME} is no longer waiting for this answer.", "conflict")
        before = self._settings
        await self.configure(settings)
        self._stream.begin_prompt(plans=self._plans)
        self._plan = None
        try:
            await self._prompt(parts)
        except SpinneyError:
            self._plan = plan
            await self.configure(before)
            raise

    async def _abort(self) -> None:
        await self._ends.abort(is_running=self._plan is None)

    async def _send_abort(self) -> None:
        await self._call("POST", f"/session/{self._id}/abort", None)

    async def _discover(self) -> None:
        async for event in discover(self._call, self._agents):
            await self._channel.emit(event)

    async def _emit_model(self) -> None:
        if (model := self._stream.model) not in ("", self._responding_model):
            self._responding_model = model
            await self._channel.emit(agent_events.ModelReported(model))

    def _run_in_background(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
