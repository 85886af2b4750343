"""A stub of Claude Code's provider: the Messages API on loopback, scripted by the user's last
message (see `scripted`). Standalone: `python -m tests.live.provider_stub --port 0`.

Commands beyond those of `scripted`: `call: TOOL {INPUT}` (several are separated by ` & `), `ponder`
(thinks slowly), `blob MB` (one word of that many megabytes), `hang` (never answers) and
`error STATUS TEXT`.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from tests.live import scripted
from tests.live.scripted import Step
from tests.live.stub import Json, Stub, run_alone

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3}
"""Input tokens of every answer; its output tokens are its number of words plus one."""

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


UNKNOWN_MODEL = "no-such"
"""Prefix of the names of models that do not exist."""


@dataclass(frozen=True)
class Answer:
    """One message of the model."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    """Tools by name, each with its input."""
    pause: float = 0.0
    """Seconds between two words."""
    status: int = 200
    hangs: bool = False


@dataclass
class ProviderStub(Stub):
    """The server and the requests it received."""

    pause: int = 1
    """The `retry-after` header of rate limit errors, in seconds."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/messages", self._messages),
            web.post("/v1/messages/count_tokens", self._count),
        ]

    async def _count(self, _request: web.Request) -> web.Response:
        return web.json_response({"input_tokens": 100})

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        answer = answer_to(body)
        if str(body.get("model")).startswith(UNKNOWN_MODEL):
            answer = Answer(f"model: {body['model']}", status=404)
        if answer.status != 200:
            kind = ERRORS.get(answer.status, "api_error")
            details = {"type": kind, "message": answer.text or f"scripted {kind}"}
            headers = {"retry-after": str(self.pause)} if answer.status == 429 else {}
            error = {"type": "error", "error": details}
            return web.json_response(error, status=answer.status, headers=headers)
        if answer.hangs:
            await asyncio.Event().wait()
        number = next(self.ids)
        message = _message(answer, number, body.get("model", "stub"))
        if not body.get("stream"):
            return web.json_response(message)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):  # a stopped turn disconnects
            await _stream(response, answer, message)
        return response


_STEERED: Final = "The user sent a new message while you were working:"


def answer_to(body: Json) -> Answer:
    """The next message of the model, according to the script in the user's last text."""
    spoken = [
        (place, text)
        for place, message in enumerate(body["messages"])
        for text in _user_texts(message)
    ]
    if not spoken:
        return Answer("Nothing to answer.")
    place, text = spoken[-1]
    after = body["messages"][place + 1 :]
    step = sum(message["role"] == "assistant" for message in after)
    earlier = [said for _, said in spoken[:-1]]
    answers = _script(text, earlier, after, _working_directory(body), _plan_file(body))
    return answers[min(step, len(answers) - 1)]


def _script(
    text: str, earlier: list[str], after: list[Json], directory: str, plan_file: str
) -> list[Answer]:
    results = _tool_results(after)
    command, _, rest = text.partition(" ")
    match command:
        case "call:":
            calls = (call.partition(" ") for call in rest.split(" & "))
            tools = tuple((name, json.loads(arguments or "{}")) for name, _, arguments in calls)
            return [Answer(calls=tools), Answer(f"Results: {' '.join(results)}")]
        case "ponder":
            return [Answer("Done.", thinking="hm " * 600, pause=0.1)]
        case "blob":
            return [Answer("x" * (int(rest) * 1_000_000))]
        case "hang":
            return [Answer(hangs=True)]
        case "error":
            status, _, words = rest.partition(" ")
            return [Answer(words, status=int(status))]
    steps = scripted.steps(text, earlier, results)
    refused = _was_refused(after)
    return [each for step in steps for each in _answers(step, directory, plan_file, refused)]


def _answers(step: Step, directory: str, plan_file: str, refused: bool) -> list[Answer]:
    """A step as messages that call the program's tools."""
    match step.act:
        case None:
            return [Answer(step.text, step.thinking, pause=step.pause, status=step.status)]
        case scripted.Write(path, content):
            file = {"file_path": f"{directory}/{path}", "content": content}
            return [Answer(step.text, calls=(("Write", file),))]
        case scripted.Edit(path, old, new):
            file = {"file_path": f"{directory}/{path}"}
            edit = {**file, "old_string": old, "new_string": new}
            return [Answer(calls=(("Read", file),)), Answer(calls=(("Edit", edit),))]
        case scripted.Run(command):
            run = {"command": command, "description": "Run a command"}
            return [Answer(calls=(("Bash", run),))]
        case scripted.Propose(plan):
            # As the program instructs models to: write the plan to its file, then call the tool.
            file = {"file_path": plan_file, "content": plan}
            proposal = [
                Answer(step.text, calls=(("Write", file),)),
                Answer(calls=(("ExitPlanMode", {}),)),
            ]
            # The program continues in the same turn, whether the plan is approved or refused.
            following = scripted.revision_steps(plan) if refused else scripted.approval_steps(plan)
            return [
                *proposal,
                *(a for next_ in following for a in _answers(next_, directory, plan_file, False)),
            ]
        case scripted.Ask(question, options):
            choices = [{"label": option, "description": option} for option in options]
            asked = {"question": question, "header": "Choice", "multiSelect": False}
            questions = {"questions": [{**asked, "options": choices}]}
            return [Answer(calls=(("AskUserQuestion", questions),))]


def _user_texts(message: Json) -> list[str]:
    """The user's own texts, without what the program adds; it merges unanswered messages."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    texts = [block["text"] for block in content if block.get("type") == "text"]
    if message["role"] == "system":  # how the program passes on a message sent during the turn
        texts = [text.partition("\n")[2] for text in texts if text.startswith(_STEERED)]
        texts = [text.partition("\n\nThis is how")[0] for text in texts]
    elif message["role"] != "user":
        return []
    own = (text.strip() for text in texts if not text.lstrip().startswith(("<", "[Request")))
    return [text for text in own if text]


def _tool_results(messages: list[Json]) -> list[str]:
    results = []
    for message in messages:
        if isinstance(message["content"], list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    content = block.get("content")
                    parts = [{"text": content}] if isinstance(content, str) else content or []
                    results += [str(part.get("text", "")) for part in parts]
    return results


def _was_refused(messages: list[Json]) -> bool:
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    return any(block.get("type") == "tool_result" and block.get("is_error") for block in blocks)


def _working_directory(body: Json) -> str:
    found = re.search(r"orking directory:? (/[^\n\"\\]*)", json.dumps(body, ensure_ascii=False))
    return found[1].rstrip() if found else "/nowhere"


def _plan_file(body: Json) -> str:
    """The file to which the program wants the plan to be written."""
    found = re.search(r"(/[^\s\"\\`]*/plans/[\w.-]+\.md)", json.dumps(body))
    return found[1] if found else "/nowhere.md"


def _message(answer: Answer, number: int, model: str) -> Json:
    content: list[Json] = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": "c3R1Yg=="})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for place, (name, arguments) in enumerate(answer.calls):
        tool = {"id": f"toolu_{number:04}_{place}", "name": name, "input": arguments}
        content.append({"type": "tool_use", **tool})
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {**USAGE, "output_tokens": len(answer.text.split()) + 1},
    }


async def _stream(response: web.StreamResponse, answer: Answer, message: Json) -> None:
    async def send(kind: str, **fields: Any) -> None:
        event = json.dumps({"type": kind, **fields})
        await response.write(f"event: {kind}\ndata: {event}\n\n".encode())

    start = {**message, "content": [], "stop_reason": None}
    await send("message_start", message={**start, "usage": {**USAGE, "output_tokens": 1}})
    for index, block in enumerate(message["content"]):
        await send("content_block_start", index=index, content_block=_empty(block))
        for delta in _deltas(block):
            await send("content_block_delta", index=index, delta=delta)
            await asyncio.sleep(answer.pause)
        await send("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    await send("message_delta", delta=ending, usage=message["usage"])
    await send("message_stop")
    await response.write_eof()


def _empty(block: Mapping[str, Any]) -> Json:
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {**block, "input": {}}


def _deltas(block: Mapping[str, Any]) -> list[Json]:
    match block["type"]:
        case "text":
            words = re.findall(r"\S+\s*", block["text"])
            return [{"type": "text_delta", "text": word} for word in words]
        case "thinking":
            words = re.findall(r"\S+\s*", block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": word} for word in words]
            return [*deltas, {"type": "signature_delta", "signature": block["signature"]}]
        case _:
            text = json.dumps(block["input"])
            half = len(text) // 2
            pieces = (text[:half], text[half:])
            return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


if __name__ == "__main__":
    run_alone(ProviderStub(), __doc__)
