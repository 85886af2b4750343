"""Secrets are kept out of commits, pushes and pull requests, unless a person allows them."""

from typing import Any

import pytest

from model.api.command import COMMANDS
from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient
from tests.model.hosting.conftest import FakeGh
from tests.model.secrets.fake_keys import FORMATS

TOKEN = FORMATS["github-personal"]()
OTHER = FORMATS["stripe"]()


async def _find(client: ProjectClient, made: Any, before: str, **args: Any) -> list[Any]:
    report = await client.call("find_secrets", worktreeId=made["id"], before=before, **args)
    assert report["is_whole"] is True
    return report["findings"]


async def test_a_commit_with_secrets_is_refused_and_changes_nothing(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "staged.txt", "fine\n")
    client.git(made, "add", "staged.txt")
    client.write(made, "new/config.py", f'# one\n# two\nTOKEN = "{TOKEN}"\n')
    before = client.git(made, "status", "--porcelain"), client.git(made, "rev-parse", "HEAD")
    args = {"worktreeId": made["id"], "message": "Configure"}
    error = await expect_error(client.call, "commit_changes", stageAll=True, **args)
    assert error == (
        "The commit would contain 1 possible secret: GitHub token in new/config.py:3. Take it "
        "out, or allow what is no secret in the project."
    )
    assert (client.git(made, "status", "--porcelain"), client.git(made, "rev-parse", "HEAD")) == (
        before
    )
    [found] = await _find(client, made, "commit", stageAll=True)
    assert (found["path"], found["line"], found["label"]) == ("new/config.py", 3, "GitHub token")
    assert found["excerpt"] == "ghp_…" and TOKEN not in str(found)
    # What is staged has none.
    assert await _find(client, made, "commit") == []
    assert (await client.call("commit_changes", **args))["success"] is True


async def test_a_person_who_has_seen_them_may_commit_exactly_these(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    [found] = await _find(client, made, "commit", stageAll=True)
    client.write(made, "b.env", f"PAYMENTS={OTHER}\n")
    args = {"worktreeId": made["id"], "message": "Add", "stageAll": True}
    error = await expect_error(
        client.call, "commit_changes", allowedSecrets=[found["fingerprint"]], **args
    )
    assert "1 possible secret: Stripe key in b.env:1." in error
    seen = [found["fingerprint"] for found in await _find(client, made, "commit", stageAll=True)]
    done = await client.call("commit_changes", allowedSecrets=seen, **args)
    assert done["success"] is True


async def test_what_is_allowed_in_the_project_is_not_found_again(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    [found] = await _find(client, made, "commit", stageAll=True)
    allowed = {"projectId": client.project_id, "fingerprint": found["fingerprint"]}
    project = await client.call("allow_secret", about="GitHub token in a.env", **allowed)
    assert project["allowed_secrets"] == {found["fingerprint"]: "GitHub token in a.env"}
    assert await _find(client, made, "commit", stageAll=True) == []
    project = await client.call("forget_allowed_secret", **allowed)
    assert "allowed_secrets" not in project
    assert len(await _find(client, made, "commit", stageAll=True)) == 1
    error = await expect_error(client.call, "forget_allowed_secret", **allowed)
    assert error == "This secret is not allowed in the project."
    error = await expect_error(client.call, "allow_secret", **allowed | {"fingerprint": TOKEN})
    assert error.startswith("Invalid field 'fingerprint'")


async def test_a_push_is_refused_for_a_secret_in_any_of_its_commits(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    client.git(made, "add", ".")
    client.git(made, "commit", "-m", "By hand")
    commit = client.git(made, "rev-parse", "--short", "HEAD")
    client.write(made, "a.env", "TOKEN=\n")
    client.git(made, "commit", "-am", "Taken out, and still in the history")
    error = await expect_error(client.call, "git_push", worktreePath=made["path"])
    assert f"GitHub token in a.env:1 ({commit})." in error
    assert client.repository.git("ls-remote", "origin", made["branch"]) == ""
    [found] = await _find(client, made, "push")
    allowed = [found["fingerprint"]]
    pushed = await client.call("git_push", worktreePath=made["path"], allowedSecrets=allowed)
    assert pushed["success"] is True, pushed["output"]
    # What the remote has already is not published again.
    client.write(made, "read.me")
    await client.call("commit_changes", worktreeId=made["id"], message="More", stageAll=True)
    assert (await client.call("git_push", worktreePath=made["path"]))["success"] is True


async def test_a_pull_request_is_refused_or_masked(client: ProjectClient, fake_gh: FakeGh) -> None:
    made = await client.create()
    fake_gh.set_result("pr create", "https://github.com/ada/engine/pull/7\n")
    client.write(made)
    await client.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    args = {"worktreeId": made["id"], "title": "Mend", "body": f"Use\n{TOKEN}"}
    error = await expect_error(client.call, "open_pull_request", **args)
    assert error.startswith(
        "The pull request would publish 1 possible secret: GitHub token in description:2."
    )
    assert client.repository.git("ls-remote", "origin", made["branch"]) == ""
    await client.call("open_pull_request", maskSecrets=True, **args)
    called = " ".join(map(str, fake_gh.calls))
    assert "Use\n[GitHub token]" in called or "Use\\n[GitHub token]" in called
    assert TOKEN not in called


GATED: dict[str, dict[str, Any]] = {
    "amend_commit": {"stageAll": True},
    "commit_changes": {"message": f"Use {TOKEN}", "stageAll": True},
    "continue_operation": {},
    "edit_pull_request": {"body": f"Use {TOKEN}"},
    "fixup_commit": {"stageAll": True},
    "git_push": {},
    "open_pull_request": {"title": f"Use {TOKEN}"},
    "push_base": {},
    "reply_to_thread": {"threadId": "T_7_0", "text": f"Use {TOKEN}"},
}
"""What commits or publishes, with arguments by which it would do that with a secret."""


def test_each_command_that_commits_or_publishes_can_be_answered() -> None:
    able = {
        name
        for name, each in COMMANDS.items()
        if any(argument.name == "allowed_secrets" for argument in each.arguments)
    }
    assert able == GATED.keys()


@pytest.mark.parametrize("name", ["amend_commit", "fixup_commit"])
async def test_a_rewritten_commit_is_searched(client: ProjectClient, name: str) -> None:
    made = await client.create()
    client.write(made)
    await client.call("commit_changes", worktreeId=made["id"], message="Mend", stageAll=True)
    head = client.git(made, "rev-parse", "HEAD")
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    sha = {"sha": head} if name == "fixup_commit" else {}
    args = {"worktreeId": made["id"], **sha, **GATED[name]}
    error = await expect_error(client.call, name, **args)
    assert error.startswith("The commit would contain 1 possible secret: GitHub token in a.env:1.")
    assert client.git(made, "rev-parse", "HEAD") == head
    [found] = await _find(client, made, "commit", stageAll=True)
    done = await client.call(name, allowedSecrets=[found["fingerprint"]], **args)
    assert done["success"] is True


async def test_a_pushed_base_is_searched_with_the_messages_of_its_commits(
    client: ProjectClient,
) -> None:
    made = await client.create()
    client.write(made)
    client.git(made, "add", ".")
    client.git(made, "commit", "-m", "Mend", "-m", f"With {TOKEN}")
    client.repository.git("merge", "--quiet", "--no-ff", "--no-edit", made["branch"])
    there = client.repository.git("ls-remote", "origin", "main")
    args = {"projectId": client.project_id, "branch": "main"}
    error = await expect_error(client.call, "push_base", **args)
    assert "The push would publish 1 possible secret: GitHub token in message:" in error
    assert client.repository.git("ls-remote", "origin", "main") == there
    report = await client.call("find_secrets", before="push", **args)
    allowed = [found["fingerprint"] for found in report["findings"]]
    await client.call("push_base", allowedSecrets=allowed, **args)
    assert client.repository.git("ls-remote", "origin", "main") != there


@pytest.mark.parametrize("command", ["git_push", "push_base"])
async def test_the_name_of_a_pushed_branch_is_searched(client: ProjectClient, command: str) -> None:
    made = await client.create()
    client.git(made, "checkout", "--quiet", "-b", TOKEN)
    args = {"worktreePath": made["path"]}
    if command == "push_base":
        args = {"projectId": client.project_id, "branch": TOKEN}
    error = await expect_error(client.call, command, **args)
    assert "The push would publish 1 possible secret: GitHub token in branch name:1." in error
    assert client.repository.git("ls-remote", "origin", TOKEN) == ""
    [found] = await _find(client, made, "push")
    assert (found["path"], found["label"]) == ("branch name", "GitHub token")
    await client.call(command, allowedSecrets=[found["fingerprint"]], **args)
    assert client.repository.git("ls-remote", "origin", TOKEN) != ""


async def test_a_resolution_is_searched_and_not_what_it_merges(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "a.txt", "mine\n")
    await client.call("commit_changes", worktreeId=made["id"], message="Mine", stageAll=True)
    client.repository.write("known.env", f"TOKEN={OTHER}\n")
    client.repository.commit("a.txt", "theirs\n")
    done = await client.call("git_pull", worktreePath=made["path"], baseBranch="main", remote=".")
    assert done["success"] is False
    client.write(made, "a.txt", f"TOKEN={TOKEN}\n")
    client.git(made, "add", "a.txt")
    args = {"worktreeId": made["id"]}
    error = await expect_error(client.call, "continue_operation", **args)
    assert "would contain 1 possible secret: GitHub token in a.txt:1." in error
    client.write(made, "a.txt", "both\n")
    client.git(made, "add", "a.txt")
    assert (await client.call("continue_operation", **args))["success"] is True


@pytest.mark.parametrize("name", ["edit_pull_request", "reply_to_thread"])
async def test_a_text_for_a_pull_request_is_searched(
    client: ProjectClient, fake_gh: FakeGh, name: str
) -> None:
    made = await client.create()
    error = await expect_error(client.call, name, worktreeId=made["id"], **GATED[name])
    assert error.startswith("The text would publish 1 possible secret: GitHub token in ")
    assert TOKEN not in str(fake_gh.calls)
    [found] = await _find(client, made, "text", body=f"Use {TOKEN}")
    allowed = [found["fingerprint"]]
    error = await expect_error(
        client.call, name, worktreeId=made["id"], allowedSecrets=allowed, **GATED[name]
    )
    assert "secret" not in error, "it has no pull request"


async def test_nothing_is_searched_if_the_preference_is_off(client: ProjectClient) -> None:
    await client.call("update_preferences", changes={"secret_check": False})
    made = await client.create()
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    args = {"worktreeId": made["id"], "message": "Add", "stageAll": True}
    assert (await client.call("commit_changes", **args))["success"] is True
    assert (await client.call("git_push", worktreePath=made["path"]))["success"] is True
