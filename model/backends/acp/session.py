"""One session's ACP agent: its program, its conversation and its turns."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Final

from model.agents.agents_file import AgentRow
from model.backends import agent_events, base
from model.backends.acp import errors, program
from model.backends.acp import prompt as acp_prompt
from model.backends.acp.mode_guard import ModeGuard
from model.backends.acp.policy import (
    PLAN_INSTRUCTIONS,
    SWITCH_MODE,
    Verdict,
    find_option,
    judge,
)
from model.backends.acp.program import Capabilities
from model.backends.acp.requests import PermissionRequest, PermissionRequests
from model.backends.acp.settings import AgentSettings
from model.backends.acp.stream import AcpStream, parse_usage
from model.backends.acp.tools import ToolCall
from model.backends.base import Launch, Prompt, Settings
from model.backends.json_rpc import METHOD_NOT_FOUND, JsonRpc, RpcError
from model.backends.json_values import Json, as_object, as_objects, as_text
from model.backends.process import AgentProcess, InvalidLine, JsonLine
from model.backends.process_channel import ProcessChannel
from model.backends.refusals import GO_BACK
from model.base.errors import ErrorType, SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.usage import Usage

START_TIMEOUT: Final = 60.0
"""Seconds to respond at the start: some agents first install themselves or load a history."""


class AcpSession:
    """The agent of one session; see `base.Agent` for the contract of its methods.

    The protocol has no field for the reason of a denial or for a comment on a plan. They are sent
    as a separate prompt when the agent has ended its turn; for the engine it is one turn.
    """

    def __init__(self, row: AgentRow, process: AgentProcess, launch: Launch) -> None:
        self._row = row
        self._worktree = launch.worktree
        self._text_only = launch.text_only
        self._settings = launch.settings
        self._mode = launch.settings.mode
        """The mode of the open turn."""
        self._preamble = launch.system_prompt
        """Prepended to the conversation's first message."""
        self._commands: tuple[AgentCommand, ...] = ()
        self._id = ""
        self._stream = AcpStream(launch.worktree, is_new=launch.resume_token is None)
        self._choices = AgentSettings(row.modes)
        self._prompt_number: int | None = None
        self._follow_ups: list[Prompt] = []
        self._follow_up_task: asyncio.Task[None] | None = None
        self._usage = Usage()
        self._noticed: set[str] = set()
        self._reported_mode = ""
        """The mode that the agent reported since the last request to change a setting."""
        self.capabilities = Capabilities()
        self._link = ProcessChannel(row.label, process, self._on_line, launch.recorder)
        self._rpc = JsonRpc(row.label, self._link.write, self._link.ended)
        self._requests = PermissionRequests(row.label, self._rpc, self._link.emit)
        self._guard = ModeGuard(self._choices, self._link, self._select, self.stop)

    # Start -------------------------------------------------------------------------------------

    async def initialize(self, timeout: float = START_TIMEOUT) -> Capabilities:
        """Initialize the program and return its capabilities."""
        response = await self._rpc.request("initialize", program.INITIALIZE_PARAMS, timeout)
        label, command = self._row.label, self._row.program
        self.capabilities = program.parse_capabilities(label, command, response)
        return self.capabilities

    async def start_conversation(self, launch: Launch) -> None:
        """Resume the conversation, or start a new one if the agent no longer knows it."""
        servers = [s for s in self._row.mcp_servers if s.name not in launch.disabled_mcp_servers]
        usable = await asyncio.to_thread(program.build_mcp_servers, self.capabilities, servers)
        params = {
            "cwd": str(launch.worktree),
            "mcpServers": [] if self._text_only else usable,
            "_meta": program.SESSION_META,
        }
        try:
            if not (launch.resume_token and await self._resume(launch.resume_token, params)):
                response = await self._rpc.request("session/new", params, START_TIMEOUT)
                self._choices.update(response)
                self._id = as_text(response.get("sessionId"))
        except RpcError as error:
            if error.code == errors.AUTH_REQUIRED:
                methods = self.capabilities.sign_in_methods
                message = errors.sign_in_message(self._row.label, methods)
                raise SpinneyError(message, "authentication_error") from error
            raise
        if not self._id:
            text = f"{self._row.label} did not start a conversation. Try again."
            raise SpinneyError(text, "backend_error")
        await self._link.emit(agent_events.ConversationIdentified(self._id))
        if self._row.mcp_servers:
            names = tuple(server.name for server in self._row.mcp_servers)
            await self._link.emit(agent_events.McpServersListed(names))
        if launch.resume_token and self._id != launch.resume_token:
            await self._notice(f"{self._row.label} no longer knows the conversation so far.")

    async def _resume(self, conversation: str, params: Json) -> bool:
        """Resume the conversation; return whether it succeeded.

        Replayed messages arrive before `_id` is set, and are ignored.
        """
        for method in self.capabilities.resume_methods:
            try:
                all_params = {**params, "sessionId": conversation}
                response = await self._rpc.request(method, all_params, START_TIMEOUT)
            except RpcError as error:
                if error.code == errors.AUTH_REQUIRED:
                    raise
                continue
            self._choices.update(response)
            self._id = conversation
            self._preamble = ""
            return True
        return False

    # Calls of the engine -----------------------------------------------------------------------

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """The agent's events, until its program has exited."""
        return self._link.events()

    async def send(self, prompt: Prompt) -> None:
        """Start a turn."""
        self._mode = self._settings.mode
        await self._apply_settings()
        is_command = acp_prompt.starts_with_command(self._commands, prompt.text)
        # Agents recognize a command only at the very beginning of a prompt.
        before = [] if is_command else [self._preamble]
        if self._mode == "plan" and not self._choices.is_planning and not is_command:
            before.append(PLAN_INSTRUCTIONS)
        blocks = await asyncio.to_thread(
            acp_prompt.build_blocks,
            prompt,
            before,
            accepts_images=self.capabilities.accepts_images,
        )
        self._stream.begin_turn()
        self._usage = Usage()
        self._follow_ups.clear()
        self._guard.begin_turn()
        message = self._prompt(blocks)
        await self._guard.check(self._mode)  # it may have switched since its settings were applied
        await self._link.start_turn(message)
        if not is_command:
            self._preamble = ""

    async def stop(self) -> None:
        """Cancel the turn; a program that does not obey is killed with its child processes."""
        await self._link.stop(self._cancel)

    async def steer(self, message_id: str, prompt: Prompt) -> bool:
        """Return `False`: the protocol has no message during a turn."""
        return False

    async def take_back(self, message_id: str) -> bool:
        """Return `False`: none was given to the program."""
        return False

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Execute the plan with these settings; an edited plan is sent as a message."""
        request = self._requests.take(request_id)
        self._guard.cancel()  # it sets back to the mode before
        self._settings, self._mode = settings, settings.mode
        await self._link.emit(agent_events.TurnModeReported(self._mode))
        is_edited = bool(plan and plan.strip() != request.plan.strip())
        if is_edited or find_option("allow", request.options) is None:
            text = f"Leave plan mode and carry out this plan:\n\n{plan or request.plan}"
            self._follow_ups.append(Prompt(text))
        await self._requests.decide(
            request.rpc_id, request.options, "deny" if is_edited else "allow"
        )

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment."""
        request = self._requests.take(request_id)
        self._follow_ups.append(comment)
        await self._requests.decide(request.rpc_id, request.options, "deny")

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """The protocol has no questions: agents ask in text at the end of their turn."""
        self._requests.take(request_id)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        request = self._requests.take(request_id)
        if decision == "deny" and reason:
            self._follow_ups.append(Prompt(f"I did not allow this: {request.subject}. {reason}"))
        await self._requests.decide(request.rpc_id, request.options, decision)

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on."""
        self._settings = settings
        if self._link.is_turn_open:
            await self._link.emit(agent_events.TurnModeReported(self._mode))

    async def close(self) -> None:
        """End the program and all processes that it started."""
        if self._follow_up_task is not None:
            self._follow_up_task.cancel()
        self._guard.cancel()
        await self._link.close(self._cancel)

    # Messages from the agent -------------------------------------------------------------------

    async def _on_line(self, line: JsonLine | InvalidLine) -> None:
        if isinstance(line, InvalidLine):
            # Some agents write their log to stdout: one notice is enough.
            if line.reason not in self._noticed:
                self._noticed.add(line.reason)
                text = f"{self._row.label} sent an invalid message, ignored ({line.reason})."
                await self._notice(text)
            return
        message, number = line.value, line.value.get("id")
        params = as_object(message.get("params"))
        if "method" not in message:
            if number is not None and number == self._prompt_number:
                self._prompt_number = None
                await self._on_turn_end(message)
            else:
                self._rpc.handle_response(message)
        elif number is None:
            await self._on_notification(as_text(message["method"]), params)
        elif message["method"] == "session/request_permission":
            await self._on_permission_request(number, params)
        else:
            reason = f"Spinney does not support {as_text(message['method'])}"
            await self._rpc.respond_error(number, METHOD_NOT_FOUND, reason)

    async def _on_notification(self, method: str, params: Json) -> None:
        if method == "$/cancel_request":
            await self._requests.cancel(params.get("requestId"))
        if method != "session/update" or self._id not in ("", params.get("sessionId")):
            return
        update = as_object(params.get("update"))
        match update.get("sessionUpdate"):
            case "available_commands_update":
                # Some agents send them before the id of our conversation is known.
                self._commands = acp_prompt.parse_commands(update)
                await self._link.emit(agent_events.CommandsListed(self._commands))
            case _ if not self._id:
                pass  # the replay of a history
            case "current_mode_update":
                self._choices.set_current("mode", as_text(update.get("currentModeId")))
                await self._check_mode()
            case "config_option_update":
                self._choices.update(update)
                await self._check_mode()
            case _:
                # Updates outside a turn are late and are ignored.
                if self._link.is_turn_open:
                    await self._emit_all(self._stream.events(update))
                if update.get("sessionUpdate") == "usage_update":
                    cost = self._stream.turn_cost
                    await self._link.emit(agent_events.UsageReported(self._usage, cost))

    async def _check_mode(self) -> None:
        """Follow an agent that enters plan mode by itself; it may not switch to what asks less."""
        self._reported_mode = self._choices.current("mode")
        if self._link.is_turn_open and self._choices.is_planning and self._mode != "plan":
            self._mode = "plan"
            await self._link.emit(agent_events.ModeChanged("plan"))
        elif self._prompt_number is not None:
            await self._guard.check(self._mode)

    async def _on_turn_end(self, response: Json) -> None:
        await self._requests.withdraw(*self._requests)
        result = as_object(response.get("result"))
        self._usage += parse_usage(result)
        reason = as_text(result.get("stopReason"))
        if self._link.is_stopping:
            await self._finish("stopped")
        elif "error" in response:
            label, methods = self._row.label, self.capabilities.sign_in_methods
            message, kind = errors.describe_error(label, response["error"], methods)
            # Without a word of the agent, nothing says that it kept the message.
            limit = errors.find_limit(message, kind)
            await self._fail(message, kind, limit, has_message=False)
        elif self._follow_ups:
            prompts, self._follow_ups = self._follow_ups, []
            self._follow_up_task = asyncio.create_task(self._send_follow_ups(prompts))
        elif reason == "refusal":
            message = f"{self._row.label} refused to continue. Change the message. {GO_BACK}"
            await self._fail(message, "invalid_request")
        else:
            await self._finish(reason or "end_turn")

    async def _send_follow_ups(self, prompts: Sequence[Prompt]) -> None:
        """Continue the turn with prompts that could not be part of an answer."""
        text = "\n\n".join(prompt.text for prompt in prompts)
        files = tuple(file for prompt in prompts for file in prompt.files)
        images = tuple(image for prompt in prompts for image in prompt.images)
        prompt = Prompt(text, files, images)
        accepts = self.capabilities.accepts_images
        try:
            blocks = await asyncio.to_thread(
                acp_prompt.build_blocks, prompt, (), accepts_images=accepts
            )
            await self._apply_settings()
            if self._link.is_stopping:
                await self._finish("stopped")
                return
            message = self._prompt(blocks)
            await self._guard.check(self._mode)
            await self._link.write(message)
        except SpinneyError as error:
            await self._fail(error.message, error.error_type)

    async def _finish(self, reason: str) -> None:
        tokens, window = self._stream.context_tokens, self._stream.context_window
        cost = self._stream.turn_cost
        await self._link.emit(agent_events.TurnFinished(reason, self._usage, tokens, window, cost))

    async def _fail(
        self,
        error: str,
        error_type: ErrorType,
        limit: agent_events.Limit | None = None,
        *,
        has_message: bool = True,
    ) -> None:
        failed = agent_events.TurnFailed(
            error,
            error_type,
            self._usage,
            limit=limit,
            has_message=has_message,
            cost_usd=self._stream.turn_cost,
        )
        await self._link.emit(failed)

    # Permissions -------------------------------------------------------------------------------

    async def _on_permission_request(self, rpc_id: object, params: Json) -> None:
        is_outside = not self._link.is_turn_open
        is_unanswered = self._text_only if is_outside else self._link.is_stopping
        if params.get("sessionId") != self._id or is_unanswered:
            await self._requests.refuse(rpc_id)
            return
        call = self._stream.update_call(as_object(params.get("toolCall")))
        options = tuple(as_objects(params.get("options")))
        use = self._stream.first_use(call)
        if is_outside:
            # The engine refuses it, and says so.
            await self._requests.ask(rpc_id, options, call, use)
            return
        if call.kind == SWITCH_MODE and self._mode == "plan" and not self._text_only:
            plan = call.text or as_text(call.input.get("plan"))
            request_id = self._requests.add(PermissionRequest(rpc_id, options, use.name, plan))
            await self._link.emit(agent_events.PlanProposed(request_id, plan))
            return
        await self._emit_all(self._stream.call_events(call))
        verdict = await self._judge(call)
        if verdict != "ask":
            await self._requests.decide(rpc_id, options, "allow" if verdict == "allow" else "deny")
        else:
            await self._requests.ask(rpc_id, options, call, use)

    async def _judge(self, call: ToolCall) -> Verdict:
        verdict = await asyncio.to_thread(
            judge,
            self._mode,
            call.kind,
            call.affected_files,
            self._worktree,
            has_plan_mode=self._choices.is_planning,
            web=self._settings.web_in_plan,
        )
        return "deny" if verdict == "ask" and self._text_only else verdict

    # Messages to the agent ---------------------------------------------------------------------

    def _prompt(self, blocks: list[Json]) -> Json:
        message = self._rpc.build_request(
            "session/prompt", {"sessionId": self._id, "prompt": blocks}
        )
        self._prompt_number = message["id"]
        return message

    async def _cancel(self) -> None:
        await self._requests.refuse_all()
        await self._rpc.notify("session/cancel", {"sessionId": self._id})

    async def _apply_settings(self) -> None:
        """Apply the settings that the agent offers; others are left to the agent."""
        self._guard.cancel()
        model = self._settings.model
        if model and self._choices.has("model") and not self._choices.offers("model", model):
            await self._notice(f"{self._row.label} has no model '{model}' and uses its default.")
        values = {
            "model": model,
            "thought_level": self._settings.effort,
            "mode": self._choices.mode_id(self._mode),  # last: a model may have modes of its own
        }
        for category, value in values.items():
            if value:
                await self._select(category, value)

    async def _select(self, category: str, value: str) -> None:
        """Let the agent use `value`, if it offers that."""
        if (request := self._choices.change_request(category, value)) is None:
            return
        method, params = request
        self._reported_mode = ""
        response = await self._rpc.request(method, {"sessionId": self._id, **params})
        self._choices.set_current(category, value)
        self._choices.update(response)
        # What the agent reported behind the response may have been read before this continues.
        self._choices.set_current("mode", self._reported_mode)

    async def _emit_all(self, events: Iterable[agent_events.AgentEvent]) -> None:
        for event in events:
            await self._link.emit(event)

    async def _notice(self, text: str) -> None:
        await self._link.emit(agent_events.Notice(text))
