"""Registers a command for a single test."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from model.api.command import COMMANDS, command
from model.commands.registry import IMPLEMENTATIONS, implements


@contextmanager
def extra_command(function: Callable[..., Coroutine[Any, Any, Any]]) -> Iterator[None]:
    """Register `function(workspace)` as a command without arguments until the block exits."""

    async def signature() -> Any:
        """Declares the command; `function` implements it."""

    signature.__name__ = function.__name__
    signature.__annotations__ = {"return": function.__annotations__["return"]}
    made = command(signature)
    implements(made)(function)
    try:
        yield
    finally:
        del COMMANDS[made.name], IMPLEMENTATIONS[made.name]
