"""Messages of a conversation as text for a terminal or a pipe."""

import json
import time
from collections.abc import Iterator
from typing import Final

from model.base.text import clean_line, make_visible
from model.cli.arguments import name_of_agent
from model.cli.lookup import Json
from model.cli.styles import paint

_MAX_RESULT: Final = 20
"""Lines of a tool's result that are printed."""
_MAX_INPUT: Final = 200
"""Characters of a tool's input that are printed."""
_INPUT_KEYS: Final = ("command", "file_path", "path", "pattern", "url", "query", "description")


def format_heading(message: Json) -> str:
    """Return the line above a message: who wrote it, and when."""
    is_user = message["role"] == "user"
    author = "You" if is_user else name_of_agent(message["backend"] or "Agent")
    notes = [time.strftime("%Y-%m-%d %H:%M", time.localtime(message["timestamp"]))]
    notes += ["queued"] if is_user and message["status"] == "sent" else []
    notes += ["taken back"] if message.get("rewound") else []
    return paint(f"── {clean_line(author)}, {', '.join(notes)}", "bold")


def format_message(message: Json) -> str:
    """Return a whole message with its heading, ending with an empty line."""
    parts = [text for block in message["content"] if (text := format_block(block))]
    parts += [f"File: {clean_line(path)}" for path in message["files"]]
    if message["error"]:
        parts.append(format_error(message["error"]["error"]))
    return "\n\n".join(["\n".join([format_heading(message), *parts[:1]]), *parts[1:]]) + "\n"


def format_error(text: str) -> str:
    """Return why a response failed."""
    return paint(f"Failed: {make_visible(text)}", "red")


def format_block(block: Json) -> str:
    """Return a block as text, without a line ending; empty if there is nothing to read."""
    match block["type"]:
        case "text":
            return make_visible(block["text"]).strip("\n")
        case "thinking":
            seconds = block.get("seconds")
            took = f" for {seconds:.0f} s" if seconds else ""
            return paint(f"(thought{took})", "dim")
        case "tool_use":
            return _format_tool(block)
        case "tool_result":
            return _format_result(block)
        case "plan":
            approved = f", approved: {block['approved']}" if block.get("approved") else ""
            return f"{paint(f'Plan{approved}', 'bold')}\n{make_visible(block['text'])}"
        case "question":
            return "\n".join(_format_questions(block))
        case "image":
            return f"Image: {clean_line(block['path'])}"
        case _:
            text = make_visible(str(block.get("text", "")))
            return text or f"({clean_line(str(block['type']))})"


def format_question(question: Json) -> list[str]:
    """Return a question with its numbered options as lines."""
    lines = [paint(make_visible(question["question"]), "bold")]
    for number, option in enumerate(question["options"], 1):
        about = f"  {paint(clean_line(option['description']), 'dim')}" * bool(option["description"])
        lines.append(f"  {number}. {clean_line(option['label'])}{about}")
    return lines


def _format_questions(block: Json) -> Iterator[str]:
    answer = block.get("answer")
    for question in block["questions"]:
        yield from format_question(question)
        given = answer.get(question["question"]) if isinstance(answer, dict) else answer
        if given:
            yield f"  → {make_visible(given)}"


def _format_tool(block: Json) -> str:
    given = block["input"]
    shown = next((given[key] for key in _INPUT_KEYS if isinstance(given.get(key), str)), None)
    text = shown if shown is not None else json.dumps(given, ensure_ascii=False) if given else ""
    line = clean_line(text[: 2 * _MAX_INPUT])
    line = line[:_MAX_INPUT] + "…" * (len(line) > _MAX_INPUT or len(text) > 2 * _MAX_INPUT)
    name = paint(f"▸ {clean_line(block['name'])}", "cyan")
    return f"{name} {line}".rstrip()


def _format_result(block: Json) -> str:
    lines = make_visible(block["content"]).strip("\n").split("\n")
    shown = [f"  {line}" for line in lines[:_MAX_RESULT] if line or len(lines) > 1]
    if len(lines) > _MAX_RESULT:
        shown.append(f"  … {len(lines) - _MAX_RESULT} more lines")
    if block.get("denied") is not None:
        shown.append(f"  denied {make_visible(block['denied'])}".rstrip())
    return paint("\n".join(shown), "red" if block["is_error"] else "dim")
