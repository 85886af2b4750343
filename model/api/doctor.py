"""Installation, agents and models."""

from pydantic import Field

from model.api.command import command
from model.domain.findings import Finding
from model.domain.resource import Resource


class BackendReport(Resource):
    """The state of an agent's program."""

    name: str
    label: str
    program: str | None
    """Absolute path; null if it is not installed."""
    version: str | None
    supported: bool | None
    """Whether Spinney supports this version; null if that is unknown."""
    signed_in: bool | None
    """Null if only its provider knows."""
    problem: str | None
    """What is wrong, with the command that fixes it; null if the agent can be used."""
    fix: str | None
    """That command alone; null if no single command fixes it."""


class AgentModel(Resource):
    """A model that an agent offers by name; the agent may accept others."""

    name: str
    """Its name in sessions and preferences."""
    passed: str
    """The name that is passed to the agent's program; empty for the program's own choice."""
    label: str
    description: str = ""
    efforts: list[str] = Field(default_factory=list)
    """The reasoning efforts that it accepts, as far as the program reports them."""
    default_effort: str = ""
    answers_as: str = ""
    """The model's full name, if `passed` is an alias."""
    is_default: bool = False
    """Whether it stands for the program's own choice, which the user may have configured."""
    is_offered: bool = True
    """Whether to show it for selection; a preset is hidden in favor of the model that it stands
    for.
    """


class AgentKind(Resource):
    """An agent that sessions can use."""

    name: str
    label: str
    program: str
    """The name of its executable; empty for the agent that is part of Spinney."""
    models: list[AgentModel]


class Installation(Resource):
    """This installation of Spinney and the machine that it runs on, without the agents."""

    version: str
    log: str
    """Absolute path of the log file."""
    findings: list[Finding]
    """The state of git, gh and Spinney's directories; each problem has its remedy."""


@command
async def list_agents() -> list[AgentKind]:
    """List every agent that sessions can use, with its known models; runs no program.

    The event `models:updated` reports that the models of an agent have changed.
    """


@command
async def list_models(
    backend: str, ask: bool = True, project_id: str | None = None
) -> list[AgentModel]:
    """List the models of an agent: those that its program reported, otherwise the built-in ones.

    With `projectId`, those that it has with the provider profile of this project. With `ask`, a
    program that has never reported its models is started and given 20 seconds; a list that comes
    later, or may be outdated, is fetched in the background. No provider is contacted.
    """


@command
async def list_backends() -> list[BackendReport]:
    """Check the program of every agent that sessions can use; contacts no provider."""


@command
async def get_installation() -> Installation:
    """Get what `spinney doctor` reports of this machine; `list_backends` checks the agents."""


@command
async def get_problems() -> list[str]:
    """List current problems as sentences: those found since the start, project directories that are
    missing, a git that cannot be used, channels of notices that fail, landings that were
    interrupted and cannot be completed, and messages, recovery points and snapshots that are
    damaged.
    """
