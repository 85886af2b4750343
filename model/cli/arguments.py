"""Command names and arguments as typed in a shell.

The specification is read from `commands.json`, which `make docs` generates: importing all commands
takes longer than most of them take to run.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from model.base.errors import UsageError
from model.base.strict_json import parse_json
from model.base.suggestions import did_you_mean

TABLE: Final = Path(__file__).with_name("commands.json")

_KINDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a JSON list",
    "object": "a JSON object",
    "null": "null",
}
_EXIT_CODES: Final = (
    "exit codes: 1 refused or failed, 3 no Spinney is running, 4 not found; see spinney --help"
)
_TYPES: Final = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command as the table describes it."""

    name: str
    about: str
    arguments: dict[str, dict[str, Any]]
    result: str
    """The type of what it returns."""

    @property
    def help(self) -> str:
        """Its usage, description, arguments and result, an example and the exit codes."""
        words = [
            f"{name}=…" if its["required"] else f"[{name}=…]"
            for name, its in self.arguments.items()
        ]
        lines = [f"usage: {' '.join(['spinney call', self.name, *words])}", "", self.about]
        if self.arguments:
            width = max(map(len, self.arguments))
            lines += ["", "arguments:"]
            lines += [f"  {name:<{width}}  {_kind(its)}" for name, its in self.arguments.items()]
        result = "nothing (null)" if self.result == "null" else self.result
        lines += ["", f"returns: {result}", "", "example:", f"  {self._example}", "", _EXIT_CODES]
        return "\n".join(lines) + "\n"

    @property
    def _example(self) -> str:
        """A call with the arguments that it needs, else with the first one that it takes."""
        needed = {name: its for name, its in self.arguments.items() if its["required"]}
        shown = needed or dict(list(self.arguments.items())[:1])
        words = [f"{name}={_example_of(name, its)}" for name, its in shown.items()]
        return " ".join(["spinney call", self.name, *words])


def list_commands() -> str:
    """Every command with the first sentence of its description."""
    shown = {name: its["about"] for name, its in _table()["commands"].items() if its["remote"]}
    width = max(map(len, shown))
    lines = [f"  {name:<{width}}  {_first_sentence(about)}" for name, about in shown.items()]
    return "\n".join(["commands:", *lines, "", "For one command: spinney call NAME --help"]) + "\n"


def callable_names() -> dict[str, list[str]]:
    """The names of the commands, each with those of its arguments."""
    found = _table()["commands"]
    return {name: list(its["args"]) for name, its in found.items() if its["remote"]}


def find_spec(name: str) -> CommandSpec:
    """Look up a command. Raises `UsageError` with the closest name."""
    table = _table()
    found = table["commands"].get(table["aliases"].get(name, name))
    if found is None:
        hint = did_you_mean(name, [*table["commands"], *table["aliases"]])
        raise UsageError(f"Unknown command: {name}.{hint} For a list: spinney call")
    return CommandSpec(name, found["about"], found["args"], found["result"])


def backend_of_agent(name: str) -> str:
    """Return the name of the interface for that of an agent, such as `claude`."""
    return str(_table()["agents"].get(name, name))


def name_of_agent(backend: str) -> str:
    """Return the name by which an agent is called on the command line."""
    names: dict[str, str] = {each: name for name, each in _table()["agents"].items()}
    return names.get(backend, backend)


def parse_arguments(
    command: CommandSpec, given: list[str], base: Path | None = None
) -> dict[str, Any]:
    """Combine `name=value` words and JSON objects; relative paths start at `base`.

    Raises `UsageError`.
    """
    arguments: dict[str, Any] = {}
    for word in given:
        if word.lstrip().startswith("{"):
            try:
                arguments |= parse_json(word)
            except ValueError as error:
                raise UsageError(f"Not a JSON object: {word} ({error})") from None
            continue
        name, found, value = word.partition("=")
        if not found:
            raise UsageError(f"Neither name=value nor a JSON object: {word}")
        arguments[name] = _read(command.arguments.get(_wire(name), {}), value, base)
    _check_names(command, arguments)
    try:
        return _with_agents(arguments, _table()["agents"])
    except RecursionError:
        raise UsageError("An argument is nested too deeply.") from None


def _read(argument: dict[str, Any], value: str, base: Path | None) -> Any:
    """Convert a value to a type that the command accepts; others are left for it to reject."""
    if argument.get("path"):
        return _absolute(value, base)
    takes = argument.get("takes", ())
    try:
        read = parse_json(value)
    except ValueError:
        return value
    kind = "null" if read is None else _TYPES.get(type(read), "string")
    return value if "string" in takes and (kind == "string" or kind not in takes) else read


def _with_agents(value: dict[str, Any], agents: Mapping[str, str]) -> dict[str, Any]:
    """Replace the names of agents' programs by the names of the interface."""
    replaced: dict[str, Any] = {}
    for name, given in value.items():
        if isinstance(given, dict):
            replaced[name] = _with_agents(given, agents)
        elif isinstance(given, str) and _wire(name) in ("backend", "defaultBackend"):
            replaced[name] = agents.get(given, given)
        else:
            replaced[name] = given
    return replaced


def _absolute(value: str, base: Path | None) -> str:
    path = os.path.expanduser(value)  # noqa: PTH111 - keeps `~` of an unknown user
    if base is None or not value or path.startswith("/"):
        return path
    return str(base / path) + "/" * path.endswith("/")  # It matters to some commands.


def _check_names(command: CommandSpec, arguments: dict[str, Any]) -> None:
    """Raise `UsageError` for an unknown or missing argument."""
    more = f"See: spinney call {command.name} --help"
    given = {_wire(name) for name in arguments}
    for name in arguments:
        if _wire(name) not in command.arguments:
            hint = did_you_mean(name, command.arguments)
            raise UsageError(f"{command.name} takes no '{name}'.{hint} {more}")
    for name, its in command.arguments.items():
        if its["required"] and name not in given:
            raise UsageError(f"Missing field: {name}. {more}")


def _wire(name: str) -> str:
    """Convert `project_id` to `projectId`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _kind(argument: dict[str, Any]) -> str:
    kinds = " or ".join(_KINDS[kind] for kind in argument["takes"])
    if argument.get("path"):
        kinds = "a path"
    elif argument.get("agent"):
        kinds = "an agent: claude, codex, opencode or acp:NAME"
    elif "type" in argument:
        kinds = f"JSON: {argument['type']}"
    elif "one_of" in argument:
        kinds = "one of " + ", ".join(argument["one_of"])
    if argument["required"]:
        return f"{kinds}, required"
    default = argument.get("default")
    return kinds if default in (None, "", []) else f"{kinds}, by default {json.dumps(default)}"


def _example_of(name: str, argument: dict[str, Any]) -> str:
    """Return a value as it can be typed."""
    if argument.get("path"):
        return "."
    if argument.get("agent"):
        return "claude"
    if "one_of" in argument:
        return str(argument["one_of"][0])
    if "string" in argument["takes"]:
        return "1c9f…" if name.endswith("Id") else "TEXT"
    examples = {"integer": "1", "number": "1", "boolean": "true", "array": "'[…]'"}
    return next((examples[kind] for kind in argument["takes"] if kind in examples), "'{…}'")


def _first_sentence(text: str) -> str:
    first = " ".join(text.split("\n\n")[0].split())
    return first.partition(". ")[0].rstrip(".")


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_bytes())
    return table
