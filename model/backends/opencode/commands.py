"""Maps the user's `/command` to OpenCode's HTTP calls: commands that the server lists, and
`/compact`, which has its own endpoint. Any other text is a plain message to the agent.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.command_files import read_commands, read_skills
from model.backends.json_values import Json, as_object, as_objects
from model.domain.agent_commands import AgentCommand

Call = Callable[[str, str, None], Awaitable[Any]]
"""Calls the server."""

TIMEOUT: Final = 24 * 3600.0
"""Seconds; the response to a command arrives at the end of its turn."""

_COMPACT: Final = ("compact", "summarize")
"""Its names in the program's own terminal."""


COMPACT: Final = AgentCommand(name=_COMPACT[0], description="Shorten the conversation to a summary")


async def list_commands(call: Call) -> tuple[AgentCommand, ...]:
    """List all commands. Raises `SpinneyError` if the server does not respond."""
    return (*map(_describe, await _listed(call)), COMPACT)


def find_in_files(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """Find the commands and agents in files of the project and the user. Call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    found: list[AgentCommand] = []
    for folder in (worktree / ".opencode", own):
        for name in ("command", "commands", "agent", "agents"):
            found += read_commands(folder / name, "/")
        for name in ("skill", "skills"):
            found += read_skills(folder / name)
    for folder in (worktree, home):
        found += [*read_skills(folder / ".claude/skills"), *read_skills(folder / ".agents/skills")]
    return (*found, COMPACT)


async def build_call(
    call: Call, conversation: str, prompt: Mapping[str, Any]
) -> tuple[str, Json] | None:
    """The path and the body of the call for a command; `None` for a plain message.

    `conversation` is the path of the session, `prompt` the message's body.
    Raises `SpinneyError` if the server does not respond.
    """
    text = str(prompt["parts"][0]["text"]).strip()
    if not text.startswith("/"):
        return None
    name, _, arguments = text[1:].partition(" ")
    if any(each["name"] == name for each in await _listed(call)):
        body = {"command": name, "arguments": arguments.strip(), "agent": prompt["agent"]}
        if model := prompt.get("model"):
            body["model"] = f"{model['providerID']}/{model['modelID']}"
        if "variant" in prompt:
            body["variant"] = prompt["variant"]
        return f"{conversation}/command", {**body, "parts": prompt["parts"][1:]}
    if name in _COMPACT and (model := prompt.get("model") or await _last_model(call, conversation)):
        return f"{conversation}/summarize", model
    return None


async def _listed(call: Call) -> list[Json]:
    commands = as_objects(await call("GET", "/command", None))
    return [each for each in commands if isinstance(each.get("name"), str)]


def _describe(command: Mapping[str, Any]) -> AgentCommand:
    hints = command.get("hints")
    arguments = [str(hint).strip("$").lower() for hint in hints] if isinstance(hints, list) else []
    return AgentCommand(
        name=command["name"],
        description=str(command.get("description") or ""),
        argument_hint=" ".join(f"[{argument}]" for argument in arguments),
    )


async def _last_model(call: Call, conversation: str) -> Json | None:
    """The model of the last response; `None` before any response: nothing can be compacted then."""
    response = as_object(await call("GET", conversation, None))
    model = response.get("model")
    if not isinstance(model, dict):
        return None
    return {"providerID": model.get("providerID"), "modelID": model.get("id")}
