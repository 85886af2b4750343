from model.domain.messages import Block, Message, TextBlock, ToolResultBlock, ToolUseBlock
from model.domain.tool_uses import Activity, Step, find_activity, read_todo_list


def a_message(*blocks: Block) -> Message:
    return Message(
        id="m", role="assistant", content=list(blocks), timestamp=1.0, status="processing"
    )


def test_the_newest_tool_that_runs_is_the_activity() -> None:
    ended = ToolUseBlock(id="1", name="read", input={"file_path": "a.py"})
    running = ToolUseBlock(id="2", name="Bash", input={"command": "make test\n"}, running_for=41)
    message = a_message(ended, ToolResultBlock(tool_use_id="1"), running, TextBlock(text="So"))
    assert find_activity(message) == Activity("run", "make test", 41)


def test_without_a_tool_it_thinks_or_writes() -> None:
    assert find_activity(a_message()) == Activity("thinking")
    assert find_activity(a_message(TextBlock(text="Because"))) == Activity("writing")


def test_a_finished_message_does_nothing() -> None:
    done = a_message(ToolUseBlock(id="1", name="bash")).model_copy(update={"status": "completed"})
    assert find_activity(done) is None


def test_what_an_agent_runs_is_shown_with_its_control_characters_and_bounded() -> None:
    use = ToolUseBlock(id="1", name="bash", input={"command": ["echo", "\x1b[2J", "x" * 999]})
    activity = find_activity(a_message(use))
    assert activity is not None
    assert activity.detail.startswith("echo ␛[2J xxx")
    assert len(activity.detail) == 200


def test_the_newest_todo_list_counts() -> None:
    todos = [
        {"content": "Read", "status": "completed"},
        {"content": "Write", "status": "in_progress"},
        {"content": "Test", "status": "pending"},
        "Ship",
    ]
    blocks = [
        ToolUseBlock(id="1", name="TodoWrite", input={"todos": []}),
        ToolUseBlock(id="2", name="TodoWrite", input={"todos": todos}),
        TextBlock(text="Go on."),
    ]
    assert read_todo_list(blocks) == [
        Step("Read", "done"), Step("Write", "running"), Step("Test", "pending"),
        Step("Ship", "pending"),
    ]  # fmt: skip
    assert read_todo_list([TextBlock(text="None.")]) == []
