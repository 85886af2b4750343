"""Events of what leads to a landing: pull requests, reviews, the landing desk and trains."""

from typing import ClassVar

from model.domain.events.base import Event
from model.domain.landing import Train


class PullRequestUpdated(Event):
    """Something of a worktree's pull request has changed, as `get_pull_request` returns it."""

    name: ClassVar[str] = "pull_request:updated"
    worktree_id: str


class ReviewUpdated(Event):
    """A person's verdicts or an agent's findings about a worktree's changes have changed."""

    name: ClassVar[str] = "review:updated"
    worktree_id: str


class LandingUpdated(Event):
    """Something that `get_landing_desk` returns for a project has changed."""

    name: ClassVar[str] = "landing:updated"
    project_id: str


class TrainUpdated(Event):
    """A train made a step, ended, landed, or was discarded (`null`)."""

    name: ClassVar[str] = "train:updated"
    project_id: str
    train: Train | None
