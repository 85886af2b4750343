"""The user's own OpenCode agents, offered as commands (`/reviewer …`) for a single message."""

from typing import Final

from model.backends.json_values import Json, as_objects
from model.domain.agent_commands import AgentCommand

_OURS: Final = frozenset({"plan", "build", "yolo"})


class CustomAgents:
    """The agents that the program lists, except native, hidden and Spinney's own ones."""

    def __init__(self, response: object) -> None:
        self._agents = {
            each["name"]: each
            for each in as_objects(response)
            if isinstance(each.get("name"), str)
            and each["name"] not in _OURS
            and not each.get("native")
            and not each.get("hidden")
        }

    def commands(self) -> tuple[AgentCommand, ...]:
        """The agents as commands."""
        return tuple(
            AgentCommand(
                name=name,
                description=str(agent.get("description") or "An agent of your own"),
                argument_hint="[message]",
            )
            for name, agent in self._agents.items()
        )

    def address(self, prompt: Json) -> Json:
        """Address the message's body to the agent that its text begins with, if any."""
        first, *files = prompt["parts"]
        name, _, text = first["text"].strip().partition(" ")
        agent = self._agents.get(name[1:]) if name.startswith("/") else None
        if agent is None or not text.strip():
            return prompt
        parts = [{**first, "text": text.strip()}, *files]
        if agent.get("mode") == "subagent":
            return {**prompt, "parts": [*parts, {"type": "agent", "name": agent["name"]}]}
        own = {key: value for key, value in prompt.items() if key != "model" or not agent.get(key)}
        return {**own, "agent": agent["name"], "parts": parts}
