"""Lines of Claude Code, reduced to the essential fields, and what `fake_claude` received."""

import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]

READ = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 1}


def init(mode: str = "acceptEdits", session: str = "s-1") -> Line:
    fields = {"session_id": session, "permissionMode": mode, "model": "opus"}
    return {"type": "system", "subtype": "init", **fields}


def status(**fields: Any) -> Line:
    return {"type": "system", "subtype": "status", **fields}


def stream(event: Line, parent: str | None = None) -> Line:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def message_start(message_id: str) -> Line:
    return stream({"type": "message_start", "message": {"id": message_id, "usage": READ}})


def text_delta(text: str, index: int = 0) -> Line:
    delta = {"type": "text_delta", "text": text}
    return stream({"type": "content_block_delta", "index": index, "delta": delta})


def thinking_delta(text: str, index: int = 0) -> Line:
    delta = {"type": "thinking_delta", "thinking": text}
    return stream({"type": "content_block_delta", "index": index, "delta": delta})


def tool_start(tool: str, name: str, index: int = 0) -> Line:
    block = {"type": "tool_use", "id": tool, "name": name, "input": {}}
    return stream({"type": "content_block_start", "index": index, "content_block": block})


def message_stop() -> Line:
    return stream({"type": "message_stop"})


def assistant(message_id: str, block: Line, **fields: Any) -> Line:
    message = {"id": message_id, "content": [block]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def tool_use(tool: str, name: str, **tool_input: Any) -> Line:
    return {"type": "tool_use", "id": tool, "name": name, "input": tool_input}


def tool_result(tool: str, content: Any, is_error: bool = False, **fields: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": tool, "content": content, "is_error": is_error}
    message = {"role": "user", "content": [block]}
    return {"type": "user", "message": message, "parent_tool_use_id": None, **fields}


def result(**fields: Any) -> Line:
    usage = {**READ, "output_tokens": 7, "service_tier": "standard"}
    window = {"modelUsage": {"haiku": {"contextWindow": 9}, "opus": {"contextWindow": 200_000}}}
    ending = {"subtype": "success", "is_error": False, "stop_reason": "end_turn"}
    return {"type": "result", **ending, "usage": usage, **window, **fields}


def can_use(request: str, name: str, tool_input: Line, **fields: Any) -> Line:
    request_fields = {"subtype": "can_use_tool", "tool_name": name, "input": tool_input, **fields}
    return {"type": "control_request", "request_id": request, "request": request_fields}


def read_received(program: Path, kind: str) -> list[Line]:
    """The lines of this kind that the program received."""
    lines = [json.loads(line) for line in (program / "received.jsonl").read_text().splitlines()]
    return [line for line in lines if isinstance(line, dict) and line["type"] == kind]


def read_arguments(program: Path) -> list[list[str]]:
    lines = [json.loads(line) for line in (program / "received.jsonl").read_text().splitlines()]
    return [line for line in lines if isinstance(line, list)]


def read_response(program: Path) -> Line:
    """The response to the program's only request."""
    (line,) = read_received(program, "control_response")
    response: Line = line["response"]["response"]
    return response
