"""The pure fold that leads an unfinished message from one event to the next."""

from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageCompleted,
    MessageFailed,
    ToolRunning,
    ToolUsed,
)
from model.domain.messages import (
    Block,
    Message,
    MessageError,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)


def fold_message(message: Message, event: Event) -> Message:
    """Return an unfinished message after one of its events."""
    match event:
        case ContentDelta():
            return _with_text(message, event)
        case ToolUsed():
            block = ToolUseBlock(
                id=event.tool_use_id,
                name=event.tool_name,
                input=event.tool_input,
                parent_tool_use_id=event.parent_tool_use_id,
            )
            return with_block(message, event.content_index, block)
        case ToolRunning():
            return _with_running(message, event)
        case BlockChanged(block=ToolResultBlock(tool_use_id=tool)):
            done = _without_running(message, tool)
            return with_block(done, event.content_index, event.block)
        case BlockChanged():
            return with_block(message, event.content_index, event.block)
        case MessageCompleted():
            return message.model_copy(
                update={
                    "status": "completed",
                    "stop_reason": event.stop_reason,
                    "usage": event.usage,
                }
            )
        case MessageFailed():
            error = MessageError(error=event.error, error_type=event.error_type)
            return message.model_copy(
                update={"status": "completed", "error": error, "usage": event.usage}
            )
        case _:
            return message


def with_block(message: Message, index: int, block: Block) -> Message:
    """Return the message with this block at `index`; an index past the end appends."""
    content = [*message.content[:index], block, *message.content[index + 1 :]]
    return message.model_copy(update={"content": content})


def _with_running(message: Message, event: ToolRunning) -> Message:
    index = event.content_index
    block = message.content[index] if index < len(message.content) else None
    if not isinstance(block, ToolUseBlock):
        return message
    fields = {"output_so_far": event.output, "running_for": event.seconds}
    return with_block(message, index, block.model_copy(update=fields))


def _without_running(message: Message, tool: str) -> Message:
    """Remove the live output of a tool whose result has arrived, which includes it."""
    for index, block in enumerate(message.content):
        if isinstance(block, ToolUseBlock) and block.id == tool and block.running_for is not None:
            fields = {"output_so_far": None, "running_for": None}
            return with_block(message, index, block.model_copy(update=fields))
    return message


def _with_text(message: Message, delta: ContentDelta) -> Message:
    kind = ThinkingBlock if delta.kind == "thinking" else TextBlock
    content = message.content
    if delta.content_index < len(content):
        block = content[delta.content_index]
        if isinstance(block, TextBlock | ThinkingBlock):
            longer = block.model_copy(update={"text": block.text + delta.content})
            return with_block(message, delta.content_index, longer)
    return with_block(message, delta.content_index, kind(text=delta.content))
