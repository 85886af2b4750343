"""What a command is: a typed function with a wire name, and how a wire call becomes a Python call.

The wire arguments (camelCase, snake_case accepted), their checks and the reference page come from
the function's signature, so that nothing about a command is written twice.
"""

import inspect
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from model.base.errors import SpinneyError
from model.base.suggestions import did_you_mean
from model.base.text import clean_line, make_json_visible
from model.commands.refusals import why_refused

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

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
    required: bool
    adapter: TypeAdapter[Any]
    takes_null: bool = False
    """Whether `null` is a value of its own, though the argument may be left out."""
    verbatim: bool = False


@dataclass(frozen=True)
class Command(Generic[P, R]):
    """An operation that every client can call by name."""

    name: str
    function: "Callable[Concatenate[Workspace, P], Awaitable[R]]"
    remote: bool = True
    """Whether clients outside this process may call it."""

    @cached_property
    def description(self) -> str:
        """The function's docstring."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments but the workspace, in order."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return tuple(
            Argument(
                parameter.name,
                camel_case(parameter.name),
                parameter.default is inspect.Parameter.empty,
                TypeAdapter(_without_unchanged(self._evaluated(parameter.annotation))),
                parameter.default is UNCHANGED,
                VERBATIM in get_args(self._evaluated(parameter.annotation)),
            )
            for parameter in parameters
        )

    @cached_property
    def result(self) -> TypeAdapter[R]:
        """Checks and serialises the result."""
        return TypeAdapter(self._evaluated(inspect.signature(self.function).return_annotation))

    def _evaluated(self, annotation: Any) -> Any:
        # The workspace's own annotation is known to type checkers only, so each is read alone.
        if isinstance(annotation, str):
            return eval(annotation, self.function.__globals__)
        return annotation

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

    async def run(self, workspace: "Workspace", given: Mapping[str, Any]) -> R:
        """Check the wire arguments and run."""
        call: Callable[..., Awaitable[R]] = self.function
        parsed = self.parse(given)
        began = time.monotonic()
        try:
            return await call(workspace, **parsed)
        finally:
            _log.debug("%s took %.0f ms", self.name, 1000 * (time.monotonic() - began))


COMMANDS: dict[str, Command[..., Any]] = {}
"""Every command by its wire name; filled when `model.commands.all` is imported."""

ALIASES = {"cancel_chat_message": "stop_generation", "get_sessions": "list_sessions"}
"""Other names that are accepted."""


def command(function: "Callable[Concatenate[Workspace, P], Awaitable[R]]") -> Command[P, R]:
    """Make a function a command under its own name."""
    return _register(Command(function.__name__, function))


def local_command(function: "Callable[Concatenate[Workspace, P], Awaitable[R]]") -> Command[P, R]:
    """Make a function a command that only clients of this process may call."""
    return _register(Command(function.__name__, function, remote=False))


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
