"""What holds for every hosting service."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import Check
from model.hosting.forge import Forge, ItemQuery
from model.hosting.forges import find_forge
from tests.model.git.repository import Repository

CHECK = Check(id="1/2", name="test", state="failed", has_log=True)

METHODS: dict[str, Callable[[Forge, Path], Awaitable[object]]] = {
    "check_access": lambda forge, path: forge.check_access(path),
    "open_pull_request": lambda forge, path: forge.open_pull_request(
        path, "main", "Otters", "", draft=False
    ),
    "find_open_pull_request": lambda forge, path: forge.find_open_pull_request(path, "a", {"ada"}),
    "fetch_head": lambda forge, path: forge.fetch_head(path, 7),
    "fetch_link": lambda forge, path: forge.fetch_link(path, 7),
    "fetch_state": lambda forge, path: forge.fetch_state(path, 7),
    "fetch_details": lambda forge, path: forge.fetch_details(path, 7),
    "fetch_check_log": lambda forge, path: forge.fetch_check_log(
        path, 7, CHECK.model_copy(update={"id": "job:2" if forge.name == "GitHub" else CHECK.id})
    ),
    "merge": lambda forge, path: forge.merge(path, 7, "merge", auto=False, head_commit=None),
    "cancel_auto_merge": lambda forge, path: forge.cancel_auto_merge(path, 7),
    "update_branch": lambda forge, path: forge.update_branch(path, 7, rebase=True),
    "set_draft": lambda forge, path: forge.set_draft(path, 7, True),
    "edit": lambda forge, path: forge.edit(path, 7, "Otters", None),
    "list_possible_reviewers": lambda forge, path: forge.list_possible_reviewers(path),
    "request_review": lambda forge, path: forge.request_review(path, 7, ["bob"]),
    "reply_to_thread": lambda forge, path: forge.reply_to_thread(path, 7, "t", "text"),
    "resolve_thread": lambda forge, path: forge.resolve_thread(path, 7, "t"),
    "delete_branch": lambda forge, path: forge.delete_branch(path, "a"),
    "list_issues": lambda forge, path: forge.list_issues(path, ItemQuery()),
    "list_pull_requests": lambda forge, path: forge.list_pull_requests(path, ItemQuery()),
    "list_workflow_runs": lambda forge, path: forge.list_workflow_runs(
        path, failed=True, branch="", page=1
    ),
    "list_security_alerts": lambda forge, path: forge.list_security_alerts(path, "open", 1),
    "list_advisories": lambda forge, path: forge.list_advisories(path, "open", 1),
    "fetch_text": lambda forge, path: forge.fetch_text(path, "issue", "7"),
}


@pytest.fixture(params=["GitHub", "GitLab"])
async def forge(
    request: pytest.FixtureRequest, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> Forge:
    """The service of a repository, on a machine that has git alone."""
    host = f"{request.param.lower()}.com"
    repository.git("remote", "add", "origin", f"https://{host}/ada/engine.git")
    find = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: find(name) if name == "git" else None)
    found = await find_forge(repository.root)
    assert found.name == request.param
    return found


async def test_without_its_program_every_method_names_it(
    forge: Forge, repository: Repository
) -> None:
    defined = {name for name in vars(Forge) if not name.startswith("_")}
    known = {"name", "pull_request_name", "unsupported", "is_pull_request_url"}
    assert defined - known == METHODS.keys()
    program = {"GitHub": "gh", "GitLab": "glab"}[forge.name]
    for name, method in METHODS.items():
        with pytest.raises(SpinneyError) as refused:
            await method(forge, repository.root)
        if name == "list_advisories" and "advisory" in forge.unsupported.kinds:
            assert refused.value.message == forge.unsupported.reason
        else:
            assert f"run '{program} auth login'" in refused.value.message, name


@pytest.mark.parametrize("url", ["https://codeberg.org/ada/engine/pulls/7", "javascript:/pull/7"])
def test_urls_of_other_services_are_refused(forge: Forge, url: str) -> None:
    assert not forge.is_pull_request_url(url)
