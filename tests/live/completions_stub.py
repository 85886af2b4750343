"""A stub of an OpenCode provider: the chat completions API on loopback, scripted by the user's
last message (see `scripted`). Commands beyond those of `scripted`:

`todo: A | B` · `agent: PROMPT` (a sub-agent with this prompt; `agent weaver: PROMPT` for the agent
named weaver) · `ask twice: QUESTION | OTHER` · `both: COMMAND | COMMAND` · `read PATH`

Standalone: `python -m tests.live.completions_stub --port 0`.
"""

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.live import scripted
from tests.live.scripted import Step
from tests.live.stub import Json, Stub, run_alone

PROVIDER = "stub"
MODEL = "stub-1"

READ, CACHED = 123, 3
"""Input tokens of every answer, and how many of them are from a cache."""

WINDOW = 200_000

_PLAN = ("<proposed_plan>", "</proposed_plan>")


@dataclass(frozen=True)
class Answer:
    """One message of the model."""

    text: str = ""
    thinking: str = ""
    tool: str = ""
    input: Json = field(default_factory=dict)
    pause: float = 0.0
    """Seconds between two words."""
    status: int = 200


@dataclass
class CompletionsStub(Stub):
    """The server and the requests it received."""

    headers: dict[str, str] = field(default_factory=dict)
    """Headers of error responses."""
    error: str = ""
    """The message of errors; empty for a default with the status."""
    page: str = ""
    """If set, HTML with which all requests are answered, as a captive portal does."""

    root = "/v1"

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._completions)]

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        answer = answer_to(body)
        if answer.status != 200:
            said = self.error or f"scripted error {answer.status}"
            error = {"error": {"message": said, "type": "error", "param": None, "code": None}}
            return web.json_response(error, status=answer.status, headers=self.headers)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):  # a stopped turn disconnects
            await _stream(response, answer, next(self.ids))
        return response


def configuration(base_url: str) -> Json:
    """OpenCode settings with the stub as the only provider."""
    model = {
        "name": "Stub One",
        "attachment": True,
        "reasoning": True,
        "tool_call": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": WINDOW, "output": 8192},
        "variants": {name: {"reasoningEffort": name} for name in ("low", "medium", "high")},
    }
    return {
        "model": f"{PROVIDER}/{MODEL}",
        "small_model": f"{PROVIDER}/{MODEL}",
        "enabled_providers": [PROVIDER],
        "autoupdate": False,
        "share": "disabled",
        "provider": {
            PROVIDER: {
                "name": "Stub",
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": base_url, "apiKey": "dummy"},
                "models": {MODEL: model, "stub-2": {**model, "name": "Stub Two"}},
            }
        },
    }


def answer_to(body: Json) -> Answer:
    """The next message of the model, according to the script in the user's last text."""
    messages = body["messages"]
    spoken = [
        (place, text)
        for place, message in enumerate(messages)
        if message["role"] == "user"
        for text in _user_texts(message)
    ]
    if not spoken:
        return Answer("Nothing to answer.")
    place, text = spoken[-1]
    after = messages[place + 1 :]
    step = sum(message["role"] == "assistant" for message in after)
    results = [_text(message) for message in after if message["role"] == "tool"]
    answers = _script(text, [said for _, said in spoken[:-1]], results)
    return answers[min(step, len(answers) - 1)]


def _script(text: str, earlier: list[str], results: list[str]) -> list[Answer]:
    plan = next((_plan_of(said) for said in reversed(earlier) if said.startswith("plan: ")), "")
    if text.startswith("The plan is approved"):
        changed = text.partition("\n\n")[2]
        steps = scripted.approval_steps(changed or plan)
    elif plan and earlier[-1].startswith("plan: ") and not _is_script(text):
        steps = scripted.revision_steps(plan)
    elif own := _own(text, results):
        return own
    else:
        steps = scripted.steps(text, earlier, results)
    return [answer for step in steps for answer in _answers(step)]


def _own(text: str, results: list[str]) -> list[Answer]:
    """The answers to the commands that only this stub has."""
    if text.startswith("read "):
        return [Answer(tool="read", input={"filePath": text[5:]}), Answer("done")]
    word, _, rest = text.partition(": ")
    parts = [part.strip() for part in rest.split("|")]
    match word:
        case "todo":
            todos = [{"content": p, "status": "pending", "priority": "medium"} for p in parts]
            return [Answer(tool="todowrite", input={"todos": todos}), Answer("done")]
        case "agent" | "agent weaver":
            kind = word.partition(" ")[2] or "general"
            task = {"description": "A task", "prompt": rest, "subagent_type": kind}
            return [Answer(tool="task", input=task), Answer("done")]
        case "both":
            runs = ({"command": part, "description": "Run a command"} for part in parts)
            return [*(Answer(tool="bash", input=run) for run in runs), Answer("done")]
        case "ask twice":
            options = [{"label": label, "description": label} for label in ("Yes", "No", "Perhaps")]
            asked = [
                {"question": p, "header": "Choice", "options": options, "multiple": True}
                for p in parts
            ]
            return [
                Answer(tool="question", input={"questions": asked}),
                Answer(f"Results: {' '.join(results)}"),
            ]
    return []


def _answers(step: Step) -> list[Answer]:
    """A step as messages that call the program's tools."""
    match step.act:
        case None:
            return [Answer(step.text, step.thinking, pause=step.pause, status=step.status)]
        case scripted.Write(path, content):
            return [Answer(step.text, tool="write", input={"filePath": path, "content": content})]
        case scripted.Edit(path, old, new):
            edit = {"filePath": path, "oldString": old, "newString": new}
            return [Answer(tool="read", input={"filePath": path}), Answer(tool="edit", input=edit)]
        case scripted.Run(command):
            run = {"command": command, "description": "Run a command"}
            return [Answer(tool="bash", input=run)]
        case scripted.Propose(plan):
            start, end = _PLAN
            return [Answer(f"{step.text}\n\n{start}\n{plan}\n{end}")]
        case scripted.Ask(question, options):
            choices = [{"label": option, "description": option} for option in options]
            asked = {"question": question, "header": "Choice", "options": choices}
            return [Answer(tool="question", input={"questions": [asked]})]


def _is_script(text: str) -> bool:
    return text in ("slow", "remember?") or bool(re.match(r"([\w ]+: |error \d)", text))


def _plan_of(said: str) -> str:
    return said.removeprefix("plan: ")


def _user_texts(message: Json) -> list[str]:
    """The user's own texts, without what the program adds."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    texts = [str(part.get("text", "")).strip() for part in content if part.get("type") == "text"]
    return [text for text in texts if text and not text.startswith(("<", "Called the"))]


def _text(message: Json) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return " ".join(str(part.get("text", "")) for part in parts)


async def _stream(response: web.StreamResponse, answer: Answer, number: int) -> None:
    async def send(delta: Json, finish: str | None = None, **more: Any) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": f"chatcmpl-{number:04}", "object": "chat.completion.chunk", "created": 1}
        chunk |= {"model": MODEL, "choices": [choice], **more}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())

    await send({"role": "assistant"})
    for field_, text in (("reasoning_content", answer.thinking), ("content", answer.text)):
        for word in re.findall(r"\S+\s*", text):
            await send({field_: word})
            await asyncio.sleep(answer.pause)
    if answer.tool:
        arguments = json.dumps(answer.input)
        call = {"index": 0, "id": f"call_{number:04}", "type": "function"}
        await send({"tool_calls": [{**call, "function": {"name": answer.tool, "arguments": ""}}]})
        for piece in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
            await send({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    written = len(answer.text.split()) + 1
    usage = {
        "prompt_tokens": READ,
        "completion_tokens": written,
        "total_tokens": READ + written,
        "prompt_tokens_details": {"cached_tokens": CACHED},
    }
    await send({}, "tool_calls" if answer.tool else "stop", usage=usage)
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()


if __name__ == "__main__":
    run_alone(CompletionsStub(), __doc__)
