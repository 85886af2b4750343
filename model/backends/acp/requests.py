"""An ACP agent's permission requests: those that await the user's answer, and the responses."""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from model.backends import agent_events, base
from model.backends.acp.policy import Option, find_option
from model.backends.acp.tools import ToolCall
from model.backends.json_rpc import JsonRpc
from model.backends.pending import PendingRequests

_CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
_REQUEST_CANCELLED: Final = -32800


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A permission request that the agent waits for."""

    rpc_id: object
    options: tuple[Option, ...]
    subject: str
    plan: str = ""
    """The plan, if the request is to execute one."""


class PermissionRequests(PendingRequests[PermissionRequest]):
    """The requests that await the user's answer, by the id under which the engine answers them."""

    def __init__(
        self, name: str, rpc: JsonRpc, emit: Callable[[agent_events.AgentEvent], Awaitable[None]]
    ) -> None:
        super().__init__(name, emit)
        self._rpc = rpc

    def add(self, request: PermissionRequest) -> str:
        """Add a request; return its id for the engine."""
        request_id = uuid.uuid4().hex
        self[request_id] = request
        return request_id

    async def ask(
        self,
        rpc_id: object,
        options: tuple[Option, ...],
        call: ToolCall,
        use: agent_events.ToolUse,
    ) -> None:
        """Ask the user about a call, which is shown as `use`."""
        request_id = self.add(PermissionRequest(rpc_id, options, call.title or use.name))
        title = call.title if call.title != use.name else ""
        await self._emit(
            agent_events.PermissionRequested(
                request_id, use.name, use.input, title, call.id or None
            )
        )

    async def decide(
        self, rpc_id: object, options: Sequence[Option], decision: base.Verdict
    ) -> None:
        """Respond with the option for this decision."""
        option = find_option(decision, options)
        if option is None:
            await self.refuse(rpc_id)
        else:
            chosen = {"outcome": {"outcome": "selected", "optionId": option}}
            await self._rpc.respond(rpc_id, chosen)

    async def refuse(self, rpc_id: object) -> None:
        """Respond without a decision: no option fits, or the turn is being stopped."""
        await self._rpc.respond(rpc_id, _CANCELLED)

    async def refuse_all(self) -> None:
        """Refuse and withdraw all requests."""
        for request in self.values():
            await self.refuse(request.rpc_id)
        await self.withdraw(*self)

    async def cancel(self, rpc_id: object) -> None:
        """Withdraw a request that the agent itself cancels."""
        for request_id, request in list(self.items()):
            if request.rpc_id == rpc_id:
                await self.withdraw(request_id)
                await self._rpc.respond_error(rpc_id, _REQUEST_CANCELLED, "cancelled")
