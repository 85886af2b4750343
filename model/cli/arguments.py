"""The commands as they are typed in a shell: their names, and their arguments.

What is known of them stands in `commands.json`, made from the commands by `make docs`: to import
them all takes longer than most of them take.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.base.errors import UsageError
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
_TYPES: Final = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class Known:
    """A command as the table has it."""

    name: str
    about: str
    arguments: dict[str, dict[str, Any]]

    @property
    def help(self) -> str:
        """How it is called, what it does and what it takes."""
        words = [
            f"{name}=…" if its["required"] else f"[{name}=…]"
            for name, its in self.arguments.items()
        ]
        lines = [f"usage: {' '.join(['spinney call', self.name, *words])}", "", self.about]
        if self.arguments:
            width = max(map(len, self.arguments))
            lines += ["", "arguments:"]
            lines += [f"  {name:<{width}}  {_kind(its)}" for name, its in self.arguments.items()]
        return "\n".join(lines) + "\n"


def listing() -> str:
    """Every command with the first sentence of what it does."""
    shown = {name: its["about"] for name, its in _table()["commands"].items() if its["remote"]}
    width = max(map(len, shown))
    lines = [f"  {name:<{width}}  {_first_sentence(about)}" for name, about in shown.items()]
    return "\n".join(["commands:", *lines, "", "One in full: spinney call NAME --help"]) + "\n"


def callable_names() -> dict[str, list[str]]:
    """The names of the commands, each with those of its arguments."""
    found = _table()["commands"]
    return {name: list(its["args"]) for name, its in found.items() if its["remote"]}


def command_named(name: str) -> Known:
    """What is known of a command. Raises `UsageError` with the nearest name."""
    table = _table()
    found = table["commands"].get(table["aliases"].get(name, name))
    if found is None:
        meant = did_you_mean(name, [*table["commands"], *table["aliases"]])
        raise UsageError(f"Unknown command: {name}.{meant} All of them: spinney call")
    return Known(name, found["about"], found["args"])


def arguments_from(command: Known, given: list[str], here: Path | None = None) -> dict[str, Any]:
    """`name=value` words and JSON objects as one object; relative paths begin at `here`.

    Raises `UsageError`.
    """
    arguments: dict[str, Any] = {}
    for word in given:
        if word.lstrip().startswith("{"):
            try:
                arguments |= json.loads(word)
            except ValueError as error:
                raise UsageError(f"Not a JSON object: {word} ({error})") from None
            continue
        name, found, value = word.partition("=")
        if not found:
            raise UsageError(f"Not name=value and no JSON object: {word}")
        arguments[name] = _read(command.arguments.get(_wire(name), {}), value, here)
    _check_names(command, arguments)
    return _with_agents(arguments, _table()["agents"])


def _read(argument: dict[str, Any], value: str, here: Path | None) -> Any:
    """A value as the command takes it. What it cannot take is left for it to refuse."""
    if argument.get("path"):
        return _absolute(value, here)
    takes = argument.get("takes", ())
    try:
        read = json.loads(value)
    except ValueError:
        return value
    kind = "null" if read is None else _TYPES.get(type(read), "string")
    return value if "string" in takes and (kind == "string" or kind not in takes) else read


def _with_agents(value: dict[str, Any], agents: Mapping[str, str]) -> dict[str, Any]:
    """With agents by the words of the interface, where they are called by their programs."""
    known: dict[str, Any] = {}
    for name, given in value.items():
        if isinstance(given, dict):
            known[name] = _with_agents(given, agents)
        elif isinstance(given, str) and _wire(name) in ("backend", "defaultBackend"):
            known[name] = agents.get(given, given)
        else:
            known[name] = given
    return known


def _absolute(value: str, here: Path | None) -> str:
    path = os.path.expanduser(value)  # noqa: PTH111 - of an unknown user it stays as it is
    if here is None or not value or path.startswith("/"):
        return path
    return str(here / path) + "/" * path.endswith("/")  # The last one matters to some.


def _check_names(command: Known, arguments: dict[str, Any]) -> None:
    """Raise `UsageError` for an argument that the command does not have, or lacks."""
    more = f"See: spinney call {command.name} --help"
    given = {_wire(name) for name in arguments}
    for name in arguments:
        if _wire(name) not in command.arguments:
            meant = did_you_mean(name, command.arguments)
            raise UsageError(f"{command.name} takes no '{name}'.{meant} {more}")
    for name, its in command.arguments.items():
        if its["required"] and name not in given:
            raise UsageError(f"Missing field: {name}. {more}")


def _wire(name: str) -> str:
    """`project_id` → `projectId`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def _kind(argument: dict[str, Any]) -> str:
    kinds = " or ".join(_KINDS[kind] for kind in argument["takes"])
    if argument.get("path"):
        kinds = "a path"
    elif argument.get("agent"):
        kinds = "an agent: claude, codex, opencode or acp:NAME"
    elif "one_of" in argument:
        kinds = "one of " + ", ".join(argument["one_of"])
    return kinds + (", required" if argument["required"] else "")


def _first_sentence(text: str) -> str:
    first = " ".join(text.split("\n\n")[0].split())
    return first.partition(". ")[0].rstrip(".")


def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_bytes())
    return table
