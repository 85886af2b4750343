"""What can be done with a pull request, by the real `gh`."""

# ruff: noqa: F811 - fixtures are imported, and named again where they are used

from dataclasses import replace
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.pull_request_messages import set_pull_request_loop
from model.commands.pull_requests import save_worktree_pr
from model.commands.sessions import create_session
from model.domain.sessions import PullRequestLoop
from model.domain.worktrees import Worktree
from model.hosting.github.forge import GitHub
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.live.gh_service import service  # noqa: F401 - a fixture
from tests.live.hosting_cases import URL
from tests.live.hosting_pull_requests import Check, Job, PullRequest, Thread
from tests.live.hosting_stub import HostingStub
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import place, place_there, worktree  # noqa: F401 - as above

GITHUB = GitHub()
OTHER = "0" * 40


async def test_a_pull_request_is_merged_by_the_chosen_method(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest())
    await GITHUB.merge(tmp_path, URL, "squash", auto=False, head_commit="a" * 40)
    assert service.changes == [
        ("PullRequestMerge", {"id": "PR_7", "method": "SQUASH", "head": "a" * 40})
    ]
    assert service.pull_requests[7].state == "MERGED"


async def test_a_merge_that_waits_is_automatic_or_queued(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(standing="BLOCKED"))
    await GITHUB.merge(tmp_path, URL, "rebase", auto=True, head_commit=None)
    assert service.pull_requests[7].auto_merge == "REBASE"
    await GITHUB.cancel_auto_merge(tmp_path, URL)
    assert service.pull_requests[7].auto_merge == ""
    service.has_queue = True
    service.set_pull_requests(PullRequest())
    await GITHUB.merge(tmp_path, URL, "merge", auto=False, head_commit=None)
    assert service.pull_requests[7].in_queue
    await GITHUB.cancel_auto_merge(tmp_path, URL)
    assert not service.pull_requests[7].in_queue
    with pytest.raises(SpinneyError, match="neither merged automatically nor in the merge queue"):
        await GITHUB.cancel_auto_merge(tmp_path, URL)


async def test_a_merge_that_is_not_allowed_changes_nothing(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest())
    service.methods, service.allows_auto_merge = ["squash"], False
    with pytest.raises(SpinneyError, match=f"its newest commit is {'a' * 9} now"):
        await GITHUB.merge(tmp_path, URL, "squash", auto=False, head_commit=OTHER)
    with pytest.raises(SpinneyError, match=r"does not allow the method 'merge'. It allows: squash"):
        await GITHUB.merge(tmp_path, URL, "merge", auto=False, head_commit=None)
    service.set_pull_requests(PullRequest(standing="BLOCKED"))
    with pytest.raises(SpinneyError, match="does not allow automatic merging"):
        await GITHUB.merge(tmp_path, URL, "squash", auto=True, head_commit=None)
    service.permission = "READ"
    with pytest.raises(SpinneyError, match=r"may not merge in this repository. Ask a person"):
        await GITHUB.merge(tmp_path, URL, "squash", auto=False, head_commit=None)
    assert service.changes == []


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Head branch was modified. Review and try the merge again.", "The branch of the pull"),
        ("Base branch was modified. Review and try the merge again.", "The base branch was chang"),
        ("ada does not have the correct permissions to execute it", "The account that gh is"),
        ("Something else.", "GitHub refused: Something else."),
    ],
)
async def test_a_refused_merge_has_its_sentence(
    service: HostingStub, tmp_path: Path, message: str, sentence: str
) -> None:
    service.set_pull_requests(PullRequest())
    service.refused, service.message = "PullRequestMerge", message
    with pytest.raises(SpinneyError) as refused:
        await GITHUB.merge(tmp_path, URL, "merge", auto=False, head_commit=None)
    assert refused.value.message.startswith(sentence)


async def test_the_branch_is_updated_or_it_is_said_why_not(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(behind=2))
    await GITHUB.update_branch(tmp_path, URL, rebase=True)
    assert service.changes[-1][1]["method"] == "REBASE"
    with pytest.raises(SpinneyError, match="The branch contains all of 'main' already"):
        await GITHUB.update_branch(tmp_path, URL, rebase=False)
    service.set_pull_requests(PullRequest(behind=2, owner="bob", can_update=False))
    with pytest.raises(SpinneyError, match="in a fork that the account of gh may not push to"):
        await GITHUB.update_branch(tmp_path, URL, rebase=False)


async def test_text_draft_and_threads_are_changed(service: HostingStub, tmp_path: Path) -> None:
    service.set_pull_requests(PullRequest(draft=True, threads=[Thread()], body="old"))
    await GITHUB.set_draft(tmp_path, URL, False)
    await GITHUB.edit(tmp_path, URL, "@otters {owner}", None)
    await GITHUB.reply_to_thread(tmp_path, URL, "T_7_0", "@done")
    await GITHUB.resolve_thread(tmp_path, URL, "T_7_0")
    known = service.pull_requests[7]
    assert (known.draft, known.title, known.body) == (False, "@otters {owner}", "old")
    assert known.threads[0].resolved
    assert known.threads[0].comments[-1].body == "@done"
    await GITHUB.reply_to_thread(tmp_path, URL, "review:PRR_bob", "Done.")
    path = "/repos/ada/engine/issues/7/comments"
    assert service.changes[-1] == (f"POST {path}", {"body": "Done."})
    with pytest.raises(SpinneyError, match="ends with the next review of the same person"):
        await GITHUB.resolve_thread(tmp_path, URL, "review:PRR_bob")
    with pytest.raises(SpinneyError, match=r"This no longer exists on GitHub. Refresh"):
        await GITHUB.resolve_thread(tmp_path, URL, "gone")


async def test_reviews_are_asked_of_people_and_teams(
    service: HostingStub, place_there: GitProject
) -> None:
    path = place_there.repository.root
    service.set_pull_requests(PullRequest())
    assert await GITHUB.list_possible_reviewers(path) == ["bob"]
    service.teams = ["weavers"]
    assert await GITHUB.list_possible_reviewers(path) == ["bob", "ada/weavers"]
    await GITHUB.request_review(path, URL, ["bob", "ada/weavers"])
    assert service.pull_requests[7].asked == ["bob", "ada/weavers"]
    with pytest.raises(SpinneyError, match="A review can only be asked of people and teams with"):
        await GITHUB.request_review(path, URL, ["nobody"])


async def test_a_branch_is_deleted_at_the_service(
    service: HostingStub, place_there: GitProject
) -> None:
    path = place_there.repository.root
    service.branches |= {"otters/a {owner}"}
    await GITHUB.delete_branch(path, "otters/a {owner}")
    assert service.branches == {"main", "otter"}
    await GITHUB.delete_branch(path, "gone")
    service.protected = ["main"]
    with pytest.raises(SpinneyError, match="GitHub does not allow 'main' to be deleted"):
        await GITHUB.delete_branch(path, "main")


async def test_a_session_fixes_red_checks_by_itself_until_a_person_is_needed(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    workspace = place_there.workspace
    service.jobs[1000] = Job(log=b"2026-01-01T00:00:30.0000000Z expected 3, was 4\n")
    failing = PullRequest(checks=[Check("FAILURE")])
    service.set_pull_requests(failing)
    await save_worktree_pr(workspace, worktree.id, 7, URL)
    session = await create_session(workspace, worktree.id)
    await set_pull_request_loop(workspace, session.id, True, 2)

    def now() -> PullRequestLoop:
        loop = workspace.store.state.sessions[session.id].pull_request_loop
        assert loop is not None
        return loop

    def sent() -> list[str]:
        agent = backend.agents.get(session.id)
        return [str(call[1]) for call in agent.calls if call[0] == "send"] if agent else []

    await eventually(lambda: len(sent()) == 1)
    assert "expected 3, was 4" in sent()[0]
    service.set_pull_requests(replace(failing, commit="b" * 40))
    workspace.poller.refresh_hosting(worktree.id)
    await eventually(lambda: len(sent()) == 2)
    service.set_pull_requests(replace(failing, commit="c" * 40))
    workspace.poller.refresh_hosting(worktree.id)
    await eventually(lambda: now().waits)
    assert (len(sent()), now().used) == (2, 2)
    await set_pull_request_loop(workspace, session.id, True)
    await eventually(lambda: len(sent()) == 3)
    assert (now().limit, now().used, now().waits) == (2, 1, False)
