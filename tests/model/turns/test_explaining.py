"""Every line is explained by what wrote it: a turn with its prompt, another edit, or a commit."""

import asyncio
import random
import time
from pathlib import Path

import pytest

from model.api.turns import UndoChoice
from model.backends import agent_events
from model.base.errors import SpinneyError
from model.commands.git import commit_changes
from model.commands.lines import explain_line
from model.commands.preferences import update_preferences
from model.commands.turns import list_turns, preview_undo, redo_turn, undo_turn
from model.domain.line_origins import LineOrigin
from tests.model.turns.conftest import Desk
from tests.patience import PATIENCE

NAMES = ("one.py", "folder/two.py")


async def explain(desk: Desk, path: str, line: int) -> LineOrigin:
    return await explain_line(desk.workspace, desk.worktree.id, path, line)


class Writer:
    """Edits files at random, and remembers who wrote each line."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.authors: dict[str, str] = {}
        self._count = 0

    def edit(self, author: str) -> None:
        """Add, replace, remove and move lines, as a turn or a person does."""
        for _ in range(self.chance.randrange(1, 4)):
            file = self.root / self.chance.choice(NAMES)
            lines = file.read_text().splitlines()
            place = self.chance.randrange(len(lines))
            match self.chance.randrange(5):
                case 0 if len(lines) > 6:
                    del lines[place]
                case 1:
                    lines[place] = self._write(author)
                case 2:
                    self._move(lines, place)
                case _:
                    lines[place:place] = [self._write(author) for _ in range(2)]
            file.write_text("".join(f"{line}\n" for line in lines))

    def _write(self, author: str) -> str:
        self._count += 1
        text = f"value_{self._count} = compute_the_{self._count}th_thing_of_all_things_there_are()"
        self.authors[text] = author
        return text

    def _move(self, lines: list[str], place: int) -> None:
        """Move a line to the end of the other file."""
        other = self.root / self.chance.choice(NAMES)
        moved = lines.pop(place) if len(lines) > 6 else None
        if moved is not None and other.read_text().splitlines() != [*lines, moved]:
            lines.append(moved)


async def take_back(desk: Desk, writer: Writer, number: int) -> None:
    """Let a turn be undone (and redone), or a person take something back with git."""
    session_id = next(iter(desk.workspace.store.state.sessions))

    def git(*words: str) -> None:
        desk.repository.git(*words, cwd=desk.root)

    match number % 8:
        case 1 | 3:
            (turn,) = [t for t in await list_turns(desk.workspace, session_id) if t.number > number]
            preview = await preview_undo(desk.workspace, turn.turn_id)
            choices: dict[str, UndoChoice] = {
                file.path: "keep" for file in preview.files if file.action == "conflict"
            }
            await undo_turn(desk.workspace, turn.turn_id, "files", choices=choices)
            if number % 8 == 3:
                await redo_turn(desk.workspace, turn.turn_id)
            writer.edit("person")
        case 4:
            git("checkout", "HEAD", "--", NAMES[0])
        case 5:
            git("commit", "--quiet", "--allow-empty", "-am", f"Before {number}")
            git("revert", "--no-edit", "HEAD")
        case 6:
            git("reset", "--quiet", "--hard", "HEAD~1")


@pytest.mark.longer
@pytest.mark.parametrize(("turns", "old_lines"), [(9, 6), (30, 12)])
async def test_every_line_of_many_turns_has_its_author(
    desk: Desk, turns: int, old_lines: int
) -> None:
    writer = Writer(desk.root, 7)
    for name in NAMES:
        (desk.root / name).parent.mkdir(exist_ok=True)
        (desk.root / name).write_text(
            "".join(f"{writer._write('old')}\n" for _ in range(old_lines))
        )
    desk.repository.git("add", "--all", cwd=desk.root)
    desk.repository.git("commit", "--quiet", "-m", "Old lines", cwd=desk.root)
    session = await desk.add_session()
    for number in range(turns):
        text = f"task {number}"
        await desk.play(session, lambda _, text=text: writer.edit(text), text)
        if number % 3 == 0:
            writer.edit("person")
        await take_back(desk, writer, number)
        if number % (turns // 3) == turns // 3 - 1:
            words = ["commit", "--quiet", "--allow-empty", "-am", f"Until {number}"]
            desk.repository.git(*words, cwd=desk.root)
    wrong = []
    for name in NAMES:
        for number, text in enumerate((desk.root / name).read_text().splitlines(), 1):
            origin = await explain(desk, name, number)
            # All commits but the first are the person's.
            commit = "old" if origin.summary == "Old lines" else "person"
            found = {"turn": origin.prompt, "edit": "person", "commit": commit}[origin.kind]
            if found != writer.authors[text]:
                wrong.append((name, number, writer.authors[text], found))
    assert wrong == []


async def test_a_turn_is_explained_by_its_prompt_and_the_plan_before_it(desk: Desk) -> None:
    session = await desk.add_session()
    puppet = await desk.begin(session, "make a plan")
    puppet.say(agent_events.PlanProposed("plan", "1. Write the file"))
    store = desk.workspace.store
    async with asyncio.timeout(PATIENCE):
        while store.state.sessions[session.id].waiting_for != "plan":
            await asyncio.sleep(0.01)
    await desk.workspace.decisions.approve(session.id, "build", None)
    (desk.root / "new").write_text("planned\n")
    # While the turn runs.
    origin = await explain(desk, "new", 1)
    assert (origin.kind, origin.session_id) == ("turn", session.id)
    await desk.finish(session, puppet)
    again = await explain(desk, "new", 1)
    assert again.turn_id == origin.turn_id
    assert again.plan == "1. Write the file"


async def test_what_others_wrote_is_not_taken_for_a_turn(desk: Desk) -> None:
    session = await desk.add_session()
    await desk.play(session, lambda root: (root / "mine").write_text("of the agent\n"))
    (desk.root / "mine").write_text("of the person\nof the agent\n")
    assert (await explain(desk, "mine", 1)).kind == "edit"
    assert (await explain(desk, "mine", 2)).kind == "turn"
    # A commit of another branch that comes in.
    main = desk.repository
    main.git("config", "user.name", "Grace")
    day = {"GIT_COMMITTER_DATE": f"@{int(time.time()) - 86400} +0000"}
    with pytest.MonkeyPatch.context() as environ:
        for name, value in day.items():
            environ.setenv(name, value)
        main.commit("theirs", "of a colleague\n")
    await desk.play(session, lambda root: main.git("merge", "--quiet", "main", cwd=root) and None)
    origin = await explain(desk, "theirs", 1)
    assert (origin.kind, origin.author, origin.summary) == ("commit", "Ada", "Change theirs")


async def test_a_line_that_has_landed_is_explained_by_the_note_on_its_commit(desk: Desk) -> None:
    session = await desk.add_session()

    def work(root: Path) -> None:
        (root / "landed").write_text("first line of the landed file\n")

    def more(root: Path) -> None:
        (root / "more").write_text("first line of more\n")

    for is_noted, edit in ((False, work), (True, more)):
        await update_preferences(desk.workspace, {"trace_notes": is_noted})
        await desk.play(session, edit, f"noted {is_noted}")
        if is_noted:
            (desk.root / "mine").write_text("of the person\n")
        await commit_changes(desk.workspace, desk.worktree.id, "Land it", stage_all=True)
    desk.repository.git("merge", "--quiet", "otter")
    other = await desk.add_worktree("heron")
    assert (await explain_line(desk.workspace, other.id, "landed", 1)).kind == "commit"
    origin = await explain_line(desk.workspace, other.id, "more", 1)
    assert (origin.kind, origin.prompt, origin.summary) == ("turn", "noted True", "Land it")
    assert (await explain_line(desk.workspace, other.id, "mine", 1)).kind == "commit"


async def test_odd_names_line_endings_and_wrong_lines(desk: Desk) -> None:
    desk.repository.git("config", "core.autocrlf", "true")
    odd = 'new\nline "quoted" \\ ü :(top)--x'
    session = await desk.add_session()

    def work(root: Path) -> None:
        (root / odd).write_bytes(b"one\r\ntwo\r\n")
        (root / "--help").write_bytes(b"one\r\n")

    await desk.play(session, work, "write")
    await desk.play(
        session, lambda root: (root / odd).write_bytes(b"one\r\n2\r\n") and None, "again"
    )
    assert [(await explain(desk, odd, number)).prompt for number in (1, 2)] == ["write", "again"]
    assert (await explain(desk, "--help", 1)).prompt == "write"
    for path, line in (("missing", 1), (odd, 3), (odd, 0), ("../read.me", 1), ("/etc/passwd", 1)):
        with pytest.raises(SpinneyError):
            await explain(desk, path, line)
