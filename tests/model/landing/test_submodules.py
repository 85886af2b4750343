"""A landing that moves the pin of a submodule leaves the submodule of the base's checkout behind.

That is no change of a person's: the next landing and the undo go on, and it is said what to run.
"""

import shlex
from collections.abc import Callable

import pytest

from model.base.errors import SpinneyError
from model.commands.git import update_from_base
from model.commands.landing import (
    land_worktree,
    list_landings,
    preview_landing,
    undo_landing,
)
from model.domain.landing import Landing as LandingResult
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.base_branch import read_base
from model.git.interrupted_checkout import complete_checkout
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def library(repository: Repository, make_repository: Callable[[str], Repository]) -> Repository:
    """The repository `lib` inside the main checkout, before it is a project."""
    library = make_repository("library")
    library.commit("read.me", "lib\n")
    repository.git(*ALLOW, "submodule", "--quiet", "add", str(library.root), "lib")
    repository.git("commit", "--quiet", "--message", "Add lib")
    return library


@pytest.fixture
async def added(library: Repository, added: Project) -> Project:
    """The project, with the submodule."""
    return added


async def _land_pin(landing: Landing, name: str, pin: str, **options: object) -> LandingResult:
    made = await landing.make(name)
    landing.git(made, "update-index", "--cacheinfo", f"160000,{pin},lib")
    landing.git(made, "commit", "--quiet", "--message", f"Pin {name}")
    return await _land(landing, made, **options)


async def _land(landing: Landing, made: Worktree, **options: object) -> LandingResult:
    await landing.settle(made)
    preview = await preview_landing(landing.workspace, made.id)
    assert preview.problem == "" or preview.held_by_check
    return await land_worktree(
        landing.workspace,
        made.id,
        preview.base_commit,
        ignore_check=True,
        **options,  # type: ignore[arg-type]
    )


def _status(landing: Landing) -> str:
    return landing.repository.git("status", "--porcelain")


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_landings_and_their_undo_go_on_after_one_that_moved_a_pin(
    landing: Landing, library: Repository, method: str
) -> None:
    pins = [library.commit("lib.txt", f"{number}\n") for number in range(2)]
    start = landing.repository.git("rev-parse", "main")
    await _land_pin(landing, "one", pins[0], method=method)
    assert _status(landing) == "M lib"
    await _land_pin(landing, "two", pins[1], method=method)
    await _land(landing, await landing.branch("three", a_txt="a\n"), method=method)
    for each in await list_landings(landing.workspace, landing.make.project.id):
        await undo_landing(landing.workspace, each.id)
    assert landing.repository.git("rev-parse", "main") == start
    assert _status(landing) == ""


async def test_the_note_has_the_command_that_brings_the_submodule_there(
    landing: Landing, library: Repository
) -> None:
    pin = library.commit("lib.txt", "new\n")
    landed = await _land_pin(landing, "one", pin)
    (note,) = landed.notes
    assert "1 submodule there is still at the commit from before. Run: git -C" in note
    _run(landing, note)
    assert (landing.repository.root / "lib/lib.txt").read_text() == "new\n"
    assert _status(landing) == ""
    # Now the submodule is ahead of where the undo brings its pin.
    undone = await undo_landing(landing.workspace, landed.id)
    assert _status(landing) == "M lib"
    assert undone.notes == [note]  # It is the same command.
    assert (await _land(landing, await landing.branch("two", a_txt="a\n"))).notes == []
    _run(landing, note)
    assert _status(landing) == ""


def _run(landing: Landing, note: str) -> None:
    landing.repository.git(*ALLOW, *shlex.split(note.partition("Run: git ")[2]))


async def test_a_submodule_that_a_person_did_not_check_out_needs_nothing(
    landing: Landing, library: Repository
) -> None:
    landing.repository.git("submodule", "--quiet", "deinit", "--all")
    assert (await _land_pin(landing, "one", library.commit("lib.txt", "new\n"))).notes == []


@pytest.mark.parametrize("own", ["commit", "file", "staged"])
async def test_a_submodule_that_a_person_changed_stays_a_change(
    landing: Landing, library: Repository, own: str
) -> None:
    inside = landing.repository.root / "lib"
    if own == "file":
        await _land_pin(landing, "one", library.commit("lib.txt", "new\n"))
        (inside / "read.me").write_text("mine\n")
    else:
        landing.repository.commit("own.txt", "own\n", cwd=inside)
    if own == "staged":
        landing.repository.git("add", "lib")
    other = await landing.branch("two", a_txt="a\n")
    preview = await preview_landing(landing.workspace, other.id)
    with pytest.raises(SpinneyError, match=r"1 uncommitted change \(lib\)"):
        await land_worktree(landing.workspace, other.id, preview.base_commit, ignore_check=True)


async def test_a_worktree_that_merged_the_base_lands_with_its_submodule_left_behind(
    landing: Landing, library: Repository
) -> None:
    other = await landing.branch("two", a_txt="a\n")
    landing.git(other, *ALLOW, "submodule", "--quiet", "update", "--init")
    pin = library.commit("lib.txt", "new\n")
    await _land_pin(landing, "one", pin)
    landing.git(other, "merge", "--quiet", "--no-edit", "main")
    assert landing.git(other, "status", "--porcelain") == "M lib"
    await _land(landing, other)
    assert landing.repository.git("rev-parse", "main:lib") == pin


async def test_a_pin_that_a_kill_kept_from_the_index_follows(
    repository: Repository, library: Repository
) -> None:
    before = repository.git("rev-parse", "main")
    old, pin = repository.git("rev-parse", "main:lib"), library.commit("lib.txt", "new\n")
    repository.git("update-index", "--cacheinfo", f"160000,{pin},lib")
    repository.git("commit", "--quiet", "--message", "Pin")
    repository.git("update-index", "--cacheinfo", f"160000,{old},lib")
    base = await read_base(repository.root, "main")
    assert await complete_checkout(repository.root, base, before, 0.0, 0) == ""
    assert repository.git("diff", "--cached", "--name-only") == ""


async def test_an_update_names_the_submodules_that_it_leaves_behind(
    landing: Landing, library: Repository, repository: Repository
) -> None:
    one = await landing.make("one")
    pin = library.commit("read.me", "newer\n")
    repository.git(*ALLOW, "fetch", "--quiet", "origin", cwd=repository.root / "lib")
    await _land_pin(landing, "two", pin)
    updated = await update_from_base(landing.workspace, one.id)
    command = f"git -C {one.path} submodule update --init --recursive -- lib"
    assert updated.output.endswith(f"still at the commit from before. Run: {command}")
