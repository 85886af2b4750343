"""Conversations begun in the agent programs' own screens, and the way back into them."""

from pydantic import Field

from model.domain.resource import Resource


class ForeignSession(Resource):
    """A conversation that was begun outside Spinney and can be continued here."""

    backend: str
    agent: str
    """The backend's name for people."""
    conversation_id: str
    """The program's own id."""
    title: str
    directory: str
    updated_at: float
    branch: str = ""
    """The branch that was checked out; empty if unknown."""
    origin: str = ""
    """Where it was begun, such as `terminal`; empty if unknown."""


class ForeignSessions(Resource):
    """The conversations that were found, newest first."""

    sessions: list[ForeignSession] = Field(default_factory=list)
    problems: list[str] = Field(default_factory=list)
    """Why an agent's conversations could not be listed, one sentence each."""


class ResumeCommand(Resource):
    """How to go on with a session in its agent's own screen."""

    command: str
    """For a shell."""
    directory: str
    arguments: list[str]
    """The program and its arguments, to be run in `directory`."""
    note: str = ""
    """What to expect there; empty if nothing special."""
