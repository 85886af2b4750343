"""Plain descriptions of pydantic's validation errors, which speak of types and unions."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

_EXPECTED = {
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
"""What the value must be, for each kind of error that an argument's type can raise."""


def describe_error(adapter: TypeAdapter[Any], error: ValidationError | RecursionError) -> str:
    """The first error as text: `must be text`, `color: must be text`, `title is missing`."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    errors = error.errors(include_url=False, include_input=False)
    if adapter.core_schema["type"] == "nullable":
        is_union = adapter.core_schema["schema"]["type"] == "union"
    else:
        is_union = adapter.core_schema["type"] == "union"
    if not is_union:
        return _describe(errors[0]["loc"], [errors[0]])
    # No member of the union fits. The error that is nested deeper is more specific.
    deeper = [problem for problem in errors if len(problem["loc"]) > 1]
    if deeper:
        return _describe(deeper[0]["loc"][1:], deeper[:1])
    return _describe((), errors)


def _describe(location: tuple[int | str, ...], problems: list[Any]) -> str:
    where = ".".join(str(part) for part in location)
    kind = problems[0]["type"]
    if kind == "missing":
        return f"{where} is missing"
    if kind == "value_error":
        reason = str(problems[0]["ctx"]["error"])
    elif kind in _EXPECTED:
        expected = [_EXPECTED[p["type"]].format(**p.get("ctx", {})) for p in problems]
        reason = "must be " + " or ".join(dict.fromkeys(expected))
    else:
        reason = problems[0]["msg"].replace("Input should be", "must be")
    return f"{where}: {reason}" if where else reason
