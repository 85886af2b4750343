"""JSON as the standard has it: Python's own module also reads and writes NaN and infinity."""

import json
import math
from typing import Any, Final

from model.base.errors import SpinneyError


def parse_json(text: str) -> Any:
    """Parse JSON. Raises `ValueError` with the reason if it is invalid."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError:
        raise
    except ValueError:  # Also Python's own, for a whole number of more than 4300 digits.
        raise ValueError("it has a number that is not finite or too long") from None


def dump_json(value: Any) -> str:
    """Serialize what is sent. Raises `SpinneyError` for what the receiver could not parse."""
    try:
        return json.dumps(value, allow_nan=False)
    except RecursionError:
        raise SpinneyError("The request is nested too deeply.") from None
    except ValueError:
        raise SpinneyError("The request has a number that is not finite.") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _parse_finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)
