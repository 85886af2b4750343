"""Sections 3 and 4.5 of the interface: the life of a worktree."""

import re
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, payload_of, refusal
from tests.contract.place import Place
from tests.model.git.made_repository import Repository
from tests.server.conftest import Socket


@pytest.fixture
def place(call: Call, listener: Socket, project: Any, with_remote: Repository) -> Place:
    return Place(call, listener, project["id"], with_remote)


async def test_create_worktree_answers_at_once_and_goes_on_behind(
    place: Place, listener: Socket
) -> None:
    made = await place.call("create_worktree", projectId=place.project_id)
    created = (await payload_of(listener, "worktree:created"))["worktree"]
    fields = ("id", "project_id", "name", "path", "branch", "created_at")
    assert {key: created[key] for key in fields} == {key: made[key] for key in fields}
    assert place.git(created, "branch", "--show-current") == made["branch"]


@pytest.mark.own_program  # It looks into its home.
async def test_create_worktree_has_a_random_name_of_two_words(
    place: Place, own_home: Path, tmp_path: Path
) -> None:
    made = await place.create()
    assert re.fullmatch("[a-z]+-[a-z]+", made["name"])
    assert made["branch"] == made["name"]
    assert str(uuid.UUID(made["id"], version=4)) == made["id"]
    assert made["project_id"] == place.project_id
    assert (made["session_type"], made["archived_at"], made["label"]) == ("worktree", None, None)
    assert made["path"] == str(tmp_path / "home" / "spinney" / "project" / made["name"])


async def test_create_worktree_takes_a_custom_name_and_a_base_branch(place: Place) -> None:
    place.repository.git("branch", "next")
    place.repository.commit("later.txt", "later\n")
    made = await place.create(customName="calm-heron", baseBranch="next")
    assert (made["name"], made["branch"]) == ("calm-heron", "calm-heron")
    assert place.git(made, "rev-parse", "HEAD") == place.repository.git("rev-parse", "next")


async def test_create_worktree_goes_where_the_project_says(place: Place, tmp_path: Path) -> None:
    trees = str(tmp_path / "trees")
    await place.call("update_project_settings", projectId=place.project_id, worktreesDir=trees)
    made = await place.create(customName="calm-heron")
    assert made["path"] == f"{trees}/calm-heron"


async def test_create_worktree_of_an_issue_is_named_after_it(place: Place) -> None:
    made = await place.create(issueContext={"number": 7, "title": "Fix the loom!", "body": "."})
    assert (made["issue_number"], made["branch"]) == (7, "7-fix-the-loom")


@pytest.mark.parametrize("key", ["number", "title", "headRefName", "baseRefName"])
async def test_create_worktree_needs_all_of_a_pull_request(place: Place, key: str) -> None:
    whole = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    del whole[key]
    told = await refusal(place.call, "create_worktree", projectId=place.project_id, prContext=whole)
    assert told.startswith("Invalid field 'prContext': ")


@pytest.mark.own_program  # It looks into its home.
async def test_create_worktree_refuses_a_name_that_is_taken(place: Place, tmp_path: Path) -> None:
    async def told(name: str) -> str:
        return await refusal(
            place.call, "create_worktree", projectId=place.project_id, customName=name
        )

    await place.create(customName="taken")
    assert await told("taken") == "Worktree name already exists: taken"
    place.repository.git("branch", "elsewhere")
    assert await told("elsewhere") == "Branch already exists: elsewhere"
    lying = tmp_path / "home" / "spinney" / "project" / "lying"
    lying.mkdir(parents=True)
    (lying / "file").touch()
    assert await told("lying") == f"Worktree path already exists: {lying}"


async def test_create_worktree_of_a_pull_request_checks_out_its_head(place: Place) -> None:
    place.repository.git("checkout", "--quiet", "-b", "mend")
    head = place.repository.commit("mended.txt", "mended\n")
    place.repository.git("checkout", "--quiet", "main")
    place.repository.git("push", "--quiet", "origin", "mend:refs/pull/7/head")
    place.repository.git("branch", "--quiet", "-D", "mend")
    whole = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    made = await place.create(prContext=whole)
    assert (made["pr_number"], made["branch"]) == (7, "mend")
    assert place.git(made, "rev-parse", "HEAD") == head
    assert Path(made["path"], "mended.txt").exists()


async def test_create_worktree_that_fails_leaves_nothing(place: Place, listener: Socket) -> None:
    # Git needs to write here, and finds a file where its directory belongs.
    (place.repository.root / ".git" / "worktrees").write_text("")
    await place.call("create_worktree", projectId=place.project_id, customName="unlucky")
    failed = await payload_of(listener, "worktree:create_error")
    assert failed["error"].startswith("Failed to create worktree: ")
    assert await place.names() == []
    assert place.repository.git("branch", "--list", "unlucky") == ""


async def test_archive_worktree_and_unarchive_worktree_keep_the_files(place: Place) -> None:
    made = await place.create()
    assert await place.call("archive_worktree", worktreeId=made["id"]) is None
    assert await place.names() == []
    assert await place.names(includeArchived=True) == [made["name"]]
    archived = await place.call("get_worktree", worktreeId=made["id"])
    assert isinstance(archived["archived_at"], float)
    assert Path(made["path"], "read.me").exists()
    back = await place.call("unarchive_worktree", worktreeId=made["id"])
    assert back["archived_at"] is None
    assert await place.names() == [made["name"]]


async def test_delete_worktree_moves_it_to_the_archive(place: Place) -> None:
    made = await place.create()
    assert await place.call("delete_worktree", worktreeId=made["id"]) is None
    assert (await place.call("get_worktree", worktreeId=made["id"]))["archived_at"]
    assert Path(made["path"]).is_dir()


async def test_rename_worktree_renames_the_branch_too(place: Place) -> None:
    made = await place.create(customName="before")
    renamed = await place.call("rename_worktree", worktreeId=made["id"], newName="after")
    assert (renamed["name"], renamed["branch"]) == ("after", "after")
    assert place.git(renamed, "branch", "--show-current") == "after"
    await place.create(customName="other")
    told = await refusal(place.call, "rename_worktree", worktreeId=made["id"], newName="other")
    assert told == "Worktree name already exists: other"


async def test_update_worktree_label_sets_and_clears_it(place: Place) -> None:
    made = await place.create()
    label = {"name": "urgent", "color": "#ff0000"}
    for wanted in (label, None):
        result = await place.call("update_worktree_label", worktreeId=made["id"], label=wanted)
        assert result is None
        assert (await place.call("get_worktree", worktreeId=made["id"]))["label"] == wanted
    assert await refusal(place.call, "update_worktree_label", worktreeId=made["id"]) == (
        "Missing field: label"
    )


async def test_last_opened_at_is_when_a_person_looked_at_it(place: Place) -> None:
    made = await place.create()
    assert made["last_opened_at"] is None
    before = time.time()
    await place.call("mark_worktree_opened", worktreeId=made["id"])
    opened = (await place.call("get_worktree", worktreeId=made["id"]))["last_opened_at"]
    assert before <= opened <= time.time()


async def test_reorder_worktrees_is_the_order_wanted(place: Place) -> None:
    made = [(await place.create(customName=name))["id"] for name in ("one", "two", "three")]
    await place.call(
        "reorder_worktrees", projectId=place.project_id, worktreeIds=[made[2], made[0], made[1]]
    )
    assert await place.names() == ["three", "one", "two"]
    found = await place.call("list_worktrees", projectId=place.project_id)
    assert [worktree["order"] for worktree in found] == sorted(w["order"] for w in found)


async def test_fetch_worktrees_status_refreshes_the_counts(place: Place) -> None:
    made = await place.create()
    place.write(made, "new.txt", "one\ntwo\n")
    place.git(made, "add", ".")
    place.git(made, "commit", "-m", "Add")
    place.write(made, "read.me", "one\n")
    assert await place.call("fetch_worktrees_status", projectId=place.project_id) is None
    found = await place.call("get_worktree", worktreeId=made["id"])
    assert (found["cached_ahead_count"], found["cached_behind_count"]) == (1, 0)
    assert (found["cached_uncommitted_added"], found["cached_uncommitted_removed"]) == (0, 2)
    assert found["cached_branch_diff_added"] == 2
    assert found["cached_unpushed_count"] == 1
    assert found["cached_status_at"] > 0


async def test_fetch_worktrees_status_tells_though_nothing_changed(
    place: Place, listener: Socket
) -> None:
    made = [await place.create(customName=name) for name in ("one", "two")]
    await place.call("fetch_worktrees_status", projectId=place.project_id)
    before = {w["id"]: (await place.call("get_worktree", worktreeId=w["id"])) for w in made}
    await listener.call("list_projects")  # What was told until now came before this answer.
    await place.call("fetch_worktrees_status", projectId=place.project_id)
    told = {(await payload_of(listener, "worktree:status_updated"))["worktree_id"] for _ in made}
    assert told == set(before)
    for key, was in before.items():
        now = await place.call("get_worktree", worktreeId=key)
        assert now["cached_status_at"] > was["cached_status_at"]
        assert now == {**was, "cached_status_at": now["cached_status_at"]}


async def test_a_project_whose_directory_is_gone_is_told(place: Place) -> None:
    assert await place.call("get_problems") == []
    root = place.repository.root
    away = root.rename(root.with_name("away"))
    told = await refusal(place.call, "fetch_worktrees_status", projectId=place.project_id)
    assert told.startswith(f"The project's directory is missing: {root}. ")
    assert await place.call("get_problems") == [told]
    away.rename(root)
    assert await place.call("fetch_worktrees_status", projectId=place.project_id) is None
