"""A hosting service in memory, with lists and texts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import (
    Advisory,
    OpenIssue,
    OpenPullRequest,
    SecurityAlert,
    WorkflowRun,
    WorkItem,
    WorkKind,
)
from model.hosting.forge import ItemQuery, ItemText, Unsupported


@dataclass
class FakeForge:
    """Returns its items and texts, and records what was asked for."""

    items: list[WorkItem] = field(default_factory=list)
    texts: dict[tuple[WorkKind, str], ItemText] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    """What was asked of each list."""
    problem: SpinneyError | None = None
    """Raised by all lists."""
    unsupported: Unsupported = field(default_factory=Unsupported)
    name: str = "Forge"

    def _list(self, kind: type[Any], *asked: object) -> list[Any]:
        self.asked.append(asked)
        if self.problem is not None:
            raise self.problem
        return [item for item in self.items if isinstance(item, kind)]

    async def list_issues(self, path: Path, query: ItemQuery) -> list[OpenIssue]:
        return self._list(OpenIssue, path, query)

    async def list_pull_requests(self, path: Path, query: ItemQuery) -> list[OpenPullRequest]:
        return self._list(OpenPullRequest, path, query)

    async def list_workflow_runs(self, path: Path, **asked: Any) -> list[WorkflowRun]:
        return self._list(WorkflowRun, path, asked)

    async def list_security_alerts(self, path: Path, *asked: Any) -> list[SecurityAlert]:
        return self._list(SecurityAlert, path, *asked)

    async def list_advisories(self, path: Path, *asked: Any) -> list[Advisory]:
        return self._list(Advisory, path, *asked)

    async def fetch_text(self, path: Path, kind: WorkKind, item_id: str) -> ItemText:
        if (kind, item_id) not in self.texts:
            raise SpinneyError(f"There is no {kind} {item_id}.", "not_found")
        return self.texts[kind, item_id]


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> FakeForge:
    """The hosting service of all repositories."""
    made = FakeForge()

    async def find(_: Path) -> FakeForge:
        return made

    monkeypatch.setattr("model.commands.hosting.find_forge", find)
    monkeypatch.setattr("model.commands.worktrees.find_forge", find)
    return made
