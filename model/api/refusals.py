"""Why a value from outside was refused, in words: pydantic's own speak of types and unions."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

_WANTED = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that is not infinite",
    "literal_error": "{expected}",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
"""What the value must be, for each kind of error that an argument's type can meet."""


def why_refused(adapter: TypeAdapter[Any], error: ValidationError | RecursionError) -> str:
    """The first thing that is wrong: `must be text`, `color: must be text`, `title is missing`."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    found = error.errors(include_url=False, include_input=False)
    if adapter.core_schema["type"] == "nullable":
        is_union = adapter.core_schema["schema"]["type"] == "union"
    else:
        is_union = adapter.core_schema["type"] == "union"
    if not is_union:
        return _sentence(found[0]["loc"], [found[0]])
    # Each way to read the value has failed. The one that came further says more.
    deeper = [problem for problem in found if len(problem["loc"]) > 1]
    if deeper:
        return _sentence(deeper[0]["loc"][1:], deeper[:1])
    return _sentence((), found)


def _sentence(place: tuple[int | str, ...], problems: list[Any]) -> str:
    where = ".".join(str(part) for part in place)
    kind = problems[0]["type"]
    if kind == "missing":
        return f"{where} is missing"
    if kind == "value_error":
        reason = str(problems[0]["ctx"]["error"])
    elif kind in _WANTED:
        wanted = [_WANTED[one["type"]].format(**one.get("ctx", {})) for one in problems]
        reason = "must be " + " or ".join(dict.fromkeys(wanted))
    else:
        reason = problems[0]["msg"].replace("Input should be", "must be")
    return f"{where}: {reason}" if where else reason
