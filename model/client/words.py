"""The arguments of a command, as they are typed in a shell."""

import json
from typing import Any

from model.errors import SpinneyError


def arguments_from(given: list[str]) -> dict[str, Any]:
    """`name=value` words and JSON objects as one object. Raises `SpinneyError`."""
    arguments: dict[str, Any] = {}
    for word in given:
        if word.lstrip().startswith("{"):
            try:
                arguments |= json.loads(word)
            except ValueError as error:
                raise SpinneyError(f"Not a JSON object: {word} ({error})") from None
            continue
        name, found, value = word.partition("=")
        if not found:
            raise SpinneyError(f"Not name=value and no JSON object: {word}")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments
