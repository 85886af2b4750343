"""The whole interface as JSON Schema: every command, event, resource and preference.

`spinney schema` and the reference pages in `docs/` are generated from it.
"""

import inspect
import sys
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

import model.api.all  # noqa: F401 - registers the commands
from model import __version__
from model.agents.catalog import BACKENDS
from model.api.command import ALIASES, COMMANDS, UNCHANGED, Argument, Command
from model.domain.events.all import EVENTS
from model.domain.events.base import Event
from model.domain.events.projects import ProjectAdded, ProjectUpdated
from model.domain.events.worktrees import WorktreeCreating
from model.domain.projects import Project
from model.domain.resource import Resource
from model.domain.worktrees import Worktree
from model.preferences.schema import Preferences

_WORKTREE_CREATING: Final = ("id", "project_id", "name", "path", "branch")

Shapes = dict[str, Any]
"""JSON Schemas by name."""


def schema() -> dict[str, Any]:
    """One JSON Schema document for the whole interface; shared schemas are under `$defs`."""
    adapters = _adapters()
    inputs = [(key, "validation", adapter) for key, adapter in adapters.items()]
    schemas, shared = TypeAdapter.json_schemas(inputs)  # type: ignore[arg-type]
    shapes = {key: shape for (key, _), shape in schemas.items()}
    definitions = shared["$defs"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Spinney {__version__}",
        "commands": {name: _command(COMMANDS[name], shapes) for name in sorted(COMMANDS)},
        "events": {name: _event(kind, shapes) for name, kind in sorted(EVENTS.items())},
        "resources": {
            name: {"$ref": f"#/$defs/{name}"}
            for name in sorted(_names_of(Resource) & set(definitions))
        },
        "preferences": shapes["preferences"],
        "$defs": definitions,
    }


def command_table() -> dict[str, Any]:
    """What `spinney call` needs to know of the commands without importing them."""
    commands = {}
    for name, command in schema()["commands"].items():
        found = {argument.wire: argument for argument in COMMANDS[name].arguments}
        commands[name] = {
            "about": command["description"],
            "remote": command["remote"],
            "result": describe_type(command["result"]),
            "args": {
                wire: {
                    "takes": _types_of(shape, null=found[wire].takes_null),
                    "required": found[wire].required,
                    **_inner_type(shape),
                    **({"agent": True} if "backend" in wire.lower() else {}),
                    **({"path": True} if "path" in _formats(shape) else {}),
                    **({"one_of": words} if (words := _choices(shape)) else {}),
                    **({"default": shape["default"]} if shape.get("default") is not None else {}),
                }
                for wire, shape in command["args"]["properties"].items()
            },
        }
    agents = {row.program: row.name for row in BACKENDS}
    return {"commands": commands, "aliases": ALIASES, "agents": agents}


def describe_type(shape: dict[str, Any]) -> str:
    """A shape in few words: `string`, `Worktree[]`, `"plan" | "build" | null`."""
    if "$ref" in shape:
        return str(shape["$ref"].rpartition("/")[2])
    if "enum" in shape:
        return " | ".join(f'"{value}"' for value in shape["enum"])
    if "const" in shape:
        return f'"{shape["const"]}"'
    for several in ("anyOf", "oneOf"):
        if several in shape:
            return " | ".join(dict.fromkeys(describe_type(one) for one in shape[several]))
    match shape.get("type"):
        case "array":
            inner = describe_type(shape.get("items", {}))
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case "null":
            return "null"
        case "integer":
            return "whole number"
        case "string" if shape.get("format") == "path":
            return "path"
        case None:
            return "anything"
        case kind:
            return str(kind)


def _types_of(shape: Shapes, *, null: bool) -> list[str]:
    """The JSON types that an argument accepts; `null` only if it is a value."""
    kinds = {part.get("type", "object") for part in _parts(shape)}
    return sorted(kinds if null else kinds - {"null"})


def _inner_type(shape: Shapes) -> dict[str, str]:
    """The type of a list or an object, for which `takes` says too little."""
    kinds = {part.get("type", "object") for part in _parts(shape)}
    if not kinds & {"array", "object"}:
        return {}
    return {"type": describe_type(shape).removesuffix(" | null")}


def _choices(shape: Shapes) -> list[str]:
    return [word for part in _parts(shape) for word in part.get("enum", ())]


def _formats(shape: Shapes) -> set[str]:
    return {part["format"] for part in _parts(shape) if "format" in part}


def _parts(shape: Shapes) -> list[Shapes]:
    return [{**shape, **part} for part in shape.get("anyOf", [{}])]


def area(command: "Command[..., Any]") -> str:
    """The title of the command's group: the first paragraph of its module's docstring."""
    module = sys.modules[command.signature.__module__]
    return (module.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def event_fields(kind: type[Event]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The types of the fields in an event's plain frames, and of those only in numbered frames."""
    if kind in (ProjectAdded, ProjectUpdated):
        return _types(Project), {}
    if kind is WorktreeCreating:
        known = _types(Worktree)
        return {name: known[name] for name in _WORKTREE_CREATING}, {"worktree": Worktree}
    every = _types(kind)
    plain = {name: every[name] for name in every if name not in kind.numbered_only}
    return plain, {name: every[name] for name in every if name in kind.numbered_only}


def _types(kind: type[BaseModel]) -> dict[str, Any]:
    return {name: field.rebuild_annotation() for name, field in kind.model_fields.items()}


def _names_of(kind: type[BaseModel]) -> set[str]:
    """The names of a class and of all that inherit from it."""
    return {kind.__name__}.union(*map(_names_of, kind.__subclasses__()))


def _adapters() -> dict[str, TypeAdapter[Any]]:
    """A type adapter for everything that has a schema, by key."""
    found: dict[str, TypeAdapter[Any]] = {"preferences": TypeAdapter(Preferences)}
    for command in COMMANDS.values():
        found[f"result {command.name}"] = command.result
        for argument in command.arguments:
            found[f"argument {command.name} {argument.name}"] = argument.adapter
    for kind in EVENTS.values():
        for fields in event_fields(kind):
            for name, annotation in fields.items():
                found[f"event {kind.name} {name}"] = TypeAdapter(annotation)
    return found


def _command(command: "Command[..., Any]", shapes: Shapes) -> dict[str, Any]:
    arguments = command.arguments
    return {
        "description": command.description,
        "area": area(command),
        "remote": command.remote,
        "args": {
            "type": "object",
            "properties": {
                argument.wire: {
                    **shapes[f"argument {command.name} {argument.name}"],
                    **_default(argument),
                }
                for argument in arguments
            },
            "required": [a.wire for a in arguments if a.required],
        },
        "result": shapes[f"result {command.name}"],
    }


def _default(argument: Argument) -> dict[str, Any]:
    if argument.required or argument.default is UNCHANGED:
        return {}
    return {"default": argument.default}


def _event(kind: type[Event], shapes: Shapes) -> dict[str, Any]:
    plain, more = event_fields(kind)
    return {
        "description": inspect.getdoc(kind) or "",
        "envelope": kind.envelope,
        "numbered": kind.numbered,
        "fields": {name: shapes[f"event {kind.name} {name}"] for name in plain},
        "numbered_fields": {name: shapes[f"event {kind.name} {name}"] for name in more},
        "left_out_when_null": sorted(kind.omitted_when_none),
    }
