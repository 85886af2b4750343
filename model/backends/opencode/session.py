"""One session as a conversation of OpenCode's server: its turns, and the calls of `base.Agent`."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from model.backends import base
from model.backends.base import Launch, Prompt, Settings
from model.backends.channel import Channel
from model.backends.opencode import commands, errors, history, policy
from model.backends.opencode import prompt as opencode_prompt
from model.backends.opencode.agents import OwnAgents
from model.backends.opencode.edits import EDIT_TOOLS, Edits
from model.backends.opencode.event_stream import Event
from model.backends.opencode.inbox import Cut, Heard, Lost, Missed
from model.backends.opencode.introduction import introduction
from model.backends.opencode.models import Models
from model.backends.opencode.requests import Requests
from model.backends.opencode.rules import Rules
from model.backends.opencode.server import NAME, Server
from model.backends.opencode.stop import Stopper
from model.backends.opencode.stream import OpenCodeStream
from model.backends.process import Unreadable
from model.base.errors import SpinneyError

ABORT_PATIENCE: Final = 1.5
"""Seconds that a person waits for a stop; the program may need more, and the next turn waits."""

CLOSE_PATIENCE: Final = 2.0
"""Seconds to obey the stop that goes before closing."""

_ORDER_PATIENCE: Final = 0.5
"""Seconds that a permission waits for the input of its tool, which is told right after it."""

_EMPTY_ANSWERS: Final = 5
"""Answers in a row without a word, after which nothing is expected of the provider any more; the
program would ask it several times a second, for ever (1.18.33)."""

_REFUSED_LOOKS: Final = 3
_REFUSED_PAUSE: Final = 1.0
"""Seconds between two looks whether a turn begins in spite of an error: with a missing file it
does, with a broken picture it does not (1.18.33)."""

_log = logging.getLogger(__name__)


class OpenCodeSession:
    """A conversation; see `base.Agent` for what the calls promise."""

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
        self.record = launch.record
        self._id = conversation
        self._models = models
        self._release = release
        self._settings = launch.settings
        self._edits = Edits(launch.worktree)
        self._stream = OpenCodeStream(conversation)
        self._requests = Requests(self._call, self._stream, self._edits, launch, Rules.of(agents))
        self._agents = OwnAgents(agents)
        self._channel = Channel(NAME)
        self._plan: base.PlanProposed | None = None
        self._turn = 0
        self._is_named = False
        """Whether a prompt named a model."""
        self._lacks: set[str] = set()
        """The presets that no provider has."""
        self._answers_with = ""
        self._introduced = False
        self._closed = False
        self._inbox: asyncio.Queue[Heard] = asyncio.Queue()
        self._early: list[Event] = []
        self._stopper = Stopper(self._ask_abort, self._stream)
        self._background: set[asyncio.Task[None]] = set()
        server.attach(conversation, self)
        self._following = asyncio.create_task(self._follow())

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What the agent tells, until its program has ended."""
        return self._channel.events()

    async def tell(self, event: base.AgentEvent) -> None:
        """Hand an event of the adapter's own to the engine."""
        await self._channel.tell(event)

    async def notice(self, text: str) -> None:
        """Tell a passing word of the adapter's own."""
        await self._channel.tell(base.Notice(text))

    async def send(self, prompt: Prompt) -> None:
        """Start a turn."""
        parts = await asyncio.to_thread(opencode_prompt.parts, prompt, self._launch.worktree)
        await self._stopper.settled()
        self._turn += 1
        self._stream.begin_turn(plans=self._plans)
        self._requests.begin_turn()
        self._channel.begin_turn()
        if not self._introduced:
            self._introduced = True
            await self._channel.tell(base.ConversationIdentified(self._id))
            self._in_background(self._introduce())
        try:
            await self._prompt(parts)
        except SpinneyError:
            if not self._channel.turn_open:
                return  # the server's end was told as the turn's end already
            self._channel.turn_open = False
            raise

    async def stop(self) -> None:
        """Interrupt the turn; the tools that it runs end with it."""
        await self._channel.stop_turn(self._abort, self._server.end_if_silent)

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry the plan out with these settings, in the same turn."""
        approval = policy.APPROVED
        if plan:
            approval = f"{approval} The person changed it; this is the plan now:\n\n{plan}"
        await self._go_on(request_id, settings, [{"type": "text", "text": approval}])

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back with a comment."""
        parts = await asyncio.to_thread(opencode_prompt.parts, comment, self._launch.worktree)
        await self._go_on(request_id, self._settings, parts)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        await self._requests.answer(request_id, answers)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow once, or deny."""
        await self._requests.permit(request_id, decision, reason)

    async def configure(self, settings: Settings) -> None:
        """Apply changed settings: they go with each prompt, and hold for what is asked."""
        self._settings = self._requests.settings = settings

    async def close(self) -> None:
        """End the conversation's turn and all that it started; the server goes on for others."""
        if self._closed:
            return
        self._closed = self._channel.stopping = True
        if self._channel.turn_open and not self._following.done():
            await self._channel.obeys(self._abort, CLOSE_PATIENCE)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._stopper.cancel()
        await self._stopper.end_commands()
        if self._launch.text_only:
            with suppress(SpinneyError):  # a server that is gone keeps it
                await self._call("DELETE", f"/session/{self._id}", None)
        self._server.detach(self)
        self._inbox.put_nowait(Lost(""))
        self._channel.let_go()
        await self._following
        self._release()

    # What the server tells, at once --------------------------------------------------------------

    def hear(self, event: Event | Unreadable) -> None:
        """Take an event; what comes of it is told in its turn."""
        if isinstance(event, Event) and event.session_id == self._id:
            self._stopper.note_status(event.status)
        self._inbox.put_nowait(event)

    def missed(self) -> None:
        """Look what happened while no events came."""
        self._inbox.put_nowait(Missed())

    def lost(self, how: str) -> None:
        """The program has ended."""
        self._inbox.put_nowait(Lost(how))

    # What comes of it, one after the other -------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            heard: Heard | None = None
            with suppress(TimeoutError):
                async with asyncio.timeout(_ORDER_PATIENCE if self._early else None):
                    heard = await self._inbox.get()
            if isinstance(heard, Lost):
                await self._end(heard.how)
                return
            try:
                await self._take(heard)
            except SpinneyError as error:
                _log.warning("%s: %s", NAME, error.message)
            except Exception:  # one event that we cannot follow must not end the conversation
                _log.exception("%s told something that could not be followed", NAME)

    async def _take(self, heard: Event | Unreadable | Missed | Cut | None) -> None:
        match heard:
            case Event():
                await self._event(heard)
            case Unreadable():
                if self._channel.turn_open:
                    await self.notice(f"{NAME} wrote something that is left out ({heard.reason}).")
            case Missed():
                await self._catch_up()
            case Cut() if heard.turn == self._turn:
                await self._cut(heard.failure)
        early, self._early = self._early, []
        for event in early:
            await self._asked(event, is_late=heard is None)

    async def _event(self, event: Event) -> None:
        if not self._channel.turn_open:
            for _ in self._stream.events(event.kind, event.told):
                pass  # of a turn that is over; only what it is about is remembered
            return
        match event.kind:
            case "permission.asked" | "question.asked":
                await self._asked(event)
            case "permission.replied" | "question.replied" | "question.rejected":
                await self._withdraw([str(event.told.get("requestID"))])
            case _:
                for told in self._stream.events(event.kind, event.told):
                    for shown in await self._shown(told):
                        self._requests.note(shown)
                        await self._channel.tell(shown)
                await self._tell_model()
        if event.session_id == self._id:
            await self._own_state(event)

    async def _own_state(self, event: Event) -> None:
        match event.status:
            case "retry":
                self._give_up(errors.gave_up(event.told["status"]))
            case "idle":
                await self._on_idle()
        if event.kind == "session.error" and not self._stream.begun:
            self._in_background(self._end_refused())
        if self._stream.empty_answers >= _EMPTY_ANSWERS:
            self._give_up(errors.empty(_EMPTY_ANSWERS))

    async def _shown(self, told: base.AgentEvent) -> Iterable[base.AgentEvent]:
        if isinstance(told, base.ToolUse) and told.name in EDIT_TOOLS:
            return await asyncio.to_thread(self._edits.normalised, told)
        if isinstance(told, base.ToolResult):
            return self._edits.results(told)
        return [told]

    async def _asked(self, event: Event, *, is_late: bool = False) -> None:
        if not is_late and self._requests.is_early(event):
            self._early.append(event)
            return
        told = await self._requests.asked(event)
        if told is not None:
            await self._channel.tell(told)

    async def _on_idle(self) -> None:
        """The program is done, if it had begun; or it could not begin."""
        begun = self._stream.begun or self._stream.error is not None
        if not begun or self._channel.stopping or self._stopper.works:
            return
        ending = self._stream.ending()
        if self._stream.plan and isinstance(ending, base.TurnFinished) and self._plan is None:
            self._plan = base.PlanProposed(uuid.uuid4().hex, self._stream.plan)
            await self._channel.tell(self._plan)
        elif self._plan is None:
            await self._end_turn(ending)

    async def _end_turn(self, ending: base.TurnFinished | base.TurnFailed) -> None:
        if not self._channel.turn_open:
            return
        self._early.clear()
        for told in self._stream.cut_off():
            for shown in await self._shown(told):
                await self._channel.tell(shown)
        for request in self._requests.open:
            self._in_background(self._requests.dismiss(request))
        await self._withdraw(self._requests.open)
        if self._plan is not None:
            await self._channel.tell(base.RequestWithdrawn(self._plan.request_id))
            self._plan = None
        if isinstance(ending, base.TurnFinished):
            window = self._models.window(self._stream.model)
            ending = replace(ending, context_window=window)
        await self._channel.tell(ending)

    async def _cut(self, failure: base.TurnFailed | None) -> None:
        ending = self._stream.ending()
        if failure is None:
            context = ending.context_tokens if isinstance(ending, base.TurnFinished) else None
            await self._end_turn(base.TurnFinished("stopped", ending.usage, context))
        else:
            await self._end_turn(replace(failure, usage=ending.usage))

    async def _end(self, how: str) -> None:
        """The server is gone, or we leave it."""
        usage = self._stream.ending().usage
        if self._channel.stopping:
            await self._end_turn(base.TurnFinished("stopped", usage))
        else:
            await self._end_turn(base.TurnFailed(how, "backend_error", usage))
        self._channel.end()

    async def _withdraw(self, request_ids: Iterable[str]) -> None:
        for request_id in request_ids:
            told = self._requests.withdrawn(request_id)
            if told is not None:
                await self._channel.tell(told)

    async def _catch_up(self) -> None:
        """Read what was told while no events came."""
        if not self._channel.turn_open or self._plan is not None:
            return
        path = f"/session/{self._id}/message?limit={history.LIMIT}"
        told = await self._call("GET", path, None)
        for event in history.events(told, self._stream.knows):
            await self._event(event)
        for kind in ("permission", "question"):
            listed = await self._call("GET", f"/{kind}", None)
            for each in listed if isinstance(listed, list) else ():
                if each.get("sessionID") in self._stream.conversations:
                    await self._event(Event(f"{kind}.asked", each))
        busy = await self._call("GET", "/session/status", None)
        if isinstance(busy, Mapping) and self._id not in busy:
            await self._on_idle()

    # What we say -------------------------------------------------------------------------------

    @property
    def _plans(self) -> bool:
        """Whether an answer may hold a plan."""
        return self._settings.mode == "plan" and not self._launch.text_only

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        where, record = self._launch.worktree, self.record
        return await self._server.call(method, path, where, body, record=record)

    async def _prompt(self, parts: list[dict[str, Any]]) -> None:
        settings = await self._fitting()
        model = settings.model or self._stream.model or self._models.own.model
        if problem := self._models.lacks(settings.model):
            raise SpinneyError(problem)
        self._stopper.note_prompt()
        body = opencode_prompt.body(parts, self._launch, settings)
        if variant := self._models.variant(model, settings):
            body["variant"] = variant
        path = f"/session/{self._id}"
        if command := await commands.command(self._call, path, body):
            self._in_background(self._carry_out(*command))
        else:
            addressed = self._agents.addressed(body)
            await self._call("POST", f"{path}/prompt_async", addressed)

    async def _fitting(self) -> Settings:
        """The settings of the next turn; of a preset that no provider has, without it."""
        settings = self._models.fitting(self._settings)
        if settings.model != self._settings.model and self._settings.model not in self._lacks:
            self._lacks.add(self._settings.model)
            await self.notice(base.falls_back(NAME, self._settings.model))
        if not settings.model and self._is_named:  # a prompt without one keeps the last
            settings = replace(settings, model=self._models.own.model)
        self._is_named = self._is_named or bool(settings.model)
        return settings

    async def _carry_out(self, path: str, body: Mapping[str, Any]) -> None:
        """Let the program carry a command out, which it answers at the end of the turn."""
        turn, where = self._turn, self._launch.worktree
        try:
            patience = commands.PATIENCE
            await self._server.call("POST", path, where, body, patience, self.record)
        except SpinneyError as error:
            if not self._channel.stopping:
                failure = base.TurnFailed(error.message, error.error_type)
                self._inbox.put_nowait(Cut(turn, failure))

    async def _go_on(
        self, request_id: str, settings: Settings, parts: list[dict[str, Any]]
    ) -> None:
        """Answer the open plan, in the same turn."""
        plan = self._plan
        if plan is None or plan.request_id != request_id:
            raise SpinneyError(f"{NAME} does not wait for this answer any more.", "conflict")
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

    # The end of a turn before its time -----------------------------------------------------------

    async def _abort(self) -> None:
        """End the turn for the person, though the program may take longer."""
        turn = self._turn
        if self._plan is None:
            await self._stopper.stop(ABORT_PATIENCE)
        self._inbox.put_nowait(Cut(turn))

    async def _ask_abort(self) -> None:
        await self._call("POST", f"/session/{self._id}/abort", None)

    async def _end_refused(self) -> None:
        """End a turn that the program refused: it told an error, and tells nothing more."""
        turn = self._turn
        for _ in range(_REFUSED_LOOKS):
            await asyncio.sleep(_REFUSED_PAUSE)
            if turn != self._turn or self._stream.begun or self._stopper.works:
                return
            busy = await self._call("GET", "/session/status", None)
            if not isinstance(busy, Mapping) or self._id in busy:
                return
        if self._stream.error is not None:
            failure = errors.failure(self._stream.error)
            self._inbox.put_nowait(Cut(turn, failure))

    def _give_up(self, failure: base.TurnFailed | None) -> None:
        """End a turn that would ask its provider again and again, for minutes."""
        if failure is not None and not self._channel.stopping and not self._stopper.works:
            self._in_background(self._fail(failure))

    async def _fail(self, failure: base.TurnFailed) -> None:
        turn = self._turn
        await self._stopper.stop()
        self._inbox.put_nowait(Cut(turn, failure))

    async def _introduce(self) -> None:
        async for told in introduction(self._call, self._agents):
            await self._channel.tell(told)

    async def _tell_model(self) -> None:
        if (model := self._stream.model) not in ("", self._answers_with):
            self._answers_with = model
            await self._channel.tell(base.ModelAnswers(model))

    def _in_background(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
