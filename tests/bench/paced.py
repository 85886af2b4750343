"""Agents without a program that emit events at a given rate.

A message is `markdown RATE` (streams Markdown with code in pieces of a few characters, RATE a
second, until it is stopped), `paragraph RATE` (the same with one paragraph, which has 100 KB at the
beginning), `ask` (asks a question) or `work` (uses a tool without end).
"""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

from model.backends import agent_events, base
from model.domain.requests import Question, QuestionOption
from tests.bench.scripted import ScriptedAgent

PIECE: Final = 4
"""Characters in a piece, similar to those of models."""
_TICK: Final = 0.01
"""Seconds between two batches of pieces."""

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


def generate_markdown() -> Iterator[str]:
    """Yield pieces without end."""
    n = 0
    while True:
        n += 1
        text = _SECTION.format(n=n)
        for start in range(0, len(text), PIECE):
            yield text[start : start + PIECE]


def generate_paragraph() -> Iterator[str]:
    """Yield a long beginning, then pieces without end."""
    words = "The loop visits every tree **once**, so `apples` are counted once each. "
    yield words * (100_000 // len(words))
    while True:
        for start in range(0, len(words), PIECE):
            yield words[start : start + PIECE]


class PacedAgent(ScriptedAgent):
    """One session's agent."""

    async def _emit_turn(self, text: str) -> None:
        match text.split():
            case ["markdown", rate]:
                await self._stream(generate_markdown(), float(rate))
            case ["paragraph", rate]:
                await self._stream(generate_paragraph(), float(rate))
            case ["ask"]:
                options = [QuestionOption(label=label) for label in ("Tea", "Coffee")]
                question = Question(question="Tea or coffee?", options=options)
                await self._channel.emit(agent_events.QuestionAsked("drink", (question,)))
            case _:
                await self._channel.emit(
                    agent_events.ToolUse("tool", "bash", {"command": "make all"})
                )

    async def _stream(self, pieces: Iterator[str], rate: float) -> None:
        sent, began = 0, time.monotonic()
        while True:
            due = int((time.monotonic() - began) * rate)
            for _ in range(sent, due):
                await self._channel.emit(agent_events.TextDelta("text", next(pieces)))
            sent = due
            await asyncio.sleep(max(_TICK, 1 / rate))


class PacedBackend:
    """Opens paced agents."""

    name = "backend_a"
    can_fork = False

    async def probe(self) -> base.Probe:
        """Return a fixed program."""
        return base.Probe("/bin/true")

    async def open(self, launch: base.Launch) -> base.Agent:
        """Open a new agent."""
        return PacedAgent()

    async def close(self) -> None:
        """Do nothing: agents share no resources."""
