"""What OpenCode says of settings that it cannot use, without what stands in them: it quotes them
whole, with the keys of a person's accounts.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_MOST: Final = 3
"""Mistakes that are named."""

_QUOTES: Final = ("--- Errors ---", "--- End ---")
_INVALID: Final = "Configuration is invalid at "
_NO_JSON: Final = "Config file at "


def at_start(said: str) -> str | None:
    """The sentence about its last words, where these are about settings."""
    lines = said.splitlines()
    if any(line in _QUOTES for line in lines):
        file = _between(lines, _NO_JSON, " is not valid")
        return _sentence(file, _misspelt(lines))
    if file := _between(lines, _INVALID, "\n"):
        told = (line.removeprefix("↳").strip() for line in lines if line.startswith("↳"))
        return _sentence(file, (_without_value(*_parted(each)) for each in told))
    return None


def in_answer(answer: Mapping[str, Any]) -> str | None:
    """The sentence about an error that it answers, where this is about settings."""
    data = answer.get("data")
    told: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    match answer.get("name"):
        case "ConfigJsonError":
            mistakes = _misspelt(str(told.get("message")).splitlines())
        case "ConfigInvalidError":
            issues = told.get("issues")
            mistakes = [
                _without_value(str(each.get("message")), ".".join(map(str, each.get("path") or ())))
                for each in (issues if isinstance(issues, list) else ())
                if isinstance(each, Mapping)
            ]
        case _:
            return None
    return _sentence(str(told.get("path") or ""), mistakes)


def _misspelt(lines: list[str]) -> list[str]:
    """Of a file that is no JSON: `CommaExpected at line 2, column 2`."""
    words = [line.split() for line in lines]
    return [" ".join(each) for each in words if len(each) == 6 and each[1:3] == ["at", "line"]]


def _parted(told: str) -> tuple[str, str]:
    """What is wrong, and at the end of the line where."""
    message, _, path = told.rpartition(" ")
    return message, path


def _without_value(message: str, path: str) -> str:
    return f"{path}: {message.partition(', got ')[0]}"


def _between(lines: Iterable[str], before: str, after: str) -> str:
    found = (line.partition(before)[2] for line in lines if before in line)
    return next(found, "").partition(after)[0].strip()


def _sentence(file: str, mistakes: Iterable[str]) -> str:
    where = f" in {file}" if file else ""
    named = "; ".join(list(mistakes)[:_MOST]) or "they are no JSON"
    return (
        f"OpenCode cannot use its settings{where}: {named}. Mend them, then send the message again."
    )
