"""The requests of a session's thread: answered by policy, or kept until the user answers them."""

from collections.abc import Awaitable, Callable, Mapping

from model.backends import agent_events, base
from model.backends.codex import prompt as codex_prompt
from model.backends.codex.approvals import PendingRequest, build_response, decide_by_policy
from model.backends.codex.server import NAME, CodexServer
from model.backends.json_rpc import JsonRpc
from model.backends.json_values import Json
from model.backends.pending import PendingRequests
from model.domain.modes import ExecutionMode


class Requests(PendingRequests[PendingRequest]):
    """The requests that await the user's answer, by the id under which the engine answers them."""

    def __init__(
        self,
        server: CodexServer,
        rpc: JsonRpc,
        emit: Callable[[agent_events.AgentEvent], Awaitable[None]],
    ) -> None:
        super().__init__(NAME, emit)
        self._server = server
        self._rpc = rpc

    async def handle(self, request: PendingRequest, mode: ExecutionMode | None) -> None:
        """Respond as the mode decides, or ask the user. Without a mode no user watches: deny."""
        decision = decide_by_policy(request, mode) if mode is not None else "deny"
        if decision is not None:
            await self._rpc.respond(request.rpc_id, build_response(request, decision))
        else:
            await self._ask(request)

    async def add_questions(self, item: Json) -> None:
        """Ask the questions in a message, which the turn does not wait for."""
        if (request := PendingRequest.from_message(item)) is not None:
            await self._ask(request)

    async def _ask(self, request: PendingRequest) -> None:
        self[request.id] = request
        await self._emit(request.event)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str) -> None:
        """Allow once, or deny; the agent reads the `reason`."""
        request = self.take(request_id)
        if decision == "deny" and reason.strip():
            # The refusal itself carries no reason; this input waits until the agent reads it.
            message = codex_prompt.build_text(f"The user does not allow this: {reason.strip()}")
            await self._server.steer(request.thread_id, request.turn_id, message)
        await self._rpc.respond(request.rpc_id, build_response(request, decision))

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> bool:
        """Answer questions; return `False` if the program does not wait for a response.

        The answers are then to be sent as a message, and the request stays until that is done.
        """
        request = self.get(request_id)
        if request is not None and request.rpc_id is None:
            return False
        request = self.take(request_id)
        await self._rpc.respond(request.rpc_id, request.build_answers(answers))
        return True

    async def withdraw_resolved(self, rpc_id: object) -> None:
        """Withdraw a request that the program itself has resolved."""
        await self.withdraw(*(key for key, each in self.items() if each.rpc_id == rpc_id))

    async def withdraw_awaited(self) -> None:
        """Withdraw what the program's turn waited for; what it ended for stays."""
        await self.withdraw(*(key for key, each in self.items() if each.rpc_id is not None))
