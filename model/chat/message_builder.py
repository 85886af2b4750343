"""An assistant message under construction: maps the agent's block keys to indexes in the message.

Agents key their blocks by their own ids and report them in any order; a message is a list. This is
the only module that knows which key has which index.
"""

import time
from collections.abc import Mapping
from typing import Literal

from model.backends import agent_events
from model.backends.plan_markers import split_plan
from model.base.text import (
    VisibleStream,
    clean_line,
    make_json_visible,
    make_output_visible,
    make_visible,
    show_mixed_line_endings,
)
from model.chat import texts
from model.chat.running_tools import RunningTools
from model.chat.tool_outputs import ToolOutputs
from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageStarted,
    ToolRunning,
    ToolUsed,
)
from model.domain.message_folding import with_block
from model.domain.messages import (
    Block,
    Message,
    PlanBlock,
    QuestionBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)
from model.domain.requests import Request
from model.store.store import Store


class MessageBuilder:
    """Builds one assistant message that is open in the store."""

    def __init__(self, store: Store, message: Message, outputs: ToolOutputs) -> None:
        self.message_id = message.id
        self.session_id = message.session_id
        self._store = store
        self._outputs = outputs
        self._indexes: dict[str, int] = {}
        self._thinking_since: dict[int, float] = {}
        self._streams: dict[str, tuple[VisibleStream, Literal["text", "thinking"]]] = {}
        """The streaming blocks, with their kinds."""
        self._tools_by_request: dict[str, str] = {}
        """Ids of the tools that wait for a permission, by request id."""
        self._denial_reasons: dict[str, str] = {}
        """Reasons of denials, by tool id."""
        self._running_tools = RunningTools(self._report_running)
        self._closed: Message | None = None
        """The message as it is once it is closed."""
        store.record(
            MessageStarted(message_id=message.id, session_id=message.session_id, message=message)
        )

    @property
    def message(self) -> Message:
        """The message in its current state."""
        return self._closed or self._store.state.streaming[self.message_id]

    def close(self) -> None:
        """Keep the message as it is now: only results and answers may still be added."""
        self._closed = self.message

    def takes_late(self, event: agent_events.ContentEvent) -> bool:
        """Whether a closed message is where the event belongs: the end of what began in it."""
        match event:
            case (
                agent_events.ToolResult(tool_use_id=tool)
                | agent_events.ToolOutput(tool_use_id=tool)
            ):
                return f"tool:{tool}" in self._indexes
            case agent_events.TextFinal(block=block) | agent_events.BlockDropped(block=block):
                return block in self._indexes
            case _:
                return False

    def apply_event(self, event: agent_events.ContentEvent) -> None:
        """Apply an event of the agent to the message."""
        match event:
            case agent_events.TextDelta():
                self.add_text(event)
            case agent_events.TextFinal():
                self.set_text(event)
            case agent_events.BlockDropped():
                self.drop_block(event.block)
            case agent_events.ToolUse():
                self.add_tool_use(event)
            case agent_events.ToolOutput() if self._closed is None:
                self._running_tools.add_output(event)
            case agent_events.ToolResult():
                self.add_result(event)

    def add_text(self, delta: agent_events.TextDelta) -> None:
        """Append a piece of text or thinking to its block."""
        stream, _ = self._streams.setdefault(delta.block, (VisibleStream(), delta.kind))
        if text := stream.feed(delta.text):
            self._add_visible(delta.block, text, delta.kind)

    def _add_visible(self, key: str, text: str, kind: Literal["text", "thinking"]) -> None:
        index = self._index_of(key)
        if kind == "thinking":
            self._thinking_since.setdefault(index, time.monotonic())
        else:
            self._end_thinking()
        self._record(
            ContentDelta(
                message_id=self.message_id,
                content=text,
                content_index=index,
                kind="thinking" if kind == "thinking" else None,
                session_id=self.session_id,
            )
        )

    def set_text(self, final: agent_events.TextFinal) -> None:
        """Set a block to exactly this text; a block that never streamed is sent as one delta."""
        if final.block not in self._indexes:
            self.add_text(agent_events.TextDelta(final.block, final.text, final.kind))
            return
        self._streams.pop(final.block, None)
        index = self._indexes[final.block]
        block = self.message.content[index]
        text = make_visible(final.text)
        if isinstance(block, TextBlock | ThinkingBlock) and block.text != text:
            self._change_block(index, block.model_copy(update={"text": text}))

    def drop_block(self, key: str) -> None:
        """Empty a provisional block; its index stays used, so that later blocks keep theirs."""
        self._streams.pop(key, None)
        index = self._indexes.pop(key, None)
        if index is not None:
            self._change_block(index, TextBlock(text=""))

    def add_tool_use(self, use: agent_events.ToolUse) -> None:
        """Show a tool call, or replace the one already shown under its id."""
        self._end_thinking()
        self._record(
            ToolUsed(
                message_id=self.message_id,
                tool_name=make_visible(use.name),
                tool_input=_clean_input(use.input),
                session_id=self.session_id,
                content_index=self._index_of(f"tool:{use.id}"),
                tool_use_id=use.id,
                parent_tool_use_id=use.parent_tool_use_id,
            )
        )
        self._running_tools.begin(use.id)

    def add_result(self, result: agent_events.ToolResult) -> None:
        """Add a tool's result after its call; long results are shortened."""
        self._running_tools.end(result.tool_use_id)
        content = make_output_visible(result.content)
        block = ToolResultBlock(
            tool_use_id=result.tool_use_id,
            content=self._outputs.shorten_and_save(self.session_id, result.tool_use_id, content),
            is_error=result.is_error,
            denied=self._denial_reasons.get(result.tool_use_id) if result.is_error else None,
        )
        self._change_block(self._index_of(f"result:{result.tool_use_id}"), block)

    def add_request(self, request: Request, tool_use_id: str | None = None) -> None:
        """Show a proposed plan or questions; a permission belongs to its tool."""
        if request.kind == "permission":
            if tool_use_id is not None:
                self._tools_by_request[request.id] = tool_use_id
                self._running_tools.end(tool_use_id)  # it runs only once it is allowed
            return
        self._end_thinking()
        block: Block = PlanBlock(text=make_visible(request.plan))
        if request.kind == "question":
            block = QuestionBlock(id=request.id, questions=request.questions)
        self._change_block(self._index_of(f"request:{request.id}"), block)

    def mark(self, request_id: str, **fields: object) -> None:
        """Update the block of a plan or question with its answer."""
        index = self._indexes.get(f"request:{request_id}")
        if index is not None:
            block = self.message.content[index]
            self._change_block(index, block.model_copy(update=fields))

    def allow(self, request_id: str) -> None:
        """Start the timer of a tool that the user has just allowed."""
        tool = self._tools_by_request.get(request_id)
        if tool is not None and self._closed is None:
            self._running_tools.begin(tool)

    def note(self, text: str) -> None:
        """Add a note by Spinney, separate from the agent's text."""
        key = f"note:{len(self._indexes)}"
        self.set_text(agent_events.TextFinal(key, f"> **Spinney:** {clean_line(text)}"))

    def deny(self, request_id: str, reason: str) -> None:
        """Show on the tool that the user denied it, and the reason; its result may follow."""
        tool = self._tools_by_request.get(request_id)
        if tool is not None:
            self._denial_reasons[tool] = reason
            block = ToolResultBlock(tool_use_id=tool, is_error=True, denied=reason)
            self._change_block(self._index_of(f"result:{tool}"), block)

    def extract_plan(self) -> Request | None:
        """Return the plan that the message proposes as text, whose block becomes a plan block."""
        blocks = self.message.content
        if any(b.type == "plan" for b in blocks):
            return None
        text = self._convert_last_text_to_plan()
        if text is None:
            return None
        return Request(
            id=f"plan-{self.message_id}", kind="plan", message_id=self.message_id, plan=text
        )

    def _convert_last_text_to_plan(self) -> str | None:
        for index in range(len(self.message.content) - 1, -1, -1):
            block = self.message.content[index]
            if not isinstance(block, TextBlock) or not block.text.strip():
                continue
            other_text, plan = split_plan(block.text)
            if plan and other_text:
                self._change_block(index, block.model_copy(update={"text": other_text}))
                self._change_block(len(self.message.content), PlanBlock(text=plan))
            elif plan or texts.looks_like_plan(self.message.text):
                plan = plan or block.text
                self._change_block(index, PlanBlock(text=plan))
            return plan or None
        return None

    def finish(self) -> None:
        """Finish the message: flush the streams and stop the timers."""
        self._running_tools.end_all()
        for key, (stream, kind) in self._streams.items():
            if text := stream.end():
                self._add_visible(key, text, kind)
        self._end_thinking()

    def _index_of(self, key: str) -> int:
        return self._indexes.setdefault(key, len(self.message.content))

    def _end_thinking(self) -> None:
        for index, since in self._thinking_since.items():
            block = self.message.content[index]
            seconds = round(time.monotonic() - since, 1)
            self._change_block(index, block.model_copy(update={"seconds": seconds}))
        self._thinking_since.clear()

    def _change_block(self, index: int, block: Block) -> None:
        if self._closed is not None:
            self._closed = with_block(self._closed, index, block)
        self._record(
            BlockChanged(
                session_id=self.session_id,
                message_id=self.message_id,
                content_index=index,
                block=block,
            )
        )

    def _report_running(self, tool: str, output: str | None, seconds: int) -> None:
        index = self._indexes.get(f"tool:{tool}")
        if index is not None:
            self._record(
                ToolRunning(
                    session_id=self.session_id,
                    message_id=self.message_id,
                    content_index=index,
                    output=output,
                    seconds=seconds,
                )
            )

    def _record(self, event: Event) -> None:
        self._store.record(event)


def _clean_input(tool_input: Mapping[str, object]) -> dict[str, object]:
    cleaned: dict[str, object] = make_json_visible(show_mixed_line_endings(dict(tool_input)))
    return cleaned
