"""Sections 3 and 4.5 of the interface: the life of a worktree."""

import re
import time
import uuid
from pathlib import Path

import pytest

from tests.contract.conftest import expect_error, receive_payload
from tests.contract.project_client import ProjectClient
from tests.server.conftest import Socket


async def test_create_worktree_returns_at_once_and_continues_in_the_background(
    client: ProjectClient, listener: Socket
) -> None:
    made = await client.call("create_worktree", projectId=client.project_id)
    created = (await receive_payload(listener, "worktree:created"))["worktree"]
    fields = ("id", "project_id", "name", "path", "branch", "created_at")
    assert {key: created[key] for key in fields} == {key: made[key] for key in fields}
    assert client.git(created, "branch", "--show-current") == made["branch"]


async def test_get_included_files_lists_what_new_worktrees_get(client: ProjectClient) -> None:
    client.repository.commit(".gitignore", ".env\n*.log\n")
    client.repository.commit(".worktreeinclude", ".env\n")
    client.repository.write(".env", "KEY=1")
    client.repository.write("build.log", "noise")
    found = await client.call("get_included_files", projectId=client.project_id)
    assert found == {
        "files": [".env"], "count": 1, "size": 5, "large": [], "summary": "Copies .env",
    }  # fmt: skip
    made = await client.create()
    assert made["copied_files"] == {"count": 1, "size": 5, "total": 1, "problems": []}


@pytest.mark.own_program  # It checks paths in its home.
async def test_create_worktree_has_a_random_name_of_two_words(
    client: ProjectClient, own_home: Path, tmp_path: Path
) -> None:
    made = await client.create()
    assert re.fullmatch("[a-z]+-[a-z]+", made["name"])
    assert made["branch"] == made["name"]
    assert str(uuid.UUID(made["id"], version=4)) == made["id"]
    assert made["project_id"] == client.project_id
    assert (made["session_type"], made["archived_at"], made["label"]) == ("worktree", None, None)
    assert made["path"] == str(tmp_path / "home" / "spinney" / "project" / made["name"])


async def test_create_worktree_accepts_a_custom_name_and_a_base_branch(
    client: ProjectClient,
) -> None:
    client.repository.git("branch", "next")
    client.repository.commit("later.txt", "later\n")
    made = await client.create(customName="calm-heron", baseBranch="next")
    assert (made["name"], made["branch"]) == ("calm-heron", "calm-heron")
    assert client.git(made, "rev-parse", "HEAD") == client.repository.git("rev-parse", "next")


async def test_create_worktree_uses_the_directory_of_the_project(
    client: ProjectClient, tmp_path: Path
) -> None:
    trees = str(tmp_path / "trees")
    await client.call("update_project_settings", projectId=client.project_id, worktreesDir=trees)
    made = await client.create(customName="calm-heron")
    assert made["path"] == f"{trees}/calm-heron"


async def test_create_worktree_of_an_issue_is_named_after_it(client: ProjectClient) -> None:
    made = await client.create(issueContext={"number": 7, "title": "Fix the loom!", "body": "."})
    assert (made["issue_number"], made["branch"]) == (7, "7-fix-the-loom")


@pytest.mark.parametrize("key", ["number", "title", "headRefName", "baseRefName"])
async def test_create_worktree_requires_every_field_of_a_pull_request(
    client: ProjectClient, key: str
) -> None:
    whole = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    del whole[key]
    error = await expect_error(
        client.call, "create_worktree", projectId=client.project_id, prContext=whole
    )
    assert error.startswith("Invalid field 'prContext': ")


@pytest.mark.own_program  # It checks paths in its home.
async def test_create_worktree_refuses_a_name_that_is_taken(
    client: ProjectClient, tmp_path: Path
) -> None:
    async def error_for(name: str) -> str:
        return await expect_error(
            client.call, "create_worktree", projectId=client.project_id, customName=name
        )

    await client.create(customName="taken")
    assert await error_for("taken") == "Worktree name already exists: taken"
    client.repository.git("branch", "elsewhere")
    assert await error_for("elsewhere") == "Branch already exists: elsewhere"
    existing = tmp_path / "home" / "spinney" / "project" / "lying"
    existing.mkdir(parents=True)
    (existing / "file").touch()
    assert await error_for("lying") == f"Worktree path already exists: {existing}"


async def test_create_worktree_of_a_pull_request_checks_out_its_head(client: ProjectClient) -> None:
    client.repository.git("checkout", "--quiet", "-b", "mend")
    head = client.repository.commit("mended.txt", "mended\n")
    client.repository.git("checkout", "--quiet", "main")
    client.repository.git("push", "--quiet", "origin", "mend:refs/pull/7/head")
    client.repository.git("branch", "--quiet", "-D", "mend")
    whole = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    made = await client.create(prContext=whole)
    assert (made["pr_number"], made["branch"]) == (7, "mend")
    assert client.git(made, "rev-parse", "HEAD") == head
    assert Path(made["path"], "mended.txt").exists()


async def test_create_worktree_that_fails_leaves_nothing(
    client: ProjectClient, listener: Socket
) -> None:
    # Git needs a directory here and finds a file.
    (client.repository.root / ".git" / "worktrees").write_text("")
    await client.call("create_worktree", projectId=client.project_id, customName="unlucky")
    failed = await receive_payload(listener, "worktree:create_error")
    assert failed["error"].startswith("Failed to create worktree: ")
    assert await client.list_names() == []
    assert client.repository.git("branch", "--list", "unlucky") == ""


async def test_archive_worktree_and_unarchive_worktree_keep_the_files(
    client: ProjectClient,
) -> None:
    made = await client.create()
    assert await client.call("archive_worktree", worktreeId=made["id"]) is None
    assert await client.list_names() == []
    assert await client.list_names(includeArchived=True) == [made["name"]]
    archived = await client.call("get_worktree", worktreeId=made["id"])
    assert isinstance(archived["archived_at"], float)
    assert Path(made["path"], "read.me").exists()
    back = await client.call("unarchive_worktree", worktreeId=made["id"])
    assert back["archived_at"] is None
    assert await client.list_names() == [made["name"]]


async def test_delete_worktree_moves_it_to_the_archive(client: ProjectClient) -> None:
    made = await client.create()
    assert await client.call("delete_worktree", worktreeId=made["id"]) is None
    assert (await client.call("get_worktree", worktreeId=made["id"]))["archived_at"]
    assert Path(made["path"]).is_dir()


async def test_rename_worktree_renames_the_branch_too(client: ProjectClient) -> None:
    made = await client.create(customName="before")
    renamed = await client.call("rename_worktree", worktreeId=made["id"], newName="after")
    assert (renamed["name"], renamed["branch"]) == ("after", "after")
    assert client.git(renamed, "branch", "--show-current") == "after"
    await client.create(customName="other")
    error = await expect_error(
        client.call, "rename_worktree", worktreeId=made["id"], newName="other"
    )
    assert error == "Worktree name already exists: other"


async def test_update_worktree_label_sets_and_clears_it(client: ProjectClient) -> None:
    made = await client.create()
    label = {"name": "urgent", "color": "#ff0000"}
    for wanted in (label, None):
        result = await client.call("update_worktree_label", worktreeId=made["id"], label=wanted)
        assert result is None
        assert (await client.call("get_worktree", worktreeId=made["id"]))["label"] == wanted
    assert await expect_error(client.call, "update_worktree_label", worktreeId=made["id"]) == (
        "Missing field: label"
    )


async def test_last_opened_at_is_set_by_mark_worktree_opened(client: ProjectClient) -> None:
    made = await client.create()
    assert made["last_opened_at"] is None
    before = time.time()
    await client.call("mark_worktree_opened", worktreeId=made["id"])
    opened = (await client.call("get_worktree", worktreeId=made["id"]))["last_opened_at"]
    assert before <= opened <= time.time()


async def test_reorder_worktrees_sets_the_order(client: ProjectClient) -> None:
    made = [(await client.create(customName=name))["id"] for name in ("one", "two", "three")]
    await client.call(
        "reorder_worktrees", projectId=client.project_id, worktreeIds=[made[2], made[0], made[1]]
    )
    assert await client.list_names() == ["three", "one", "two"]
    found = await client.call("list_worktrees", projectId=client.project_id)
    assert [worktree["order"] for worktree in found] == sorted(w["order"] for w in found)


async def test_fetch_worktrees_status_refreshes_the_counts(client: ProjectClient) -> None:
    made = await client.create()
    client.write(made, "new.txt", "one\ntwo\n")
    client.git(made, "add", ".")
    client.git(made, "commit", "-m", "Add")
    client.write(made, "read.me", "one\n")
    assert await client.call("fetch_worktrees_status", projectId=client.project_id) is None
    found = await client.call("get_worktree", worktreeId=made["id"])
    assert (found["cached_ahead_count"], found["cached_behind_count"]) == (1, 0)
    assert (found["cached_uncommitted_added"], found["cached_uncommitted_removed"]) == (0, 2)
    assert found["cached_branch_diff_added"] == 2
    assert found["cached_unpushed_count"] == 1
    assert found["cached_status_at"] > 0


async def test_fetch_worktrees_status_sends_events_even_if_nothing_changed(
    client: ProjectClient, listener: Socket
) -> None:
    made = [await client.create(customName=name) for name in ("one", "two")]
    await client.call("fetch_worktrees_status", projectId=client.project_id)
    before = {w["id"]: (await client.call("get_worktree", worktreeId=w["id"])) for w in made}
    await listener.call("list_projects")  # Earlier events arrive before this reply.
    await client.call("fetch_worktrees_status", projectId=client.project_id)
    updated = {
        (await receive_payload(listener, "worktree:status_updated"))["worktree_id"] for _ in made
    }
    assert updated == set(before)
    for key, was in before.items():
        now = await client.call("get_worktree", worktreeId=key)
        assert now["cached_status_at"] > was["cached_status_at"]
        assert now == {**was, "cached_status_at": now["cached_status_at"]}


async def test_a_missing_project_directory_is_reported(client: ProjectClient) -> None:
    assert await client.call("get_problems") == []
    root = client.repository.root
    away = root.rename(root.with_name("away"))
    error = await expect_error(client.call, "fetch_worktrees_status", projectId=client.project_id)
    assert error.startswith(f"The project's directory is missing: {root}. ")
    assert await client.call("get_problems") == [error]
    away.rename(root)
    assert await client.call("fetch_worktrees_status", projectId=client.project_id) is None


async def test_ignore_outside_worktree_takes_it_from_those_that_are_offered(
    client: ProjectClient, tmp_path: Path
) -> None:
    path = str((tmp_path / "by-hand").resolve())
    client.repository.git("worktree", "add", "-q", "-b", "by-hand", path)
    offered = {"path": path, "branch": "by-hand", "ignored": False}
    project = {"projectId": client.project_id}
    assert await client.call("list_outside_worktrees", **project) == [offered]
    await client.call("ignore_outside_worktree", **project, path=path)
    assert await client.call("list_outside_worktrees", **project) == []
    every = await client.call("list_outside_worktrees", **project, includeIgnored=True)
    assert every == [{**offered, "ignored": True}]
    elsewhere = str(tmp_path / "elsewhere")
    error = await expect_error(client.call, "ignore_outside_worktree", **project, path=elsewhere)
    assert "was created outside Spinney" in error
