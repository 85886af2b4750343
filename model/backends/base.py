"""What a backend is: the small language between the chat engine and any agent program.

The engine knows no program and a backend knows no store. A program's adapter turns its protocol
into the events below and takes the calls of `Agent`. Everything is keyed by ids, never by position,
because programs report blocks, tools and questions out of order.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, runtime_checkable

from model.backends.model_lists import ModelList
from model.backends.traffic import UNRECORDED, Record
from model.base.errors import ErrorType
from model.domain.resources import (
    EFFORTS,
    AgentCommand,
    Effort,
    ExecutionMode,
    Question,
    ThinkingLevel,
    Usage,
)

Verdict = Literal["allow", "deny"]
"""A person's word on one use of a tool."""

OUTPUT_KEPT: Final = 16 * 1024
"""Characters that are kept of what a running tool prints: the last ones."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found of a backend's program on this machine."""

    program: str | None
    """Absolute path, or `None` when it is not installed."""
    version: str | None = None
    signed_in: bool | None = None
    """`None`: not known without asking the provider."""
    problem: str | None = None
    """A sentence: what is wrong and the command that mends it; `None` when ready."""
    fix: str | None = None
    """The command alone, where one mends it."""
    supported: bool | None = None
    """Whether Spinney drives this version; `None` where that is not known. Ready is supported."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an agent works; all of it may change between two turns."""

    mode: ExecutionMode
    model: str = ""
    """A name that the program knows; empty for the program's own choice."""
    thinking: ThinkingLevel = "off"
    effort: Effort = "low"
    """For models that take an effort instead of an amount of thinking."""
    most_of_own_effort: Effort | None = None
    """Where nobody chose an effort: the most of the one that the person's configuration of the
    agent names, which goes first then."""
    web_in_plan: bool = True
    """Whether plan mode may search and read the web."""
    model_is_preset: bool = False
    """Whether nobody named that very model: the program takes its own where it has none such."""

    def beside_own_effort(self, own: str) -> "Settings":
        """With the effort `own` of the person's configuration of the agent, where that holds.

        A name that is no `Effort` is none.
        """
        most = self.most_of_own_effort
        if most is None or own not in EFFORTS:
            return self
        return replace(self, effort=min(own, most, key=EFFORTS.index))


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent for a session."""

    session_id: str
    worktree: Path
    settings: Settings
    resume_token: str | None = None
    system_prompt: str = ""
    """Appended to the program's own; empty for none."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of Spinney's own environment."""
    mcp_off: frozenset[str] = frozenset()
    """Names of MCP servers that the program knows and shall not use."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the program itself, in its own form, that hold over the person's."""
    note: str = ""
    """What a person shall not miss of how it is started; for the conversation, not the program."""
    sub_agents: int | None = None
    """How many may work at a time; 0 for none, `None` for the program's own limit."""
    browser: bool = False
    """Whether the agent may use the person's browser, where its program can."""
    text_only: bool = False
    """For one text that nobody watches being written: the agent gets no tools, its program
    remembers nothing, and `system_prompt` takes the place of the program's own. Where a program
    cannot do that, the mode (`plan`) keeps it from changing anything."""
    record: Record = UNRECORDED
    """Takes all that the program is sent and says."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One user message."""

    text: str
    files: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()

    @property
    def text_with_paths(self) -> str:
        """The text with its attachments named, for where a program takes nothing but text."""
        named = [f"Attached file: {path}" for path in self.files]
        named += [f"Attached image: {path}" for path in self.images]
        return "\n".join([*filter(None, [self.text]), *named])


# What an agent tells ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began that no prompt of ours started (background work reporting back)."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text or thinking for the block with this key; a new key opens a new block."""

    block: str
    text: str
    kind: Literal["text", "thinking"] = "text"


@dataclass(frozen=True, slots=True)
class TextFinal:
    """The whole text of a block; replaces what was streamed where that differs."""

    block: str
    text: str
    kind: Literal["text", "thinking"] = "text"


@dataclass(frozen=True, slots=True)
class BlockDropped:
    """The block was provisional and never became part of the answer."""

    block: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool is called. The same id again replaces name and input (they arrive in two steps)."""

    id: str
    name: str
    input: Mapping[str, Any]
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool prints while it runs: the next piece, or (`is_whole`) all of it so far."""

    tool_use_id: str
    text: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool gave its result, as text."""

    tool_use_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class PlanProposed:
    """The agent holds its turn until the plan is approved or discussed."""

    request_id: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent holds its turn until the questions are answered."""

    request_id: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent wants to use a tool that needs a person's word."""

    request_id: str
    tool_name: str
    input: Mapping[str, Any]
    description: str = ""
    tool_use_id: str | None = None
    directory: str = ""
    """Where it would run, if the program says so; empty for where the agent was started."""


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """A plan, question or permission needs no answer any more."""

    request_id: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The program changed the execution mode by itself or confirmed a change."""

    mode: ExecutionMode


@dataclass(frozen=True, slots=True)
class TurnKeepsMode:
    """The running turn works in this mode; another one that was chosen since holds from the next.

    Told after each `configure` in a turn that cannot follow at once, with the settings' own mode
    where that holds again.
    """

    mode: ExecutionMode


@dataclass(frozen=True, slots=True)
class Notice:
    """A short passing word about the run, such as «retrying (2 of 4)»."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """What a person shall not miss, such as hooks that will not run: stands in the conversation,
    once, or each time that it happens.
    """

    text: str
    each_time: bool = False


@dataclass(frozen=True, slots=True)
class ConversationIdentified:
    """The program's own name for this conversation, by which it can be resumed."""

    resume_token: str


@dataclass(frozen=True, slots=True)
class McpServersSeen:
    """The MCP servers that the program has; those of `Launch.mcp_off` may be missing."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandsKnown:
    """All the commands of its own that the program takes here; they replace those told before."""

    commands: tuple[AgentCommand, ...]


@dataclass(frozen=True, slots=True)
class ModelsKnown:
    """The models that the program has; they replace those told before."""

    models: ModelList


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """The model that answers from now on, as the program calls it."""

    name: str
    chosen: bool = False
    """Whether a person chose it by a command of the program."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn ended as it should; `stop_reason` is `stopped` when a person stopped it."""

    stop_reason: str
    usage: Usage
    context_tokens: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended in an error that a person should read."""

    error: str
    error_type: ErrorType
    usage: Usage = field(default_factory=Usage)
    retry_after: float | None = None
    """Seconds, where a rate limit told them."""


OfAnswer = TextDelta | TextFinal | BlockDropped | ToolUse | ToolOutput | ToolResult
"""What stands in an answer, or leaves it."""

AgentEvent = (
    TurnStarted
    | OfAnswer
    | PlanProposed
    | QuestionAsked
    | PermissionAsked
    | RequestWithdrawn
    | ModeChanged
    | TurnKeepsMode
    | Notice
    | Note
    | ConversationIdentified
    | McpServersSeen
    | CommandsKnown
    | ModelsKnown
    | ModelAnswers
    | TurnFinished
    | TurnFailed
)

BETWEEN_TURNS = (
    TurnStarted
    | ModeChanged
    | Notice
    | Note
    | McpServersSeen
    | CommandsKnown
    | ModelsKnown
    | ModelAnswers
    | ConversationIdentified
    | RequestWithdrawn
)
"""What an agent may tell while no turn is open; anything else would open an answer without end."""


class Agent(Protocol):
    """One session's running program. Calls raise `SpinneyError`; events tell everything else."""

    def events(self) -> AsyncIterator[AgentEvent]:
        """What the agent tells, until its program has ended.

        A program that ends in mid-turn yields `TurnFailed` first, with the tail of its stderr.
        """
        ...

    async def send(self, prompt: Prompt) -> None:
        """Start a turn. The engine never sends a second prompt while one runs.

        `/name …` with a name that the program knows is a command of it; any other is text.
        """
        ...

    async def stop(self) -> None:
        """Interrupt the turn; `TurnFinished("stopped", …)` follows and the agent stays usable."""
        ...

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry the plan out with these settings, as edited in `plan` where that is given."""
        ...

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Do not carry the plan out; go on in plan mode with this comment and its attachments."""
        ...

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer questions: question text to answer text."""
        ...

    async def permit(self, request_id: str, decision: Verdict, reason: str = "") -> None:
        """Allow this once, or deny; the agent reads the `reason`.

        What a person allowed for the session is remembered by the engine, and no program is asked
        to: their own rules reach further than what was shown.
        """
        ...

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on; unchanged ones cost nothing.

        A changed mode holds at once, or the agent tells `TurnKeepsMode`.
        """
        ...

    async def close(self) -> None:
        """End the program and all that it started, within 5 seconds."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A backend whose program tells `ModelsKnown` as soon as it is started."""

    def models_stand_on(self, environment: Mapping[str, str]) -> Sequence[Path]:
        """The program and the files of the person: when one changes, the list may be another."""
        ...


class Backend(Protocol):
    """A kind of agent program."""

    name: str
    """Its wire name, a row of the catalogue."""

    async def probe(self) -> Probe:
        """Look for the program; takes at most 10 seconds and never talks to a provider."""
        ...

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The program's own commands as far as files tell them, without starting it.

        `environment` as in `Launch`. What cannot be read is left out.
        """
        ...

    async def open(self, launch: Launch) -> Agent:
        """Start a program for a session, or raise `backend_unavailable` with what to do."""
        ...

    async def close(self) -> None:
        """End what sessions share, such as a server program; every agent is closed by now."""
        ...


SHORTENED: Final = Note(
    "The conversation so far was shortened to a summary, which is all that the agent knows of it.",
    each_time=True,
)


def falls_back(agent: str, model: str) -> str:
    """The notice about a preset that the program of `agent` knows nothing of."""
    return f"{agent} has no model “{model}” here and takes its own default."
