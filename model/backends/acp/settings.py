"""What an ACP agent lets its client choose: its modes and models, and which of them Spinney means.

Agents tell their modes and models in one of two forms: lists of their own (`modes`, `models`), or
configuration options by category. A wish that nothing fits is left to the agent.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from model.backends.acp.json_values import Told, as_object, as_objects, as_text
from model.domain.resources import ExecutionMode

_PLAN: Final = ("plan", "architect", "readonly", "ask")
"""What agents call a mode that changes nothing, the fittest first."""

_BUILD: Final = ("build", "code", "default", "agent", "edit", "acceptedits", "auto")

_UNASKED: Final = ("yolo", "bypasspermissions", "dontask", "fullaccess", "autoapprove")
"""Modes that ask nobody: only where a person named them, for `yolo` is Spinney's own yes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: what is chosen, what there is, and the request that changes it."""

    current: str
    options: tuple[tuple[str, str], ...]
    """Id and name of each."""
    method: str
    key: str
    """The parameter that takes the id."""
    config_id: str = ""

    def request(self, value: str) -> tuple[str, Told]:
        """Method and parameters that choose `value`."""
        extra = {"configId": self.config_id} if self.config_id else {}
        return self.method, {**extra, self.key: value}


class AgentSettings:
    """The agent's choices by category: `mode`, `model`, `thought_level`."""

    def __init__(self, modes: Mapping[str, str]) -> None:
        """`modes` are the agent's by Spinney's, where a person named them."""
        self._named = modes
        self._choices: dict[str, Choice] = {}
        self._home: str | None = None
        """The mode in which the agent began; a person's own configuration may say it."""

    def learn(self, told: Told) -> None:
        """Take in the answer to a new, loaded or resumed session, or an update of options."""
        for category, choice in _choices(told):
            self._choices[category] = choice
        mode = self._choices.get("mode")
        if mode is not None and self._home is None:
            self._home = mode.current

    def note(self, category: str, value: str) -> None:
        """The agent says, or has accepted, that this is chosen now."""
        if value and (choice := self._choices.get(category)) is not None:
            self._choices[category] = replace(choice, current=value)

    def change(self, category: str, value: str | None) -> tuple[str, Told] | None:
        """The request that chooses `value`; `None` where it is chosen or there is none such."""
        choice = self._choices.get(category)
        if choice is None or not value or value == choice.current:
            return None
        return choice.request(value) if self.offers(category, value) else None

    def has(self, category: str) -> bool:
        """Whether the agent lets this be chosen."""
        return category in self._choices

    def offers(self, category: str, value: str) -> bool:
        """Whether the agent names `value` among what can be chosen."""
        choice = self._choices.get(category)
        return choice is not None and value in dict(choice.options)

    def mode_id(self, mode: ExecutionMode) -> str | None:
        """The agent's mode for ours; `None` where it has none that fits."""
        choice = self._choices.get("mode")
        if choice is None:
            return None
        if named := self._named.get(mode):
            return named
        if mode == "plan":
            return _fitting(choice, _PLAN)
        home = self._home or ""
        if not _is_called(home, dict(choice.options).get(home, ""), (*_PLAN, *_UNASKED)):
            return home or None
        return _fitting(choice, _BUILD)

    @property
    def is_planning(self) -> bool:
        """Whether the agent is in a mode of its own that changes nothing."""
        choice = self._choices.get("mode")
        return choice is not None and choice.current == self.mode_id("plan")


def _choices(told: Told) -> Iterator[tuple[str, Choice]]:
    if modes := as_object(told.get("modes")):
        options = tuple(_options(modes.get("availableModes"), "id"))
        current = as_text(modes.get("currentModeId"))
        yield "mode", Choice(current, options, "session/set_mode", "modeId")
    if models := as_object(told.get("models")):
        options = tuple(_options(models.get("availableModels"), "modelId"))
        current = as_text(models.get("currentModelId"))
        yield "model", Choice(current, options, "session/set_model", "modelId")
    for option in as_objects(told.get("configOptions")):
        category, config_id = as_text(option.get("category")), as_text(option.get("id"))
        if category and isinstance(option.get("currentValue"), str):
            options = tuple(_options(option.get("options"), "value"))
            method = "session/set_config_option"
            yield category, Choice(option["currentValue"], options, method, "value", config_id)


def _options(told: object, key: str) -> Iterator[tuple[str, str]]:
    for option in as_objects(told):
        if isinstance(option.get("options"), list):  # a group of options
            for inner in as_objects(option["options"]):
                yield as_text(inner.get(key)), as_text(inner.get("name"))
        else:
            yield as_text(option.get(key)), as_text(option.get("name"))


def _fitting(choice: Choice, words: tuple[str, ...]) -> str | None:
    for word in words:
        for option, name in choice.options:
            if _is_called(option, name, (word,)):
                return option
    return None


def _is_called(option: str, name: str, words: tuple[str, ...]) -> bool:
    """Whether a mode is called by one of `words`; ids may be addresses that end in the word."""
    plain = {re.sub(r"[^a-z]", "", said.lower()) for said in (re.split("[#/]", option)[-1], name)}
    return not plain.isdisjoint(words)
