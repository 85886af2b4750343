"""One session's thread of Codex as an agent; see `base.Agent` for what the calls promise.

A turn of ours may be several of the program's: it ends its turn with a plan, and begins another to
carry it out. Ours stays open until no answer of a person and no sub-agent is waited for.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from model.backends import base
from model.backends.base import Launch, Prompt, Settings
from model.backends.channel import Channel
from model.backends.codex import builtins, commands, errors, policy
from model.backends.codex import prompt as codex_prompt
from model.backends.codex.approvals import (
    Asked,
    answer_to,
    asked_of,
    is_a_matter_of_policy,
    stricter,
)
from model.backends.codex.server import NAME, CodexServer
from model.backends.codex.session_cleanup import Remains
from model.backends.codex.stream import CodexStream, of_turn
from model.backends.codex.thread import Thread, open_thread
from model.backends.process import agent_environment
from model.base.errors import SpinneyError
from model.domain.resources import Usage

Json = dict[str, Any]

TURN_PATIENCE: Final = 30.0
"""Seconds to accept a turn."""

CLOSE_PATIENCE: Final = 1.0
"""Seconds for each word that goes before closing."""


class CodexSession:
    """A session's agent, on a server that others use too."""

    def __init__(
        self, server: CodexServer, launch: Launch, thread: Thread, release: Callable[[], None]
    ) -> None:
        self._server = server
        self.rpc = server.rpc.with_recorder(launch.record)
        self.record = launch.record
        self._release = release
        self._launch = launch
        self._settings = launch.settings
        self._mode = launch.settings.mode
        """The one that the program's turn began in."""
        self._thread = thread
        self._channel = Channel(NAME)
        self._stream = CodexStream(launch.worktree, thread.id)
        self._asked: dict[str, Asked] = {}
        self._turn = ""
        """The program's turn while it runs."""
        self._inner_turn = ""
        self._turn_runs = asyncio.Event()
        self._child_turns: dict[str, str] = {}
        """The running turns of sub-agents, by their threads."""
        self._ending: base.TurnFinished | base.TurnFailed | None = None
        """How the turn ends, when the sub-agents have ended too."""
        self._failure: base.TurnFailed | None = None
        self._calls = asyncio.Lock()
        """Held while a turn begins or is stopped, so that no stop hits the next turn."""
        self._answers_with = ""
        self._lacks: set[str] = set()
        """The models of presets that the program, or its provider, does not know."""
        self._falling_back: asyncio.Task[None] | None = None
        self._words: list[Json] = []
        """What the program's turn began with."""
        self._is_identified = False
        self._is_resumed = thread.is_kept
        self._closing = False
        self._remains = Remains(launch.worktree, thread.mark)
        self.first_words = [
            event
            for method, params in server.own(thread.id, self)
            for event in self._between_turns(method, params)
        ]
        """What was told of its thread before."""
        self._commands = commands.Commands(
            self.rpc, launch.worktree, agent_environment(launch.environment), self.tell
        )

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What the agent tells, until its program has ended."""
        return self._channel.events()

    async def tell(self, *events: base.AgentEvent) -> None:
        """Hand events to the engine; while the session closes, only ends."""
        for event in events:
            if not self._closing or isinstance(event, base.TurnFinished | base.TurnFailed):
                await self._channel.tell(event)

    async def send(self, prompt: Prompt) -> None:
        """Start a turn, or carry out what the program's own screen takes as a command."""
        self._channel.begin_turn()
        self._stream.begin_turn()
        try:
            match await self._commands.command_in(prompt.text):
                case None:
                    await self._begin(await self._commands.input_of(prompt))
                case str() as reason:
                    await self._answer(reason)
                case command:
                    await self._carry_out(command)
        except SpinneyError:
            if not self._channel.turn_open:
                return  # the program's end was told as the turn's end already
            self._channel.turn_open = False
            raise

    async def stop(self) -> None:
        """Interrupt the turn; what it runs and its sub-agents end with it."""
        await self._channel.stop_turn(self._interrupt, self._give_up)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry the plan out with these settings, in the same turn."""
        asked = self._take(request_id)
        self._settings = settings
        await self._go_on(codex_prompt.approval(asked.plan, plan))

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Go on in plan mode with a comment."""
        self._take(request_id)
        self._settings = replace(self._settings, mode="plan")
        await self._go_on(codex_prompt.said(comment, self._launch.worktree))

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        asked = self._asked.get(request_id)
        if asked is None or asked.rpc_id is not None:
            asked = self._take(request_id)
            await self.rpc.answer(asked.rpc_id, asked.answers(answers))
            return
        words = codex_prompt.answers(answers)
        # Open until it is heard: should the program's turn end meanwhile, ours does not.
        steered = self._turn and await self._server.steer(self._thread.id, self._turn, words)
        self._take(request_id)
        if not steered:
            await self._go_on(words)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny; the agent reads the `reason`."""
        asked = self._take(request_id)
        if decision == "deny" and reason.strip():
            # The refusal itself has no room for words; these wait until the agent reads it.
            words = codex_prompt.words(f"The user does not allow this: {reason.strip()}")
            await self._server.steer(asked.thread_id, asked.turn_id, words)
        await self.rpc.answer(asked.rpc_id, answer_to(asked, decision))

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on; each turn carries them all."""
        self._settings = settings
        if self._channel.turn_open:  # its sandbox and its instructions stay
            await self.tell(base.TurnKeepsMode(self._mode))

    async def close(self) -> None:
        """End the turn, and all that its commands started; the program itself is shared."""
        self._closing = True
        if self._channel.turn_open and not self._server.ended.is_set():
            self._channel.stopping = True
            await self._channel.obeys(self._interrupt, CLOSE_PATIENCE)
        with suppress(SpinneyError):
            if not self._server.ended.is_set():
                await self._call("thread/backgroundTerminals/clean", {}, CLOSE_PATIENCE)
                await self._call("thread/unsubscribe", {}, CLOSE_PATIENCE)
        self._server.disown(self._thread.id)
        self._commands.close()
        await self._remains.sweep()
        self._channel.end()
        release, self._release = self._release, lambda: None
        release()

    # What it says ------------------------------------------------------------------------------

    def adopts(self, thread_id: str, params: Json) -> bool:
        """Whether a thread is of this session: its sub-agents' turns name ours as their root."""
        turn = params.get("turn")
        if isinstance(turn, dict) and self._turn and turn.get("rootTurnId") == self._turn:
            self._stream.adopt(thread_id)
        return thread_id in self._stream.children

    async def hear(self, method: str, params: Json) -> None:
        """The program tells something about our thread or one of a sub-agent."""
        thread = str(params.get("threadId"))
        is_child = thread != self._thread.id
        is_late = self._is_late(thread, params)
        if method == "turn/started" and not is_child:
            # A review has another turn inside, which is the one to interrupt; all that is told
            # names the outer one.
            self._inner_turn = of_turn(params, "id")
            await self._turn_started(of_turn(params, "rootTurnId") or of_turn(params, "id"))
        elif method == "turn/started":
            self._child_turns[thread] = of_turn(params, "id")
        elif method == "turn/completed" and is_child:
            self._child_turns.pop(thread, None)
        elif method == "turn/completed":
            self._turn = ""
            self._turn_runs.clear()
        elif method == "serverRequest/resolved":
            resolved = params.get("requestId")
            await self._withdraw(*(k for k, each in self._asked.items() if each.rpc_id == resolved))
        if is_late or not self._channel.turn_open:
            await self.tell(*self._between_turns(method, params))
            return
        await self.tell(*self._stream.events(method, params))
        if method == "turn/completed" and is_child:
            if self._ending is not None and not self._child_turns and not self._turn:
                await self._finish(self._ending)
        elif method == "turn/completed":
            await self._turn_completed(params)
        elif method == "item/completed" and not is_child:
            await self._ask_in_passing(params)
        elif method == "error" and params.get("willRetry"):
            await self._give_up_signing_in(params)

    async def asked(self, request_id: object, method: str, params: Json) -> bool:
        """The program asks something; what is no question for a person is answered at once."""
        asked = asked_of(request_id, method, params, self._stream)
        if asked is None:
            return False
        decision = is_a_matter_of_policy(asked, stricter(self._mode, self._settings.mode))
        if self._launch.text_only or not self._channel.turn_open:
            decision = "deny"  # nobody watches
        if decision is not None:
            await self.rpc.answer(request_id, answer_to(asked, decision))
            return True
        self._asked[asked.id] = asked
        await self.tell(asked.event)
        return True

    async def left_out(self, reason: str) -> None:
        """The program wrote something that is no message."""
        if self._channel.turn_open:
            await self.tell(base.Notice(f"{NAME} wrote something that is left out ({reason})."))

    async def gone(self, reason: str) -> None:
        """The program has ended, and with it this agent."""
        self._turn = ""
        # Before its last words: the engine may read no more, and nobody shall wait for it.
        self._channel.end()
        usage, was_wanted = self._stream.usage, self._channel.stopping
        failed = base.TurnFailed(reason, "backend_error", usage)
        await self._channel.tell(base.TurnFinished("stopped", usage) if was_wanted else failed)

    def _between_turns(self, method: str, params: Json) -> list[base.AgentEvent]:
        """Of what belongs to no turn, the results that one waits for; totals are kept."""
        thread = str(params.get("threadId"))
        # A busy program tells what a resumed thread has used when its next turn runs already.
        is_baseline = thread == self._thread.id and not self._stream.counts(thread)
        awaited = self._stream.open_tools
        told = list(self._stream.events(method, params))
        if is_baseline or not self._channel.turn_open:
            self._stream.rebase(thread)
        is_open = self._channel.turn_open
        return [
            event
            for event in told
            if isinstance(event, base.Note)
            or (is_open and isinstance(event, base.ToolResult) and event.tool_use_id in awaited)
        ]

    def _is_late(self, thread: str, params: Json) -> bool:
        """Whether it is about a turn that is over; what ran on in its background ends later."""
        turn = params.get("turnId")
        running = self._turn if thread == self._thread.id else self._child_turns.get(thread)
        return isinstance(turn, str) and turn != running

    async def _turn_started(self, turn: str) -> None:
        self._turn = turn
        self._turn_runs.set()
        if not self._is_identified and not self._launch.text_only:
            # A thread is kept from its first message on; before, its name is worth nothing.
            self._is_identified = self._thread.is_kept = True
            await self.tell(base.ConversationIdentified(self._thread.id))
        if not self._channel.turn_open:
            self._channel.begin_turn()
            self._stream.begin_turn()
            await self.tell(base.TurnStarted())

    async def _turn_completed(self, params: Json) -> None:
        # What a person shall answer ends with the turn, except what the turn was ended for.
        await self._withdraw(*(key for key, each in self._asked.items() if each.rpc_id is not None))
        await self.tell(*self._stream.cut_off(is_stopped=self._channel.stopping))
        if await self._falls_back(params):
            return
        ending = self._ending_of(params)
        if isinstance(ending, base.TurnFinished) and ending.stop_reason == "end_turn":
            if plan := self._plan():
                asked = Asked(id=f"{of_turn(params, 'id')}-plan", plan=plan)
                self._asked[asked.id] = asked
                await self.tell(base.PlanProposed(asked.id, plan))
            if self._asked:
                return  # a person's answer begins the next part
        if self._child_turns and not self._channel.stopping:
            self._ending = ending
            return
        await self._finish(ending)

    async def _finish(self, ending: base.TurnFinished | base.TurnFailed) -> None:
        self._ending = self._failure = None
        await self._withdraw(*list(self._asked))
        if isinstance(ending, base.TurnFinished):
            ending = base.TurnFinished(
                ending.stop_reason,
                self._stream.usage,
                self._stream.context_tokens,
                self._stream.context_window,
            )
        await self.tell(ending)
        await self._remains.tidy()

    def _ending_of(self, params: Json) -> base.TurnFinished | base.TurnFailed:
        usage = self._stream.usage
        if self._channel.stopping:
            return base.TurnFinished("stopped", usage)
        if self._failure is not None:
            return self._failure
        match of_turn(params, "status"):
            case "completed":
                return base.TurnFinished("end_turn", usage)
            case "interrupted":
                return base.TurnFinished("stopped", usage)
        turn = params.get("turn")
        told = turn.get("error") if isinstance(turn, dict) else None
        error, kind, retry_after = errors.described(
            told if isinstance(told, dict) else {}, self._thread.own_key
        )
        if kind == "rate_limit_error" and retry_after is None:
            retry_after = self._server.limit_ends_in
        return base.TurnFailed(error, kind, usage, retry_after)

    def _plan(self) -> str:
        """What the turn proposed in plan mode; elsewhere there is nothing to approve."""
        return self._stream.proposed if self._mode == "plan" else ""

    async def _ask_in_passing(self, params: Json) -> None:
        """A message may hold questions that the turn does not wait for."""
        item = params.get("item")
        asked = Asked.in_passing(item) if isinstance(item, dict) else None
        if asked is not None:
            self._asked[asked.id] = asked
            await self.tell(asked.event)

    async def _give_up_signing_in(self, params: Json) -> None:
        """A refused key is refused at every retry, which takes seconds; end the turn now."""
        told = params.get("error")
        error: Json = told if isinstance(told, dict) else {}
        if self._failure is None and errors.refuses_key(error) and self._turn:
            sentence, kind, _ = errors.described(error, self._thread.own_key)
            self._failure = base.TurnFailed(sentence, kind)
            words = {"threadId": self._thread.id, "turnId": self._inner_turn}
            # Its answer is not waited for: it comes by the way that we are on.
            await self.rpc.send(self.rpc.message("turn/interrupt", words))

    async def _withdraw(self, *request_ids: str) -> None:
        for request_id in request_ids:
            if self._asked.pop(request_id, None) is not None:
                await self.tell(base.RequestWithdrawn(request_id))

    # What we say -------------------------------------------------------------------------------

    def _take(self, request_id: str) -> Asked:
        asked = self._asked.pop(request_id, None)
        if asked is None:
            raise SpinneyError(f"{NAME} does not wait for this answer any more.", "conflict")
        return asked

    async def _call(self, method: str, params: Json, patience: float = TURN_PATIENCE) -> Json:
        told = {"threadId": self._thread.id, **params}
        return await self.rpc.request(method, told, patience)

    async def _go_on(self, words: list[Json]) -> None:
        """Begin another turn of the program's in the same one of ours, as the settings say."""
        await self.tell(base.TurnKeepsMode(self._settings.mode))
        try:
            await self._begin(words)
        except SpinneyError as error:
            failed = base.TurnFailed(error.message, error.error_type, self._stream.usage)
            await self.tell(failed)

    async def _begin(self, words: list[Json]) -> None:
        """Begin a turn of the program's, with all the settings of now."""
        self._words = words
        policies = await self._policies()
        settings = self._settings
        if self._is_resumed and self._launch.system_prompt:
            # A thread keeps the instructions that it began with; the same ones are told once.
            told = {"kind": "application", "value": self._launch.system_prompt}
            policies["additionalContext"] = {"spinney": told}
        async with self._calls:
            if policy.web_is_off(self._launch, settings) != self._thread.web_is_off:
                await self._reopen()
            self._stream.begin_part()
            self._mode = settings.mode
            await self._call("turn/start", {**policies, "input": words})

    async def _model(self) -> str:
        """The model of the next turn; that of a preset only where the program knows it."""
        models, own = self._server.models, self._thread.own
        chosen = self._settings.model
        if not models.knows(self._settings, own) and chosen not in self._lacks:
            await self._note_lack(chosen)
        model = "" if chosen in self._lacks else chosen
        model = model or models.default(own)
        if model != self._answers_with:
            self._answers_with = model
            await self.tell(base.ModelAnswers(model))
        return model

    async def _note_lack(self, model: str) -> None:
        """The program does not know a model that nobody named: its own default does."""
        self._lacks.add(model)
        if not self._thread.own.has_provider:
            await self.tell(base.Notice(base.falls_back(NAME, model)))

    async def _falls_back(self, params: Json) -> bool:
        """Whether the turn that ended for want of its model goes on with the default one."""
        settings = self._settings
        is_wanted = settings.model_is_preset and settings.model not in ("", *self._lacks)
        if (
            self._channel.stopping
            or not is_wanted
            or not self._words
            or not errors.lacks_model(params.get("turn"))
        ):
            return False
        await self._note_lack(settings.model)
        # By the way that we are on comes its answer, which is waited for.
        self._falling_back = asyncio.create_task(self._go_on(self._words))
        return True

    async def _policies(self) -> Json:
        """What goes with every turn, as the settings are now."""
        model = await self._model()
        own, supported = self._thread.own.effort, self._server.models.efforts(model)
        effort = policy.effort(self._settings, own, supported)
        return policy.turn(self._launch, self._settings, model, effort, self._thread.git)

    async def _carry_out(self, command: builtins.Command) -> None:
        self._words = []
        match command.name:
            case "compact":
                await self._call("thread/compact/start", {})
            case "init":
                await self._begin(codex_prompt.words(builtins.INIT))
            case "review":
                async with self._calls:
                    # A review takes no settings of its own, and the thread has those of before.
                    await self._call("thread/settings/update", await self._policies())
                    self._mode = self._settings.mode
                    words = {"target": command.target, "delivery": "inline"}
                    await self._call("review/start", words)
                await self.tell(base.Notice(f"{NAME} reviews …"))
            case "status":
                policies = (await self._policies())["collaborationMode"]["settings"]
                told = builtins.status(self._launch, self._settings, self._thread, policies)
                await self._answer(told)

    async def _answer(self, text: str) -> None:
        """Say it in place of the program, which is not asked."""
        await self.tell(
            base.TextFinal("answer", text),
            base.TurnFinished("end_turn", Usage()),
        )

    async def _reopen(self) -> None:
        """What may be done on the web is said when a thread is opened."""
        old = self._thread
        await self._call("thread/unsubscribe", {})
        token = old.id if old.is_kept else None
        self._thread = await open_thread(
            self._server, self._launch, self._settings, token, old.mark
        )
        self._server.disown(old.id)
        self._stream.thread_id = self._thread.id
        self._server.own(self._thread.id, self)

    async def _interrupt(self) -> None:
        """End the program's turn, those of its sub-agents, and what their commands started."""
        async with self._calls:
            # Now, while the parents live: what clears its environment is known only by them.
            known = await self._remains.processes()
            if self._asked and not self._turn:
                await self._finish(base.TurnFinished("stopped", self._stream.usage))
            elif self._ending is None:
                # A turn that was accepted has no number yet for a moment.
                await self._turn_runs.wait()
            own = {self._thread.id: self._inner_turn} if self._turn else {}
            await self._server.interrupt({**self._child_turns, **own})
            if self._ending is not None:
                await self._finish(base.TurnFinished("stopped", self._stream.usage))
            await self._remains.sweep(known)

    async def _give_up(self) -> None:
        """It did not stop. Others may use the program: only one that hangs is killed."""
        if not await self._server.answers():
            await self._server.kill()
        else:
            self._server.disown(self._thread.id)
            await self.gone("")
        await self._remains.sweep()
