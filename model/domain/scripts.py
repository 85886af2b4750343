"""A project's own scripts and their runs."""

from typing import Literal

from pydantic import Field

from model.domain.resource import Resource

ScriptName = Literal["setup", "run", "teardown", "check"]


class Script(Resource):
    """A script in a config file."""

    name: ScriptName
    text: str
    hash: str
    """Identifies this text for `trust_project_scripts`."""
    shown: str = ""
    """The text with hidden characters made visible."""
    hidden: str | None = None
    """Why it cannot be trusted: the hidden character and its line."""
    trusted: bool = False
    file: str = "spinney.json"
    holds_messages: bool = False
    """Whether the first message of a session waits for it: `setup`, unless `wait_for_setup` is
    false.
    """


class CommandRun(Resource):
    """The current or latest shell command of a user in a worktree, with its output."""

    worktree_id: str
    command: str
    status: Literal["running", "completed", "failed", "stopped"]
    started_at: float
    ended_at: float | None = None
    exit_code: int | None = None
    error: str | None = None
    """Why it could not run, or was ended."""
    output: str = ""
    """The newest part of it."""


class ScriptRun(Resource):
    """The current or latest run of a script in a worktree, with its output."""

    worktree_id: str
    script: ScriptName
    status: Literal["running", "completed", "failed", "stopped"]
    started_at: float
    ended_at: float | None = None
    exit_code: int | None = None
    error: str | None = None
    tree: str = Field(default="", exclude_if=lambda tree: not tree)
    """Of `check`: the id of the git tree with everything in the worktree when it started."""
    output: str = ""
    """The newest part of it."""

    @property
    def has_succeeded(self) -> bool:
        """Whether it completed successfully."""
        return self.status == "completed"
