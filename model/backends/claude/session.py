"""The agent of one session: its `claude` process. Implements `base.Agent`."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from model.backends import agent_events, base
from model.backends.base import Launch, Prompt, Settings
from model.backends.claude import errors, models, second_writer
from model.backends.claude import prompt as claude_prompt
from model.backends.claude import settings as claude_settings
from model.backends.claude.control import ControlChannel
from model.backends.claude.edits import Edits
from model.backends.claude.policy import (
    EDIT_HOOK,
    EDIT_TOOLS,
    HOOKS,
    PERMISSION_MODE,
    THINKING_TOKENS,
    USER_DENIAL,
    WORKTREE_HOOK,
    WORKTREE_NOTE,
    decide_edit,
    decide_use,
)
from model.backends.claude.protocol import ClaudeStream
from model.backends.claude.requests import ToolRequests
from model.backends.claude.steering import UnreadMessages
from model.backends.json_values import Json, as_object
from model.backends.process import AgentProcess, InvalidLine, JsonLine
from model.backends.process_channel import ProcessChannel
from model.base.errors import SpinneyError
from model.domain.modes import ThinkingLevel
from model.domain.usage import Usage

NAME: Final = "Claude Code"

START_TIMEOUT: Final = 60.0
"""Seconds to respond to `initialize`; ten were seen on a busy machine."""


class ClaudeSession:
    """A session's agent, in a process of its own."""

    def __init__(
        self,
        process: AgentProcess,
        launch: Launch,
        conversation: str,
        edits: Edits,
        writer: second_writer.SecondWriter,
    ) -> None:
        self._stream = ClaudeStream(
            launch.settings.mode, edits.is_plan, is_new=launch.resume_token is None
        )
        self._edits = edits
        self._second_writer = writer
        self._launch = launch
        self._settings = launch.settings
        self._conversation = conversation
        self._is_command = False
        """Whether the turn is a command of the program; some start another conversation."""
        self._is_disowned = False
        self._failure: agent_events.TurnFailed | None = None
        self._last_message: Json = {}
        """The message that started the turn."""
        self._unknown_models: set[str] = set()
        """Preset models that the provider does not have."""
        self._fallback_task: asyncio.Task[None] | None = None
        self._has_chosen_model = False
        """Whether the user chose a model by command that has not answered yet."""
        self._channel = ProcessChannel(NAME, process, self._on_line, launch.recorder)
        self._control = ControlChannel(NAME, self._channel)
        self._requests = ToolRequests(NAME, self._control, self._stream, edits, self._channel.emit)
        self._unread = UnreadMessages(self._control)
        self._held_end: agent_events.TurnFinished | agent_events.TurnFailed | None = None
        """The end of the program's turn, while it may go on with an unread message."""
        self._earlier_ends: list[agent_events.TurnFinished | agent_events.TurnFailed] = []
        """Of the program's turns before this one that belong to the same turn."""
        self._settling: asyncio.Task[None] | None = None

    async def initialize(self, profile: Json, launch: Launch) -> None:
        """Wait until the program is ready, and apply the profile."""
        # Otherwise a conversation keeps the system prompt with which it began (2.1.332).
        fields = {"hooks": HOOKS, "systemPromptSnapshot": False}
        response = await self._control.request("initialize", START_TIMEOUT, **fields)
        for event in self._stream.handle_initialize(response):
            await self._channel.emit(event)
        arguments = launch.worktree, launch.environment, launch.profile
        configured = await asyncio.to_thread(models.find_user_model, *arguments)
        if (listed := models.parse_models(response, configured)).models:
            await self._channel.emit(agent_events.ModelsListed(listed))
        if profile:
            # Here and not on the command line, which every user of the machine can read.
            await self._control.request("apply_flag_settings", settings=profile)
        await self._set_thinking_tokens(self._settings.thinking)
        if not launch.text_only:
            await self._report_ignored_files()

    async def _report_ignored_files(self) -> None:
        with suppress(SpinneyError):  # not supported, or too slow
            response = await self._control.request("get_settings", claude_settings.TIMEOUT)
            for note in claude_settings.describe_ignored_files(response):
                await self._channel.emit(note)

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """The agent's events, until its program has ended."""
        return self._channel.events()

    async def notify(self, text: str) -> None:
        """Emit a notice of the adapter itself."""
        await self._channel.emit(agent_events.Notice(text))

    async def send(self, prompt: Prompt) -> None:
        """Start a turn. A text that begins with `/` is a command of the program, intentionally."""
        line = await asyncio.to_thread(claude_prompt.build_user_line, prompt, self._launch.worktree)
        self._is_command = claude_prompt.is_command(prompt.text)
        self._has_chosen_model = self._has_chosen_model or models.is_model_command(prompt.text)
        self._last_message = line
        self._stream.begin_turn()
        self._failure = None
        self._earlier_ends.clear()
        await self._note_second_writer()
        await self._channel.start_turn(line)

    async def steer(self, message_id: str, prompt: Prompt) -> bool:
        """Send a message into the turn, unless it or the turn is a command of the program."""
        is_command = self._is_command or claude_prompt.is_command(prompt.text)
        if is_command or not self._unread.is_supported:
            return False
        arguments = prompt, self._launch.worktree, message_id
        line = await asyncio.to_thread(claude_prompt.build_user_line, *arguments)
        if not self._channel.is_turn_open or self._channel.is_stopping or self._held_end:
            return False
        self._unread.add(message_id)
        try:
            await self._channel.write(line)
        except SpinneyError:
            self._unread.discard(message_id)
            raise
        return True

    async def take_back(self, message_id: str) -> bool:
        """Withdraw a message that the program has not begun to read."""
        return await self._unread.withdraw(message_id)

    async def stop(self) -> None:
        """Interrupt the turn and the tools that it runs."""
        await self._channel.stop(self._interrupt)

    async def _interrupt(self) -> None:
        # After an interrupt the program would begin a turn with a message that it still has.
        if self._unread:
            await self._unread.withdraw_all()
        await self._control.interrupt()

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry out the plan with these settings, in the same turn."""
        self._requests.take(request_id)
        await self._apply_settings(settings)
        self._stream.mode = settings.mode
        leave_plan = {
            "type": "setMode",
            "mode": PERMISSION_MODE[settings.mode],
            "destination": "session",
        }
        plan_input = {"plan": plan} if plan else {}
        await self._requests.allow(request_id, plan_input, [leave_plan])

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment; the agent reads the attachments from their paths."""
        self._requests.take(request_id)
        await self._requests.deny(request_id, comment.text_with_paths)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, keyed by their text."""
        tool_input = self._requests.take(request_id)
        await self._requests.allow(request_id, {**tool_input, "answers": dict(answers)})

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        tool_input = self._requests.take(request_id)
        if decision == "deny":
            denial = f"{USER_DENIAL} They say: {reason}" if reason else USER_DENIAL
            await self._requests.deny(request_id, denial)
            return
        # Never with the rules that the program suggests: they are patterns (`git add *`).
        await self._requests.allow(request_id, tool_input)

    async def configure(self, settings: Settings) -> None:
        """Apply changed settings to the running program."""
        old, self._stream.mode = self._stream.mode, settings.mode
        try:
            if PERMISSION_MODE[settings.mode] != PERMISSION_MODE[old]:
                await self._control.request(
                    "set_permission_mode", mode=PERMISSION_MODE[settings.mode]
                )
        except SpinneyError:
            self._stream.mode = old
            raise
        await self._apply_settings(settings)

    async def _apply_settings(self, settings: Settings) -> None:
        """Apply everything except the mode. Failed settings are retried the next time."""
        old = self._settings
        settings = await with_user_effort(self._launch, settings)
        if settings.model_is_preset and settings.model in self._unknown_models:
            settings = replace(settings, model="")
        if settings.model != old.model:
            await self._control.request("set_model", model=settings.model or None)
        if settings.effort != old.effort:
            flags = {"effortLevel": settings.effort}
            await self._control.request("apply_flag_settings", settings=flags)
        if settings.thinking != old.thinking:
            await self._set_thinking_tokens(settings.thinking)
        self._settings = settings

    async def close(self) -> None:
        """End the program and everything it started."""
        await self._channel.close(self._interrupt)
        if self._settling is not None:
            self._settling.cancel()

    # Messages from the program ------------------------------------------------------------------

    async def _on_line(self, line: JsonLine | InvalidLine) -> None:
        if self._is_disowned:
            return
        if isinstance(line, InvalidLine):
            await self.notify(f"Skipped output of {NAME} ({line.reason}).")
            return
        value = line.value
        match value.get("type"):
            case "control_response":
                self._control.handle_response(value.get("response"))
            case "control_request":
                await self._handle_request(
                    str(value.get("request_id")), as_object(value.get("request"))
                )
            case "control_cancel_request":
                await self._requests.withdraw(str(value.get("request_id")))
            case _:
                await self._handle_line(value)

    async def _handle_line(self, line: Json) -> None:
        for message_id in self._unread.find_read(line):
            await self._note_read(message_id)
        if not self._channel.is_turn_open and self._stream.begins_answer(line):
            self._stream.begin_turn()
            self._channel.begin_turn()
            await self._channel.emit(agent_events.TurnStarted())
        for event in self._stream.events(line):
            match event:
                case agent_events.ConversationIdentified(resume_token=token):
                    if not await self._check_conversation(token):
                        return
                case agent_events.ToolUse(name=name) if name in EDIT_TOOLS:
                    event = await asyncio.to_thread(self._edits.normalize, event)
                case agent_events.ToolResult(tool_use_id=tool):
                    corrected = self._edits.correct(tool, line.get("tool_use_result"))
                    if corrected is not None:
                        await self._channel.emit(corrected)
                case agent_events.UsageReported(usage=usage):
                    earlier = (each.usage for each in self._earlier_ends)
                    event = agent_events.UsageReported(sum(earlier, usage))
                case agent_events.ModelReported():
                    event = replace(event, is_user_choice=self._has_chosen_model)
                    self._has_chosen_model = False
                case agent_events.TurnFailed() if (
                    self._stream.is_model_unknown and self._can_fall_back
                ):
                    # In a task: it awaits responses, which this reader delivers.
                    self._fallback_task = asyncio.create_task(self._fall_back(event))
                    continue
                case agent_events.TurnFinished() | agent_events.TurnFailed():
                    await self._requests.withdraw(*self._requests)
                    self._edits.forget()
                    if self._failure is not None and not self._channel.is_stopping:
                        event = self._failure
                    if self._unread:
                        self._hold_end(event)
                        continue
                    event = await self._complete_end(event)
            await self._channel.emit(event)
        if line.get("subtype") == "api_retry" and (failure := errors.check_retry(line)):
            await self._fail_turn(failure)
        if (
            self._channel.is_turn_open
            and self._channel.is_stopping
            and self._stream.begins_work(line)
        ):
            # The program received the stop before it had begun with our message.
            await self._control.interrupt()

    async def _note_read(self, message_id: str) -> None:
        """Report that the program reads a message; its turn goes on if it had just ended."""
        if self._held_end is not None:
            self._earlier_ends.append(self._held_end)
            self._held_end = self._failure = None
            self._stream.begin_turn()
        await self._channel.emit(agent_events.SteerTaken(message_id))

    def _hold_end(self, ending: agent_events.TurnFinished | agent_events.TurnFailed) -> None:
        """Find out whether the turn is over: the program may go on with an unread message."""
        self._held_end = ending
        self._settling = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        await self._unread.withdraw_all()
        if (ending := self._held_end) is not None:
            self._held_end = None
            await self._channel.emit(await self._complete_end(ending))

    async def _complete_end(
        self, ending: agent_events.TurnFinished | agent_events.TurnFailed
    ) -> agent_events.TurnFinished | agent_events.TurnFailed:
        """The end of a turn with what all of the program's turns in it used."""
        await self._note_second_writer()
        ends = [*self._earlier_ends, ending]
        costs = [each.cost_usd for each in ends if each.cost_usd is not None]
        usage = sum((each.usage for each in ends), Usage())
        return replace(ending, usage=usage, cost_usd=sum(costs) if costs else None)

    async def _note_second_writer(self) -> None:
        if await asyncio.to_thread(self._second_writer.has_written, self._conversation):
            await self._channel.emit(second_writer.NOTE)

    @property
    def _can_fall_back(self) -> bool:
        """Whether the program may use its default instead of the unknown model."""
        settings = self._settings
        return settings.model_is_preset and bool(settings.model) and not self._channel.is_stopping

    async def _fall_back(self, failed: agent_events.TurnFailed) -> None:
        """Repeat the message with the program's default model, in the same turn."""
        self._unknown_models.add(self._settings.model)
        try:
            if self._unread:
                await self._unread.withdraw_all()
            await self.notify(agent_events.model_fallback_notice(NAME, self._settings.model))
            self._settings = replace(self._settings, model="")
            await self._control.request("set_model", model=None)
            if not self._channel.is_stopping:
                self._stream.begin_turn()
                await self._channel.write({**self._last_message, "uuid": str(uuid.uuid4())})
                return
        except SpinneyError as error:
            failed = agent_events.TurnFailed(error.message, error.error_type)
        await self._channel.emit(failed)

    async def _check_conversation(self, conversation: str) -> bool:
        """Whether the program continues this session's conversation; if not, fail the turn."""
        if conversation == self._conversation or self._is_command:
            self._conversation = conversation
            return True
        self._is_disowned = True
        await self._channel.emit(
            agent_events.TurnFailed(errors.WRONG_CONVERSATION, "backend_error")
        )
        await self._channel.process.kill()
        return False

    async def _fail_turn(self, failure: agent_events.TurnFailed) -> None:
        """End a turn early whose retries would take minutes."""
        if self._failure is None:
            self._failure = failure
            await self._control.interrupt()

    async def _handle_request(self, request_id: str, request: Json) -> None:
        match request.get("subtype"):
            case "can_use_tool":
                await self._requests.handle(request_id, request, self._settings.web_in_plan)
            case "hook_callback":
                await self._answer_hook(request_id, request)
            case unknown:
                await self._control.respond_error(
                    request_id, f"Spinney does not support {unknown}."
                )

    async def _answer_hook(self, request_id: str, request: Json) -> None:
        if request.get("callback_id") == WORKTREE_HOOK:
            await self._channel.emit(agent_events.ConversationNote(WORKTREE_NOTE, each_time=True))
            # Without the path of a worktree it creates none.
            await self._control.respond(request_id, {})
            return
        use = as_object(request.get("input"))
        tool, tool_input = str(use.get("tool_name")), as_object(use.get("tool_input"))
        if request.get("callback_id") == EDIT_HOOK:
            is_plan, is_memory = self._edits.is_plan(tool_input), self._edits.is_memory(tool_input)
            answer = decide_edit(self._stream.mode, is_plan=is_plan, is_memory=is_memory)
        else:
            answer = decide_use(self._stream.mode, tool, tool_input, self._settings.web_in_plan)
        await self._control.respond(request_id, answer)

    # Messages to the program --------------------------------------------------------------------

    async def _set_thinking_tokens(self, level: ThinkingLevel) -> None:
        await self._control.request(
            "set_max_thinking_tokens",
            max_thinking_tokens=THINKING_TOKENS[level],
            thinking_display="summarized",
        )


async def with_user_effort(launch: Launch, settings: Settings) -> Settings:
    """The settings, with the effort of the user's own configuration where it takes precedence."""
    if settings.user_effort_limit is None:
        return settings
    arguments = launch.worktree, launch.environment, launch.profile
    return settings.with_user_effort(await asyncio.to_thread(models.find_user_effort, *arguments))
