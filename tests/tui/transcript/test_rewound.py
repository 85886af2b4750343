"""Messages that were taken back, in the transcript."""

import pytest

from model.domain.events.messages import MessagesRewound
from model.domain.messages import Message, TextBlock
from tests.tui.transcript_app import DARK, TranscriptApp, agent, history_of, user


def talk(*, rewound: range = range(0), count: int = 4) -> list[Message]:
    """Turns of a message and its answer; the messages in `rewound` were taken back."""
    messages = []
    for turn in range(count):
        messages += [user(f"u{turn}", f"question {turn}")]
        messages += [agent(f"a{turn}", TextBlock(text=f"answer {turn}"))]
    return [
        message.model_copy(update={"rewound": at in rewound}) for at, message in enumerate(messages)
    ]


def rewinding(*ids: str, rewound: bool = True) -> MessagesRewound:
    return MessagesRewound(session_id="s1", message_ids=list(ids), rewound=rewound)


async def test_adjacent_rewound_messages_are_one_line_that_shows_them() -> None:
    app = TranscriptApp(history_of(*talk(rewound=range(2, 6))))
    async with app.run_test(size=(60, 20)) as pilot:
        folded = app.row_of("4 messages rewound · show")
        assert "question 1" not in app.text
        assert app.row_of("answer 0") < folded < app.row_of("question 3")
        assert app.row_of("question 3") == folded + 2, "no empty rows are left by the others"
        await pilot.click(app.transcript, offset=(5, folded))
        assert app.row_of("4 messages rewound · hide") < app.row_of("question 1")
        assert "answer 2" in app.text
        faint = app.transcript.render_line(app.row_of("question 1"))
        colors = {s.style.color for s in faint if s.style and "question" in s.text}
        assert colors == {DARK.faint.color}
        await pilot.click(app.transcript, offset=(5, app.row_of("rewound · hide")))
        assert "question 1" not in app.text


async def test_they_fold_when_they_are_taken_back_and_return_with_their_colors() -> None:
    app = TranscriptApp(history_of(*talk()))
    async with app.run_test(size=(60, 20)):
        before = app.rows
        app.apply(rewinding("u2", "a2", "u3", "a3"))
        assert app.rows[app.row_of("4 messages rewound")].strip() == "▸ 4 messages rewound · show"
        assert "question 3" not in app.text
        app.apply(rewinding("u1", "a1"))
        assert "6 messages rewound" in app.text
        app.apply(rewinding("u1", "a1", rewound=False))
        assert "4 messages rewound" in app.text
        app.apply(rewinding("u2", "a2", "u3", "a3", rewound=False))
        assert app.rows == before


async def test_the_cursor_and_the_keys_pass_over_folded_messages() -> None:
    app = TranscriptApp(history_of(*talk(rewound=range(2, 8), count=12)))
    async with app.run_test(size=(60, 8)) as pilot:
        app.transcript.go_to(0)
        await pilot.press("right_curly_bracket", "right_curly_bracket", "right_curly_bracket")
        assert app.rows[0].strip().startswith("┃ question 4")
        await pilot.press("left_curly_bracket")
        assert "rewound" in app.rows[0]
        await pilot.press("ctrl+up", "enter")
        await pilot.press(*["ctrl+up"] * 30)
        assert app.transcript.viewport is not None
        assert app.transcript.viewport.top == 0


async def test_a_search_and_a_jump_unfold_what_they_find() -> None:
    app = TranscriptApp(history_of(*talk(rewound=range(2, 6))))
    async with app.run_test(size=(60, 30)):
        app.transcript.set_query("answer 1")
        assert app.transcript.find(-1)
        assert "answer 1" in app.text
    app = TranscriptApp(history_of(*talk(rewound=range(2, 6))))
    async with app.run_test(size=(60, 30)):
        app.transcript.reveal("a2")
        assert "answer 2" in app.text


@pytest.mark.painted
@pytest.mark.longer
async def test_ten_thousand_folded_messages_cost_nothing() -> None:
    app = TranscriptApp(history_of(*talk(rewound=range(2, 10_000), count=5_002)))
    async with app.run_test(size=(60, 30)):
        assert "9998 messages rewound" in app.text
        assert app.transcript.layouts < 20
