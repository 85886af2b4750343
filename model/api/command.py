"""A command: a typed signature with a wire name, and the parsing of its wire arguments.

The wire arguments (camelCase, snake_case accepted), their checks and the reference page are derived
from the signature, so that nothing about a command is written twice. Implementations are registered
in `model.commands.registry`, which clients do not import.
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

from model.api.validation_errors import describe_error
from model.base.errors import SpinneyError
from model.base.suggestions import did_you_mean
from model.base.text import clean_line, make_json_visible

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


class Unchanged(Enum):
    """The default of an optional argument for which `null` is a value."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED

_MAX_LOGGED: Final = 500
"""Characters of the names of unknown arguments in the log."""
_MAX_WARNINGS: Final = 5
"""Unknown arguments that a reply warns of."""
_MAX_NAME: Final = 100
"""Characters of each unknown name in a warning."""


VERBATIM: Final = "verbatim"
"""Marks an argument whose text is not sanitized: `Annotated[str, VERBATIM]`.

In all other text from clients, hidden characters are made visible before a command receives it.
"""


PATH: Final = Field(json_schema_extra={"format": "path"})
"""Marks an absolute path on the server's machine: `Annotated[str, PATH]`.

The schema has it as a format, by which `spinney call` makes relative paths absolute.
"""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a command."""

    name: str
    """The name in Python."""
    wire: str
    """The name on the wire."""
    default: Any
    """`inspect.Parameter.empty` if the argument is required."""
    adapter: TypeAdapter[Any]
    verbatim: bool = False

    @property
    def required(self) -> bool:
        """Whether the argument must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def takes_null(self) -> bool:
        """Whether `null` is a value, though the argument is optional."""
        return self.default is UNCHANGED


@dataclass(frozen=True)
class Command(Generic[P, R]):
    """An operation that clients call by name."""

    signature: Callable[P, Coroutine[Any, Any, R]]
    """A function without a body; name, parameters, result and docstring are the command's."""
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
        """Validates and serializes the result."""
        return TypeAdapter(inspect.signature(self.signature).return_annotation)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names in Python of the arguments as clients usually write them."""
        written = [(form, each.name) for each in self.arguments for form in (each.wire, each.name)]
        return dict(written)

    def parse(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Convert wire arguments to keyword arguments. Raises `invalid_request`."""
        names = self._names
        keys = {names.get(key) or snake_case(key): key for key in given}
        parsed = {}
        for argument in self.arguments:
            key = keys.pop(argument.name, None)
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
                reason = describe_error(argument.adapter, error)
                raise SpinneyError(f"Invalid field '{key}': {reason}") from None
        if keys:
            ignored = clean_line(", ".join(sorted(keys)))[:_MAX_LOGGED]
            _log.info("%s: unknown arguments ignored: %s", self.name, ignored)
        return parsed

    def unknown_arguments(self, given: Mapping[str, Any]) -> list[str]:
        """Warn of each argument that the command does not have, in a sentence."""
        if all(name in self._names for name in given):
            return []
        known = {argument.name: argument.wire for argument in self.arguments}
        unknown = [clean_line(name)[:_MAX_NAME] for name in given if snake_case(name) not in known]
        return [
            f"{self.name} takes no '{name}'.{did_you_mean(name, known.values())}"
            for name in unknown[:_MAX_WARNINGS]
        ]


COMMANDS: dict[str, Command[..., Any]] = {}
"""Every command by wire name; filled when `model.api.all` is imported."""

ALIASES = {"cancel_chat_message": "stop_generation", "get_sessions": "list_sessions"}
"""Further names that are accepted."""


def command(signature: Callable[P, Coroutine[Any, Any, R]]) -> Command[P, R]:
    """Register a signature as a command that every client may call."""
    return _register(Command(signature))


def local_command(signature: Callable[P, Coroutine[Any, Any, R]]) -> Command[P, R]:
    """Register a signature as a command that only clients of this process may call."""
    return _register(Command(signature, remote=False))


def _register(command: Command[P, R]) -> Command[P, R]:
    COMMANDS[command.name] = command
    return command


def find_command(name: str) -> Command[..., Any]:
    """Look up a command by wire name or alias. Raises `SpinneyError`."""
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        raise SpinneyError(f"Unknown command: {name[:200]}")
    return command


def camel_case(name: str) -> str:
    """Convert `worktree_id` to `worktreeId`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def snake_case(name: str) -> str:
    """Convert `worktreeId` to `worktree_id`; snake case stays as it is."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def _without_unchanged(annotation: Any) -> Any:
    """Remove `Unchanged` from a union: clients cannot pass it."""
    parts = get_args(annotation)
    if Unchanged not in parts:
        return annotation
    return reduce(or_, (part for part in parts if part is not Unchanged))
