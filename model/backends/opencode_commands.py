"""A person's `/command` as OpenCode's server takes it: those that it knows by name, and `/compact`,
which is a call of its own. Any other text is for the agent to read.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

Json = dict[str, Any]

PATIENCE: Final = 24 * 3600.0
"""Seconds; a command is answered when its turn is over."""

_COMPACT: Final = ("compact", "summarize")
"""What the program's own terminal calls it."""


async def command(
    call: Callable[[str, str, None], Awaitable[Any]], conversation: str, prompt: Mapping[str, Any]
) -> tuple[str, Json] | None:
    """The path and the body of the call that carries it out; `None` for a plain message.

    `call` asks the server, `conversation` is the path of the session, `prompt` the message's body.
    Raises `SpinneyError` where the server does not answer.
    """
    text = str(prompt["parts"][0]["text"]).strip()
    if not text.startswith("/"):
        return None
    name, _, arguments = text[1:].partition(" ")
    listed = await call("GET", "/command", None)
    known = listed if isinstance(listed, list) else []
    if any(isinstance(each, Mapping) and each.get("name") == name for each in known):
        body = {"command": name, "arguments": arguments.strip(), "agent": prompt["agent"]}
        if model := prompt.get("model"):
            body["model"] = f"{model['providerID']}/{model['modelID']}"
        if "variant" in prompt:
            body["variant"] = prompt["variant"]
        return f"{conversation}/command", {**body, "parts": prompt["parts"][1:]}
    if name in _COMPACT and (model := prompt.get("model") or await _last_model(call, conversation)):
        return f"{conversation}/summarize", model
    return None


async def _last_model(
    call: Callable[[str, str, None], Awaitable[Any]], conversation: str
) -> Json | None:
    """The model that answered last; `None` before any answer, when nothing can be shortened."""
    told = await call("GET", conversation, None)
    model = told.get("model") if isinstance(told, Mapping) else None
    if not isinstance(model, Mapping):
        return None
    return {"providerID": model.get("providerID"), "modelID": model.get("id")}
