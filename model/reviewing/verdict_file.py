"""The file with the verdicts about a worktree's changes and the files viewed."""

import base64
import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from model.base.paths import create_private_directory, find_backup_path, write_atomically
from model.domain.code_reviews import HunkVerdict
from model.domain.resource import Resource
from model.git.working_tree import Entry

_FILE: Final = "verdicts.json"
_MAX_VERDICTS: Final = 2_000
"""Verdicts that are kept for a worktree; the oldest are forgotten."""

_log = logging.getLogger(__name__)


class IndexEntry(Resource):
    """What the index had for a file."""

    name: str
    """The path's bytes as Latin-1: JSON has no other form for any bytes."""
    mode: str = ""
    """Empty without an entry."""
    object_id: str = ""


class VerdictRecord(Resource):
    """A verdict, and what it takes to count it and to take it back."""

    verdict: HunkVerdict
    blocks: list[str]
    """The ids of the hunk's blocks."""
    reverse_blocks: list[str] = Field(default_factory=list)
    """Those of the change that reverts a hunk of the branch."""
    patch: str = ""
    """The patch of the hunk, in Base64; empty if the verdict concerns the whole file."""
    before: list[IndexEntry] = Field(default_factory=list)
    """The index before an accepted hunk was staged; `after` likewise."""
    after: list[IndexEntry] = Field(default_factory=list)

    @property
    def raw_patch(self) -> bytes:
        """The patch of the hunk."""
        return base64.b64decode(self.patch)


class ViewedRecord(Resource):
    """A file that was viewed, with all blocks that were seen of it."""

    path: str
    key: str
    blocks: list[str]


class ReviewRecord(Resource):
    """All that is known of the review of a worktree by a person."""

    verdicts: list[VerdictRecord] = Field(default_factory=list)
    """Oldest first."""
    viewed: list[ViewedRecord] = Field(default_factory=list)


def load(folder: Path) -> ReviewRecord:
    """Read the record of a worktree; a damaged file is set aside, and the record empty."""
    file = folder / _FILE
    try:
        return ReviewRecord.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return ReviewRecord()
    except (OSError, ValidationError) as error:
        _log.warning("The verdicts in %s cannot be read: %s", file, type(error).__name__)
        with suppress(OSError):
            file.rename(find_backup_path(file))
        return ReviewRecord()


def save(folder: Path, record: ReviewRecord) -> None:
    """Replace the record of a worktree. Raises `SpinneyError` if the disk refuses."""
    create_private_directory(folder.parent)
    create_private_directory(folder)
    kept = record.model_copy(update={"verdicts": record.verdicts[-_MAX_VERDICTS:]})
    text = json.dumps(kept.model_dump(mode="json"))
    write_atomically(folder / _FILE, text.encode())


def to_records(entries: Mapping[str, Entry | None]) -> list[IndexEntry]:
    """Return entries of the index in the form in which they are saved."""
    return [
        IndexEntry(
            name=os.fsencode(name).decode("latin-1"),
            mode=entry.mode if entry else "",
            object_id=entry.object_id if entry else "",
        )
        for name, entry in entries.items()
    ]


def to_entries(records: list[IndexEntry]) -> dict[str, Entry | None]:
    """Return entries of the index as git takes them."""
    return {
        os.fsdecode(one.name.encode("latin-1")): Entry(one.mode, one.object_id)
        if one.mode
        else None
        for one in records
    }
