"""Whether this is a run of the night, which tries more examples of the same properties.

`SPINNEY_TESTS_NIGHT=1` asks for it. A landing is judged by few examples, the same ones each time;
the night has time for many.
"""

import os
from typing import Final

IS_NIGHT: Final = os.environ.get("SPINNEY_TESTS_NIGHT") == "1"


def examples(short: int, night: int) -> int:
    """How many examples a property is tried with: `max_examples=examples(20, 300)`."""
    return night if IS_NIGHT else short
