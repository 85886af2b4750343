"""The layout of messages as rows: each kind of block, closed and open, and hostile text."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment

from model.domain.messages import (
    Block,
    ImageBlock,
    Message,
    MessageError,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnreadableBlock,
)
from model.domain.requests import Question, QuestionOption, Request
from tests.nightly import examples
from tests.tui.transcript_app import DARK, agent, running, user
from tui.draw.colors import get_palette
from tui.transcript.layout import lay_out
from tui.transcript.parts import LayoutInput, RenderContext
from tui.transcript.streaming import GrowingText

CONTEXT = RenderContext(80, DARK, root="/w/alpha")


def message_rows(message: Message, context: RenderContext = CONTEXT, **shown: Any) -> list[str]:
    return [strip.text.rstrip() for strip in lay_out(LayoutInput(message, context, **shown)).strips]


def body(
    *blocks: Block, context: RenderContext = CONTEXT, is_running: bool = False, **shown: Any
) -> list[str]:
    """The rows below the header, without the empty last one."""
    message = running("m", *blocks) if is_running else agent("m", *blocks)
    return message_rows(message, context, **shown)[1:-1]


def tool(name: str, tool_id: str = "t", parent: str | None = None, **given: Any) -> ToolUseBlock:
    return ToolUseBlock(id=tool_id, name=name, input=given, parent_tool_use_id=parent)


def result(
    content: str, tool_id: str = "t", *, is_error: bool = False, denied: str | None = None
) -> ToolResultBlock:
    return ToolResultBlock(tool_use_id=tool_id, content=content, is_error=is_error, denied=denied)


@pytest.mark.parametrize(
    ("block", "row"),
    [
        (tool("Read", file_path="/w/alpha/src/parser.py"), "   ▸ read  src/parser.py"),
        (tool("Read", file_path="/etc/hosts"), "   ▸ read  /etc/hosts"),
        (tool("Bash", command="pytest -q\nls"), "   ▸ run  pytest -q …"),
        (tool("shell", command=["git", "status"]), "   ▸ run  git status"),
        (tool("Grep", path="src", pattern="def f"), "   ▸ search  def f"),
        (tool("mcp__db__query", sql="select 1"), "   ▸ db query  select 1"),
        (tool("Task", description="Look around", prompt="Please"), "   ▸ agent  Look around"),
        (tool("TodoWrite", todos=[{"status": "completed"}, {}]), "   ▸ todo  1 of 2 done"),
        (tool("odd", deep={"a": 1}), "   ▸ odd"),
    ],
)
def test_a_tool_is_one_row_that_says_what_was_done(block: ToolUseBlock, row: str) -> None:
    assert body(block) == [row]


def test_a_tool_runs_until_its_result_comes_and_may_fail() -> None:
    block = tool("Bash", command="make")
    assert body(block, is_running=True) == ["   ▸ run  make  ◌ running"]
    assert body(block, result("ok"), is_running=True) == ["   ▸ run  make"]
    assert body(block, result("no", is_error=True)) == ["   ▸ run  make  ✗ failed"]
    assert body(block, result("no", is_error=True, denied="")) == ["   ▸ run  make  ✗ denied"]
    denied = result("no", is_error=True, denied="make it with uv")
    assert body(block, denied) == ["   ▸ run  make  ✗ denied", "     ❯ make it with uv"]
    assert body(block) == ["   ▸ run  make"]


def test_the_output_of_a_running_tool_is_shown_until_its_result() -> None:
    lines = "\n".join(map(str, range(1, 31)))
    block = tool("Bash", command="make").model_copy(
        update={"output_so_far": f"{lines}\n", "running_for": 72}
    )
    head = "run  make  ◌ running for 1 min 12 s"
    before = tool("Read", "r", file_path="a.py")
    assert body(before, block, is_running=True) == [
        "   ▸ read  a.py  ◌ running",
        f"   ▸ {head}",
        *(f"     │ {number}" for number in (28, 29, 30)),
    ]
    opened = body(block, is_running=True, expansion_state={0: 1})
    assert opened[:2] == [f"   ▾ {head}", "     $ make"]
    assert opened[-1] == "     │ 30"
    assert 4 < len(opened) < 30
    assert len(body(block, is_running=True, expansion_state={0: 2})) == 32
    assert body(block, result("ok"), is_running=True) == ["   ▸ run  make"]


def test_an_open_tool_shows_its_input_and_output() -> None:
    block = tool("Bash", command="make\nmake test", timeout=5)
    assert body(block, result("one\ntwo"), expansion_state={0: 1}) == [
        "   ▾ run  make …",
        "     $ make",
        "       make test",
        "     timeout  5",
        "     │ one",
        "     │ two",
    ]


def test_a_long_path_keeps_its_end() -> None:
    row = body(tool("Read", file_path="/very" * 30 + "/last.py"))[0]
    assert row.startswith("   ▸ read  …")
    assert row.endswith("/last.py")
    assert cell_len(row) <= 79


def test_a_small_edit_is_open_and_a_large_one_closed() -> None:
    small = tool("edit", file_path="/w/alpha/a.py", old_content="a\nb\n", new_content="a\nc\n")
    shown = body(small, result("ok"))
    assert shown[0] == "   ▾ edit  a.py  +1 −1"
    assert [row.split()[1:] for row in shown if "-" in row or "+ " in row] == [
        ["-", "b"],
        ["+", "c"],
    ]
    assert not any("ok" in row for row in shown)
    large = tool("edit", file_path="/w/alpha/a.py", old_content="", new_content="x\n" * 300)
    assert body(large) == ["   ▸ edit  a.py  +300 −0"]
    opened = body(large, expansion_state={0: 1})
    assert len(opened) == 1 + 36 + 1
    assert "more lines (enter shows all)" in opened[-1]
    assert len(body(large, expansion_state={0: 2})) == 301


def test_a_failed_edit_is_closed_and_says_why_when_open() -> None:
    block = tool("edit", file_path="a.py", old_content="a", new_content="b")
    failed = result("The text was not found.", is_error=True)
    assert body(block, failed) == ["   ▸ edit  a.py  +1 −1  ✗ failed"]
    assert body(block, failed, expansion_state={0: 1})[-1] == "     │ The text was not found."


def test_the_steps_of_a_sub_agent_are_shown_while_it_works() -> None:
    blocks = [
        tool("Task", "p", description="Look around"),
        tool("Task", "q", description="Elsewhere"),
        tool("Grep", "c1", "p", pattern="a"),
        tool("Task", "c2", "p", description="Deeper"),
        tool("Read", "d", "c2", file_path="b.py"),
    ]
    assert body(*blocks, is_running=True) == [
        "   ▸ agent  Look around  · 2 steps  ◌ running",
        "     ▸ search  a  ◌ running",
        "     ▸ agent  Deeper  · 1 step  ◌ running",
        "       ▸ read  b.py  ◌ running",
        "   ▸ agent  Elsewhere  ◌ running",
    ]
    assert body(*blocks, result("done", "p"), result("done", "q"))[0:2] == [
        "   ▸ agent  Look around  · 2 steps",
        "   ▸ agent  Elsewhere",
    ]


@pytest.mark.parametrize("parent", ["t", "unknown", "later"])
def test_a_tool_without_a_parent_before_it_is_shown_at_the_top_level(parent: str) -> None:
    shown = body(tool("Read", "t", parent, file_path="a"), tool("Read", "later", file_path="b"))
    assert shown == ["   ▸ read  a", "   ▸ read  b"]


def test_a_result_without_its_tool_is_shown() -> None:
    assert body(result("one\ntwo", "earlier")) == ["   ▸ result  one …"]
    assert body(result("one\ntwo", "earlier"), expansion_state={0: 1}) == [
        "   ▾ result",
        "     one",
        "     two",
    ]


@pytest.mark.parametrize(
    ("seconds", "row"),
    [
        (4.2, "▸ thought for 4 s"),
        (0.1, "▸ thought for 1 s"),
        (119.6, "▸ thought for 2 min 0 s"),
        (None, "▸ thought"),
    ],
)
def test_thinking_is_one_row_with_its_duration(seconds: float | None, row: str) -> None:
    assert body(ThinkingBlock(text="Hm.", seconds=seconds)) == [f"   {row}"]


def test_unfinished_thinking_says_so() -> None:
    assert body(ThinkingBlock(text="Hm."), is_running=True) == ["   ◌ thinking …"]


def test_a_plan_is_shown_beside_a_bar_with_its_outcome() -> None:
    request = Request(id="r", kind="plan", message_id="m")
    plan = PlanBlock(text="1. read\n2. test")
    waiting = body(plan, request=request)
    assert waiting == [" ┃ Plan  waiting for you", " ┃ 1. read", " ┃ 2. test"]
    approved = body(plan.model_copy(update={"approved": "yolo"}))
    assert "approved → yolo" in approved[0]
    assert "not carried out" in body(plan)[0]
    assert body(plan, expansion_state={0: 0}) == [" ▸ Plan  not carried out"]


def test_a_long_plan_is_whole_while_it_waits_and_cut_afterwards() -> None:
    plan = PlanBlock(text="\n".join(f"{n}. step" for n in range(1, 41)))
    request = Request(id="r", kind="plan", message_id="m")
    assert len(body(plan, request=request)) == 41
    assert any("28 more lines" in row for row in body(plan))


def test_a_question_shows_its_options_and_what_was_chosen() -> None:
    options = [QuestionOption(label="SQLite", description="a file"), QuestionOption(label="Other")]
    question = Question(question="Which database?", options=options)
    block = QuestionBlock(id="q", questions=[question])
    assert body(block) == ["   ? Which database?", "     ○ SQLite  a file", "     ○ Other"]
    chosen = block.model_copy(update={"answer": {"Which database?": "SQLite"}})
    assert body(chosen)[1:] == ["     ● SQLite  a file", "     ○ Other"]
    own = block.model_copy(update={"answer": "None of them"})
    assert body(own)[3] == "     ❯ None of them"
    both = block.model_copy(update={"answer": {"Which database?": "SQLite, Other"}})
    assert [row[5] for row in body(both)[1:]] == ["●", "●"]


def test_files_pictures_and_blocks_of_newer_versions_are_named() -> None:
    assert body(ImageBlock(path="/w/alpha/x.png")) == ["   [image] x.png"]
    assert body(UnreadableBlock()) == ["   [unreadable] This part is damaged in the database."]
    sentence, *left = body(UnreadableBlock(text="half a thought\nand more"))
    assert sentence.startswith("   [unreadable] This part is damaged")
    assert left == ["     half a thought", "     and more"]
    assert body(UnknownBlock(type="hologram")) == ["   [hologram] this version cannot show it"]
    assert message_rows(user("1", "See", files=["/w/alpha/a.py"]))[-2] == " ┃ [file] a.py"


def test_an_error_says_what_happened_and_what_to_do() -> None:
    error = MessageError(error="The key was refused.", error_type="authentication_error")
    shown = message_rows(agent("m", TextBlock(text="Half"), error=error))
    assert shown[-3:] == [
        "   ✗ The key was refused.",
        "     Sign in with the agent's program, then send a message to continue.",
        "",
    ]


def test_an_error_with_its_own_advice_gets_no_other() -> None:
    sentence = "The provider refused the key in KEY. Set a valid one and start Spinney again."
    error = MessageError(error=sentence, error_type="authentication_error")
    assert "Sign in" not in " ".join(message_rows(agent("m", TextBlock(text="Half"), error=error)))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("stopped", "stopped by you"),
        ("interrupted", "interrupted: Spinney was quit. Send a message to continue."),
    ],
)
def test_a_stopped_answer_says_so(reason: str, words: str) -> None:
    assert (
        message_rows(agent("m", TextBlock(text="Half"), stop_reason=reason))[-2] == f"   ■ {words}"
    )


def test_a_waiting_plan_is_not_called_interrupted() -> None:
    plan = agent("m", PlanBlock(text="Weave"), stop_reason="interrupted")
    assert "interrupted" not in " ".join(message_rows(plan))


def test_empty_blocks_have_no_row() -> None:
    assert body(TextBlock(text=""), TextBlock(text="Hi")) == ["   Hi"]


def test_ascii_glyphs_are_used_if_requested() -> None:
    context = RenderContext(80, get_palette("dark", "vitesse-black", ascii_glyphs=True))
    shown = body(
        ThinkingBlock(text="x", seconds=1),
        PlanBlock(text="do"),
        tool("Read", file_path="a.py"),
        context=context,
    )
    assert "\n".join(shown).isascii()


HOSTILE = "[/] [@click=app.quit]x[/] [bold]b[/bold] \x1b[31mred\x1b]52;c;QQ==\x07 \x9b1m \u202eevil"


def hostile_message() -> Message:
    return agent(
        "m",
        TextBlock(text=HOSTILE),
        TextBlock(text=f"```{HOSTILE}\n{HOSTILE}\n```"),
        ThinkingBlock(text=HOSTILE, seconds=1),
        tool(HOSTILE, "1", command=HOSTILE, other=HOSTILE),
        result(HOSTILE, "1"),
        tool("edit", "2", file_path=HOSTILE, old_content=HOSTILE, new_content=f"{HOSTILE} "),
        PlanBlock(text=HOSTILE),
        QuestionBlock(
            id="q",
            questions=[Question(question=HOSTILE, options=[QuestionOption(label=HOSTILE)])],
            answer=HOSTILE,
        ),
        ImageBlock(path=HOSTILE),
        UnknownBlock(type=HOSTILE),
        backend=HOSTILE,
        model=HOSTILE,
        files=[HOSTILE],
        error=MessageError(error=HOSTILE, error_type=HOSTILE),
    )


def test_hostile_text_is_drawn_literally_without_control_characters() -> None:
    everything_open = dict.fromkeys(range(20), 2)
    laid = lay_out(LayoutInput(hostile_message(), CONTEXT, expansion_state=everything_open))
    text = "\n".join(strip.text for strip in laid.strips)
    assert "[@click=app.quit]x[/]" in text
    assert not any(
        (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e" for c in text
    )
    for strip in laid.strips:
        for _, style, control in strip:
            assert control is None
            assert not (style and style.meta)


@pytest.mark.parametrize("width", [8, 20, 33, 80, 250])
def test_no_row_is_wider_or_narrower_than_the_screen(width: int) -> None:
    wide = "你好 wide 世界" * 20
    message = hostile_message()
    message = message.model_copy(
        update={"content": [*message.content, TextBlock(text=wide), tool("Bash", command=wide)]}
    )
    laid = lay_out(
        LayoutInput(
            message, RenderContext(width, DARK), expansion_state=dict.fromkeys(range(20), 1)
        )
    )
    assert {strip.cell_length for strip in laid.strips} == {width}
    assert {cell_len(strip.text) for strip in laid.strips} == {width}


def test_only_the_block_that_grew_is_laid_out_again() -> None:
    still = [ThinkingBlock(text="x", seconds=1), tool("Read", file_path="a")]
    before = lay_out(LayoutInput(running("m", *still, TextBlock(text="a\n\nb\n\nc")), CONTEXT))
    grown = running("m", *still, TextBlock(text="a\n\nb\n\nc and more"))
    after = lay_out(LayoutInput(grown, CONTEXT), before)
    kept = {part.key for part in after.parts if any(part is other for other in before.parts)}
    assert kept == {0, 1}
    same = [new is was for new, was in zip(after.strips, before.strips, strict=True)]
    changed = next(at for at, strip in enumerate(after.strips) if "c and more" in strip.text)
    final = next(at for at, strip in enumerate(after.strips) if strip.text.strip() == "a")
    assert same[final] and not same[changed]


PIECES = st.lists(
    st.sampled_from(["word ", "\n", "\n\n", "- item\n", "```py\n", "```\n", "x = 1\n", "# T\n",
                     "| a | b |\n|---|---|\n| 1 | 2 |\n", "> q\n", "    code\n", "[a]: http://b\n",
                     "[a] ", "**b", "1. one\n", "日本語の長い文。", "、", "\t", "x" * 70]),
    max_size=30,
)  # fmt: skip


def make_growing(indent: int = 3) -> GrowingText:
    return GrowingText(Segment(" " * indent))


@settings(deadline=None, max_examples=examples(25, 200))
@given(PIECES)
def test_streamed_text_has_the_rows_of_text_that_arrived_at_once(pieces: list[str]) -> None:
    growing, text = make_growing(), ""
    for piece in pieces:
        text += piece
        grown = growing.rows(text, 60, DARK)
        at_once = make_growing().rows(text, 60, DARK)
        assert [strip.text for strip in grown] == [strip.text for strip in at_once]
    whole = make_growing().rows(text, 60, DARK, ended=True)
    grown = growing.rows(text, 60, DARK, ended=True)
    assert [strip.text for strip in grown] == [strip.text for strip in whole]


@settings(deadline=None, max_examples=examples(25, 200))
@given(st.lists(st.sampled_from(["word ", "\n", "  ", "日本語の文。", "、", "\t", "x" * 70])))
def test_an_open_paragraph_has_the_rows_of_a_complete_one(pieces: list[str]) -> None:
    growing, text = make_growing(), "It begins"
    for piece in pieces:
        text = f"{text}{piece}".replace("\n\n", "\n")
        grown = growing.rows(text, 60, DARK)
        complete = make_growing().rows(text, 60, DARK, ended=True)
        assert [strip.text for strip in grown] == [strip.text for strip in complete]


def test_a_replaced_text_is_drawn_again() -> None:
    growing = make_growing(0)
    growing.rows("One\n\nTwo\n\nThree", 40, DARK)
    assert [strip.text.rstrip() for strip in growing.rows("Other", 40, DARK)] == ["Other"]


def test_a_long_open_code_block_keeps_the_rows_it_has() -> None:
    growing, text = make_growing(0), "```python\n"
    text += "".join(f"x_{number} = {number}\n" for number in range(200))
    before = growing.rows(text + "y", 60, DARK)
    after = growing.rows(text + "y = 1\nz", 60, DARK)
    assert sum(one is other for one, other in zip(before, after, strict=False)) >= 200
