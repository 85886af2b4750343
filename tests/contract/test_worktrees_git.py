"""Sections 2.2 and 4.5 of the interface: what git and the hosting service do in a worktree."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, payload_of, refusal
from tests.contract.place import Place
from tests.model.backends.agents import lives
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import FakeGh
from tests.patience import PATIENCE
from tests.server.conftest import Socket


@pytest.fixture
def place(call: Call, listener: Socket, project: Any, with_remote: Repository) -> Place:
    return Place(call, listener, project["id"], with_remote)


async def test_commit_changes_commits_what_has_uncommitted_changes_finds(place: Place) -> None:
    made = await place.create()

    async def uncommitted() -> bool:
        return bool(await place.call("has_uncommitted_changes", worktreeId=made["id"]))

    assert await uncommitted() is False
    told = await refusal(place.call, "commit_changes", worktreeId=made["id"], message="None")
    assert told == "No uncommitted changes to commit"
    place.write(made, "staged.txt")
    place.git(made, "add", "staged.txt")
    place.write(made, "loose.txt")
    assert await uncommitted() is True
    done = await place.call("commit_changes", worktreeId=made["id"], message="Staged")
    assert done == {"success": True, "commit_sha": place.git(made, "rev-parse", "HEAD")}
    assert place.git(made, "show", "--format=%s", "--name-only") == "Staged\n\nstaged.txt"
    await place.call("commit_changes", worktreeId=made["id"], message="All", stageAll=True)
    assert await uncommitted() is False


@pytest.mark.parametrize("kind", ["working", "staged", "branch"])
async def test_get_git_diff_is_a_unified_diff(place: Place, kind: str) -> None:
    made = await place.create()
    place.write(made, "read.me", f"{kind}\n")
    if kind != "working":
        place.git(made, "add", ".")
    if kind == "branch":
        place.git(made, "commit", "-m", "Change")
    args = {"baseBranch": "main"} if kind == "branch" else {}
    diff = await place.call("get_git_diff", worktreePath=made["path"], diffType=kind, **args)
    assert diff.startswith("diff --git a/read.me b/read.me\n")
    assert f"\n+{kind}\n" in diff


async def test_get_git_diff_reads_known_places_only(place: Place, tmp_path: Path) -> None:
    args = {"worktreePath": str(tmp_path), "diffType": "working"}
    assert await refusal(place.call, "get_git_diff", **args) == f"Worktree not found: {tmp_path}"
    args = {"worktreePath": str(place.repository.root), "diffType": "all"}
    told = await refusal(place.call, "get_git_diff", **args)
    assert told.startswith("Invalid field 'diffType': ")


async def test_git_push_with_a_number_goes_to_the_head_of_that_pull_request(
    place: Place, fake_gh: FakeGh
) -> None:
    fake_gh.shows(
        state="OPEN", headRefName="mend", isCrossRepository=False,
        headRepository={"name": "loom"}, headRepositoryOwner={"login": "ada"},
    )  # fmt: skip
    made = await place.create()
    place.write(made)
    done = await place.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    pushed = await place.call("git_push", worktreePath=made["path"], prNumber=7)
    assert pushed["success"] is True, pushed["output"]
    there = place.repository.git("ls-remote", "origin", "refs/heads/mend").split()[0]
    assert there == done["commit_sha"]
    assert place.repository.git("ls-remote", "origin", made["branch"]) == ""


async def test_git_push_goes_to_the_remote_that_is_named(place: Place, tmp_path: Path) -> None:
    place.repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "backup.git"))
    place.repository.git("remote", "add", "backup", str(tmp_path / "backup.git"))
    made = await place.create()
    pushed = await place.call("git_push", worktreePath=made["path"], remote="backup")
    assert pushed["success"] is True, pushed["output"]
    assert place.repository.git("ls-remote", "backup", made["branch"]) != ""
    assert place.repository.git("ls-remote", "origin", made["branch"]) == ""


@pytest.mark.parametrize(
    ("cached_pr_status", "shown"),
    [
        ("draft", {"state": "OPEN", "isDraft": True}),
        ("open", {"state": "OPEN"}),
        ("review", {"state": "OPEN", "reviewDecision": "APPROVED"}),
        ("merged", {"state": "MERGED"}),
        ("closed", {"state": "CLOSED"}),
    ],
)
async def test_cached_pr_status(
    place: Place, fake_gh: FakeGh, cached_pr_status: str, shown: dict[str, Any]
) -> None:
    fake_gh.shows(**shown)
    assert (await saved(place))["cached_pr_status"] == cached_pr_status


@pytest.mark.parametrize(
    ("cached_check_status", "check"),
    [
        ("success", {"state": "SUCCESS"}),
        ("failure", {"state": "FAILURE"}),
        ("pending", {"state": "PENDING"}),
        ("error", {"state": "ERROR"}),
    ],
)
async def test_cached_check_status(
    place: Place, fake_gh: FakeGh, cached_check_status: str, check: dict[str, Any]
) -> None:
    fake_gh.shows(state="OPEN", statusCheckRollup=[check])
    assert (await saved(place))["cached_check_status"] == cached_check_status


async def test_fetch_worktrees_status_asks_for_pull_requests_too(
    place: Place, fake_gh: FakeGh
) -> None:
    fake_gh.shows(state="OPEN")
    assert (await saved(place))["cached_pr_status"] == "open"
    fake_gh.shows(state="CLOSED")
    await place.call("fetch_worktrees_status", projectId=place.project_id)
    while (await payload_of(place.listener, "worktree:status_updated"))["cached_pr_status"] != (
        "closed"
    ):
        pass  # What was known before is told first.


async def saved(place: Place) -> Any:
    """A worktree with a pull request, as soon as it is known how that stands."""
    made = await place.create()
    url = "https://github.com/ada/loom/pull/7"
    await place.call("save_worktree_pr", worktreeId=made["id"], prNumber=7, prUrl=url)
    told = await payload_of(place.listener, "worktree:status_updated")
    assert told["worktree_id"] == made["id"]
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert {key: found[key] for key in told if key != "worktree_id"} == {
        key: value for key, value in told.items() if key != "worktree_id"
    }
    return found


async def test_git_push_and_git_pull_give_git_s_words(place: Place) -> None:
    made = await place.create()
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Change", stageAll=True)
    pushed = await place.call("git_push", worktreePath=made["path"])
    assert (set(pushed), pushed["success"]) == ({"success", "output"}, True)
    there = place.repository.git("ls-remote", "origin", made["branch"]).split()[0]
    assert there == place.git(made, "rev-parse", "HEAD")
    root = str(place.repository.root)
    pulled = await place.call("git_pull", worktreePath=root, baseBranch=made["branch"])
    assert (set(pulled), pulled["success"]) == ({"success", "output"}, True)
    assert place.repository.git("rev-parse", "HEAD") == there
    failed = await place.call("git_pull", worktreePath=root, baseBranch="nowhere")
    assert failed["success"] is False
    assert "nowhere" in failed["output"]


async def test_save_worktree_pr_and_clear_worktree_pr(place: Place, fake_gh: FakeGh) -> None:
    made = await place.create()
    url = "https://github.com/ada/loom/pull/7"
    saved = {"worktreeId": made["id"], "prNumber": 7, "prUrl": url}
    assert await place.call("save_worktree_pr", **saved) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)
    assert await place.call("clear_worktree_pr", worktreeId=made["id"]) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"], found["cached_pr_status"]) == (None, None, None)


async def test_open_pull_request_gives_number_and_address(place: Place, fake_gh: FakeGh) -> None:
    url = "https://github.com/ada/loom/pull/7"
    fake_gh.answers("pr create", f"{url}\n")
    made = await place.create(customName="calm-heron")
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    opened = await place.call("open_pull_request", worktreeId=made["id"], draft=True)
    assert opened == {"pr_number": 7, "pr_url": url}
    created = next(call["args"] for call in fake_gh.calls if "create" in str(call["args"]))
    assert isinstance(created, list)
    assert "--draft" in created
    assert "--title=Mend" in created, "made from the commits when it is left out"
    assert place.repository.git("ls-remote", "origin", "calm-heron") != "", "pushed first"
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["pr_number"], found["pr_url"]) == (7, url)


async def test_open_pull_request_takes_title_and_body(place: Place, fake_gh: FakeGh) -> None:
    fake_gh.answers("pr create", "https://github.com/ada/loom/pull/8\n")
    made = await place.create()
    place.write(made)
    await place.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    given = {"title": "My title", "body": "My body"}
    await place.call("open_pull_request", worktreeId=made["id"], **given)
    asked = next(call for call in fake_gh.calls if "create" in str(call["args"]))
    assert "--title=My title" in str(asked["args"])
    assert "--draft" not in str(asked["args"])
    assert asked["input"] == "My body"


class SlowHook:
    """A hook of the repository that takes five minutes."""

    def __init__(self, repository: Repository, name: str) -> None:
        self._file = repository.root / ".git" / "hooks" / name
        self._pid = repository.root / ".git" / "slow-hook"
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(
            f"#!/bin/sh\necho $$ > '{self._pid}.new'\n"
            f"mv '{self._pid}.new' '{self._pid}'\nexec sleep 300\n"
        )
        self._file.chmod(0o755)

    async def begun(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not self._pid.exists():
                await asyncio.sleep(0.01)

    async def ended(self) -> None:
        """Wait until its process is gone; from then on there is no hook."""
        self._file.unlink()
        async with asyncio.timeout(PATIENCE):
            while lives(int(self._pid.read_text())):
                await asyncio.sleep(0.01)


async def test_cancel_git_ends_a_slow_hook_and_the_commit_that_waits_for_it(place: Place) -> None:
    made = await place.create()
    hook = SlowHook(place.repository, "pre-commit")
    place.write(made)
    all_of_it = {"worktreeId": made["id"], "stageAll": True}
    told = asyncio.create_task(refusal(place.call, "commit_changes", message="slow", **all_of_it))
    await hook.begun()
    await place.listener.call("cancel_git", worktreeId=made["id"])
    assert await told == "The commit was canceled."
    await hook.ended()
    assert (await place.call("commit_changes", message="quick", **all_of_it))["success"]
    assert await place.call("cancel_git", worktreeId=made["id"]) is None  # Nothing runs.


async def test_cancel_git_ends_a_creation_and_nothing_of_it_is_left(place: Place) -> None:
    hook = SlowHook(place.repository, "post-checkout")
    made = await place.call("create_worktree", projectId=place.project_id, customName="slow")
    await hook.begun()
    await place.call("cancel_git", worktreeId=made["id"])
    told = (await place.listener.event("worktree:create_error"))["payload"]
    assert (told["id"], told["error"]) == (made["id"], "The creation was canceled.")
    await hook.ended()
    assert not Path(made["path"]).exists()
    assert await place.names() == []
    await place.create(customName="slow")
