"""A project at GitLab, and an answer of its API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from model.base.errors import SpinneyError
from model.hosting.fields import read_json

T = TypeVar("T", list[Any], dict[str, Any])


@dataclass(frozen=True, slots=True)
class Project:
    """A project at GitLab, and the working tree that it was found by."""

    cwd: Path
    host: str
    path: str
    """With all groups: `group/subgroup/project`."""

    @property
    def endpoint(self) -> str:
        """The beginning of its endpoints."""
        return f"projects/{quote(self.path, safe='')}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in lower case."""
    is_cut: bool = False

    async def parse(self, kind: type[T]) -> T:
        """Return the body, a list or an object. Raises if it is neither, or was too long."""
        found = await read_json(self.body)
        if not isinstance(found, kind):
            raise SpinneyError(
                "GitLab's answer is too long." if self.is_cut else "glab returned unexpected data.",
                "backend_error",
            )
        return found
