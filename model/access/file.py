"""A file with records of one kind, which only this user can read; it holds hashes, never tokens."""

import asyncio
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from model.base.paths import create_private_directory, write_or_shorten
from model.domain.resource import Resource

R = TypeVar("R", bound=Resource)

_log = logging.getLogger(__name__)


class RecordFile(Generic[R]):
    """Reads and replaces the file. Belongs to the core's event loop."""

    def __init__(self, path: Path, kind: type[R]) -> None:
        self._path = path
        self._kind = kind
        self._writing = asyncio.Lock()

    def read(self) -> list[R]:
        """Return all records; what cannot be read is left out, and thereby grants nothing."""
        try:
            entries = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            _log.warning("could not read %s: %s", self._path, error)
            return []
        records = []
        for entry in entries if isinstance(entries, list) else ():
            try:
                records.append(self._kind.model_validate(entry))
            except ValidationError as error:
                _log.warning("left out a record of %s: %s", self._path, error)
        return records

    async def write(self, records: Iterable[R]) -> None:
        """Replace the content; on disk when this returns. Raises `SpinneyError`."""
        body = json.dumps([each.model_dump(mode="json") for each in records])
        async with self._writing:
            await asyncio.to_thread(self._replace, body.encode())

    def _replace(self, body: bytes) -> None:
        create_private_directory(self._path.parent)
        write_or_shorten(self._path, body)
