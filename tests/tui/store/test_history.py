"""The messages of a session: loaded pages combined with events."""

import pytest

from model.domain.events.messages import (
    BlockChanged,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
    MessageRemoved,
    RunNoticed,
    ToolRunning,
    ToolUsed,
)
from model.domain.messages import Message, MessagePage, TextBlock, ToolResultBlock, ToolUseBlock
from model.domain.usage import Usage
from tests.tui.builders import a_message, an_unfinished_answer, content_delta, message_started
from tui.store.history import History


def queued(message: Message, status: str) -> MessageQueued:
    return MessageQueued(session_id="s1", message=message, status=status)


def ids(history: History) -> list[str]:
    return [history[index].id for index in range(len(history))]


@pytest.fixture
def history() -> History:
    loaded = History("s1")
    loaded.load(MessagePage(messages=[a_message("1"), a_message("2")], total=10))
    return loaded


def test_messages_before_the_loaded_page_are_counted_as_older(history: History) -> None:
    assert ids(history) == ["1", "2"]
    assert history.older_count == 8


def test_the_unfinished_answer_replaces_its_saved_part() -> None:
    history = History("s1")
    page = MessagePage(messages=[a_message("1"), an_unfinished_answer("2")], total=2)
    history.load(page, streaming=an_unfinished_answer("2", TextBlock(text="so far")))
    assert ids(history) == ["1", "2"]
    assert history[1].text == "so far"


def test_an_unfinished_answer_that_was_not_saved_yet_comes_last() -> None:
    history = History("s1")
    history.load(
        MessagePage(messages=[a_message("1")], total=1), streaming=an_unfinished_answer("2")
    )
    assert ids(history) == ["1", "2"]
    assert history.older_count == 0


def test_a_streamed_answer_grows_by_its_events(history: History) -> None:
    assert history.apply(message_started(an_unfinished_answer("3"))) == 2
    assert history.apply(content_delta("3", "Hel")) == 2
    assert history.apply(content_delta("3", "lo")) == 2
    assert history[2].text == "Hello"
    assert history.older_count == 8
    done = MessageCompleted(message_id="3", session_id="s1", stop_reason="end_turn", usage=Usage())
    assert history.apply(done) == 2
    assert history[2].status == "completed"


def test_a_failed_answer_keeps_its_text_and_has_an_error(history: History) -> None:
    history.apply(message_started(an_unfinished_answer("3", TextBlock(text="half"))))
    failed = MessageFailed(
        message_id="3", session_id="s1", error="It broke.", error_type="backend_error"
    )
    assert history.apply(failed) == 2
    assert history[2].text == "half"
    assert history[2].error is not None and history[2].error.error == "It broke."


def test_a_waiting_message_joins_the_conversation_when_its_run_starts(history: History) -> None:
    assert history.apply(queued(a_message("q1"), "sent")) is None
    assert history.apply(queued(a_message("q2"), "sent")) is None
    assert ids(history) == ["1", "2"]
    assert history.apply(queued(a_message("q1"), "processing")) == 2
    assert ids(history) == ["1", "2", "q1"]
    assert history.older_count == 8


def test_removing_a_waiting_message_changes_nothing(history: History) -> None:
    history.apply(queued(a_message("q1"), "sent"))
    assert history.apply(MessageRemoved(session_id="s1", message_id="q1")) is None
    assert ids(history) == ["1", "2"]


def test_events_of_other_sessions_and_of_unknown_messages_change_nothing(
    history: History,
) -> None:
    assert history.apply(content_delta("2", "x", session_id="other")) is None
    assert history.apply(content_delta("unknown", "x")) is None
    notice = RunNoticed(session_id="s1", text="retrying")
    assert history.apply(notice) is None


def test_an_older_page_is_prepended_without_known_messages(history: History) -> None:
    page = MessagePage(messages=[a_message("0"), a_message("1")], total=10)
    assert history.prepend(page) == 1
    assert ids(history) == ["0", "1", "2"]
    assert history.older_count == 7


def test_an_empty_page_means_that_nothing_is_older(history: History) -> None:
    assert history.prepend(MessagePage(messages=[], total=10)) == 0
    assert history.older_count == 0


def test_the_output_of_a_tool_is_tracked_until_its_result(history: History) -> None:
    history.apply(message_started(an_unfinished_answer("a")))
    place = {"session_id": "s1", "message_id": "a", "content_index": 0}
    used = ToolUsed(**place, tool_name="bash", tool_input={}, tool_use_id="t")
    assert history.apply(used) is not None
    running = ToolRunning(**place, output="warp", seconds=3)
    index = history.apply(running)
    assert index is not None
    (block,) = history[index].content
    assert isinstance(block, ToolUseBlock)
    assert (block.output_so_far, block.running_for) == ("warp", 3)
    result = ToolResultBlock(tool_use_id="t", content="warp weft")
    history.apply(BlockChanged(**{**place, "content_index": 1}, block=result))
    assert history[index].content[0] == block.model_copy(
        update={"output_so_far": None, "running_for": None}
    )
