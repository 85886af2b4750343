"""Every command has one implementation, with the parameters of its signature."""

import inspect
from collections.abc import Callable
from typing import Any

import model.commands.all  # noqa: F401 - registers the implementations
from model.api.command import COMMANDS
from model.commands.registry import IMPLEMENTATIONS


def parameters_of(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


def test_commands_and_implementations_match() -> None:
    assert set(IMPLEMENTATIONS) == set(COMMANDS)
    assert len(set(IMPLEMENTATIONS.values())) == len(COMMANDS)


def test_an_implementation_has_the_name_parameters_and_defaults_of_its_command() -> None:
    for name, function in IMPLEMENTATIONS.items():
        first, *others = parameters_of(function)
        assert (function.__name__, first[0]) == (name, "workspace")
        assert others == parameters_of(COMMANDS[name].signature), name


def test_a_command_and_its_implementation_are_in_files_of_the_same_name() -> None:
    for name, function in IMPLEMENTATIONS.items():
        declared = COMMANDS[name].signature.__module__
        assert function.__module__.replace("model.commands.", "model.api.") == declared
