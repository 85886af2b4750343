from model.domain.messages import Block, ToolResultBlock, ToolUseBlock
from model.richtext.turn_changes import FileChange, summarize_edits


def an_edit(tool_id: str, path: str, old: str, new: str, *, is_error: bool = False) -> list[Block]:
    given = {"file_path": path, "old_content": old, "new_content": new}
    return [
        ToolUseBlock(id=tool_id, name="edit", input=given),
        ToolResultBlock(tool_use_id=tool_id, is_error=is_error),
    ]


def test_the_edits_of_each_file_are_added_up() -> None:
    blocks = [
        *an_edit("1", "a.py", "one\ntwo\n", "one\n2\n3\n"),
        *an_edit("2", "b.py", "", "new\n"),
        *an_edit("3", "a.py", "x\n", ""),
    ]
    assert summarize_edits(blocks) == [FileChange("a.py", 2, 2), FileChange("b.py", 1, 0)]


def test_edits_that_failed_or_still_run_do_not_count() -> None:
    failed = an_edit("1", "a.py", "", "x\n", is_error=True)
    running = an_edit("2", "b.py", "", "x\n")[:1]
    assert summarize_edits([*failed, *running]) == []


def test_tools_with_other_input_are_ignored() -> None:
    use = ToolUseBlock(id="1", name="edit", input={"file_path": 7})
    assert summarize_edits([use, ToolResultBlock(tool_use_id="1")]) == []
