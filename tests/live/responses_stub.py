"""A stub of Codex's provider: the Responses API on loopback, scripted by the user's last message
(see `scripted`). Commands beyond those of `scripted`:

`sandboxed: COMMAND` (does not ask to leave the sandbox) · `todo: A | B` · `agent: PROMPT` (a
sub-agent with this prompt) · `mcp: SERVER TOOL JSON` (calls a tool of that server) · `reason: TEXT`
(reasons as open models do) · `cut: TEXT` (the connection ends after the text) · `fail CODE MESSAGE`
(an error inside the stream)

Standalone: `python -m tests.live.responses_stub --port 0`.
"""

import asyncio
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.live import scripted
from tests.live.scripted import Step
from tests.live.stub import Json, Stub, run_alone

READ = {"cached_tokens": 3, "cache_write_tokens": 20}
READ_TOKENS = 123
"""All input tokens of every answer; its output tokens are its number of words plus one."""

APPROVAL = "Implement the plan."


@dataclass(frozen=True)
class Answer:
    """One response of the model: text, optionally followed by a tool call."""

    text: str = ""
    thinking: str = ""
    call: Json = field(default_factory=dict)
    """The tool call's item without its ids."""
    pause: float = 0.0
    """Seconds between two words."""
    status: int = 200
    error: Json = field(default_factory=dict)
    """If set, the stream ends with this error."""
    is_open: bool = False
    """Whether the reasoning itself is sent instead of a summary."""
    is_cut: bool = False
    """Whether the connection ends after the text and retries fail."""


@dataclass
class ResponsesStub(Stub):
    """The server and the requests it received."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/responses", self._responses)]

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        answer = answer_to(body)
        if answer.is_cut and any(body["input"] == each["input"] for each in self.requests):
            answer = Answer(status=503)
        self.requests.append(body)
        if answer.status != 200:
            error = {"message": f"scripted {answer.status}", "type": "scripted"}
            return web.json_response({"error": error}, status=answer.status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):  # a stopped turn disconnects
            await _stream(response, answer, next(self.ids), body)
        return response


def configuration(base_url: str) -> str:
    """A `config.toml` with which Codex connects only to the stub."""
    return f"""
model = "gpt-5.5"
model_provider = "local"
check_for_update_on_startup = false
chatgpt_base_url = "{base_url}/chatgpt/"
[model_providers.local]
name = "Local"
base_url = "{base_url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
"""


def answer_to(body: Json) -> Answer:
    """The next response of the model, according to the script in the user's last text."""
    spoken = [
        (place, text)
        for place, item in enumerate(body["input"])
        if item.get("type") == "message" and item.get("role") == "user"
        for text in _texts(item)
        if not text.lstrip().startswith("<")
    ]
    if not spoken:
        return Answer("Nothing to answer.")
    place, text = spoken[-1]
    before, after = body["input"][:place], body["input"][place + 1 :]
    calls = [item for item in after if item.get("type") in ("function_call", "custom_tool_call")]
    results = [_result(item) for item in after if str(item.get("type")).endswith("_output")]
    answers = _script(text, [said for _, said in spoken[:-1]], results, before, body)
    return answers[min(len(calls), len(answers) - 1)]


def _script(
    text: str, earlier: list[str], results: list[str], before: list[Json], body: Json
) -> list[Answer]:
    word, _, rest = text.partition(" ")
    plan = _proposed(before)
    match word:
        case "sandboxed:":
            return [Answer(call=_command(rest, escalate=False)), Answer("done")]
        case "todo:":
            steps = [{"step": part.strip(), "status": "pending"} for part in rest.split("|")]
            first = [{**steps[0], "status": "in_progress"}, *steps[1:]]
            last = [{**step, "status": "completed"} for step in steps]
            lists = [Answer(call=_call("update_plan", {"plan": each})) for each in (first, last)]
            return [*lists, Answer("done")]
        case "agent:":
            ids = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", " ".join(results))
            return [
                Answer(call=_call("spawn_agent", {"message": rest}, "multi_agent_v1")),
                Answer(call=_call("wait_agent", {"targets": ids[:1]}, "multi_agent_v1")),
                Answer("done"),
            ]
        case "mcp:":
            server, tool, arguments = rest.split(" ", 2)
            call = _call(tool, json.loads(arguments), f"mcp__{server}")
            return [Answer(call=call), Answer("done")]
        case "reason:":
            return [Answer("I thought about it.", rest, is_open=True)]
        case "cut:":
            return [Answer(rest, is_cut=True)]
        case "fail":
            code, _, message = rest.partition(" ")
            return [Answer(error={"code": code, "message": message})]
    if text.startswith(APPROVAL):
        edited = text.partition("\n\n")[2]
        steps_ = scripted.approval_steps(edited or plan)
    elif plan and word.rstrip(":") == word:  # not a command: a comment on the plan
        steps_ = scripted.revision_steps(plan)
    else:
        steps_ = scripted.steps(text, earlier, results)
    asks = not _last_permissions(body).count("Approval policy is currently never")
    return [_answer(step, asks, body) for step in steps_]


def _answer(step: Step, asks: bool, body: Json) -> Answer:
    """A step as a response that calls the program's tools; with `asks`, outside the sandbox."""
    call: Json = {}
    text = step.text
    match step.act:
        case scripted.Write(path, content):
            lines = "".join(f"+{line}\n" for line in content.splitlines())
            call = _patch(f"*** Add File: {path}\n{lines}", body)
        case scripted.Edit(path, old, new):
            call = _patch(f"*** Update File: {path}\n@@\n-{old}\n+{new}\n", body)
        case scripted.Run(command):
            call = _command(command, escalate=asks)
        case scripted.Propose(plan):
            text = f"{text}\n<proposed_plan>\n{plan}\n</proposed_plan>\n"
        case scripted.Ask(question, options):
            choices = [{"label": option, "description": option} for option in options]
            asked = {"id": "q1", "header": "Choice", "question": question, "options": choices}
            call = _call("request_user_input", {"questions": [asked]})
    return Answer(text, step.thinking, call, step.pause, step.status)


def _call(name: str, arguments: Json, namespace: str = "") -> Json:
    call = {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
    return {**call, "namespace": namespace} if namespace else call


def _command(command: str, *, escalate: bool) -> Json:
    asking = {"sandbox_permissions": "require_escalated", "justification": "Run a command"}
    return _call("exec_command", {"cmd": command, **(asking if escalate else {})})


def _patch(hunks: str, body: Json) -> Json:
    """A call of the patch tool; models without one get it as a shell command."""
    patch = f"*** Begin Patch\n{hunks}*** End Patch"
    if any(tool.get("name") == "apply_patch" for tool in body.get("tools", ())):
        return {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
    return _command(f"apply_patch <<'EOF'\n{patch}\nEOF\n", escalate=False)


def _texts(item: Json) -> Iterable[str]:
    return (str(part.get("text", "")) for part in item.get("content", ()) if "text" in part)


def _result(item: Json) -> str:
    output = item.get("output")
    return output if isinstance(output, str) else json.dumps(output)


def _proposed(items: list[Json]) -> str:
    """The plan proposed in the model's last message; empty if there is none."""
    own = [item for item in items if item.get("role") == "assistant"]
    text = "".join(_texts(own[-1])) if own else ""
    found = re.search(r"<proposed_plan>\n(.*)\n</proposed_plan>", text, re.DOTALL)
    return found[1] if found else ""


def _last_permissions(body: Json) -> str:
    texts = [text for item in body["input"] for text in _texts(item)]
    return next((t for t in reversed(texts) if t.startswith("<permissions instructions>")), "")


async def _stream(response: web.StreamResponse, answer: Answer, number: int, body: Json) -> None:
    async def send(kind: str, **fields: Any) -> None:
        event = json.dumps({"type": kind, **fields})
        await response.write(f"event: {kind}\ndata: {event}\n\n".encode())

    await send("response.created", response={"id": f"resp_{number}"})
    if answer.error:
        await send("response.failed", response={"id": f"resp_{number}", "error": answer.error})
        return
    if answer.is_open:
        place: Json = {"item_id": f"rs_{number}", "content_index": 0, "output_index": 0}
        item: Json = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
        await send("response.output_item.added", item=item, output_index=0)
        for word in _words(answer.thinking):
            await send("response.reasoning_text.delta", delta=word, **place)
        item = {**item, "content": [{"type": "reasoning_text", "text": answer.thinking}]}
        await send("response.output_item.done", item=item, output_index=0)
    elif answer.thinking and body.get("reasoning", {}).get("summary"):
        place = {"item_id": f"rs_{number}", "summary_index": 0, "output_index": 0}
        item = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
        await send("response.output_item.added", item=item, output_index=0)
        await send("response.reasoning_summary_part.added", **place)
        for word in _words(answer.thinking):
            await send("response.reasoning_summary_text.delta", delta=word, **place)
        item = {**item, "summary": [{"type": "summary_text", "text": answer.thinking}]}
        await send("response.output_item.done", item=item, output_index=0)
    if answer.text:
        place = {"item_id": f"msg_{number}", "output_index": 1, "content_index": 0}
        item = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": []}
        await send("response.output_item.added", item=item, output_index=1)
        for word in _words(answer.text):
            await send("response.output_text.delta", delta=word, **place)
            await asyncio.sleep(answer.pause)
        if answer.is_cut:
            return
        item = {**item, "content": [{"type": "output_text", "text": answer.text}]}
        await send("response.output_item.done", item=item, output_index=1)
    if answer.call:
        item = {**answer.call, "id": f"fc_{number}", "call_id": f"call_{number}"}
        await send("response.output_item.added", item=item, output_index=2)
        await send("response.output_item.done", item=item, output_index=2)
    written = len(answer.text.split()) + 1
    usage = {
        "input_tokens": READ_TOKENS,
        "input_tokens_details": READ,
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": READ_TOKENS + written,
    }
    await send("response.completed", response={"id": f"resp_{number}", "usage": usage})
    await response.write_eof()


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*", text)


if __name__ == "__main__":
    run_alone(ResponsesStub(), __doc__)
