"""A review by the real Claude Code: what it reads, and its answer through the whole way."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.backends.claude.backend import ClaudeBackend
from model.base.paths import Directories
from model.commands.code_reviews import get_code_review, run_code_review
from model.commands.preferences import update_preferences
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.live.provider_stub import ProviderStub
from tests.model.git.conftest import repository as repository  # a fixture
from tests.model.git.git_project import add_git_project
from tests.model.git.repository import Repository


@pytest.fixture
async def workspace(
    claude_environment: dict[str, str], directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workspace]:
    for name, value in claude_environment.items():
        monkeypatch.setenv(name, value)
    made = Workspace(directories, {"backend_a": ClaudeBackend()}, Catalog())
    await made.start()
    yield made
    await made.stop()


async def test_the_program_reviews_numbered_changes_without_tools(
    workspace: Workspace, provider: ProviderStub, repository: Repository, eventually: Eventually
) -> None:
    git_project = await add_git_project(workspace, repository)
    worktree = await git_project.add("otter")
    (Path(worktree.path) / "new").write_text("woven\n@near.txt\n")
    (Path(worktree.path) / "near.txt").write_text("a private key")
    found = {
        "path": "new", "first_line": 1, "last_line": 1, "severity": "minor",
        "explanation": "It is not cut.", "suggestion": "cut",
    }  # fmt: skip
    answer = json.dumps({"summary": "Short.", "findings": [found]})
    prompt = f"line: <review>{answer}</review>"
    await update_preferences(workspace, {"magic_prompts": {"code_review": prompt}})
    await run_code_review(workspace, worktree.id)
    await eventually(lambda: worktree.id not in workspace.code_reviews._running)
    review = await get_code_review(workspace, worktree.id)
    assert (review.status, review.error, review.summary) == ("completed", "", "Short.")
    (finding,) = review.findings
    assert (finding.path, finding.first_line, finding.suggestion) == ("new", 1, "cut")
    (request,) = provider.requests
    assert not request.get("tools")
    sent = json.dumps(request["messages"])
    assert "1 + woven" in sent and sent.count("a private key") == 1  # as a change, not a mention
