"""Messages about invalid OpenCode settings, without their content: OpenCode quotes the whole file,
including the API keys of the user.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from model.backends.json_values import as_object, as_objects

_MAX_MISTAKES: Final = 3
"""Most mistakes that are listed."""

_QUOTES: Final = ("--- Errors ---", "--- End ---")
_INVALID: Final = "Configuration is invalid at "
_INVALID_JSON: Final = "Config file at "


def describe_output(output: str) -> str | None:
    """The message for the program's last output, if that is about its settings."""
    lines = output.splitlines()
    if any(line in _QUOTES for line in lines):
        file = _between(lines, _INVALID_JSON, " is not valid")
        return _message(file, _syntax_errors(lines))
    if file := _between(lines, _INVALID, "\n"):
        issues = (line.removeprefix("↳").strip() for line in lines if line.startswith("↳"))
        return _message(file, (_without_value(*_split_path(each)) for each in issues))
    return None


def describe_response(response: Mapping[str, Any]) -> str | None:
    """The message for an error response, if that is about the settings."""
    data = as_object(response.get("data"))
    match response.get("name"):
        case "ConfigJsonError":
            mistakes = _syntax_errors(str(data.get("message")).splitlines())
        case "ConfigInvalidError":
            mistakes = [
                _without_value(str(each.get("message")), ".".join(map(str, each.get("path") or ())))
                for each in as_objects(data.get("issues"))
            ]
        case _:
            return None
    return _message(str(data.get("path") or ""), mistakes)


def _syntax_errors(lines: list[str]) -> list[str]:
    """The JSON syntax errors, such as `CommaExpected at line 2, column 2`."""
    words = [line.split() for line in lines]
    return [" ".join(each) for each in words if len(each) == 6 and each[1:3] == ["at", "line"]]


def _split_path(issue: str) -> tuple[str, str]:
    """Split an issue into its message and the path at its end."""
    message, _, path = issue.rpartition(" ")
    return message, path


def _without_value(message: str, path: str) -> str:
    return f"{path}: {message.partition(', got ')[0]}"


def _between(lines: Iterable[str], before: str, after: str) -> str:
    found = (line.partition(before)[2] for line in lines if before in line)
    return next(found, "").partition(after)[0].strip()


def _message(file: str, mistakes: Iterable[str]) -> str:
    location = f" in {file}" if file else ""
    listed = "; ".join(list(mistakes)[:_MAX_MISTAKES]) or "not valid JSON"
    return (
        f"OpenCode cannot use its settings{location}: {listed}. Fix them, then send the message"
        " again."
    )
