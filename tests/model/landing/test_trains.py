"""A train brings several branches in, each on top of the one before, and checks each."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.landing import (
    discard_train,
    get_landing_desk,
    get_train,
    get_train_output,
    land_train,
    start_train,
    stop_train,
    undo_landing,
    write_landing_message,
)
from model.commands.projects import remove_project
from model.commands.scripts import trust_project_scripts
from model.domain.events.landing import TrainUpdated
from model.domain.landing import Train
from model.domain.worktrees import Worktree
from model.git.trains import read_heads
from model.landing import trains
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing, write_scripts


async def _finish(landing: Landing, train: Train) -> Train:
    """Wait for the end of a train's run, and return it."""

    async def read() -> Train:
        found = await get_train(landing.workspace, train.project_id)
        assert found is not None
        return found

    reader = landing.workspace.bus.reader()
    latest = await read()

    def is_done() -> bool:
        nonlocal latest
        for entry in reader.take()[0]:
            if isinstance(entry.event, TrainUpdated) and entry.event.train is not None:
                latest = entry.event.train
        return latest.status != "running"

    await landing.eventually(is_done)
    return latest


async def _start(landing: Landing, *worktrees: Worktree, **options: object) -> Train:
    train = await start_train(
        landing.workspace,
        worktrees[0].project_id,
        [one.id for one in worktrees],
        **options,  # type: ignore[arg-type]
    )
    return await _finish(landing, train)


def _statuses(train: Train) -> list[str]:
    return [car.status for car in train.cars]


async def test_of_five_branches_with_a_red_third_the_first_two_land(
    landing: Landing, repository: Repository
) -> None:
    names = ("one", "two", "broken", "four", "five")
    branches = [await landing.branch(name, **{name: "1\n"}) for name in names]
    before = repository.git("rev-parse", "main")
    heads = [landing.git(one, "rev-parse", "HEAD") for one in branches]
    train = await _start(landing, *branches)
    assert train.status == "stopped"
    assert _statuses(train) == ["ready", "ready", "failed", "left_out", "left_out"]
    assert [car.check for car in train.cars[:3]] == ["passed", "passed", "failed"]
    assert train.cars[2].error == "It ended with exit code 1."
    output = await get_train_output(landing.workspace, train.id, branches[2].id)
    assert output.message == "checked\n"
    message = (await write_landing_message(landing.workspace, branches[2].id)).message
    assert "on top of 'one', 'two', so it cannot land. It ended with exit code 1." in message
    assert "\n\nchecked\nend of untrusted text" in message
    assert repository.git("rev-parse", "main") == before, "nothing has landed yet"
    desk = await get_landing_desk(landing.workspace, train.project_id)
    (row,) = [one for one in desk.rows if one.worktree_id == branches[2].id]
    assert (row.next, row.reason) == (
        "fix",
        "The check of the train failed on top of 'one', 'two'. It ended with exit code 1.",
    )

    def is_cleared() -> bool:
        return repository.git("worktree", "list", "--porcelain").count("worktree ") == 6

    await landing.eventually(is_cleared)

    landed = await land_train(landing.workspace, train.id)
    assert landed.worktree_ids == [branches[0].id, branches[1].id]
    assert repository.git("ls-files") == "one\nread.me\nspinney.json\ntwo"
    assert repository.git("status", "--porcelain") == ""
    assert [landing.git(one, "rev-parse", "HEAD") for one in branches] == heads
    assert repository.git("for-each-ref", "refs/spinney/trains") == ""
    train = await _finish(landing, train)
    assert (train.status, train.landing_id) == ("landed", landed.id)
    await undo_landing(landing.workspace, landed.id)
    assert repository.git("rev-parse", "main") == before


async def test_a_branch_that_takes_the_check_out_stops_the_train(landing: Landing) -> None:
    one = await landing.branch("one")
    landing.git(one, "rm", "--quiet", "spinney.json")
    landing.git(one, "commit", "--quiet", "--message", "Tidy up")
    train = await _start(landing, one)
    assert _statuses(train) == ["failed"]
    assert "has no script 'check'" in train.cars[0].error


async def test_a_conflict_stops_the_train_and_is_explained(landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", a_txt="2\n")
    train = await _start(landing, one, two, method="squash", with_check=False)
    assert _statuses(train) == ["ready", "conflict"]
    assert train.cars[1].conflicts == ["a.txt"]
    assert train.cars[0].check == "none"
    with pytest.raises(SpinneyError, match="not in conflict with 'main', but with 'one', which"):
        await write_landing_message(landing.workspace, two.id)
    assert train.cars[1].siblings == ["one"]
    await land_train(landing.workspace, train.id)
    message = (await write_landing_message(landing.workspace, two.id)).message
    assert "git merge --no-edit -- main" in message
    await discard_train(landing.workspace, train.id)
    assert await get_train(landing.workspace, one.project_id) is None
    with pytest.raises(SpinneyError, match="was discarded"):
        await land_train(landing.workspace, train.id)


async def test_a_conflict_with_the_base_is_no_conflict_with_the_cars_before(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", b_txt="1\n")
    two = await landing.branch("two", a_txt="2\n")
    repository.commit("a.txt", "main\n")
    train = await _start(landing, one, two, with_check=False)
    assert _statuses(train) == ["ready", "conflict"]
    assert (train.cars[1].siblings, train.cars[1].error) == ([], "")
    assert "-- main" in (await write_landing_message(landing.workspace, two.id)).message


async def test_a_train_that_keeps_going_leaves_out_what_fails_and_lands_the_rest(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    clash = await landing.branch("clash", a_txt="2\n")
    red = await landing.branch("red", broken="1\n")
    last = await landing.branch("last", b_txt="1\n")
    train = await _start(landing, one, clash, red, last, keep_going=True)
    assert train.status == "ready"
    assert _statuses(train) == ["ready", "conflict", "failed", "ready"]
    assert train.cars[1].siblings == ["one"]
    landed = await land_train(landing.workspace, train.id)
    assert landed.worktree_ids == [one.id, last.id]
    assert repository.git("ls-files") == "a.txt\nb.txt\nread.me\nspinney.json"
    assert repository.git("show", "main:a.txt") == "1"

    train = await _start(landing, clash, red, keep_going=True)
    assert train.status == "stopped", "nothing of it can land"


async def test_the_worktree_of_a_train_gets_the_files_that_every_worktree_gets(
    landing: Landing, repository: Repository
) -> None:
    repository.commit(".gitignore", ".env\n")
    repository.commit(".worktreeinclude", ".env\n")
    write_scripts(repository, check="test -e .env")
    await trust_project_scripts(landing.workspace, landing.make.project.id)
    (repository.root / ".env").write_text("KEY=1\n")
    one, two = await landing.branch("one", a="1\n"), await landing.branch("two", b="1\n")
    assert _statuses(await _start(landing, one, two)) == ["ready", "ready"]
    (repository.root / ".env").unlink()
    (repository.root / ".worktreeinclude").unlink()
    (repository.root / ".worktreeinclude").symlink_to("elsewhere")
    train = await _start(landing, two, one)
    assert _statuses(train) == ["failed", "left_out"]
    assert "exit code 1. " in train.cars[0].error
    assert "must be a regular file" in train.cars[0].error, "it says what may be the cause"


async def test_no_worktree_is_made_where_no_car_has_a_check(
    landing: Landing, repository: Repository, fake_git: Callable[[str], None]
) -> None:
    repository.git("rm", "--quiet", "spinney.json")
    repository.git("commit", "--quiet", "--message", "No scripts")
    one, two = await landing.branch("one", a="1\n"), await landing.branch("two", b="1\n")
    fake_git('case " $* " in *" worktree add "*) exit 9;; esac; exec "$real_git" "$@"')
    train = await _start(landing, one, two)
    assert _statuses(train) == ["ready", "ready"]
    assert [car.check for car in train.cars] == ["none", "none"]


async def test_a_moved_base_is_noticed_and_the_train_runs_again(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", b_txt="2\n")
    train = await _start(landing, one, two)
    assert train.status == "ready"
    moved = repository.commit("other.txt", "1\n")
    with pytest.raises(SpinneyError, match="has moved since the train started"):
        await land_train(landing.workspace, train.id)
    assert repository.git("rev-parse", "main") == moved
    found = await get_train(landing.workspace, one.project_id)
    assert found is not None
    assert found.status == "outdated"
    train = await _start(landing, one, two)
    landing.commit(one, "a.txt", "3\n")
    await landing.settle(one)
    with pytest.raises(SpinneyError, match="has moved since the train started"):
        await land_train(landing.workspace, train.id)
    assert repository.git("rev-parse", "main") == moved
    assert (await _start(landing, two)).status == "ready"


async def test_who_looks_at_a_train_while_it_lands_sees_that_it_landed(
    landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    train = await _start(landing, one)
    looked, has_landed = asyncio.Event(), asyncio.Event()

    async def read_late(root: Path, names: Sequence[str]) -> Mapping[str, str]:
        monkeypatch.setattr(trains, "read_heads", read_heads)
        looked.set()
        await has_landed.wait()
        return await read_heads(root, names)

    monkeypatch.setattr(trains, "read_heads", read_late)
    looking = asyncio.create_task(get_train(landing.workspace, one.project_id))
    await looked.wait()
    await land_train(landing.workspace, train.id)
    has_landed.set()
    for found in (await looking, await get_train(landing.workspace, one.project_id)):
        assert found is not None
        assert found.status == "landed"


async def test_what_is_checked_keeps_its_result_while_nothing_moves(
    landing: Landing, repository: Repository, tmp_path: Path
) -> None:
    log = tmp_path / "checked"
    check = f"echo $(ls *.txt) >> '{log}'; test ! -e broken"
    await _replace_check(landing, repository, check)
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", broken="1\n", b_txt="2\n")
    three = await landing.branch("three", c_txt="3\n")
    assert _statuses(await _start(landing, one, two)) == ["ready", "failed"]
    train = await _start(landing, one, three)
    assert _statuses(train) == ["ready", "ready"]
    assert log.read_text().splitlines() == ["a.txt", "a.txt b.txt", "a.txt c.txt"]


async def _replace_check(landing: Landing, repository: Repository, check: str) -> None:
    write_scripts(repository, check=check)
    await trust_project_scripts(landing.workspace, landing.make.project.id)


async def test_a_running_train_can_be_stopped_and_what_is_ready_lands(
    landing: Landing, repository: Repository, tmp_path: Path
) -> None:
    waiting = tmp_path / "waiting"
    await _replace_check(
        landing, repository, f"test ! -e b.txt || {{ touch '{waiting}'; exec sleep 600; }}"
    )
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", b_txt="2\n")
    train = await start_train(landing.workspace, one.project_id, [one.id, two.id])
    while not waiting.exists():
        await asyncio.sleep(0.02)
    with pytest.raises(SpinneyError, match="A train is running"):
        await start_train(landing.workspace, one.project_id, [one.id])
    with pytest.raises(SpinneyError, match="still running"):
        await land_train(landing.workspace, train.id)
    stopped = await stop_train(landing.workspace, train.id)
    assert (stopped.status, _statuses(stopped)) == ("stopped", ["ready", "left_out"])
    await land_train(landing.workspace, train.id)
    assert (repository.root / "a.txt").exists()
    assert not (repository.root / "b.txt").exists()


async def test_a_removed_project_leaves_nothing_of_its_train(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", b_txt="2\n")
    train = await _start(landing, one, two)
    await land_train(landing.workspace, train.id)
    three = await landing.branch("three", c_txt="3\n")
    train = await _start(landing, three)
    assert repository.git("for-each-ref", "refs/spinney/trains") != ""
    await remove_project(landing.workspace, one.project_id)
    assert repository.git("for-each-ref", "refs/spinney/trains") == ""
    folder = landing.workspace.directories.landing
    left = {path.name for path in folder.rglob("*")}
    assert left - {"merged.json"} <= {"projects", "trains", "merged", "scratch"}


async def test_an_untrusted_check_does_not_run(landing: Landing, repository: Repository) -> None:
    one = await landing.branch("one", spinney_json='{"scripts": {"check": "touch ../evil"}}')
    train = await _start(landing, one)
    assert _statuses(train) == ["failed"]
    assert "is not the one that was trusted" in train.cars[0].error


@pytest.mark.parametrize(
    "name", ["--upload-pack=x", "$(touch${IFS}evil);`id`", "a'b\"c", "zweig-ü", "refs/x"]
)
async def test_hostile_names_and_messages_are_only_names(
    landing: Landing, repository: Repository, name: str
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    message = "-m\n\n--amend\x00\x1b[31m $(touch evil)".replace("\x00", "")
    landing.git(one, "commit", "--quiet", "--allow-empty", "--message", message)
    if name.startswith("-"):
        head = landing.git(one, "rev-parse", "HEAD")
        repository.git("update-ref", f"refs/heads/{name}", head)
        landing.git(one, "symbolic-ref", "HEAD", f"refs/heads/{name}")
    else:
        landing.git(one, "branch", "--move", name)
    await landing.settle(one)
    train = await _start(landing, one, method="squash")
    assert _statuses(train) == ["ready"]
    await land_train(landing.workspace, train.id, after="keep")
    assert "\x1b" not in repository.git("log", "-1", "--format=%B", "main")
    found = [*repository.root.rglob("evil"), *Path(one.path).rglob("evil")]
    assert found == []
