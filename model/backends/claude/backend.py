"""Claude Code behind the language of backends: one long-lived `claude` process for each session,
driven over its stream-json protocol. Tried with 2.1.197, 2.1.329 and 2.1.330.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from model.backends import base
from model.backends.base import Launch, Prompt, Settings
from model.backends.claude import commands as claude_commands
from model.backends.claude import errors, models
from model.backends.claude import program as claude_program
from model.backends.claude import prompt as claude_prompt
from model.backends.claude import settings as claude_settings
from model.backends.claude.control import Control
from model.backends.claude.edits import Edits
from model.backends.claude.json_values import Line, as_object, as_objects
from model.backends.claude.policy import (
    DENIAL,
    EDIT_TOOLS,
    PERMISSION_MODE,
    PLAN_TOOL,
    QUESTION_TOOL,
    THINKING_TOKENS,
    WEB_HOOK,
    denial,
    judge,
    judge_web,
)
from model.backends.claude.protocol import ClaudeStream
from model.backends.process import AgentProcess, Said, Unreadable, agent_environment
from model.backends.process_channel import AgentLink
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand, Question, ThinkingLevel

NAME: Final = "Claude Code"

START_PATIENCE: Final = 60.0
"""Seconds to answer `initialize`; ten were seen on a busy machine."""

_UNKNOWN_CONVERSATION: Final = "No conversation found"
_UNKNOWN_OPTION: Final = "unknown option"


class ClaudeBackend:
    """The `claude` program of the person's own installation, with their own sign-in."""

    name = "backend_a"

    async def probe(self) -> base.Probe:
        """Look for the program, its version and its sign-in."""
        return await claude_program.probe()

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """Those of the project and the person; the program's built-in ones it tells itself."""
        found = agent_environment(environment)
        return await asyncio.to_thread(claude_commands.in_files, worktree, found)

    def models_stand_on(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the person's settings and their sign-in."""
        return [*claude_program.PROGRAM.files(), *models.persons_files(environment)]

    async def open(self, launch: Launch) -> "ClaudeSession":
        """Start the program; a conversation that it does not know any more begins afresh."""
        environment = claude_program.environment(launch)
        launch = replace(launch, settings=await _beside_own(launch, launch.settings))
        program = await claude_program.PROGRAM.find(environment.get("PATH"))
        if launch.resume_token:
            known = ("--resume", launch.resume_token)
            session = await self._start(program, launch, environment, known)
            if session is not None:
                return session
        fresh = ("--session-id", str(uuid.uuid4()))
        session = await self._start(program, launch, environment, fresh)
        if session is None:
            raise SpinneyError(f"{NAME} did not begin a conversation. Try again.", "backend_error")
        if launch.resume_token:
            await session.notice(f"{NAME} has lost the conversation so far and begins afresh.")
        return session

    async def close(self) -> None:
        """Nothing is shared."""

    async def _start(
        self,
        program: str,
        launch: Launch,
        environment: dict[str, str],
        conversation: tuple[str, str],
    ) -> "ClaudeSession | None":
        """The running session; `None` when the program does not know the conversation."""
        command = claude_program.command_line(program, launch, conversation)
        process = await AgentProcess.start(command, launch.worktree, environment, launch.record)
        plans = claude_program.plans_folder(environment, launch.worktree)
        session = ClaudeSession(process, launch, conversation[1], Edits(launch.worktree, plans))
        try:
            await session.initialize(claude_program.profile(launch), launch)
        except SpinneyError as error:
            await process.settled()
            code = process.returncode
            await session.close()
            if _UNKNOWN_CONVERSATION in process.stderr_tail:
                return None
            if error.error_type != "timeout" and code is None:
                raise  # it refused what we said
            text = _not_started(code, process.stderr_tail)
            raise SpinneyError(text, "backend_unavailable") from error
        except BaseException:  # nobody wants it any more
            await process.kill()
            await session.close()
            raise
        return session


class ClaudeSession:
    """One session's `claude`; see `base.Agent` for what the calls promise."""

    def __init__(
        self, process: AgentProcess, launch: Launch, conversation: str, edits: Edits
    ) -> None:
        self._stream = ClaudeStream(launch.settings.mode, edits.is_plan)
        self._edits = edits
        self._launch = launch
        self._settings = launch.settings
        self._conversation = conversation
        self._commanded = False
        """Whether the turn is a command of the program; some begin another conversation."""
        self._disowned = False
        self._asked: dict[str, dict[str, Any]] = {}
        """What waits for an answer: each tool's input."""
        self._failure: base.TurnFailed | None = None
        self._said: Line = {}
        """Our message that the turn began with."""
        self._lacks: set[str] = set()
        """The models of presets that the provider does not know."""
        self._falling_back: asyncio.Task[None] | None = None
        self._chose_model = False
        """Whether a command chose a model that no answer was given by yet."""
        self._link = AgentLink(NAME, process, self._on_line, launch.record)
        self._control = Control(NAME, self._link)

    async def initialize(self, profile: Line, launch: Launch) -> None:
        """Wait until the program is ready."""
        told = await self._control.ask("initialize", START_PATIENCE, hooks=WEB_HOOK)
        for event in self._stream.introduced(told):
            await self._link.tell(event)
        where = launch.worktree, launch.environment, launch.profile
        own = await asyncio.to_thread(models.own_model, *where)
        if (known := models.listed(told, own)).models:
            await self._link.tell(base.ModelsKnown(known))
        if profile:
            # Here and not on the command line, which everybody on the machine can read.
            await self._control.ask("apply_flag_settings", settings=profile)
        await self._set_thinking_tokens(self._settings.thinking)
        if not launch.text_only:
            await self._tell_left_out()

    async def _tell_left_out(self) -> None:
        with suppress(SpinneyError):  # a program that does not tell it, or not in time
            told = await self._control.ask("get_settings", claude_settings.PATIENCE)
            for note in claude_settings.left_out(told):
                await self._link.tell(note)

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What the agent tells, until its program has ended."""
        return self._link.events()

    async def notice(self, text: str) -> None:
        """Tell a passing word of the adapter's own."""
        await self._link.tell(base.Notice(text))

    async def send(self, prompt: Prompt) -> None:
        """Start a turn. A text that begins with `/` is a command of the program, on purpose."""
        line = await asyncio.to_thread(claude_prompt.user_line, prompt, self._launch.worktree)
        self._commanded = claude_prompt.is_command(prompt.text)
        self._chose_model = self._chose_model or models.chooses(prompt.text)
        self._said = line
        self._stream.begin_turn()
        self._failure = None
        await self._link.start_turn(line)

    async def stop(self) -> None:
        """Interrupt the turn; the tools that it runs end with it."""
        await self._link.stop(self._control.interrupt)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry the plan out with these settings, in the same turn."""
        self._take(request_id)
        await self._use(settings)
        self._stream.mode = settings.mode
        leave_plan = {
            "type": "setMode",
            "mode": PERMISSION_MODE[settings.mode],
            "destination": "session",
        }
        plan_input = {"plan": plan} if plan else {}
        await self._allow(request_id, plan_input, [leave_plan])

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment; its attachments are named, and read by the agent."""
        self._take(request_id)
        await self._deny(request_id, comment.text_with_paths)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        await self._allow(request_id, {**self._take(request_id), "answers": dict(answers)})

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        given = self._take(request_id)
        if decision == "deny":
            await self._deny(request_id, f"{DENIAL} They say: {reason}" if reason else DENIAL)
            return
        # Never with the rules that the program suggests: they are patterns (`git add *`).
        await self._allow(request_id, given)

    async def configure(self, settings: Settings) -> None:
        """Apply changed settings to the running program."""
        old, self._stream.mode = self._stream.mode, settings.mode
        try:
            if PERMISSION_MODE[settings.mode] != PERMISSION_MODE[old]:
                await self._control.ask("set_permission_mode", mode=PERMISSION_MODE[settings.mode])
        except SpinneyError:
            self._stream.mode = old
            raise
        await self._use(settings)

    async def _use(self, settings: Settings) -> None:
        """Apply all but the mode. What fails is tried again the next time."""
        old = self._settings
        settings = await _beside_own(self._launch, settings)
        if settings.model_is_preset and settings.model in self._lacks:
            settings = replace(settings, model="")
        if settings.model != old.model:
            await self._control.ask("set_model", model=settings.model or None)
        if settings.effort != old.effort:
            flags = {"effortLevel": settings.effort}
            await self._control.ask("apply_flag_settings", settings=flags)
        if settings.thinking != old.thinking:
            await self._set_thinking_tokens(settings.thinking)
        self._settings = settings

    async def close(self) -> None:
        """End the program and all that it started."""
        await self._link.close(self._control.interrupt)

    # What it says ------------------------------------------------------------------------------

    async def _on_line(self, line: Said | Unreadable) -> None:
        if self._disowned:
            return
        if isinstance(line, Unreadable):
            await self.notice(f"{NAME} wrote something that is left out ({line.reason}).")
            return
        value = line.value
        match value.get("type"):
            case "control_response":
                self._control.settle(value.get("response"))
            case "control_request":
                await self._asks(str(value.get("request_id")), as_object(value.get("request")))
            case "control_cancel_request":
                await self._withdraw(str(value.get("request_id")))
            case _:
                await self._converses(value)

    async def _converses(self, line: Line) -> None:
        if not self._link.turn_open and self._stream.begins_answer(line):
            self._stream.begin_turn()
            self._link.begin_turn()
            await self._link.tell(base.TurnStarted())
        for event in self._stream.events(line):
            match event:
                case base.ConversationIdentified(resume_token=token):
                    if not await self._is_ours(token):
                        return
                case base.ToolUse(name=name) if name in EDIT_TOOLS:
                    event = await asyncio.to_thread(self._edits.normalised, event)
                case base.ToolResult(tool_use_id=tool):
                    corrected = self._edits.corrected(tool, line.get("tool_use_result"))
                    if corrected is not None:
                        await self._link.tell(corrected)
                case base.ModelAnswers():
                    event = replace(event, chosen=self._chose_model)
                    self._chose_model = False
                case base.TurnFailed() if self._stream.lacks_model and self._can_fall_back:
                    # By the way that we are on its answers come, which are waited for.
                    self._falling_back = asyncio.create_task(self._fall_back(event))
                    continue
                case base.TurnFinished() | base.TurnFailed():
                    await self._withdraw(*self._asked)
                    self._edits.forget()
                    if self._failure is not None and not self._link.stopping:
                        event = self._failure
            await self._link.tell(event)
        if line.get("subtype") == "api_retry" and (failure := errors.gave_up(line)):
            await self._give_up(failure)
        if self._link.turn_open and self._link.stopping and self._stream.begins_work(line):
            # The program had not yet begun with our message when it heard of the stop.
            await self._control.interrupt()

    @property
    def _can_fall_back(self) -> bool:
        """Whether the program may take its own model instead of the one it does not know."""
        settings = self._settings
        return settings.model_is_preset and bool(settings.model) and not self._link.stopping

    async def _fall_back(self, failed: base.TurnFailed) -> None:
        """Ask again what was asked, of the program's own model, in the same turn."""
        self._lacks.add(self._settings.model)
        try:
            await self.notice(base.falls_back(NAME, self._settings.model))
            self._settings = replace(self._settings, model="")
            await self._control.ask("set_model", model=None)
            if not self._link.stopping:
                self._stream.begin_turn()
                await self._link.write({**self._said, "uuid": str(uuid.uuid4())})
                return
        except SpinneyError as error:
            failed = base.TurnFailed(error.message, error.error_type)
        await self._link.tell(failed)

    async def _is_ours(self, conversation: str) -> bool:
        """Whether the program goes on in this session's conversation; else its answer is none."""
        if conversation == self._conversation or self._commanded:
            self._conversation = conversation
            return True
        self._disowned = True
        await self._link.tell(base.TurnFailed(errors.ANOTHER_CONVERSATION, "backend_error"))
        await self._link.process.kill()
        return False

    async def _give_up(self, failure: base.TurnFailed) -> None:
        """End a turn now whose retries would take minutes."""
        if self._failure is None:
            self._failure = failure
            await self._control.interrupt()

    async def _asks(self, request_id: str, request: Line) -> None:
        match request.get("subtype"):
            case "can_use_tool":
                await self._asks_for_tool(request_id, request)
            case "hook_callback":
                on_web = judge_web(self._stream.mode, self._settings.web_in_plan)
                await self._control.respond(request_id, on_web)
            case unknown:
                await self._control.refuse(request_id, f"Spinney does not know {unknown}.")

    async def _asks_for_tool(self, request_id: str, request: Line) -> None:
        tool, told = str(request.get("tool_name")), as_object(request.get("input"))
        verdict = judge(self._stream.mode, tool, self._settings.web_in_plan)
        # Their own rules ask in the program's bypass mode, too (2.1.330).
        by_rule = request.get("decision_reason_type") == "rule"
        if verdict == "allow" and not by_rule:
            await self._allow(request_id, told)
            return
        if verdict == "deny":
            await self._deny(request_id, denial(tool))
            return
        self._asked[request_id] = told
        match tool:
            case _ if tool == PLAN_TOOL:
                plan = str(told.get("plan") or self._stream.last_text)
                await self._link.tell(base.PlanProposed(request_id, plan))
            case _ if tool == QUESTION_TOOL:
                await self._link.tell(base.QuestionAsked(request_id, _questions(told)))
            case _:
                await self._link.tell(await self._permission(request_id, request, tool, told))

    async def _permission(
        self, request_id: str, request: Line, tool: str, told: dict[str, Any]
    ) -> base.PermissionAsked:
        tool_use_id = request.get("tool_use_id")
        use = base.ToolUse(str(tool_use_id), tool, told)
        if tool in EDIT_TOOLS:
            use = await asyncio.to_thread(self._edits.normalised, use)
        description = str(request.get("description") or request.get("decision_reason") or "")
        if request.get("decision_reason_type") == "rule":
            description = f"A rule of your Claude Code settings asks. {description}".rstrip()
        return base.PermissionAsked(request_id, use.name, use.input, description, tool_use_id)

    async def _withdraw(self, *request_ids: str) -> None:
        for request_id in request_ids:
            if self._asked.pop(request_id, None) is not None:
                await self._link.tell(base.RequestWithdrawn(request_id))

    # What we say -------------------------------------------------------------------------------

    def _take(self, request_id: str) -> dict[str, Any]:
        asked = self._asked.pop(request_id, None)
        if asked is None:
            raise SpinneyError(f"{NAME} does not wait for this answer any more.", "conflict")
        return asked

    async def _allow(
        self, request_id: str, told: Mapping[str, Any], permissions: Iterable[Line] = ()
    ) -> None:
        answer: Line = {"behavior": "allow", "updatedInput": dict(told)}
        if rules := list(permissions):
            answer["updatedPermissions"] = rules
        await self._control.respond(request_id, answer)

    async def _deny(self, request_id: str, reason: str) -> None:
        await self._control.respond(request_id, {"behavior": "deny", "message": reason})

    async def _set_thinking_tokens(self, level: ThinkingLevel) -> None:
        await self._control.ask(
            "set_max_thinking_tokens",
            max_thinking_tokens=THINKING_TOKENS[level],
            thinking_display="summarized",
        )


async def _beside_own(launch: Launch, settings: Settings) -> Settings:
    """The settings, with the effort that the person's own name where it goes first."""
    if settings.most_of_own_effort is None:
        return settings
    where = launch.worktree, launch.environment, launch.profile
    return settings.with_user_effort(await asyncio.to_thread(models.own_effort, *where))


def _not_started(code: int | None, last_words: str) -> str:
    """Why there is no session; `code` is how the program ended, `None` where it had to be ended."""
    if _UNKNOWN_OPTION in last_words:
        return claude_program.PROGRAM.too_old()
    if last_words:
        return f"{NAME} did not start: {last_words}"
    how = "did not answer" if code is None else f"ended at once (exit code {code})"
    return f"{NAME} {how} when it was started. To see why, run in a terminal: claude"


def _questions(told: Mapping[str, Any]) -> tuple[Question, ...]:
    questions = []
    for each in as_objects(told.get("questions")):
        with suppress(ValidationError):
            questions.append(Question.model_validate(each))
    return tuple(questions)
