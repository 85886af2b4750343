"""Turns in the terminal: what each changed, undo with a choice for each file, redo, fork."""

from collections.abc import Callable
from typing import Any

from model.api.turns import TurnSummary, UndoneFile, UndoPreview, UndoResult
from model.domain.events.sessions import TurnRecorded
from model.domain.messages import TextBlock
from model.domain.turns import Turn, TurnFile
from tests.tui.builders import a_message, a_session
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_lines
from tests.tui.waiting import until
from tui.screens.undo import UndoTurn

FILES = [TurnFile(path="new.txt", status="added", added=2, removed=0)]


def a_turn(number: int, **fields: Any) -> TurnSummary:
    return TurnSummary(
        turn_id=f"s1.{number:06}",
        number=number,
        message_id=f"m{number}",
        prompt=f"step {number}",
        started_at=1.0,
        ended_at=2.0,
        undone=None,
        files=FILES,
    ).model_copy(update=fields)


def client_with_turns(*files: UndoneFile) -> FakeClient:
    client = a_client()
    turns = [a_turn(1), a_turn(2)]
    client.answers["list_turns"] = lambda given: turns
    client.answers["preview_undo"] = lambda given: UndoPreview(
        turn_ids=["s1.000002"], files=list(files)
    )
    client.answers["undo_turn"] = lambda given: UndoResult(turns=turns[1:], message="step 2")
    client.answers["preview_redo"] = client.answers["preview_undo"]
    client.answers["redo_turn"] = lambda given: UndoResult(turns=turns[1:])
    client.answers["fork_session"] = lambda given: a_session(id="s2", name="fork")
    return client


async def test_an_undo_shows_each_file_and_puts_the_message_back(start: Start) -> None:
    client = client_with_turns(
        UndoneFile(path="a.py", action="merge"),
        UndoneFile(path="b.py", action="conflict", has_markers=True),
        UndoneFile(path="new.txt", action="restore", deletes=True),
    )
    async with start(client, size=(100, 30)) as (app, pilot):
        app.screen.perform("undo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: isinstance(app.screen, UndoTurn))
        await until(pilot, lambda: "changed since: choose" in "\n".join(screen_lines(app)))
        shown = "\n".join(screen_lines(app))
        assert "merged; later changes stay" in shown
        assert "deleted: the turn added it" in shown

        await pilot.press("enter")
        await pilot.pause()
        assert not client.called("undo_turn"), "a conflict is undecided"
        await pilot.press("space", "space", "enter")
        await until(pilot, lambda: bool(client.called("undo_turn")))
        assert client.called("undo_turn") == [
            {"turn_id": "s1.000002", "what": "both", "choices": {"b.py": "before"}}
        ]
        await until(pilot, lambda: "┃ step 2" in "\n".join(screen_lines(app)))


async def test_a_file_that_others_changed_too_is_kept_unless_chosen(start: Start) -> None:
    client = client_with_turns(UndoneFile(path="a.py", action="keep", others=True))
    async with start(client, size=(100, 30)) as (app, pilot):
        app.screen.perform("undo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: "kept: others changed it, too" in "\n".join(screen_lines(app)))
        assert "“step 2”" in "\n".join(screen_lines(app))
        await pilot.press("space")
        await until(pilot, lambda: "taken as it was before" in "\n".join(screen_lines(app)))
        await pilot.press("enter")
        await until(pilot, lambda: bool(client.called("undo_turn")))
        assert client.called("undo_turn")[0]["choices"] == {"a.py": "before"}


async def test_tab_chooses_what_is_undone(start: Start) -> None:
    client = client_with_turns(UndoneFile(path="a.py", action="restore"))
    async with start(client, size=(100, 30)) as (app, pilot):
        app.screen.perform("undo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: "files and conversation" in "\n".join(screen_lines(app)))
        await pilot.press("tab")
        await until(pilot, lambda: "Undo files only." in "\n".join(screen_lines(app)))
        await pilot.press("enter")
        await until(pilot, lambda: bool(client.called("undo_turn")))
        assert client.called("undo_turn")[0]["what"] == "files"


async def test_a_redo_asks_only_about_files_that_changed_since(start: Start) -> None:
    files = [UndoneFile(path="a.py", action="restore")]
    client = client_with_turns(*files)
    client.answers["list_turns"] = lambda given: [a_turn(1, undone="files", undone_at=3.0)]
    client.answers["preview_redo"] = lambda given: UndoPreview(turn_ids=["s1.000001"], files=files)
    async with start(client, size=(100, 30)) as (app, pilot):
        app.screen.perform("redo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: len(client.called("redo_turn")) == 1)
        files.append(UndoneFile(path="b.py", action="conflict"))
        app.screen.perform("redo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: "changed since: choose" in "\n".join(screen_lines(app)))
        await pilot.press("enter")
        await until(pilot, lambda: "Choose what happens" in "\n".join(screen_lines(app)))
        await pilot.press("space", "space")
        await until(pilot, lambda: "taken as before the undo" in "\n".join(screen_lines(app)))
        await pilot.press("enter")
        await until(pilot, lambda: len(client.called("redo_turn")) == 2)
        assert client.called("redo_turn")[1]["choices"] == {"b.py": "before"}


async def test_a_redo_takes_the_newest_undo_back(start: Start) -> None:
    client = client_with_turns()
    undone = [(1, 3.0), (3, 5.0), (4, 5.0), (5, 4.0)]
    turns = [a_turn(number, undone="both", undone_at=at) for number, at in undone]
    client.answers["list_turns"] = lambda given: [turns[0], a_turn(2), *turns[1:]]
    async with start(client, size=(100, 30)) as (app, pilot):
        app.screen.perform("redo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: bool(client.called("redo_turn")))
        assert client.called("redo_turn")[0]["turn_id"] == "s1.000003"


def page_through(turns: list[TurnSummary], size: int) -> Callable[[dict[str, Any]], Any]:
    """Answer `list_turns` with pages of this size at most."""

    def answer(given: dict[str, Any]) -> list[TurnSummary]:
        before = given.get("before") or len(turns) + 1
        return turns[max(0, before - 1 - min(size, given["limit"])) : before - 1]

    return answer


async def test_the_list_and_an_undo_read_earlier_turns_in_pages(start: Start) -> None:
    client = client_with_turns()
    turns = [a_turn(1), *(a_turn(number, undone="files", undone_at=9.0) for number in range(2, 8))]
    client.answers["list_turns"] = page_through(turns, 3)
    async with start(client, size=(100, 40)) as (app, pilot):
        app.screen.perform("show_turns")  # type: ignore[attr-defined]
        await until(pilot, lambda: "load 4 earlier turns" in "\n".join(screen_lines(app)))
        assert "step 4" not in "\n".join(screen_lines(app))
        await pilot.press("end", "enter")
        await until(pilot, lambda: "load 1 earlier turn" in "\n".join(screen_lines(app)))
        assert "step 2" in "\n".join(screen_lines(app))
        await pilot.press("escape")
        app.screen.perform("undo_turn")  # type: ignore[attr-defined]
        await until(pilot, lambda: "step 1" in "\n".join(screen_lines(app)))
        assert client.called("preview_undo")[-1]["turn_id"] == "s1.000001"


async def test_the_card_shows_what_shell_commands_changed(start: Start) -> None:
    client = a_client()
    client.messages["s1"] = [
        a_message("run it", id="m1"),
        a_message("", id="m2", role="assistant", content=[TextBlock(text="Done.")]),
    ]
    async with start(client, size=(100, 30)) as (app, pilot):
        await until(pilot, lambda: "Done." in "\n".join(screen_lines(app)))
        turn = Turn(
            id="s1.000001", session_id="s1", worktree_id="w1", number=1, message_id="m1",
            started_at=1.0, ended_at=2.0, files=FILES,
        )  # fmt: skip
        client.feed(TurnRecorded(turn=turn))
        await until(pilot, lambda: "1 file changed  +2" in "\n".join(screen_lines(app)))
        assert "new.txt" in "\n".join(screen_lines(app))
