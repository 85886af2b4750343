"""Slash commands of agent programs."""

from model.domain.resource import Resource


class AgentCommand(Resource):
    """A slash command of an agent, for a message that begins with `/name`."""

    name: str
    """Without the slash."""
    description: str = ""
    argument_hint: str = ""
    """The arguments that may follow the name, such as `[file]`."""
