"""The messages of a session: pages of the past joined with what happens now."""

import pytest

from model.domain import events as e
from model.domain.resources import (
    Message,
    MessagePage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from tui.store.history import History


def said(message_id: str, text: str = "hello", **fields: object) -> Message:
    defaults = {"role": "user", "timestamp": 0, "session_id": "s"}
    return Message(id=message_id, content=[TextBlock(text=text)], **{**defaults, **fields})


def answer(message_id: str, *blocks: TextBlock) -> Message:
    return said(message_id, role="assistant", status="processing").model_copy(
        update={"content": list(blocks)}
    )


def queued(message: Message, status: str) -> e.MessageQueued:
    return e.MessageQueued(session_id="s", message=message, status=status)


def started(message: Message) -> e.MessageStarted:
    return e.MessageStarted(message_id=message.id, session_id="s", message=message)


def delta(message_id: str, text: str, session_id: str = "s") -> e.ContentDelta:
    return e.ContentDelta(
        message_id=message_id, content=text, content_index=0, session_id=session_id
    )


def ids(history: History) -> list[str]:
    return [history[index].id for index in range(len(history))]


@pytest.fixture
def history() -> History:
    loaded = History("s")
    loaded.load(MessagePage(messages=[said("1"), said("2")], total=10))
    return loaded


def test_a_page_is_what_is_known_and_the_rest_is_older(history: History) -> None:
    assert ids(history) == ["1", "2"]
    assert history.older_count == 8


def test_the_unfinished_answer_replaces_what_was_saved_of_it() -> None:
    history = History("s")
    page = MessagePage(messages=[said("1"), answer("2")], total=2)
    history.load(page, streaming=answer("2", TextBlock(text="so far")))
    assert ids(history) == ["1", "2"]
    assert history[1].text == "so far"


def test_an_unfinished_answer_that_was_not_saved_yet_comes_last() -> None:
    history = History("s")
    history.load(MessagePage(messages=[said("1")], total=1), streaming=answer("2"))
    assert ids(history) == ["1", "2"]
    assert history.older_count == 0


def test_a_streamed_answer_grows_by_its_events(history: History) -> None:
    assert history.apply(started(answer("3"))) == 2
    assert history.apply(delta("3", "Hel")) == 2
    assert history.apply(delta("3", "lo")) == 2
    assert history[2].text == "Hello"
    assert history.older_count == 8
    done = e.MessageCompleted(message_id="3", session_id="s", stop_reason="end_turn", usage=Usage())
    assert history.apply(done) == 2
    assert history[2].status == "completed"


def test_a_failed_answer_keeps_what_arrived_and_says_why(history: History) -> None:
    history.apply(started(answer("3", TextBlock(text="half"))))
    failed = e.MessageFailed(
        message_id="3", session_id="s", error="It broke.", error_type="backend_error"
    )
    assert history.apply(failed) == 2
    assert history[2].text == "half"
    assert history[2].error is not None and history[2].error.error == "It broke."


def test_a_waiting_message_joins_the_conversation_when_its_run_starts(history: History) -> None:
    assert history.apply(queued(said("q1"), "sent")) is None
    assert history.apply(queued(said("q2"), "sent")) is None
    assert ids(history) == ["1", "2"]
    assert history.apply(queued(said("q1"), "processing")) == 2
    assert ids(history) == ["1", "2", "q1"]
    assert history.older_count == 8


def test_a_waiting_message_that_is_taken_back_changes_nothing(history: History) -> None:
    history.apply(queued(said("q1"), "sent"))
    assert history.apply(e.MessageRemoved(session_id="s", message_id="q1")) is None
    assert ids(history) == ["1", "2"]


def test_events_of_other_sessions_and_of_unknown_messages_change_nothing(
    history: History,
) -> None:
    assert history.apply(delta("2", "x", session_id="other")) is None
    assert history.apply(delta("unknown", "x")) is None
    notice = e.RunNoticed(session_id="s", text="retrying")
    assert history.apply(notice) is None


def test_an_older_page_comes_before_without_what_is_known(history: History) -> None:
    page = MessagePage(messages=[said("0"), said("1")], total=10)
    assert history.prepend(page) == 1
    assert ids(history) == ["0", "1", "2"]
    assert history.older_count == 7


def test_an_empty_page_says_that_there_is_nothing_older(history: History) -> None:
    assert history.prepend(MessagePage(messages=[], total=10)) == 0
    assert history.older_count == 0


def test_what_a_tool_prints_is_followed_until_its_result(history: History) -> None:
    history.apply(started(answer("a")))
    place = {"session_id": "s", "message_id": "a", "content_index": 0}
    used = e.ToolUsed(**place, tool_name="bash", tool_input={}, tool_use_id="t")
    assert history.apply(used) is not None
    running = e.ToolRunning(**place, output="warp", seconds=3)
    index = history.apply(running)
    assert index is not None
    (block,) = history[index].content
    assert isinstance(block, ToolUseBlock)
    assert (block.output_so_far, block.running_for) == ("warp", 3)
    result = ToolResultBlock(tool_use_id="t", content="warp weft")
    history.apply(e.BlockChanged(**{**place, "content_index": 1}, block=result))
    assert history[index].content[0] == block.model_copy(
        update={"output_so_far": None, "running_for": None}
    )
