"""The interface between the chat engine and agent programs: settings and protocols.

The engine knows no program and a backend knows no store. A program's adapter translates its
protocol into the events of `model.backends.agent_events` and implements `Agent`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from model.backends.agent_events import AgentEvent
from model.backends.traffic import NULL_RECORDER, TrafficRecorder
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.modes import EFFORTS, Effort, ExecutionMode, ThinkingLevel

Verdict = Literal["allow", "deny"]
"""A user's decision on one tool call."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The state of a backend's program on this machine."""

    program: str | None
    """Absolute path, or `None` when it is not installed."""
    version: str | None = None
    signed_in: bool | None = None
    """`None` if only the provider could answer that."""
    problem: str | None = None
    """A sentence: what is wrong and the command that fixes it; `None` when ready."""
    fix: str | None = None
    """The command alone, if one fixes it."""
    supported: bool | None = None
    """Whether Spinney supports this version; `None` if unknown. A ready program is supported."""


@dataclass(frozen=True, slots=True)
class Settings:
    """An agent's settings; all of them may change between two turns."""

    mode: ExecutionMode
    model: str = ""
    """A model name the program accepts; empty for the program's default."""
    thinking: ThinkingLevel = "off"
    effort: Effort = "low"
    """For models that take an effort instead of a thinking level."""
    user_effort_limit: Effort | None = None
    """Set when no effort was chosen: the effort in the user's own configuration of the agent then
    takes precedence, up to this one."""
    web_in_plan: bool = True
    """Whether plan mode may use the web tools."""
    model_is_preset: bool = False
    """Whether `model` comes from a preset; the program may then fall back to its default model."""

    def with_user_effort(self, configured: str) -> "Settings":
        """These settings with the effort `configured` in the user's own files, where it applies.

        A name that is not an `Effort` is ignored.
        """
        limit = self.user_effort_limit
        if limit is None or configured not in EFFORTS:
            return self
        return replace(self, effort=min(configured, limit, key=EFFORTS.index))


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent for a session."""

    session_id: str
    worktree: Path
    settings: Settings
    resume_token: str | None = None
    fork_at: str | None = None
    """Start on a copy of `resume_token`'s conversation that ends with the turn of this mark. The
    token of the copy is reported by `ConversationIdentified`; the original stays as it is."""
    system_prompt: str = ""
    """Appended to the program's own system prompt; empty for none."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to Spinney's own environment."""
    disabled_mcp_servers: frozenset[str] = frozenset()
    """Names of configured MCP servers that the program must not use."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the program in its own format; they override the user's."""
    note: str = ""
    """A note for the conversation on how the agent was started; not sent to the program."""
    max_sub_agents: int | None = None
    """Maximum number running at a time; 0 for none, `None` for the program's own limit."""
    can_use_browser: bool = False
    """Whether the agent may use the user's browser, if its program supports that."""
    text_only: bool = False
    """For generating one text unattended: the agent gets no tools, its program persists nothing,
    and `system_prompt` replaces the program's own. Where a program does not support that, the mode
    (`plan`) keeps it from changing anything."""
    recorder: TrafficRecorder = NULL_RECORDER
    """Records everything sent to and received from the program."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One user message."""

    text: str
    files: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()

    @property
    def text_with_paths(self) -> str:
        """The text followed by the attachments' paths, for programs that accept only text."""
        paths = [f"Attached file: {path}" for path in self.files]
        paths += [f"Attached image: {path}" for path in self.images]
        return "\n".join([*filter(None, [self.text]), *paths])


class CannotForkError(SpinneyError):
    """The program cannot copy the conversation up to the mark; a new one can be started."""

    def __init__(self, reason: str) -> None:
        """`reason` is a sentence for the conversation."""
        super().__init__(reason, "conflict")


class Agent(Protocol):
    """One session's running program. Calls raise `SpinneyError`; events report everything else."""

    def events(self) -> AsyncIterator[AgentEvent]:
        """The agent's events, until its program has ended.

        A program that ends during a turn yields `TurnFailed` first, with the tail of its stderr.
        """
        ...

    async def send(self, prompt: Prompt) -> None:
        """Start a turn. The engine never sends a second prompt while one runs.

        `/name …` with a name that the program knows is run as its command; any other is text.
        """
        ...

    async def stop(self) -> None:
        """Interrupt the turn; `TurnFinished("stopped", …)` follows and the agent stays usable."""
        ...

    async def steer(self, message_id: str, prompt: Prompt) -> bool:
        """Send a message into the running turn; return whether the program accepted it.

        Accepted is not read: `SteerTaken` says that the model gets it. A message of which that was
        not said when the turn ends has been withdrawn from the program: the engine sends it again.
        Returns `False` if the program cannot do this, or not with this message or in this turn.
        """
        ...

    async def take_back(self, message_id: str) -> bool:
        """Withdraw a message given to `steer`; return `False` if the program reads it already, or
        cannot withdraw it.
        """
        ...

    async def approve(self, request_id: str, settings: Settings, plan: str | None) -> None:
        """Carry out the plan with these settings; `plan` is the user's edited version, if any."""
        ...

    async def discuss(self, request_id: str, comment: Prompt) -> None:
        """Send the plan back: continue in plan mode with this comment and its attachments."""
        ...

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer questions; `answers` maps question text to answer text."""
        ...

    async def permit(self, request_id: str, decision: Verdict, reason: str = "") -> None:
        """Allow this once, or deny; the agent reads the `reason`.

        The engine itself remembers what the user allowed for the session. It never delegates that
        to the program, whose rules would match more than what was shown.
        """
        ...

    async def configure(self, settings: Settings) -> None:
        """Apply these settings from the next turn on; unchanged ones cost nothing.

        A changed mode applies at once, or the agent emits `TurnModeReported`.
        """
        ...

    async def close(self) -> None:
        """End the program and everything it started, within 5 seconds."""
        ...


@runtime_checkable
class ModelLister(Protocol):
    """A backend whose program emits `ModelsListed` right after its start."""

    def list_model_sources(self, environment: Mapping[str, str]) -> Sequence[Path]:
        """The program and the user's files; when one changes, the model list may have changed."""
        ...


class Backend(Protocol):
    """A kind of agent program, such as Claude Code."""

    name: str
    """Its wire name, a row of the catalog."""
    can_fork: bool
    """Whether it emits `TurnMarked` and supports `Launch.fork_at`."""

    async def probe(self) -> Probe:
        """Look for the program; takes at most 10 seconds and never contacts a provider."""
        ...

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The program's own commands as far as files define them, without starting it.

        `environment` as in `Launch`. Unreadable files are skipped.
        """
        ...

    async def open(self, launch: Launch) -> Agent:
        """Start an agent for a session, or raise `backend_unavailable` with what to do.

        Raises `CannotForkError` if it cannot start at `fork_at`; nothing was started then.
        """
        ...

    async def close(self) -> None:
        """End what sessions share, such as a server program; all agents are closed already."""
        ...


def lost_turn_reason(agent: str) -> str:
    """Why a program cannot copy a conversation that it no longer has up to that turn."""
    return f"{agent} no longer has the conversation up to this point."
