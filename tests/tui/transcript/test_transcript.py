"""Using the transcript: following, scrolling, folding and copying, at any length."""

import re
import subprocess
import sys
import time

import pytest
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from model.domain.events.messages import ContentDelta, MessageCompleted
from model.domain.messages import (
    MessagePage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from model.domain.usage import Usage
from tests.tui.builders import content_delta, message_started
from tests.tui.transcript_app import LIGHT, TranscriptApp, agent, history_of, running, user
from tests.tui.waiting import until
from tui.store.history import History
from tui.terminal.input_parser import key_name
from tui.transcript.targets import Target
from tui.transcript.widget import Transcript

LARGE, SMALL = (120, 40), (80, 24)


def make_messages_of_many_heights(count: int) -> list:
    """Messages of various heights."""
    return [
        user(f"m{n}", f"message {n}.")
        if n % 2
        else agent(f"m{n}", TextBlock(text=f"answer {n}. " * (n % 70 + 1)))
        for n in range(count)
    ]


def long_transcript(count: int = 200) -> TranscriptApp:
    return TranscriptApp(history_of(*make_messages_of_many_heights(count)))


async def test_a_message_of_the_user_has_a_bar_and_an_answer_is_indented() -> None:
    app = TranscriptApp(history_of(user("1", "Find out why."), agent("2", TextBlock(text="Done."))))
    async with app.run_test(size=LARGE):
        assert re.fullmatch(r" ┃ Find out why\. +\d\d:\d\d", app.rows[0])
        assert app.rows[1] == ""
        assert app.rows[2] == "   Claude Code · Opus · plan"
        assert app.rows[3] == "   Done."


async def test_an_agent_is_named_where_agent_model_or_mode_changed() -> None:
    one, two = TextBlock(text="One."), TextBlock(text="Two.")
    app = TranscriptApp(
        history_of(agent("1", one), agent("2", two), agent("3", one, execution_mode="build"))
    )
    async with app.run_test(size=LARGE):
        named = [row.strip() for row in app.rows if "Claude Code" in row]
        assert named == ["Claude Code · Opus · plan", "Claude Code · Opus · build"]


async def test_a_new_day_begins_with_its_date() -> None:
    day = 86_400
    first, second = user("1", "Then").timestamp - 3 * day, user("2", "Now").timestamp
    messages = [user("1", "Then"), user("2", "Now")]
    dated = [
        message.model_copy(update={"timestamp": at})
        for message, at in zip(messages, (first, second), strict=True)
    ]
    app = TranscriptApp(history_of(*dated))
    async with app.run_test(size=LARGE):
        dates = [row.strip(" ─") for row in app.rows if "──" in row]
        spelled = [time.strftime("%A %d %B", time.localtime(at)) for at in (first, second)]
        assert [date[: len(day)] for date, day in zip(dates, spelled, strict=True)] == spelled


async def test_an_empty_session_says_what_to_do() -> None:
    app = TranscriptApp(history_of())
    async with app.run_test(size=SMALL):
        assert "Write below what you want done" in app.text


async def test_nothing_is_shown_before_the_first_page() -> None:
    app = TranscriptApp(History("s1"))
    async with app.run_test(size=SMALL):
        assert app.text.strip() == ""


async def test_a_streamed_answer_stays_visible() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL):
        app.apply(message_started(running("new")))
        assert app.rows[-2].strip() == "◌ working …"
        for number in range(60):
            app.apply(content_delta("new", f"Line {number}\n\n"))
            assert f"Line {number}" in app.text
        assert app.transcript.is_following


@pytest.mark.painted
async def test_streaming_causes_no_screen_layout_and_draws_only_changed_rows() -> None:
    app = TranscriptApp(history_of(user("1", "Go")))
    async with app.run_test(size=LARGE) as pilot:
        app.apply(message_started(running("2")), content_delta("2", "First paragraph.\n\nSecond"))
        await pilot.pause()
        app.watch_refreshes()
        app.apply(content_delta("2", " grows"))
        rows = {region.y for regions, _ in app.refreshed for region in regions}
        assert rows == {app.row_of("Second grows")}
        for number in range(100):
            app.apply(content_delta("2", f"\n\nparagraph {number}"))
            await pilot.pause()
        assert not any(layout for _, layout in app.refreshed)
        assert "paragraph 99" in app.text


@pytest.mark.painted
async def test_deltas_of_folded_thinking_draw_nothing() -> None:
    app = TranscriptApp(history_of(running("1", ThinkingBlock(text="Let"))))
    async with app.run_test(size=LARGE) as pilot:
        await pilot.pause()
        app.watch_refreshes()
        app.apply(ContentDelta(message_id="1", content=" me see", content_index=0,
                                 kind="thinking", session_id="s1"))  # fmt: skip
        assert app.refreshed == []


async def test_the_visible_rows_stay_while_the_end_grows() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("pageup")
        before = app.rows[:-1]
        assert not app.transcript.is_following
        assert app.rows[-1].endswith("↓ end")
        app.apply(message_started(running("new")), content_delta("new", "Hello\n\n" * 30))
        assert app.rows[:-1] == before
        assert app.rows[-1].endswith("↓ new")


async def test_nothing_is_laid_out_for_a_hidden_answer() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        app.apply(message_started(running("new")))
        await pilot.press("home")
        before = app.transcript.layouts
        app.apply(*(content_delta("new", "more ") for _ in range(50)))
        assert app.transcript.layouts == before


@pytest.mark.parametrize("way", ["end", "mouse", "wheel"])
async def test_the_end_is_followed_again_once_it_is_reached(way: str) -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("up", "up")
        app.apply(message_started(running("new")), content_delta("new", "Hello"))
        assert "Hello" not in app.text
        if way == "end":
            await pilot.press("end")
        elif way == "mouse":
            await pilot.click(Transcript, offset=(app.transcript.size.width - 3, 23))
        else:
            for _ in range(3):
                app.transcript.action_page_down()
        assert app.transcript.is_following
        assert "Hello" in app.text


@pytest.mark.painted
async def test_of_ten_thousand_messages_only_visible_ones_are_laid_out() -> None:
    app = long_transcript(10_000)
    async with app.run_test(size=LARGE) as pilot:
        assert 0 < app.transcript.layouts <= 40
        assert "message 9999." in app.text
        await pilot.press("home")
        assert "answer 0." in app.rows[1]
        assert app.transcript.layouts <= 80
        await pilot.press("end")
        assert "message 9999." in app.text
        assert app.transcript.layouts <= 80


async def test_paging_up_and_down_shows_every_message_once_and_in_order() -> None:
    app = long_transcript(120)
    async with app.run_test(size=SMALL) as pilot:
        seen: list[str] = []
        while "answer 0." not in app.text:
            numbers = [row.split()[2] for row in app.rows if row[3:].startswith("message")]
            seen = [number for number in numbers if number not in seen] + seen
            await pilot.press("pageup")
        await pilot.press("home")
        assert "answer 0." in app.rows[1]
        assert seen == sorted(seen, key=lambda number: float(number))
        assert {f"{n}." for n in range(61, 120, 2)} <= set(seen)


async def test_a_new_width_keeps_the_visible_message() -> None:
    app = long_transcript()

    def visible() -> set[str]:
        return set(re.findall(r"\b1?\d\d\.", app.text))

    async with app.run_test(size=LARGE) as pilot:
        for _ in range(6):
            await pilot.press("pageup")
        first = visible()
        await pilot.resize_terminal(60, 30)
        await until(pilot, lambda: app.transcript.size.height == 30)
        assert visible() and visible() <= first
        assert not app.transcript.is_following
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.transcript.size.height == 40)
        assert visible() == first


async def test_a_new_width_keeps_following() -> None:
    app = long_transcript()
    async with app.run_test(size=LARGE) as pilot:
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: app.transcript.size.height == 20)
        assert app.transcript.is_following
        assert "message 199." in app.text
        assert all(len(row) <= 60 for row in app.rows)


@pytest.mark.parametrize("panel", [3, 9])
async def test_a_panel_that_comes_and_goes_below_does_not_end_the_following(panel: int) -> None:
    history = history_of(*(user(f"m{n}", f"message {n}") for n in range(30)))
    app = TranscriptApp(history)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for height in (24 - panel, 24):
            app.transcript.styles.height = height
            await until(pilot, lambda: app.transcript.size.height == height)  # noqa: B023
            assert app.transcript.is_following
            assert "message 29" in app.text


async def test_older_messages_are_requested_once_and_added_without_a_jump() -> None:
    messages = make_messages_of_many_heights(300)
    app = TranscriptApp(history_of(*messages[200:], total=300))
    async with app.run_test(size=SMALL) as pilot:
        assert app.posted == []
        await pilot.press("home")
        await pilot.press("down", "up")
        await until(pilot, lambda: app.posted)
        assert [type(message) for message in app.posted] == [Transcript.OlderWanted]
        before = app.rows
        app.history.prepend(MessagePage(messages=messages[100:200], total=300))
        app.transcript.update_messages(0)
        assert app.rows == before
        await pilot.press("home")
        await until(pilot, lambda: len(app.posted) == 2)
        assert "answer 100." in app.rows[1]


async def test_thinking_is_folded_and_opens_by_a_click() -> None:
    thinking = ThinkingBlock(text="Let me look at the loop.", seconds=4.2)
    app = TranscriptApp(history_of(agent("1", thinking, TextBlock(text="Found it."))))
    async with app.run_test(size=LARGE) as pilot:
        assert app.rows[1] == "   ▸ thought for 4 s"
        await pilot.click(Transcript, offset=(6, 1))
        assert app.rows[1] == "   ▾ thought for 4 s"
        assert app.rows[2] == "     Let me look at the loop."
        await pilot.click(Transcript, offset=(6, 1))
        assert "Let me look" not in app.text


async def test_the_cursor_opens_a_tool_then_all_of_its_output_then_closes_it() -> None:
    output = "\n".join(f"line {number}" for number in range(252))
    app = TranscriptApp(
        history_of(
            agent(
                "1",
                ToolUseBlock(id="t", name="Bash", input={"command": "pytest -q"}),
                ToolResultBlock(tool_use_id="t", content=output),
            )
        )
    )
    async with app.run_test(size=LARGE) as pilot:
        assert app.rows[1] == "   ▸ run  pytest -q"
        await pilot.press("ctrl+up")
        assert app.rows[1] == "▌  ▸ run  pytest -q"
        await pilot.press("enter")
        assert "line 11" in app.text
        assert "line 12" not in app.text
        assert "… 240 more lines (enter shows all)" in app.text
        await pilot.click(Transcript, offset=(8, app.row_of("line 3")))
        assert "line 12" not in app.text
        await pilot.click(Transcript, offset=(8, app.row_of("240 more lines")))
        assert "line 20" in app.text
        await pilot.press("end")
        assert "line 251" in app.text
        await pilot.press("enter")
        assert "line 0" not in app.text
        assert app.rows[1] == "▌  ▸ run  pytest -q"


async def test_the_cursor_copies_the_source_text_and_opens_files() -> None:
    app = TranscriptApp(
        history_of(
            agent(
                "1",
                TextBlock(text="**Bold** " * 40),
                ToolUseBlock(id="t", name="Read", input={"file_path": "/w/alpha/parser.py"}),
            )
        )
    )
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("ctrl+up", "o", "k", "c")
        await until(pilot, lambda: len(app.posted) == 2)
        assert [type(m) for m in app.posted] == [Transcript.Opened, Transcript.CopyWanted]
        wanted, copied = app.posted
        assert isinstance(wanted, Transcript.Opened) and isinstance(copied, Transcript.CopyWanted)
        assert wanted.targets == [Target("/w/alpha/parser.py")]
        assert copied.text == "**Bold** " * 40
        await pilot.press("escape", "c")
        await until(pilot, lambda: len(app.posted) == 3)
        assert isinstance(app.posted[-1], Transcript.Typed)


async def test_the_cursor_moves_over_all_parts_and_stays_visible() -> None:
    app = long_transcript(16)
    async with app.run_test(size=SMALL) as pilot:
        for _ in range(31):
            await pilot.press("ctrl+up")
            assert any(row.startswith("▌") for row in app.rows)
        assert app.rows[0].startswith("▌")
        for _ in range(31):
            await pilot.press("j")
            assert any(row.startswith("▌") for row in app.rows)
        assert "message 15." in app.text


async def test_the_wheel_scrolls_three_rows_at_once() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        before = app.rows
        for kind in (events.MouseScrollUp, events.MouseScrollUp, events.MouseScrollDown):
            app.transcript.post_message(
                kind(app.transcript, 5, 5, 0, 0, 0, shift=False, meta=False, ctrl=False)
            )
            await pilot.pause()
        assert app.rows[3:-1] == before[:-4]
        await pilot.pause()
        assert app.rows[3:-1] == before[:-4]


async def test_streamed_text_is_on_the_screen_once() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        app.apply(message_started(running("new")))
        for number in range(30):
            app.apply(content_delta("new", f"painted{number} "))
            await pilot.pause()
        picture = app.export_screenshot()
        assert all(f"painted{number}" in picture for number in range(30))
        assert len(re.findall(r"painted7\b", picture)) == 1


def typed_texts(app: TranscriptApp) -> list[str]:
    return [m.character for m in app.posted if isinstance(m, Transcript.Typed)]


async def test_other_letters_and_bursts_are_posted_as_typed() -> None:
    app = long_transcript(4)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("ä", "n", "y", "c")
        for text in ("keep going", "go on", "by"):
            app.transcript.post_message(events.Key("typed", text))
        await until(pilot, lambda: len(app.posted) == 7)
        assert typed_texts(app) == ["ä", "n", "y", "c", "keep going", "go on", "by"]


@pytest.mark.parametrize(
    ("keys", "pause", "typed"),
    [
        ("ke", 0.2, "ke"),
        ("by t", 0.2, "by t"),  # without a cursor y is no command
        ("jjke", 0.2, "ke"),  # no word begins with the same letter twice
        ("ke", 1.5, "e"),
    ],
)
async def test_a_message_that_begins_with_a_command_is_typed_whole(
    keys: str, pause: float, typed: str
) -> None:
    app = long_transcript(4)
    async with app.run_test(size=SMALL) as pilot:
        for number, letter in enumerate(keys):
            event = events.Key(key_name(letter), letter)
            event.time += number * pause
            app.transcript.post_message(event)
        await until(pilot, lambda: "".join(typed_texts(app)) == typed)


async def test_keys_of_pagers_scroll_and_move_between_messages() -> None:
    app = long_transcript(30)
    async with app.run_test(size=SMALL) as pilot:
        transcript, half = app.transcript, app.transcript.size.height // 2

        def top() -> int:
            assert transcript.viewport is not None
            return transcript.viewport.top

        end = app.rows
        for up, down, by in (
            ("k", "j", 1),
            ("ctrl+u", "ctrl+d", half),
            ("b", "space", 2 * half - 2),
        ):
            await pilot.press(up)
            assert app.rows[by:-1] == end[: -by - 1]  # the last row has the label that jumps back
            await pilot.press(down)
            assert app.rows == end
        await pilot.press("g")
        assert top() == 0
        await pilot.press("}", "}")
        assert transcript.viewport is not None
        assert transcript.viewport.position_at(0) == (2, 0)
        await pilot.press("j", "{")
        assert transcript.viewport.position_at(0) == (2, 0)
        await pilot.press("{")
        assert transcript.viewport.position_at(0) == (1, 0)
        before = top()
        transcript.post_message(events.Key("typed", "jjj"))  # held down on a slow line
        await until(pilot, lambda: top() == before + 3)
        await pilot.press("G")
        assert app.rows == end and transcript.is_following
        assert not typed_texts(app)


async def test_enter_shows_the_cursor_and_y_copies_the_part_under_it() -> None:
    app = TranscriptApp(history_of(user("1", "first"), user("2", "second")))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("enter", "y")
        await until(pilot, lambda: app.posted)
        (copied,) = app.posted
        assert isinstance(copied, Transcript.CopyWanted) and copied.text == "second"


async def test_a_clicked_link_is_opened_and_folds_nothing() -> None:
    app = TranscriptApp(
        history_of(agent("1", TextBlock(text="See [this](https://example.com/a).")))
    )
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(Transcript, offset=(8, 1))
        await until(pilot, lambda: app.posted)
        wanted = app.posted[-1]
        assert isinstance(wanted, Transcript.Opened)
        assert wanted.targets == [Target(href="https://example.com/a")]


async def test_a_click_on_a_file_with_its_line_opens_it() -> None:
    app = TranscriptApp(history_of(agent("1", TextBlock(text="Broken in src/a.py:41 since then."))))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.click(Transcript, offset=(4, 1))
        assert not app.posted
        await pilot.click(Transcript, offset=(16, 1))
        await until(pilot, lambda: app.posted)
        assert app.posted == [Transcript.Opened([Target("src/a.py", 41)])]


async def test_the_cursor_offers_every_file_and_page_that_a_text_names() -> None:
    text = "`lib/b.py:7:2`, https://example.com/x:8, a.py:1, then a.py:1 at 10:30 and v1.2:3"
    app = TranscriptApp(history_of(agent("1", TextBlock(text=text))))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("ctrl+up", "o")
        await until(pilot, lambda: app.posted)
        wanted = app.posted[-1]
        assert isinstance(wanted, Transcript.Opened)
        named = [target.label for target in wanted.targets]
        assert named == ["lib/b.py:7", "https://example.com/x:8", "a.py:1"]


async def test_a_long_user_message_is_folded_until_it_is_opened() -> None:
    text = "\n".join(f"line {number}" for number in range(5000))
    app = TranscriptApp(history_of(user("1", text), agent("2", TextBlock(text="Read."))))
    async with app.run_test(size=(60, 30)) as pilot:
        assert "line 11" in app.text and "line 13" not in app.text
        assert "… 5,000 lines in all (enter shows all)" in app.text
        await pilot.press("ctrl+up", "k", "k", "enter")
        await pilot.press("end")
        assert "line 4999" in app.text
        await pilot.press("enter")
        assert "line 4999" not in app.text


async def test_selected_text_has_no_margins_and_survives_older_and_newer_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages = [user("1", "first"), user("2", "second"), user("3", "third line here")]
    app = TranscriptApp(history_of(*messages, total=5))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.mouse_down(Transcript, offset=(3, 2))
        await pilot.hover(Transcript, offset=(13, 4))
        await pilot.mouse_up(Transcript, offset=(13, 4))
        selected = app.screen.get_selected_text()
        assert selected is not None
        lines = selected.splitlines()
        assert lines[0] == "second"
        assert lines[-1] == "third line"[: len(lines[-1])]
        app.history.prepend(MessagePage(messages=[user("0", "older")], total=5))
        app.transcript.update_messages(0)
        assert app.screen.get_selected_text() == selected
        monkeypatch.setattr("tui.store.history.MAX_BYTES", 1)
        app.transcript.update_messages(3)
        assert app.screen.get_selected_text() == selected
        app.screen.clear_selection()
        await pilot.pause()
        app.transcript.update_messages(3)
        assert [message.id for message in app.history.messages] == ["3"], (
            "dropped without a selection"
        )


async def test_a_double_click_selects_the_word_and_a_third_the_row() -> None:
    app = TranscriptApp(history_of(user("1", "see src/parser.py:12, please")))
    async with app.run_test(size=SMALL) as pilot:
        row = next(y for y in range(8) if "parser" in app.transcript.render_line(y).text)
        at = app.transcript.render_line(row).text.index("parser")
        await pilot.click(Transcript, offset=(at, row), times=2)
        assert app.screen.get_selected_text() == "src/parser.py:12"
        await pilot.click(Transcript, offset=(at, row), times=3)
        assert app.screen.get_selected_text() == "see src/parser.py:12, please"


async def test_all_text_can_be_selected() -> None:
    app = TranscriptApp(history_of(user("1", "first"), user("2", "second")))
    async with app.run_test(size=SMALL):
        found = app.transcript.get_selection(Selection(None, None))
        assert found == ("first\n\nsecond", "\n")
        found = app.transcript.get_selection(Selection(Offset(0, 0), None))
        assert found is not None and "first" in found[0]


async def test_other_colors_change_no_row() -> None:
    app = long_transcript()
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("pageup")
        before = app.rows
        app.transcript.set_palette(LIGHT)
        assert app.rows == before


async def test_each_session_is_shown_where_it_was_left() -> None:
    app = long_transcript()
    other = History("other")
    other.load(MessagePage(messages=[user("x", "elsewhere")], total=1))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("pageup", "pageup")
        before = app.rows
        app.transcript.show(other, LIGHT, app.session)
        assert "elsewhere" in app.text
        assert app.transcript.is_following
        app.transcript.show(app.history, LIGHT, app.session)
        assert app.rows == before


async def test_a_streamed_answer_looks_like_one_that_arrived_at_once() -> None:
    text = "# Title\n\n- one\n- two\n\n```python\nx = 1\n```\n\nEnd."
    whole = TranscriptApp(history_of(agent("1", TextBlock(text=text))))
    grown = TranscriptApp(history_of(running("1")))
    async with whole.run_test(size=SMALL):
        expected = whole.rows
    async with grown.run_test(size=SMALL):
        for character in text:
            grown.apply(content_delta("1", character))
        done = MessageCompleted(
            message_id="1", session_id="s1", stop_reason="end_turn", usage=Usage()
        )
        grown.apply(done)
        assert grown.rows == expected


def test_importing_the_transcript_loads_nothing_heavy() -> None:
    heavy = "{'aiohttp', 'git', 'pygments'}"
    code = f"import sys, tui.transcript.widget; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
