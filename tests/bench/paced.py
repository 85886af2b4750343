"""Agents without a program that tell at a pace: Markdown with code, a question, or nothing at all.

A message is `markdown RATE` (pieces of a few characters, so many a second, until it is stopped),
`ask` or `work`.
"""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from model.backends import base
from model.domain.resources import Question, QuestionOption
from tests.bench.scripted import ScriptedAgent

PIECE: Final = 4
"""Characters of a piece, as models stream them."""
_TICK: Final = 0.01
"""Seconds between two looks at the clock, which says how many pieces are due."""

_SECTION: Final = """\
## Part {n}: what the loop does

The loop in `count_{n}` visits every tree once, so **{n}** apples are counted *once* each; see
[the notes](https://example.org/notes/{n}).

- the fence keeps the order of the rows
- the total is {n}, not {n} + 1

```python
def count_{n}(trees: list[int]) -> int:
    \"\"\"The apples on all trees.\"\"\"
    total = 0
    for tree in trees:
        if tree > {n}:
            total += tree
    return total
```

"""


def markdown() -> Iterator[str]:
    """Pieces without end."""
    n = 0
    while True:
        n += 1
        text = _SECTION.format(n=n)
        for start in range(0, len(text), PIECE):
            yield text[start : start + PIECE]


class PacedAgent(ScriptedAgent):
    """One session's agent."""

    async def _tell(self, text: str) -> None:
        match text.split():
            case ["markdown", rate]:
                await self._stream(float(rate))
            case ["ask"]:
                options = [QuestionOption(label=label) for label in ("Tea", "Coffee")]
                question = Question(question="Tea or coffee?", options=options)
                await self._channel.emit(base.QuestionAsked("drink", (question,)))
            case _:
                await self._channel.emit(base.ToolUse("tool", "bash", {"command": "make all"}))

    async def _stream(self, rate: float) -> None:
        pieces, sent, began = markdown(), 0, time.monotonic()
        while True:
            due = int((time.monotonic() - began) * rate)
            for _ in range(sent, due):
                await self._channel.emit(base.TextDelta("text", next(pieces)))
            sent = due
            await asyncio.sleep(max(_TICK, 1 / rate))


class PacedBackend:
    """Opens paced agents."""

    name = "backend_a"

    async def probe(self) -> base.Probe:
        """Always there."""
        return base.Probe("/bin/true")

    async def open(self, launch: base.Launch) -> base.Agent:
        """Another one."""
        return PacedAgent()

    async def close(self) -> None:
        """Nothing is shared."""
