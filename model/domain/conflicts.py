"""Conflicts that merging two worktrees would have, found before either is done."""

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import AliasChoices, ConfigDict, Field

from model.base.text import clean_line
from model.domain.resource import Resource

ConflictPartner = Literal["worktree", "branch"]
"""What a worktree is in conflict with: another worktree, or the branch that it is based on."""


ConflictKind = Literal["changed", "added", "deleted", "moved", "path"]

KIND_WORDS: Final[dict[ConflictKind, str]] = {
    "changed": "changed in both",
    "added": "added in both",
    "deleted": "deleted in one, changed in the other",
    "moved": "moved to different places",
    "path": "changed in both",
}
"""What happened to a file, for a person."""

_MAX_LINES: Final = 400
"""Lines of both versions that are shown, or put into a message."""


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


def list_versions(conflict: WorktreeConflict, ours: str, theirs: str) -> list[str]:
    """Return the files of a conflict with both versions as lines of text, at most the first 400.

    Args:
        conflict: As seen from one worktree.
        ours: The name of that worktree.
        theirs: The name of what it is in conflict with.
    """
    rows = list(_version_rows(conflict, clean_line(ours), clean_line(theirs)))
    left_out = len(rows) - _MAX_LINES
    return rows if left_out <= 0 else [*rows[:_MAX_LINES], f"… {left_out} more lines"]


def _version_rows(conflict: WorktreeConflict, ours: str, theirs: str) -> Iterator[str]:
    for at, file in enumerate(conflict.files):
        yield from [""] if at else []
        yield f"{clean_line(file.path)}:"
        if not file.hunks:
            yield f"  {KIND_WORDS[file.kind]}"
        for hunk in file.hunks:
            yield from _side_rows(ours, hunk.ours)
            yield from _side_rows(theirs, hunk.theirs)


def _side_rows(name: str, side: HunkSide) -> Iterator[str]:
    yield f"  {name}, line {side.start}:" if side.count else f"  {name}: no lines"
    yield from (f"    {clean_line(line)}" for line in side.lines)
    if side.count > len(side.lines):
        yield f"    … {side.count - len(side.lines)} more lines"
