"""An answer while it is being given: from the agent's block keys to places in a message.

Agents key their blocks by ids of their own and report them in any order; a message is a list. This
is the one place that knows which key stands where.
"""

import time
from collections.abc import Mapping
from typing import Literal

from model.backends import base
from model.backends.plan_markers import parted
from model.base.text import (
    VisibleStream,
    clean_line,
    make_json_visible,
    make_output_visible,
    make_visible,
    show_mixed_returns,
)
from model.chat import texts
from model.chat.running_tools import RunningTools
from model.chat.tool_outputs import ToolOutputs
from model.domain.events import (
    BlockChanged,
    ContentDelta,
    Event,
    MessageStarted,
    ToolRunning,
    ToolUsed,
)
from model.domain.resources import (
    Block,
    Message,
    PlanBlock,
    QuestionBlock,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)
from model.store.store import Store


class Answer:
    """One assistant message that is open in the store."""

    def __init__(self, store: Store, message: Message, outputs: ToolOutputs) -> None:
        self.message_id = message.id
        self.session_id = message.session_id
        self._store = store
        self._outputs = outputs
        self._places: dict[str, int] = {}
        self._began: dict[int, float] = {}
        self._streams: dict[str, tuple[VisibleStream, Literal["text", "thinking"]]] = {}
        """The blocks that stream, with their kinds."""
        self._tools: dict[str, str] = {}
        """The ids of the tools that wait for a permission, by those of the requests."""
        self._denied: dict[str, str] = {}
        """What was said with a denial, by the ids of the tools."""
        self._running = RunningTools(self._tell_running)
        store.record(
            MessageStarted(message_id=message.id, session_id=message.session_id, message=message)
        )

    @property
    def message(self) -> Message:
        """The message as it is by now."""
        return self._store.state.streaming[self.message_id]

    def hear(self, event: base.OfAnswer) -> None:
        """Take in what the agent tells of it."""
        match event:
            case base.TextDelta():
                self.add_text(event)
            case base.TextFinal():
                self.set_text(event)
            case base.BlockDropped():
                self.drop(event.block)
            case base.ToolUse():
                self.use_tool(event)
            case base.ToolOutput():
                self._running.hear(event)
            case base.ToolResult():
                self.add_result(event)

    def add_text(self, delta: base.TextDelta) -> None:
        """Stream a piece of text or thinking into its block."""
        stream, _ = self._streams.setdefault(delta.block, (VisibleStream(), delta.kind))
        if text := stream.feed(delta.text):
            self._add_visible(delta.block, text, delta.kind)

    def _add_visible(self, key: str, text: str, kind: Literal["text", "thinking"]) -> None:
        place = self._place(key)
        if kind == "thinking":
            self._began.setdefault(place, time.monotonic())
        else:
            self._end_thinking()
        self._tell(
            ContentDelta(
                message_id=self.message_id,
                content=text,
                content_index=place,
                kind="thinking" if kind == "thinking" else None,
                session_id=self.session_id,
            )
        )

    def set_text(self, final: base.TextFinal) -> None:
        """Make a block hold exactly this text; one that never streamed comes as one delta."""
        if final.block not in self._places:
            self.add_text(base.TextDelta(final.block, final.text, final.kind))
            return
        self._streams.pop(final.block, None)
        place = self._places[final.block]
        block = self.message.content[place]
        text = make_visible(final.text)
        if isinstance(block, TextBlock | ThinkingBlock) and block.text != text:
            self._change(place, block.model_copy(update={"text": text}))

    def drop(self, key: str) -> None:
        """Empty a provisional block; its place stays, so that later ones keep theirs."""
        self._streams.pop(key, None)
        place = self._places.pop(key, None)
        if place is not None:
            self._change(place, TextBlock(text=""))

    def use_tool(self, use: base.ToolUse) -> None:
        """Show a tool's call, or replace what was shown of it before."""
        self._end_thinking()
        self._tell(
            ToolUsed(
                message_id=self.message_id,
                tool_name=make_visible(use.name),
                tool_input=_cleaned(use.input),
                session_id=self.session_id,
                content_index=self._place(f"tool:{use.id}"),
                tool_use_id=use.id,
                parent_tool_use_id=use.parent_tool_use_id,
            )
        )
        self._running.begin(use.id)

    def add_result(self, result: base.ToolResult) -> None:
        """Put a tool's result after its call; of a long one, its ends."""
        self._running.end(result.tool_use_id)
        content = make_output_visible(result.content)
        block = ToolResultBlock(
            tool_use_id=result.tool_use_id,
            content=self._outputs.keep(self.session_id, result.tool_use_id, content),
            is_error=result.is_error,
            denied=self._denied.get(result.tool_use_id) if result.is_error else None,
        )
        self._change(self._place(f"result:{result.tool_use_id}"), block)

    def add_request(self, request: Request, tool_use_id: str | None = None) -> None:
        """Show a proposed plan or questions to the user; a permission belongs to its tool."""
        if request.kind == "permission":
            if tool_use_id is not None:
                self._tools[request.id] = tool_use_id
                self._running.end(tool_use_id)  # it does not run before it is allowed
            return
        self._end_thinking()
        block: Block = PlanBlock(text=make_visible(request.plan))
        if request.kind == "question":
            block = QuestionBlock(id=request.id, questions=request.questions)
        self._change(self._place(f"request:{request.id}"), block)

    def mark(self, request_id: str, **fields: object) -> None:
        """Note on a plan or question how it was answered."""
        place = self._places.get(f"request:{request_id}")
        if place is not None:
            block = self.message.content[place]
            self._change(place, block.model_copy(update=fields))

    def allow(self, request_id: str) -> None:
        """The tool that a person was asked for runs from now."""
        if tool := self._tools.get(request_id):
            self._running.begin(tool)

    def note(self, text: str) -> None:
        """Say something in Spinney's own name, apart from what the agent says."""
        key = f"note:{len(self._places)}"
        self.set_text(base.TextFinal(key, f"> **Spinney:** {clean_line(text)}"))

    def deny(self, request_id: str, reason: str) -> None:
        """Show at the tool that a person denied it, and what they said; its result may follow."""
        tool = self._tools.get(request_id)
        if tool is not None:
            self._denied[tool] = reason
            block = ToolResultBlock(tool_use_id=tool, is_error=True, denied=reason)
            self._change(self._place(f"result:{tool}"), block)

    def plan_in_words(self) -> Request | None:
        """The plan that an agent proposed in plain words; its text becomes a plan's block."""
        blocks = self.message.content
        if any(b.type == "plan" for b in blocks):
            return None
        text = self._turn_last_text_into_plan()
        if text is None:
            return None
        return Request(
            id=f"plan-{self.message_id}", kind="plan", message_id=self.message_id, plan=text
        )

    def _turn_last_text_into_plan(self) -> str | None:
        for place in range(len(self.message.content) - 1, -1, -1):
            block = self.message.content[place]
            if not isinstance(block, TextBlock) or not block.text.strip():
                continue
            around, plan = parted(block.text)
            if plan and around:
                self._change(place, block.model_copy(update={"text": around}))
                self._change(len(self.message.content), PlanBlock(text=plan))
            elif plan or texts.looks_like_plan(self.message.text):
                plan = plan or block.text
                self._change(place, PlanBlock(text=plan))
            return plan or None
        return None

    def finish(self) -> None:
        """Nothing more will come."""
        self._running.end_all()
        for key, (stream, kind) in self._streams.items():
            if text := stream.end():
                self._add_visible(key, text, kind)
        self._end_thinking()

    def _place(self, key: str) -> int:
        return self._places.setdefault(key, len(self.message.content))

    def _end_thinking(self) -> None:
        for place, began in self._began.items():
            block = self.message.content[place]
            seconds = round(time.monotonic() - began, 1)
            self._change(place, block.model_copy(update={"seconds": seconds}))
        self._began.clear()

    def _change(self, place: int, block: Block) -> None:
        self._tell(
            BlockChanged(
                session_id=self.session_id,
                message_id=self.message_id,
                content_index=place,
                block=block,
            )
        )

    def _tell_running(self, tool: str, output: str | None, seconds: int) -> None:
        place = self._places.get(f"tool:{tool}")
        if place is not None:
            self._tell(
                ToolRunning(
                    session_id=self.session_id,
                    message_id=self.message_id,
                    content_index=place,
                    output=output,
                    seconds=seconds,
                )
            )

    def _tell(self, event: Event) -> None:
        self._store.record(event)


def _cleaned(tool_input: Mapping[str, object]) -> dict[str, object]:
    cleaned: dict[str, object] = make_json_visible(show_mixed_returns(dict(tool_input)))
    return cleaned
