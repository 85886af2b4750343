"""One session's ACP agent: its program, its conversation and its turns."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from model.agents.agents_file import AgentRow
from model.backends import base
from model.backends.acp import errors, program
from model.backends.acp import prompt as acp_prompt
from model.backends.acp.json_values import Told, as_object, as_objects, as_text
from model.backends.acp.policy import PLAN_WORDS, SWITCH_MODE, Option, Verdict, judge, option_for
from model.backends.acp.program import Abilities
from model.backends.acp.settings import AgentSettings
from model.backends.acp.stream import AcpStream, usage_of
from model.backends.acp.tools import ToolCall
from model.backends.base import Launch, Prompt, Settings
from model.backends.json_rpc import METHOD_NOT_FOUND, JsonRpc, RpcError
from model.backends.process import AgentProcess, Said, Unreadable
from model.backends.process_channel import AgentLink
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand, Usage

START_PATIENCE: Final = 60.0
"""Seconds to answer at the start: some agents install themselves first, and load a history."""

_CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
_REQUEST_CANCELLED: Final = -32800


@dataclass(frozen=True, slots=True)
class _Asked:
    """A permission that the agent waits for."""

    rpc_id: object
    options: tuple[Option, ...]
    what: str
    plan: str = ""
    """The plan, where it asks to carry one out."""


class AcpSession:
    """One session's agent; see `base.Agent` for what the calls promise.

    The protocol has no place for words with a denial or with a plan that is sent back. They go to
    the agent as a prompt of their own when it has ended its turn; for the engine it is one turn.
    """

    def __init__(self, row: AgentRow, process: AgentProcess, launch: Launch) -> None:
        self._row = row
        self._worktree = launch.worktree
        self._text_only = launch.text_only
        self._settings = launch.settings
        self._mode = launch.settings.mode
        """The mode of the open turn."""
        self._first_words = launch.system_prompt
        """What goes before the conversation's first message."""
        self._commands: tuple[AgentCommand, ...] = ()
        self._id = ""
        self._stream = AcpStream(launch.worktree)
        self._choices = AgentSettings(row.modes)
        self._asked: dict[str, _Asked] = {}
        self._prompt_number: int | None = None
        self._to_say: list[Prompt] = []
        self._saying: asyncio.Task[None] | None = None
        self._usage = Usage()
        self._noticed: set[str] = set()
        self.can = Abilities()
        self._link = AgentLink(row.label, process, self._on_line, launch.record)
        self._rpc = JsonRpc(row.label, self._link.write, self._link.ended)

    # The start ---------------------------------------------------------------------------------

    async def greet(self, patience: float = START_PATIENCE) -> Abilities:
        """Learn what the program can do."""
        told = await self._rpc.request("initialize", program.INTRODUCTION, patience)
        self.can = program.abilities(self._row.label, self._row.program, told)
        return self.can

    async def begin(self, launch: Launch) -> None:
        """Take the conversation up, or begin one where the agent does not know it any more."""
        servers = [s for s in self._row.mcp_servers if s.name not in launch.mcp_off]
        usable = await asyncio.to_thread(program.servers_for, self.can, servers)
        place = {"cwd": str(launch.worktree), "mcpServers": [] if self._text_only else usable}
        try:
            if not (launch.resume_token and await self._resume(launch.resume_token, place)):
                told = await self._rpc.request("session/new", place, START_PATIENCE)
                self._choices.learn(told)
                self._id = as_text(told.get("sessionId"))
        except RpcError as error:
            if error.code == errors.SIGN_IN_NEEDED:
                sentence = errors.not_signed_in(self._row.label, self.can.sign_ins)
                raise SpinneyError(sentence, "authentication_error") from error
            raise
        if not self._id:
            text = f"{self._row.label} did not begin a conversation. Try again."
            raise SpinneyError(text, "backend_error")
        await self._link.tell(base.ConversationIdentified(self._id))
        if self._row.mcp_servers:
            names = tuple(server.name for server in self._row.mcp_servers)
            await self._link.tell(base.McpServersSeen(names))
        if launch.resume_token and self._id != launch.resume_token:
            await self._notice(f"{self._row.label} has lost the conversation so far.")

    async def _resume(self, conversation: str, place: Told) -> bool:
        """Whether the agent went on in it. What it replays comes before we know its id."""
        for method in self.can.resumes:
            try:
                asked = {**place, "sessionId": conversation}
                told = await self._rpc.request(method, asked, START_PATIENCE)
            except RpcError as error:
                if error.code == errors.SIGN_IN_NEEDED:
                    raise
                continue
            self._choices.learn(told)
            self._id = conversation
            self._first_words = ""
            return True
        return False

    # What the engine wants ---------------------------------------------------------------------

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What the agent tells, until its program has ended."""
        return self._link.events()

    async def send(self, prompt: Prompt) -> None:
        """Start a turn."""
        self._mode = self._settings.mode
        await self._apply_settings()
        is_command = acp_prompt.is_one_of(self._commands, prompt.text)
        # A command is one only at the very beginning of what the agent is sent.
        before = [] if is_command else [self._first_words]
        if self._mode == "plan" and not self._choices.is_planning and not is_command:
            before.append(PLAN_WORDS)
        seen = self.can.sees_images
        blocks = await asyncio.to_thread(acp_prompt.blocks, prompt, before, sees_images=seen)
        self._stream.begin_turn()
        self._usage = Usage()
        self._to_say.clear()
        await self._link.start_turn(self._prompt(blocks))
        if not is_command:
            self._first_words = ""

    async def stop(self) -> None:
        """Cancel the turn; who does not obey is killed with all that it started."""
        await self._link.stop(self._cancel)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry the plan out with these settings; an edited one is sent as a message."""
        asked = self._take(request_id)
        self._settings, self._mode = settings, settings.mode
        await self._link.tell(base.TurnKeepsMode(self._mode))
        edited = bool(plan and plan.strip() != asked.plan.strip())
        if edited or option_for("allow", asked.options) is None:
            words = f"Leave plan mode and carry out this plan:\n\n{plan or asked.plan}"
            self._to_say.append(Prompt(words))
        await self._decide(asked.rpc_id, asked.options, "deny" if edited else "allow")

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment."""
        asked = self._take(request_id)
        self._to_say.append(comment)
        await self._decide(asked.rpc_id, asked.options, "deny")

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """The protocol has no questions: agents ask in words, as the end of their turn."""
        self._take(request_id)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        asked = self._take(request_id)
        if decision == "deny" and reason:
            self._to_say.append(Prompt(f"I did not allow this: {asked.what}. {reason}"))
        await self._decide(asked.rpc_id, asked.options, decision)

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on."""
        self._settings = settings
        if self._link.turn_open:
            await self._link.tell(base.TurnKeepsMode(self._mode))

    async def close(self) -> None:
        """End the program and all that it started."""
        if self._saying is not None:
            self._saying.cancel()
        await self._link.close(self._cancel)

    # What the agent says -----------------------------------------------------------------------

    async def _on_line(self, line: Said | Unreadable) -> None:
        if isinstance(line, Unreadable):
            # Some write their log there: once is enough.
            if line.reason not in self._noticed:
                self._noticed.add(line.reason)
                text = f"{self._row.label} wrote something that is left out ({line.reason})."
                await self._notice(text)
            return
        said, number = line.value, line.value.get("id")
        params = as_object(said.get("params"))
        if "method" not in said:
            if number is not None and number == self._prompt_number:
                self._prompt_number = None
                await self._turn_answered(said)
            else:
                self._rpc.settle(said)
        elif number is None:
            await self._hears(as_text(said["method"]), params)
        elif said["method"] == "session/request_permission":
            await self._asks(number, params)
        else:
            reason = f"Spinney does not offer {as_text(said['method'])}"
            await self._rpc.refuse(number, METHOD_NOT_FOUND, reason)

    async def _hears(self, method: str, params: Told) -> None:
        if method == "$/cancel_request":
            for request_id, asked in list(self._asked.items()):
                if asked.rpc_id == params.get("requestId"):
                    await self._withdraw(request_id)
                    await self._rpc.refuse(asked.rpc_id, _REQUEST_CANCELLED, "cancelled")
        if method != "session/update" or self._id not in ("", params.get("sessionId")):
            return
        update = as_object(params.get("update"))
        match update.get("sessionUpdate"):
            case "available_commands_update":
                # Some tell them before we know what our conversation is called.
                self._commands = acp_prompt.commands_of(update)
                await self._link.tell(base.CommandsKnown(self._commands))
            case _ if not self._id:
                pass  # the replay of a history
            case "current_mode_update":
                self._choices.note("mode", as_text(update.get("currentModeId")))
                await self._notice_planning()
            case "config_option_update":
                self._choices.learn(update)
                await self._notice_planning()
            case _:
                # All that belongs to no turn of ours is late.
                if self._link.turn_open:
                    await self._tell_all(self._stream.events(update))

    async def _notice_planning(self) -> None:
        """The agent may begin to plan by itself; to stop planning takes a person."""
        if self._link.turn_open and self._choices.is_planning and self._mode != "plan":
            self._mode = "plan"
            await self._link.tell(base.ModeChanged("plan"))

    async def _turn_answered(self, said: Told) -> None:
        await self._withdraw(*self._asked)
        result = as_object(said.get("result"))
        self._usage += usage_of(result)
        reason = as_text(result.get("stopReason"))
        if self._link.stopping:
            await self._finish("stopped")
        elif "error" in said:
            label, ways = self._row.label, self.can.sign_ins
            sentence, kind = errors.described(label, said["error"], ways)
            await self._link.tell(base.TurnFailed(sentence, kind, self._usage))
        elif self._to_say:
            prompts, self._to_say = self._to_say, []
            self._saying = asyncio.create_task(self._say(prompts))
        elif reason == "refusal":
            sentence = f"{self._row.label} refuses to go on with this. Change the message."
            await self._link.tell(base.TurnFailed(sentence, "invalid_request", self._usage))
        else:
            await self._finish(reason or "end_turn")

    async def _say(self, prompts: Sequence[Prompt]) -> None:
        """Go on in the same turn with what an answer had no place for."""
        text = "\n\n".join(prompt.text for prompt in prompts)
        files = tuple(file for prompt in prompts for file in prompt.files)
        images = tuple(image for prompt in prompts for image in prompt.images)
        prompt = Prompt(text, files, images)
        seen = self.can.sees_images
        try:
            blocks = await asyncio.to_thread(acp_prompt.blocks, prompt, (), sees_images=seen)
            await self._apply_settings()
            if self._link.stopping:
                await self._finish("stopped")
                return
            await self._link.write(self._prompt(blocks))
        except SpinneyError as error:
            await self._link.tell(base.TurnFailed(error.message, error.error_type, self._usage))

    async def _finish(self, reason: str) -> None:
        tokens, window = self._stream.context_tokens, self._stream.context_window
        await self._link.tell(base.TurnFinished(reason, self._usage, tokens, window))

    # Permissions -------------------------------------------------------------------------------

    async def _asks(self, rpc_id: object, params: Told) -> None:
        if params.get("sessionId") != self._id or not self._link.turn_open or self._link.stopping:
            await self._rpc.answer(rpc_id, _CANCELLED)
            return
        call = self._stream.call(as_object(params.get("toolCall")))
        options = tuple(as_objects(params.get("options")))
        use = self._stream.shown(call)
        if call.kind == SWITCH_MODE and self._mode == "plan" and not self._text_only:
            asked = _Asked(rpc_id, options, use.name, call.text or as_text(call.input.get("plan")))
            request_id = self._hold(asked)
            await self._link.tell(base.PlanProposed(request_id, asked.plan))
            return
        await self._tell_all(self._stream.told(call))
        verdict = await self._judged(call)
        if verdict != "ask":
            await self._decide(rpc_id, options, "allow" if verdict == "allow" else "deny")
            return
        request_id = self._hold(_Asked(rpc_id, options, call.title or use.name))
        title = call.title if call.title != use.name else ""
        await self._link.tell(
            base.PermissionAsked(request_id, use.name, use.input, title, call.id or None)
        )

    async def _judged(self, call: ToolCall) -> Verdict:
        verdict = await asyncio.to_thread(
            judge,
            self._mode,
            call.kind,
            call.touched,
            self._worktree,
            plans_itself=self._choices.is_planning,
            web=self._settings.web_in_plan,
        )
        return "deny" if verdict == "ask" and self._text_only else verdict

    def _hold(self, asked: _Asked) -> str:
        request_id = uuid.uuid4().hex
        self._asked[request_id] = asked
        return request_id

    def _take(self, request_id: str) -> _Asked:
        asked = self._asked.pop(request_id, None)
        if asked is None:
            text = f"{self._row.label} does not wait for this answer any more."
            raise SpinneyError(text, "conflict")
        return asked

    async def _decide(
        self, rpc_id: object, options: Sequence[Option], decision: base.Verdict
    ) -> None:
        option = option_for(decision, options)
        chosen = {"outcome": {"outcome": "selected", "optionId": option}}
        await self._rpc.answer(rpc_id, _CANCELLED if option is None else chosen)

    async def _withdraw(self, *request_ids: str) -> None:
        for request_id in request_ids:
            if self._asked.pop(request_id, None) is not None:
                await self._link.tell(base.RequestWithdrawn(request_id))

    # What we say -------------------------------------------------------------------------------

    def _prompt(self, blocks: list[Told]) -> Told:
        message = self._rpc.message("session/prompt", {"sessionId": self._id, "prompt": blocks})
        self._prompt_number = message["id"]
        return message

    async def _cancel(self) -> None:
        for asked in self._asked.values():
            await self._rpc.answer(asked.rpc_id, _CANCELLED)
        await self._withdraw(*self._asked)
        await self._rpc.notify("session/cancel", {"sessionId": self._id})

    async def _apply_settings(self) -> None:
        """Choose what the agent lets us choose; what it does not is left to it."""
        model = self._settings.model
        if model and self._choices.has("model") and not self._choices.offers("model", model):
            await self._notice(f"{self._row.label} has no model {model}; it goes on with its own.")
        wishes = {
            "model": model,
            "thought_level": self._settings.effort,
            "mode": self._choices.mode_id(self._mode),  # last: a model may have modes of its own
        }
        for category, wish in wishes.items():
            if wish and (request := self._choices.change(category, wish)) is not None:
                method, params = request
                told = await self._rpc.request(method, {"sessionId": self._id, **params})
                self._choices.note(category, wish)
                self._choices.learn(told)

    async def _tell_all(self, events: Iterable[base.AgentEvent]) -> None:
        for event in events:
            await self._link.tell(event)

    async def _notice(self, text: str) -> None:
        await self._link.tell(base.Notice(text))
