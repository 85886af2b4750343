"""Conversations with Codex, recorded from the real program and replayed without it."""

from dataclasses import dataclass, field
from typing import Any

from model.backends import agent_events, base
from tests.model.backends.agents import Conversation


@dataclass(frozen=True)
class Scenario:
    """The messages of a session; every request of the agent is granted."""

    messages: tuple[str, ...]
    launch: dict[str, Any] = field(default_factory=dict)
    stops: bool = False
    """Whether each turn is stopped at its first text."""


SCENARIOS = {
    "text": Scenario(("think: about looms",)),
    "edit": Scenario(("write a.txt: hi", "edit a.txt: hi => ho")),
    "permission": Scenario(("bash: echo woven",)),
    "plan": Scenario(("plan: weave a scarf",), {"mode": "plan"}),
    "question": Scenario(("ask: Tea or coffee? | Tea | Coffee",)),
    "stop": Scenario(("slow", "say: still here"), stops=True),
    "sub-agent": Scenario(("agent: sandboxed: touch woven",), {"model": "gpt-5.2"}),
    "to-do-list": Scenario(("todo: spin | weave",)),
    "error": Scenario(("error 503", "say: again")),
    "compact": Scenario(("say: one", "/compact")),
}


async def play(conversation: Conversation, scenario: Scenario) -> list[agent_events.AgentEvent]:
    """Send the messages; return all events."""
    for message in scenario.messages:
        await conversation.agent.send(base.Prompt(message))
        await finish_turn(conversation, scenario)
    return conversation.events


async def finish_turn(conversation: Conversation, scenario: Scenario) -> None:
    """Grant every request until the turn ends."""
    agent = conversation.agent
    ends = (agent_events.TurnFinished, agent_events.TurnFailed)
    asks = (agent_events.PermissionRequested, agent_events.QuestionAsked, agent_events.PlanProposed)
    waits = (agent_events.TextDelta,) if scenario.stops else ()
    while True:
        match await conversation.until(*ends, *asks, *waits):
            case agent_events.PermissionRequested(request_id=key):
                await agent.permit(key, "allow")
            case agent_events.QuestionAsked(request_id=key, questions=questions):
                first = [(q.question, q.options[0].label if q.options else "") for q in questions]
                await agent.answer(key, dict(first))
            case agent_events.PlanProposed(request_id=key):
                await agent.approve(key, base.Settings("build", "gpt-5.5"), None)
            case agent_events.TextDelta():
                await agent.stop()
            case _:
                return
