"""Undo beside another session, recovery and conflicts between worktrees, with the real programs."""

import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.live.every_backend.conftest import Begin, add_session, add_worktree
from tests.live.every_backend.kinds import PROGRAMS
from tests.live.every_backend.talk import TURN_LIMIT, Json, Talk
from tests.model.backends.agents import wait_until
from tests.model.git.snapshots.worktree_facts import read_facts
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.parametrize("kind", PROGRAMS.values(), ids=PROGRAMS.keys(), scope="module"),
    pytest.mark.timeout(300),
]

FILES = {"loom.py": "def warp():\n    return 1\n\n\ndef weft():\n    return 2\n"}


def git(root: Path, *words: str) -> int:
    """Run git, and again while the index is locked: an agent's own git reads it after a turn."""
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words]
    deadline = time.monotonic() + PATIENCE
    while True:
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if ran.returncode != 128:
            return ran.returncode
        assert "index.lock" in ran.stderr and time.monotonic() < deadline, ran.stderr
        time.sleep(0.1)


async def run_until_released(talk: Talk, command: str) -> Callable[[], Awaitable[None]]:
    """Let the agent run a command in a turn that goes on; returns what ends the turn."""
    root = Path(talk.worktree["path"])
    ran, go = (root.parent / f"{talk.session['id']}.{name}" for name in ("ran", "go"))
    wait = f"touch {ran}; while [ ! -e {go} ]; do sleep 0.1; done"
    await talk.send(f"bash: {command}; {wait}")
    await wait_until(ran.exists, TURN_LIMIT)

    async def end() -> None:
        go.touch()
        await talk.until("idle")

    return end


async def test_an_undo_leaves_what_another_agent_does_in_the_same_file(begin: Begin) -> None:
    talk = await begin("yolo", FILES)
    session = await add_session(talk.kind, talk.call, talk.worktree, "yolo")
    other = Talk(talk.kind, talk.socket, talk.call, session, talk.worktree)
    file = Path(talk.worktree["path"]) / "loom.py"
    await talk.say("say: apples")
    await other.say("say: plums")
    end = await run_until_released(other, "sed -i 's/return 2/return 22/' loom.py")
    await talk.say("edit loom.py:     return 1 =>     return 11")
    assert file.read_text() == FILES["loom.py"].replace("1", "11").replace("2", "22")
    turn = (await talk.do("list_turns"))[-1]
    await talk.call("undo_turn", turnId=turn["turn_id"], what="both")
    assert file.read_text() == FILES["loom.py"].replace("2", "22")
    await end()
    await talk.say("remember?")
    assert await talk.last_text() == "You said: say: apples"
    await other.say("remember?")
    assert (await other.last_text()).startswith("You said: say: plums; bash: sed")


async def test_a_worktree_deleted_in_the_middle_of_a_merge_comes_back(begin: Begin) -> None:
    talk = await begin("yolo", FILES)
    root = Path(talk.worktree["path"])
    await talk.say("edit loom.py:     return 1 =>     return 11")
    assert git(root, "commit", "-qam", "Eleven") == 0
    projects = {each["id"]: each for each in await talk.call("list_projects")}
    project = projects[talk.worktree["project_id"]]
    base = Path(project["path"])
    (base / "loom.py").write_text(FILES["loom.py"].replace("1", "111"))
    assert git(base, "commit", "-qam", "Hundred and eleven") == 0
    assert git(root, "merge", "-q", project["default_branch"]) == 1
    await talk.say("write uncommitted.txt: woven")
    facts = read_facts(root)
    assert "MERGE_HEAD" in facts["operation"]
    await talk.call("remove_worktree", worktreeId=talk.worktree["id"], force=True)
    assert not root.exists()
    [point] = await talk.call("list_recovery_points", projectId=project["id"])
    worktree = await talk.call("restore_worktree", recoveryId=point["recovery_id"])
    assert read_facts(Path(worktree["path"])) == facts
    [session] = await talk.call("list_sessions", worktreeId=worktree["id"])
    again = Talk(talk.kind, talk.socket, talk.call, session, worktree)
    await again.say("remember?")
    known = await again.last_text()
    assert known.startswith("You said: edit loom.py")
    assert "write uncommitted.txt" in known


async def test_two_agents_in_the_same_function_are_marked_while_both_work(begin: Begin) -> None:
    talk = await begin("yolo", FILES)
    worktree = await add_worktree(talk.socket, talk.worktree["project_id"])
    session = await add_session(talk.kind, talk.call, worktree, "yolo")
    other = Talk(talk.kind, talk.socket, talk.call, session, worktree)
    ends = [
        await run_until_released(each, f"sed -i 's/return 1/return {number}/' loom.py")
        for each, number in ((talk, 11), (other, 111))
    ]
    sides = {talk.worktree["id"]: worktree["id"], worktree["id"]: talk.worktree["id"]}
    await talk.call("fetch_worktrees_status", projectId=worktree["project_id"])
    marked: Json = {}
    while marked.keys() != sides.keys():
        frame = await talk.socket.event("worktree:conflicts_updated")
        marked[frame["payload"]["worktree_id"]] = frame["payload"]["conflicts"]
    for one, partner in sides.items():
        [conflict] = marked[one]
        assert (conflict["with"], conflict["files"]) == (partner, ["loom.py"])
    listed = await talk.call("list_conflicts", projectId=worktree["project_id"])
    assert {each["worktree_id"]: each["with"] for each in listed} == sides
    for each in (talk, other):
        found = await talk.call("get_worktree", worktreeId=each.worktree["id"])
        assert found["conflicts_with"]
        assert (await each.do("get_session"))["status"] == "running"
    for end in ends:
        await end()
