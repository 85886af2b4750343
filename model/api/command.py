"""What a command is: a typed signature with a wire name; wire arguments are parsed by it.

The wire arguments (camelCase, snake_case accepted), their checks and the reference page come from
the signature, so that nothing about a command is written twice. What it does is registered in
`model.commands.registry`; clients do not import that.
"""

import inspect
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce
from operator import or_
from typing import Any, Final, Generic, ParamSpec, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from model.api.refusals import why_refused
from model.base.errors import SpinneyError
from model.base.suggestions import did_you_mean
from model.base.text import clean_line, make_json_visible

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


class Unchanged(Enum):
    """The default of an argument that may be left out, and whose `null` says something."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED

_LOGGED: Final = 500
"""Characters of unknown arguments' names in the log."""
_TOLD: Final = 5
"""How many unknown arguments are told."""
_SHOWN: Final = 100
"""Characters of the name of each."""


VERBATIM: Final = "verbatim"
"""Annotates an argument whose bytes are written as they are: `Annotated[str, VERBATIM]`.

All other text that clients send is made visible before a command gets it.
"""


PATH: Final = Field(json_schema_extra={"format": "path"})
"""Annotates an absolute path on the machine of the server: `Annotated[str, PATH]`.

The schema tells it, and `spinney call` makes such a path from a relative one.
"""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    name: str
    """In Python."""
    wire: str
    """On the wire."""
    default: Any
    """`inspect.Parameter.empty` where it is required."""
    adapter: TypeAdapter[Any]
    verbatim: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def takes_null(self) -> bool:
        """Whether `null` is a value of its own, though the argument may be left out."""
        return self.default is UNCHANGED


@dataclass(frozen=True)
class Command(Generic[P, R]):
    """An operation that every client can call by name."""

    signature: Callable[P, Coroutine[Any, Any, R]]
    """A function without a body: its name, parameters, result and docstring are the command's."""
    remote: bool = True
    """Whether clients outside this process may call it."""

    @property
    def name(self) -> str:
        """The wire name."""
        return self.signature.__name__

    @cached_property
    def description(self) -> str:
        """The docstring."""
        return inspect.getdoc(self.signature) or ""

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments, in order."""
        return tuple(
            Argument(
                parameter.name,
                camel_case(parameter.name),
                parameter.default,
                TypeAdapter(_without_unchanged(parameter.annotation)),
                VERBATIM in get_args(parameter.annotation),
            )
            for parameter in inspect.signature(self.signature).parameters.values()
        )

    @cached_property
    def result(self) -> TypeAdapter[R]:
        """Checks and serialises the result."""
        return TypeAdapter(inspect.signature(self.signature).return_annotation)

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments from wire arguments. Raises `SpinneyError` (`invalid_request`)."""
        spelt = {snake_case(key): key for key in given}
        parsed = {}
        for argument in self.arguments:
            key = spelt.pop(argument.name, None)
            if not argument.required and (
                key is None or (given[key] is None and not argument.takes_null)
            ):
                continue
            if key is None:
                raise SpinneyError(f"Missing field: {argument.wire}")
            try:
                value = given[key] if argument.verbatim else make_json_visible(given[key])
                parsed[argument.name] = argument.adapter.validate_python(value)
            except (ValidationError, RecursionError) as error:
                why = why_refused(argument.adapter, error)
                raise SpinneyError(f"Invalid field '{key}': {why}") from None
        if spelt:
            names = clean_line(", ".join(sorted(spelt)))[:_LOGGED]
            _log.info("%s: unknown arguments ignored: %s", self.name, names)
        return parsed

    def strangers(self, given: Mapping[str, Any]) -> list[str]:
        """A sentence for each argument that this command does not have."""
        known = {argument.name: argument.wire for argument in self.arguments}
        strange = [clean_line(name)[:_SHOWN] for name in given if snake_case(name) not in known]
        return [
            f"{self.name} takes no '{name}'.{did_you_mean(name, known.values())}"
            for name in strange[:_TOLD]
        ]


COMMANDS: dict[str, Command[..., Any]] = {}
"""Every command by its wire name; filled when `model.api.all` is imported."""

ALIASES = {"cancel_chat_message": "stop_generation", "get_sessions": "list_sessions"}
"""Other names that are accepted."""


def command(signature: Callable[P, Coroutine[Any, Any, R]]) -> Command[P, R]:
    """Make a signature a command under its own name."""
    return _register(Command(signature))


def local_command(signature: Callable[P, Coroutine[Any, Any, R]]) -> Command[P, R]:
    """Make a signature a command that only clients of this process may call."""
    return _register(Command(signature, remote=False))


def _register(made: Command[P, R]) -> Command[P, R]:
    COMMANDS[made.name] = made
    return made


def find_command(name: str) -> Command[..., Any]:
    """The command of this wire name. Raises `SpinneyError`."""
    found = COMMANDS.get(ALIASES.get(name, name))
    if found is None:
        raise SpinneyError(f"Unknown command: {name[:200]}")
    return found


def camel_case(name: str) -> str:
    """`worktree_id` → `worktreeId`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def snake_case(name: str) -> str:
    """`worktreeId` → `worktree_id`; what is snake case already stays."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def _without_unchanged(annotation: Any) -> Any:
    """What a client may give: `UNCHANGED` stands for what was not given."""
    parts = get_args(annotation)
    if Unchanged not in parts:
        return annotation
    return reduce(or_, (part for part in parts if part is not Unchanged))
