"""The commits of a worktree, stashes, conflicts and existing branches, as a client uses them."""

from typing import Any

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient


async def test_the_log_of_a_worktree_and_a_commit_of_it(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "new.txt", "one\n")
    done = await client.call(
        "commit_changes", worktreeId=made["id"], message="Add it", stageAll=True
    )
    newest, oldest = await client.call("list_commits", worktreeId=made["id"])
    assert (newest["sha"], newest["subject"]) == (done["commit_sha"], "Add it")
    assert (newest["is_in_base"], oldest["is_in_base"]) == (False, True)
    of_it: dict[str, Any] = {"worktreeId": made["id"], "sha": newest["sha"]}
    [file] = await client.call("list_commit_files", **of_it)
    assert (file["path"], file["status"], file["added"]) == ("new.txt", "added", 1)
    diff = await client.call("get_commit_file_diff", path="new.txt", **of_it)
    assert "\n+one\n" in diff["text"]
    shown = await client.call(
        "get_diff_rows", worktreeId=made["id"], path="new.txt", commit=newest["sha"]
    )
    assert [(row["sign"], row["new"]) for row in shown["rows"]][-1] == ("+", 1)


async def test_amend_and_fixup_change_commits_that_were_not_pushed(client: ProjectClient) -> None:
    made = await client.create()
    for name in ("a", "b"):
        client.write(made, name, "one\n")
        await client.call("commit_changes", worktreeId=made["id"], message=name, stageAll=True)
    first = client.git(made, "rev-parse", "HEAD~1")
    client.write(made, "a", "two\n")
    await client.call("fixup_commit", worktreeId=made["id"], sha=first, stageAll=True)
    assert client.git(made, "show", "HEAD~1:a") == "two"
    done = await client.call("amend_commit", worktreeId=made["id"], message="Better")
    assert done == {"success": True, "commit_sha": client.git(made, "rev-parse", "HEAD")}
    await client.call("git_push", worktreePath=made["path"])
    error = await expect_error(client.call, "amend_commit", worktreeId=made["id"], message="No")
    assert "was pushed" in error


async def test_a_stash_is_made_applied_dropped_and_restored(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "read.me", "stashed\n")
    of_it = {"worktreeId": made["id"]}
    stash = await client.call("stash_changes", message="For later", **of_it)
    assert await client.call("list_stashes", **of_it) == [stash]
    assert (stash["message"], stash["branch"], stash["files"]) == ("For later", made["branch"], 1)
    await client.call("drop_stash", stashId=stash["id"], **of_it)
    assert await client.call("list_stashes", **of_it) == []
    await client.call("restore_stash", stashId=stash["id"], **of_it)
    applied = await client.call("apply_stash", stashId=stash["id"], **of_it)
    assert applied["success"] is True
    assert await client.call("list_stashes", **of_it) == []
    assert await client.call("has_uncommitted_changes", **of_it) is True


async def test_a_conflict_is_resolved_by_a_side_and_the_merge_continued(
    client: ProjectClient,
) -> None:
    made = await client.create()
    client.repository.commit("read.me", "theirs\n")
    client.write(made, "read.me", "ours\n")
    client.git(made, "commit", "--quiet", "-am", "Ours")
    client.repository.git("push", "--quiet", "origin", "main")
    pulled = await client.call("git_pull", worktreePath=made["path"], baseBranch="main")
    assert pulled["success"] is False
    of_it = {"worktreeId": made["id"]}
    conflict = await client.call("list_changed_files", **of_it)
    assert (conflict["files"][0]["status"], conflict["can_undo"]) == ("conflicted", False)
    await client.call("resolve_conflict", path="read.me", choice="theirs", **of_it)
    assert (await client.call("list_changed_files", **of_it))["can_undo"] is True
    undone = await client.call("undo_discard", **of_it)  # as a face does that did not choose
    assert (undone["path"], undone["conflicted"]) == ("read.me", True)
    assert await client.call("list_changed_files", **of_it) == conflict
    assert client.git(made, "ls-files", "--unmerged") != ""
    await client.call("resolve_conflict", path="read.me", choice="theirs", **of_it)
    done = await client.call("continue_operation", **of_it)
    assert done["commit_sha"] == client.git(made, "rev-parse", "HEAD")
    assert client.git(made, "show", "HEAD:read.me") == "theirs"


async def test_a_worktree_on_an_existing_branch_leaves_it_when_it_is_deleted(
    client: ProjectClient,
) -> None:
    client.repository.git("branch", "topic")
    made = await client.create(branch="topic")
    assert (made["branch"], made["name"], made["keeps_branch"]) == ("topic", "topic", True)
    again = {"projectId": client.project_id, "branch": "topic"}
    assert "is checked out in" in await expect_error(client.call, "create_worktree", **again)
    await client.call("remove_worktree", worktreeId=made["id"], forGood=True)
    assert client.repository.git("branch", "--list", "topic") == "topic"


async def test_a_branch_of_a_remote_becomes_a_local_one_that_tracks_it(
    client: ProjectClient,
) -> None:
    client.repository.git("push", "--quiet", "origin", "main:refs/heads/theirs")
    client.repository.git("fetch", "--quiet")
    made = await client.create(branch="origin/theirs")
    assert made["branch"] == "theirs"
    assert client.git(made, "rev-parse", "--abbrev-ref", "@{upstream}") == "origin/theirs"
    missing = {"projectId": client.project_id, "branch": "nowhere"}
    error = await expect_error(client.call, "create_worktree", **missing)
    assert error == "Invalid field 'branch': there is no branch 'nowhere'"


async def test_lines_around_the_hunks_of_a_changed_file(client: ProjectClient) -> None:
    made = await client.create()
    before = "".join(f"n = {number}\n" for number in range(1, 41))
    client.write(made, "long.py", before)
    await client.call("commit_changes", worktreeId=made["id"], message="Add it", stageAll=True)
    client.write(made, "long.py", before.replace("n = 30\n", "n = 30\nextra\x1b[2J\n"))
    of_it: dict[str, Any] = {"worktreeId": made["id"], "path": "long.py"}
    found = await client.call("get_file_lines", first=29, limit=3, **of_it)
    assert found["total"] == 41
    texts = ["".join(text for text, *_ in row["pieces"]) for row in found["rows"]]
    assert texts == ["n = 29", "n = 30", "extra␛[2J"]
    assert [(row["sign"], row["old"], row["new"]) for row in found["rows"][:2]] == [
        (" ", None, 29), (" ", None, 30),
    ]  # fmt: skip
    assert ["1", "number", False] in (await client.call("get_file_lines", **of_it))["rows"][0][
        "pieces"
    ]
    on_branch = await client.call("get_file_lines", side="branch", first=40, **of_it)
    assert (len(on_branch["rows"]), on_branch["total"]) == (1, 40)
    assert "must be 1 or more" in await expect_error(
        client.call, "get_file_lines", first=0, **of_it
    )
    client.write(made, "gone", "x\n")
    error = await expect_error(client.call, "get_file_lines", worktreeId=made["id"], path="../x")
    assert "no longer has such changes" in error
