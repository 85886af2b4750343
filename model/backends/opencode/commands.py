"""A person's `/command` as OpenCode's server takes it: those that it knows by name, and `/compact`,
which is a call of its own. Any other text is for the agent to read.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.command_files import commands_in, skills_in
from model.domain.resources import AgentCommand

Json = dict[str, Any]
Call = Callable[[str, str, None], Awaitable[Any]]
"""Asks the server."""

PATIENCE: Final = 24 * 3600.0
"""Seconds; a command is answered when its turn is over."""

_COMPACT: Final = ("compact", "summarize")
"""What the program's own terminal calls it."""


COMPACT: Final = AgentCommand(name=_COMPACT[0], description="Shorten the conversation to a summary")


async def known(call: Call) -> tuple[AgentCommand, ...]:
    """All that can be sent. Raises `SpinneyError` where the server does not answer."""
    return (*map(_described, await _listed(call)), COMPACT)


def in_files(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """The project's and the person's, agents too, as far as they are files. Call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    found: list[AgentCommand] = []
    for place in (worktree / ".opencode", own):
        for name in ("command", "commands", "agent", "agents"):
            found += commands_in(place / name, "/")
        for name in ("skill", "skills"):
            found += skills_in(place / name)
    for place in (worktree, home):
        found += [*skills_in(place / ".claude/skills"), *skills_in(place / ".agents/skills")]
    return (*found, COMPACT)


async def command(
    call: Call, conversation: str, prompt: Mapping[str, Any]
) -> tuple[str, Json] | None:
    """The path and the body of the call that carries it out; `None` for a plain message.

    `conversation` is the path of the session, `prompt` the message's body.
    Raises `SpinneyError` where the server does not answer.
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


async def _listed(call: Call) -> list[Mapping[str, Any]]:
    told = await call("GET", "/command", None)
    objects = (each for each in told if isinstance(each, Mapping)) if isinstance(told, list) else ()
    return [each for each in objects if isinstance(each.get("name"), str)]


def _described(told: Mapping[str, Any]) -> AgentCommand:
    hints = told.get("hints")
    places = [str(hint).strip("$").lower() for hint in hints] if isinstance(hints, list) else []
    return AgentCommand(
        name=told["name"],
        description=str(told.get("description") or ""),
        argument_hint=" ".join(f"[{place}]" for place in places),
    )


async def _last_model(call: Call, conversation: str) -> Json | None:
    """The model that answered last; `None` before any answer, when nothing can be shortened."""
    told = await call("GET", conversation, None)
    model = told.get("model") if isinstance(told, Mapping) else None
    if not isinstance(model, Mapping):
        return None
    return {"providerID": model.get("providerID"), "modelID": model.get("id")}
