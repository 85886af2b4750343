"""The commands that tests send to scripted models, parsed into steps independent of any API. Each
stub translates the steps to the tools of its program.

`say: TEXT` · `line: TEXT` (only its first line) · `think: TEXT` · `write PATH: TEXT` ·
`edit PATH: OLD => NEW` (on one line) · `bash: COMMAND` · `plan: TEXT` ·
`ask: QUESTION | A | B` · `remember?` · `slow` · `slowly: TEXT` · `error STATUS`
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Write:
    """Write a file of the worktree."""

    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """Replace text in a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Run:
    """Run a command in a shell."""

    command: str


@dataclass(frozen=True)
class Propose:
    """Propose a plan."""

    plan: str


@dataclass(frozen=True)
class Ask:
    """Ask the user a question."""

    question: str
    options: tuple[str, ...]


Act = Write | Edit | Run | Propose | Ask


@dataclass(frozen=True)
class Step:
    """One message of the model."""

    text: str = ""
    thinking: str = ""
    act: Act | None = None
    pause: float = 0.0
    """Seconds between two words."""
    status: int = 200
    """HTTP status; the request fails with any other than 200."""


DONE = Step("done")

_CONTROLS = {ord("␛"): "\x1b", ord("␇"): "\x07"}
"""Control characters by the symbols that stand for them in messages, which cannot contain them."""


def steps(text: str, earlier: Sequence[str] = (), results: Sequence[str] = ()) -> list[Step]:
    """The model's messages in response to `text`; each but the first follows a tool result.

    `earlier` has the user's previous messages, `results` the output of this turn's tools.
    """
    command, _, rest = text.partition(" ")
    match command.rstrip(":"):
        case "say":
            return [Step(rest)]
        case "line":
            return [Step(rest.partition("\n")[0])]
        case "think":
            return [Step("I thought about it.", thinking=rest)]
        case "write":
            path, _, content = rest.partition(": ")
            return [Step("I write.", act=Write(path, content)), DONE]
        case "edit":
            path, _, change = rest.partition(": ")
            old, _, new = change.partition("\n")[0].partition(" => ")
            return [Step(act=Edit(path, old, new)), DONE]
        case "bash":
            return [Step(act=Run(rest.translate(_CONTROLS))), DONE]
        case "plan":
            return [Step("Here is a plan.", act=Propose(rest))]
        case "ask":
            question, *options = (part.strip() for part in rest.split("|"))
            reply = f"Results: {' '.join(results)}"
            return [Step(act=Ask(question, tuple(options))), Step(reply)]
        case "remember?":
            return [Step("You said: " + "; ".join(earlier))]
        case "slow":
            return [Step("word " * 600, pause=0.1)]
        case "slowly":
            return [Step(rest, pause=0.2)]
        case "error":
            return [Step(status=int(rest.split()[0]))]
        case _:
            return [Step(f"You said: {text}")]


def approval_steps(plan: str) -> list[Step]:
    """The steps after a plan is approved: it is written to `planned.txt`."""
    return [Step(act=Write("planned.txt", f"{plan}\n")), DONE]


def revision_steps(plan: str) -> list[Step]:
    """The steps after a comment on a plan."""
    return [Step("Here is a plan.", act=Propose(f"{plan}, revised"))]
