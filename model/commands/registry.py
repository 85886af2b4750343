"""Maps commands to their implementations."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from model.api.command import Command

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")

IMPLEMENTATIONS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {}
"""By wire name; filled when `model.commands.all` is imported."""

if TYPE_CHECKING:
    _Implementation = Callable[Concatenate[Workspace, P], Coroutine[Any, Any, R]]


def implements(
    command: Command[P, R],
) -> "Callable[[_Implementation[P, R]], _Implementation[P, R]]":
    """Register a function as the implementation of `command`.

    It takes the workspace and then the command's arguments, and can be called directly by other
    implementations.
    """

    def register(function: "_Implementation[P, R]") -> "_Implementation[P, R]":
        assert command.name not in IMPLEMENTATIONS, f"two implementations of {command.name}"
        IMPLEMENTATIONS[command.name] = function
        return function

    return register
