"""Secrets are kept out of commits, pushes and pull requests, unless a person allows them."""

from typing import Any

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


async def test_nothing_is_searched_if_the_preference_is_off(client: ProjectClient) -> None:
    await client.call("update_preferences", changes={"secret_check": False})
    made = await client.create()
    client.write(made, "a.env", f"TOKEN={TOKEN}\n")
    args = {"worktreeId": made["id"], "message": "Add", "stageAll": True}
    assert (await client.call("commit_changes", **args))["success"] is True
    assert (await client.call("git_push", worktreePath=made["path"]))["success"] is True
