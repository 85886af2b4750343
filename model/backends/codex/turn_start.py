"""Starts the program's turns in a session's thread, with the session's settings."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from model.backends import agent_events
from model.backends.base import Launch, Settings
from model.backends.codex import builtins, errors, policy
from model.backends.codex.model_choice import ModelChoice
from model.backends.codex.server import CodexServer, Listener
from model.backends.codex.stream import CodexStream
from model.backends.codex.thread import CodexThread, open_thread
from model.backends.json_rpc import JsonRpc
from model.backends.json_values import Json

TURN_TIMEOUT: Final = 30.0
"""Seconds to accept a turn."""


class TurnStarter:
    """A session's open thread, and how its turns are started."""

    def __init__(
        self,
        server: CodexServer,
        rpc: JsonRpc,
        launch: Launch,
        thread: CodexThread,
        stream: CodexStream,
        listener: Listener,
        emit: Callable[[agent_events.AgentEvent], Awaitable[None]],
    ) -> None:
        self._server = server
        self._rpc = rpc
        self._launch = launch
        self.thread = thread
        self._stream = stream
        self._listener = listener
        self._is_resumed = thread.is_persisted
        self._model_choice = ModelChoice(emit)
        self.lock = asyncio.Lock()
        """Held while a turn begins or is stopped, so that no stop hits the next turn."""
        self.mode = launch.settings.mode
        """The mode in which the program's turn began."""
        self.last_input: list[Json] = []
        """The input of the program's turn; empty if it was started without one."""

    async def call(self, method: str, params: Json, timeout: float = TURN_TIMEOUT) -> Json:
        """Call a method of the program for the thread."""
        arguments = {"threadId": self.thread.id, **params}
        return await self._rpc.request(method, arguments, timeout)

    async def start(self, items: list[Json], settings: Settings) -> None:
        """Start a turn with a message."""
        self.last_input = items
        policies = await self._build_policies(settings)
        if self._is_resumed and self._launch.system_prompt:
            # A thread keeps its initial instructions; identical ones are added only once.
            context = {"kind": "application", "value": self._launch.system_prompt}
            policies["additionalContext"] = {"spinney": context}
        async with self.lock:
            if policy.is_web_disabled(self._launch, settings) != self.thread.is_web_disabled:
                await self._reopen(settings)
            self._stream.begin_part()
            self.mode = settings.mode
            await self.call("turn/start", {**policies, "input": items})

    async def start_review(self, target: Json, settings: Settings) -> None:
        """Start a review."""
        async with self.lock:
            # A review takes no settings, and the thread has the previous ones.
            await self.call("thread/settings/update", await self._build_policies(settings))
            self.mode = settings.mode
            await self.call("review/start", {"target": target, "delivery": "inline"})

    async def describe(self, settings: Settings) -> str:
        """The answer to `/status`, as Markdown."""
        policies = (await self._build_policies(settings))["collaborationMode"]["settings"]
        return builtins.format_status(self._launch, settings, self.thread, policies)

    async def reject_model(self, turn: object, settings: Settings) -> bool:
        """Whether a turn that failed can be repeated with the default model, which is then used.

        That is so if it failed because the program does not know the preset's model.
        """
        if (
            not self._model_choice.has_fallback(settings)
            or not self.last_input
            or not errors.is_model_unknown(turn)
        ):
            return False
        await self._model_choice.reject(settings.model, self.thread.config)
        return True

    async def _build_policies(self, settings: Settings) -> Json:
        """The parameters of a turn with these settings."""
        models, config = self._server.models, self.thread.config
        model = await self._model_choice.resolve(settings, models, config)
        effort = policy.choose_effort(settings, config.effort, models.list_efforts(model))
        return policy.build_turn_params(
            self._launch, settings, model, effort, self.thread.git_folders
        )

    async def _reopen(self, settings: Settings) -> None:
        """Reopen the thread to change its web access, which is set when a thread is opened."""
        old = self.thread
        await self.call("thread/unsubscribe", {})
        token = old.id if old.is_persisted else None
        self.thread = await open_thread(self._server, self._launch, settings, token, old.mark)
        self._server.unsubscribe(old.id)
        self._stream.thread_id = self.thread.id
        self._server.subscribe(self.thread.id, self._listener)
