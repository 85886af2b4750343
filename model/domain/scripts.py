"""A repository's own scripts, and how they ran."""

from typing import Literal

from model.domain.resources import Resource

ScriptName = Literal["setup", "run", "teardown"]


class Script(Resource):
    """One script as it stands in a config file."""

    name: ScriptName
    text: str
    hash: str
    """What `trust_project_scripts` takes: trust in this text and no other."""
    shown: str = ""
    """The text with what it hides made visible, for people to read."""
    hidden: str | None = None
    """Why it cannot be trusted: the character that is not shown as it runs, and its line."""
    trusted: bool = False
    file: str = "spinney.json"
    holds_messages: bool = False
    """Whether the first message of a session waits for it: `setup`, but for `wait_for_setup`."""


class ScriptRun(Resource):
    """How a script of a worktree ran, or runs, and what it printed."""

    worktree_id: str
    script: ScriptName
    status: Literal["running", "completed", "failed", "stopped"]
    started_at: float
    ended_at: float | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str = ""
    """The newest of it."""

    @property
    def is_done(self) -> bool:
        """Whether it ended well."""
        return self.status == "completed"
