"""Commands about this installation: what is there and what is missing."""

from pydantic import Field

from model.api.command import command
from model.domain.findings import Finding
from model.domain.resources import Resource


class BackendReport(Resource):
    """What was found of one agent program."""

    name: str
    label: str
    program: str | None
    """Absolute path; null where it is not installed."""
    version: str | None
    supported: bool | None
    """Whether Spinney drives this version; null where that is not known."""
    signed_in: bool | None
    """Null where only its provider knows."""
    problem: str | None
    """What is wrong, with the command that mends it; null where it can be used."""
    fix: str | None
    """That command alone; null where no single command mends it."""


class AgentModel(Resource):
    """A model that an agent offers by name; it may know others."""

    name: str
    """What sessions and preferences call it."""
    passed: str
    """What the agent's program is told; empty for its own choice."""
    label: str
    description: str = ""
    efforts: list[str] = Field(default_factory=list)
    """How hard it can be told to work, as far as its program tells."""
    default_effort: str = ""
    answers_as: str = ""
    """Its full name, where the other is a short one."""
    is_default: bool = False
    """Whether it stands for the program's own choice, which may be the person's."""
    is_offered: bool = True
    """Whether to show it where people choose; a preset gives way to what it stands for."""


class AgentKind(Resource):
    """An agent that can be chosen for sessions."""

    name: str
    label: str
    program: str
    """The command that is looked for; empty where it comes with Spinney."""
    models: list[AgentModel]


class Installation(Resource):
    """A Spinney and the machine that it runs on, but for the agents."""

    version: str
    log: str
    """Absolute path of the file in which it writes down what happened."""
    findings: list[Finding]
    """git, gh and its folders; each that is not in order with what mends it."""


@command
async def list_agents() -> list[AgentKind]:
    """Every agent that can be chosen, with its models as they are known; looks at no program.

    The event `models:updated` tells when an agent's program had others.
    """


@command
async def list_models(
    backend: str, ask: bool = True, project_id: str | None = None
) -> list[AgentModel]:
    """The models of an agent: those that its program told, else the built-in ones.

    With `project_id`, those that it has with the provider profile that holds in this project. With
    `ask`, a program that was never heard is started and waited for, which takes seconds; one
    whose list may be old is asked behind the scenes. Nothing is asked of a provider.
    """


@command
async def list_backends() -> list[BackendReport]:
    """Every agent that can be chosen, with what was found of its program; asks no provider."""


@command
async def get_installation() -> Installation:
    """What `spinney doctor` says of this machine; `list_backends` looks at the agents."""


@command
async def get_problems() -> list[str]:
    """Sentences about what was found wrong at start or since, of projects that are gone, and of git
    where it does not serve.
    """
