"""A program: runs another one and counts its loaded modules when a marker is first shown.

`python first_frame.py MARKER RESULT PROGRAM [ARGUMENT…]`. The modules are counted in the writing
thread, before the frame is written.
"""

import sys
from typing import Any


class Counter:
    """The stream that Textual writes to."""

    def __init__(self, stream: Any, marker: str, result: str) -> None:
        self._stream = stream
        self._marker = marker
        self._result = result

    def write(self, text: str) -> int:
        """Write the text; count the modules at the first marker."""
        if self._marker and self._marker in text:
            self._marker = ""
            with open(self._result, "w") as file:  # noqa: PTH123 - pathlib would be a module more
                file.write(str(len(sys.modules)))
        count: int = self._stream.write(text)
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


if __name__ == "__main__":
    _, marker, result, program, *arguments = sys.argv
    sys.__stderr__ = Counter(sys.__stderr__, marker, result)  # type: ignore[assignment, misc]
    sys.argv = [program, *arguments]
    with open(program) as source:  # noqa: PTH123
        code = compile(source.read(), program, "exec")
    exec(code, {"__name__": "__main__", "__file__": program})
