"""Conflicts that merging two worktrees would have, found before either is done."""

from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from model.domain.resources import Resource

ConflictPartner = Literal["worktree", "branch"]
"""What a worktree is in conflict with: another worktree, or the branch that it is based on."""


ConflictKind = Literal["changed", "added", "deleted", "moved", "path"]


class HunkSide(Resource):
    """The lines of one side of a hunk."""

    start: int
    """The number of the first line, from 1; where they would be, if there are none."""
    count: int
    lines: list[str]
    """The lines, at most the first 40."""


class ConflictHunk(Resource):
    """A place that both sides changed."""

    ours: HunkSide
    """The worktree's."""
    theirs: HunkSide
    """That of the other worktree, or of the base branch."""


class ConflictedFile(Resource):
    """A file that both sides changed in ways that do not fit together."""

    path: str
    kind: ConflictKind
    """`changed` or `added` by both, `deleted` by one and changed by the other, `moved` to different
    places. `path`: changed by both; whether the changes fit is known from git 2.39 on."""
    hunks: list[ConflictHunk] = Field(default_factory=list)
    """At most the first 20; empty for files that are not text, or are long."""


class WorktreeConflict(Resource):
    """What a worktree is in conflict with, and in which files."""

    model_config = ConfigDict(serialize_by_alias=True)

    worktree_id: str
    partner: str = Field(
        validation_alias=AliasChoices("with", "partner"), serialization_alias="with"
    )
    """The id of the other worktree, or the name of the base branch."""
    with_kind: ConflictPartner
    files: list[ConflictedFile]


class ConflictSummary(Resource):
    """What a worktree is in conflict with, and the paths of the files."""

    model_config = ConfigDict(serialize_by_alias=True)

    partner: str = Field(
        validation_alias=AliasChoices("with", "partner"), serialization_alias="with"
    )
    """The id of the other worktree, or the name of the base branch."""
    with_kind: ConflictPartner
    files: list[str]
