"""Branches of new worktrees are named by a template, and stay tied to the worktree's name."""

import time
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.projects import update_project_settings
from model.commands.worktrees import create_worktree, remove_worktree, rename_worktree
from model.domain.worktrees import PullRequestContext
from model.runtime.workspace import Workspace
from model.worktrees.branch_names import find_branch_in_the_way, name_branch, taken_names
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


async def test_new_branches_are_named_by_the_preference(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    await update_preferences(workspace, {"branch_template": "{user}/{project}/{slug}"})
    repository.git("config", "user.name", "Ada Lovelace")
    made = await make("door")
    assert (made.name, made.branch) == ("door", "ada-lovelace/project/door")
    assert Path(made.path).name == "door"
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == made.branch


async def test_a_project_has_a_template_of_its_own(make: Maker, workspace: Workspace) -> None:
    await update_preferences(workspace, {"branch_template": "all/{slug}"})
    await update_project_settings(workspace, make.project.id, branch_template="{date}-{slug}")
    made = await make()
    assert made.branch == f"{time.strftime('%Y-%m-%d')}-{made.name}"
    await update_project_settings(workspace, make.project.id, branch_template="")
    assert (await make("door")).branch == "all/door"


async def test_a_renamed_worktree_keeps_the_form_of_its_branch(
    make: Maker, workspace: Workspace
) -> None:
    await update_preferences(workspace, {"branch_template": "ada/{slug}"})
    made = await make("door")
    await update_preferences(workspace, {"branch_template": "other/{slug}"})
    renamed = await rename_worktree(workspace, made.id, "window")
    assert (renamed.name, renamed.branch) == ("window", "ada/window")


async def test_the_branch_is_deleted_with_its_worktree(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    await update_preferences(workspace, {"branch_template": "ada/{slug}"})
    made = await make("door")
    await remove_worktree(workspace, made.id, force=True, for_good=True)
    assert repository.git("branch", "--list", "ada/*") == ""


@pytest.mark.parametrize(
    ("given", "branch"),
    [
        ({"name": "feature/door"}, "feature/door"),
        ({"name": "one", "branch": "side"}, "side"),
        ({}, "oil"),
    ],
)
async def test_a_name_with_a_slash_an_existing_branch_and_a_pull_request_have_no_template(
    make: Maker, workspace: Workspace, with_remote: Repository, given: dict[str, str], branch: str
) -> None:
    await update_preferences(workspace, {"branch_template": "ada/{slug}"})
    with_remote.git("branch", "side")
    context = None
    if not given:
        with_remote.git("push", "--quiet", "origin", "main:refs/heads/oil")
        context = PullRequestContext(number=7, title="Oil", headRefName="oil", baseRefName="main")
    made = await make(given.get("name"), branch=given.get("branch"), pr_context=context)
    assert made.branch == branch


@pytest.mark.parametrize(
    "template", ["/{slug}", "a//{slug}", "-{slug}", "{slug}.lock", "a/../{slug}"]
)
async def test_a_template_of_which_no_branch_can_be_made_is_refused(
    make: Maker, workspace: Workspace, template: str
) -> None:
    with pytest.raises(SpinneyError, match="New branches cannot be named by the template"):
        await update_project_settings(workspace, make.project.id, branch_template=template)
    await update_preferences(workspace, {"branch_template": template})
    with pytest.raises(SpinneyError, match=r"Change it in the project's settings"):
        await make("door")


async def test_a_hostile_name_of_the_user_is_made_a_part_of_a_branch(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    await update_preferences(workspace, {"branch_template": "{user}/{slug}"})
    repository.git("config", "user.name", "--Ada\x1b[31m/../ {slug}~^:")
    assert (await make("door")).branch == "ada-31m-slug/door"


async def test_a_branch_in_the_way_is_named(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    await update_preferences(workspace, {"branch_template": "ada/{slug}"})
    repository.git("branch", "ada")
    with pytest.raises(SpinneyError, match="'ada/door' cannot exist beside the branch 'ada'"):
        await create_worktree(workspace, make.project.id, custom_name="door")


def test_names_and_branches_belong_together() -> None:
    assert name_branch("ada/{slug}", "door") == "ada/door"
    assert name_branch("ada/{slug}", "x/door") == "x/door"
    assert name_branch(None, "door") == "door"
    assert taken_names("ada/{slug}", ["main", "ada/door", "ada"]) == {"ada/door", "door"}
    assert taken_names(None, ["main", "ada/door"]) == {"main", "ada/door"}
    assert find_branch_in_the_way("a/b/c", ["a/b"]) == "a/b"
    assert find_branch_in_the_way("a", ["b", "a/b"]) == "a/b"
    assert find_branch_in_the_way("a/c", ["a/b"]) is None


async def test_a_branch_of_the_remote_that_was_chosen_is_checked_out(
    make: Maker, with_remote: Repository, tmp_path: Path
) -> None:
    with_remote.git("push", "--quiet", "origin", "main:refs/heads/side")
    with_remote.git(
        "clone", "--quiet", "--bare", str(tmp_path / "origin.git"), str(tmp_path / "up")
    )
    with_remote.git("remote", "add", "upstream", str(tmp_path / "up"))
    with_remote.commit("theirs", "text\n")
    with_remote.git("push", "--quiet", "upstream", "main:refs/heads/side")
    with_remote.git("fetch", "--quiet", "--all")
    made = await make("one", branch="upstream/side")
    assert made.branch == "side"
    assert (Path(made.path) / "theirs").exists()
    assert with_remote.git("config", "branch.side.remote") == "upstream"
