"""What a stand-in for a provider lets its model do: the words that tests write as messages, read
into steps that belong to no API. Each stub turns the steps into the tools of its own program.

`say: TEXT` · `line: TEXT` (says its first line) · `think: TEXT` · `write PATH: TEXT` ·
`edit PATH: OLD => NEW` · `bash: COMMAND` · `plan: TEXT` · `ask: QUESTION | A | B` · `remember?` ·
`slow` · `error STATUS`
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Write:
    """Make a file of the worktree hold this."""

    path: str
    content: str


@dataclass(frozen=True)
class Edit:
    """Replace a piece of a file."""

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
    """Ask the person."""

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
    """Of HTTP; other than 200 the request fails with it."""


DONE = Step("done")

_CONTROLS = {ord("␛"): "\x1b", ord("␇"): "\x07"}
"""What a message cannot hold, by the marks that it has for it: a model writes it all the same."""


def steps(text: str, earlier: Sequence[str] = (), results: Sequence[str] = ()) -> list[Step]:
    """The messages by which the model follows `text`, one after each result of a tool.

    `earlier` is what the person said before, `results` what the tools of this turn told.
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
            old, _, new = change.partition(" => ")
            return [Step(act=Edit(path, old, new)), DONE]
        case "bash":
            return [Step(act=Run(rest.translate(_CONTROLS))), DONE]
        case "plan":
            return [Step("Here is a plan.", act=Propose(rest))]
        case "ask":
            question, *options = (part.strip() for part in rest.split("|"))
            told = " ".join(results)
            return [Step(act=Ask(question, tuple(options))), Step(f"I heard: {told}")]
        case "remember?":
            return [Step("You said: " + "; ".join(earlier))]
        case "slow":
            return [Step("word " * 600, pause=0.1)]
        case "error":
            return [Step(status=int(rest.split()[0]))]
        case _:
            return [Step(f"You said: {text}")]


def carried_out(plan: str) -> list[Step]:
    """What follows the approval of a plan: it is written down as `planned.txt`."""
    return [Step(act=Write("planned.txt", f"{plan}\n")), DONE]


def revised(plan: str) -> list[Step]:
    """What follows a comment on a plan."""
    return [Step("Here is a plan.", act=Propose(f"{plan}, revised"))]
