"""The modes, models and options that an ACP agent lets its client choose, and Spinney's choices.

Agents report their modes and models in one of two forms: as separate lists (`modes`, `models`), or
as configuration options by category. A setting without a matching option is left to the agent.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from model.backends.json_values import Json, as_object, as_objects, as_text
from model.domain.modes import ExecutionMode

_PLAN: Final = ("plan", "architect", "readonly", "ask")
"""Names of read-only modes, in order of preference."""

_ASKING: Final = ("default", "manual", "approve", "normal", "build", "code", "agent", "edit")
"""Names of modes that ask before they change more than files, in order of preference.

The `auto` of codex-acp, a sandbox, is named "Default" (0.16).
"""

_DECIDING: Final = (
    "acceptedits", "autoedit", "autoaccept", "smartapprove", "smart", "auto", "automatic",
)  # fmt: skip
"""Names of modes in which the agent itself decides what needs no question."""

_NEVER_ASKING: Final = (
    "yolo", "bypasspermissions", "bypass", "dontask", "fullaccess", "autoapprove", "autopilot",
)  # fmt: skip
"""Modes that never ask, used only if configured: in `yolo`, Spinney itself approves requests."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: its current value, its options, and the request that changes it."""

    current: str
    options: tuple[tuple[str, str], ...]
    """Id and name of each."""
    method: str
    key: str
    """The name of the parameter for the id."""
    config_id: str = ""

    def request(self, value: str) -> tuple[str, Json]:
        """Method and parameters of the request that selects `value`."""
        extra = {"configId": self.config_id} if self.config_id else {}
        return self.method, {**extra, self.key: value}

    def has_name(self, option: str, names: tuple[str, ...]) -> bool:
        """Whether the option has one of `names`."""
        return _has_name(option, dict(self.options).get(option, ""), names)


class AgentSettings:
    """The agent's choices by category: `mode`, `model`, `thought_level`."""

    def __init__(self, modes: Mapping[str, str]) -> None:
        """`modes` maps Spinney's modes to the agent's, for those that the user configured."""
        self._configured = modes
        self._choices: dict[str, Choice] = {}
        self._initial_mode: str | None = None
        """The mode in which the agent started; the user's own configuration may set it."""

    def update(self, message: Json) -> None:
        """Apply the response to a new, loaded or resumed session, or an update of options."""
        for category, choice in _choices(message):
            self._choices[category] = choice
        mode = self._choices.get("mode")
        if mode is not None and self._initial_mode is None:
            self._initial_mode = mode.current

    def current(self, category: str) -> str:
        """The current value; empty if the agent does not offer this category."""
        choice = self._choices.get(category)
        return "" if choice is None else choice.current

    def set_current(self, category: str, value: str) -> None:
        """Record a value that the agent reported or accepted as current."""
        if value and (choice := self._choices.get(category)) is not None:
            self._choices[category] = replace(choice, current=value)

    def change_request(self, category: str, value: str | None) -> tuple[str, Json] | None:
        """The request that selects `value`; `None` if it is selected or not available."""
        choice = self._choices.get(category)
        if choice is None or not value or value == choice.current:
            return None
        return choice.request(value) if self.offers(category, value) else None

    def has(self, category: str) -> bool:
        """Whether the agent offers this category."""
        return category in self._choices

    def offers(self, category: str, value: str) -> bool:
        """Whether the agent offers `value` in this category."""
        choice = self._choices.get(category)
        return choice is not None and value in dict(choice.options)

    def mode_id(self, mode: ExecutionMode) -> str | None:
        """The agent's mode for one of Spinney's; `None` if no mode matches."""
        choice = self._choices.get("mode")
        if choice is None:
            return None
        if mode == "plan" and (planning := self._planning_mode(choice)):
            return planning
        return self._configured.get(mode) or self._asking_mode(choice)

    def way_back(self, mode: ExecutionMode) -> str | None:
        """The agent's mode for one of Spinney's, if its current one asks less or is unknown."""
        choice, wanted = self._choices.get("mode"), self.mode_id(mode)
        if choice is None or mode == "yolo" or not wanted or wanted == choice.current:
            return None
        is_planning = choice.has_name(choice.current, _PLAN)
        if is_planning or (mode != "plan" and _asks(choice, choice.current)):
            return None
        return wanted if self.offers("mode", wanted) else None

    def is_unasking(self, mode: ExecutionMode) -> bool:
        """Whether the current mode is not known to ask and was not configured for `mode`."""
        choice = self._choices.get("mode")
        if choice is None or choice.current == self._configured.get(mode):
            return False
        return not (_asks(choice, choice.current) or choice.has_name(choice.current, _PLAN))

    @property
    def mode_name(self) -> str:
        """The name of the current mode; empty if the agent has no modes."""
        choice = self._choices.get("mode")
        return "" if choice is None else dict(choice.options).get(choice.current) or choice.current

    @property
    def is_planning(self) -> bool:
        """Whether the agent is in a read-only mode of its own."""
        choice = self._choices.get("mode")
        return choice is not None and choice.current == self._planning_mode(choice)

    def _planning_mode(self, choice: Choice) -> str | None:
        return self._configured.get("plan") or _find_option(choice, _PLAN)

    def _asking_mode(self, choice: Choice) -> str | None:
        """The mode in which the agent started if that asks, else the one that asks most."""
        initial = self._initial_mode or ""
        known = (*_PLAN, *_DECIDING, *_NEVER_ASKING)
        if _asks(choice, initial) or not choice.has_name(initial, known):
            return initial or None
        is_deciding = choice.has_name(initial, _DECIDING)
        return (
            _find_option(choice, _ASKING)
            or (initial if is_deciding else None)
            or _find_option(choice, _DECIDING)
        )


def _choices(message: Json) -> Iterator[tuple[str, Choice]]:
    if modes := as_object(message.get("modes")):
        options = tuple(_options(modes.get("availableModes"), "id"))
        current = as_text(modes.get("currentModeId"))
        yield "mode", Choice(current, options, "session/set_mode", "modeId")
    if models := as_object(message.get("models")):
        options = tuple(_options(models.get("availableModels"), "modelId"))
        current = as_text(models.get("currentModelId"))
        yield "model", Choice(current, options, "session/set_model", "modelId")
    for option in as_objects(message.get("configOptions")):
        category, config_id = as_text(option.get("category")), as_text(option.get("id"))
        if category and isinstance(option.get("currentValue"), str):
            options = tuple(_options(option.get("options"), "value"))
            method = "session/set_config_option"
            yield category, Choice(option["currentValue"], options, method, "value", config_id)


def _options(value: object, key: str) -> Iterator[tuple[str, str]]:
    for option in as_objects(value):
        if isinstance(option.get("options"), list):  # a group of options
            for inner in as_objects(option["options"]):
                yield as_text(inner.get(key)), as_text(inner.get("name"))
        else:
            yield as_text(option.get(key)), as_text(option.get("name"))


def _find_option(choice: Choice, names: tuple[str, ...]) -> str | None:
    for wanted in names:
        for option, name in choice.options:
            if _has_name(option, name, (wanted,)):
                return option
    return None


def _asks(choice: Choice, mode: str) -> bool:
    return choice.has_name(mode, _ASKING) and not choice.has_name(mode, _NEVER_ASKING)


def _has_name(option: str, name: str, names: tuple[str, ...]) -> bool:
    """Whether a mode has one of `names`; its id may be a URL that ends in the name."""
    texts = (re.split("[#/]", option)[-1], name)
    normalized = {re.sub(r"[^a-z]", "", text.lower()) for text in texts}
    return not normalized.isdisjoint(names)
