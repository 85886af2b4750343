"""The demo agent: a separate program that Spinney starts like any other agent.

It reads JSON lines on stdin and writes JSON lines on stdout; `backend.py` is the other side and
documents them. It really works in its working directory. Standard library only.
"""

import asyncio
import itertools
import json
import math
import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    # Started as a file with `python -I`, so that no file in a worktree can shadow a module.
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from model.backends.demo import directives, texts
from model.backends.demo.directives import split_first_word
from model.backends.demo.memory import CONTEXT_WINDOW, Memory
from model.backends.demo.provider import PRICE, ProviderError, make_window
from model.backends.demo.shell import Shell

WORDS_A_SECOND: Final = 18
"""A little faster than people read."""

TICK: Final = 0.004
"""Seconds between two batches of `stream`; the wall clock determines the size of each."""

INPUT_LIMIT: Final = 64 * 1024 * 1024


class RefusedError(Exception):
    """A tool returns an error result, and the turn continues."""


class DemoAgent:
    """One conversation."""

    def __init__(self, output: asyncio.StreamWriter) -> None:
        self._output = output
        self._mode = "build"
        self._text_only = False
        self._memory = Memory(Path(os.devnull))
        self._ids = itertools.count(1)
        self._turn: asyncio.Task[None] | None = None
        self._replies: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._input_words = self._output_words = 0
        self._shell = Shell()
        self._ignores_input = False
        self._steering: dict[str, str] = {}
        """The messages sent into the turn that it has not read, by id."""
        self._directives: dict[str, Callable[[str], Awaitable[None]]] = {
            "say": self._say,
            "think": self._think,
            "write": self._write,
            "run": self._run,
            "plan": self._plan,
            "ask": self._ask,
            "permission": self._permission,
            "stream": self._stream,
            "markdown": self._markdown,
            "wait": self._wait,
            "recall": self._recall,
            "used": self._report_used,
            "fail": self._fail,
            "help": self._help,
        }

    async def converse(self, input_: asyncio.StreamReader) -> None:
        """Handle messages from stdin until it closes, then end all started processes."""
        while line := await input_.readline():
            if not self._ignores_input:
                self._receive(json.loads(line))
        await self._shell.end()

    def _receive(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "open":
                self._mode = message["mode"]
                self._text_only = message["text_only"]
                self._memory = Memory(Path(message["memory"]))
            case "prompt":
                self._steering.clear()  # one that came after the end of its turn is sent again
                self._turn = asyncio.create_task(self._run_turn(message["text"]))
            case "steer":
                self._steering[message["id"]] = message["text"]
            case "take_back":
                is_unread = self._steering.pop(message["id"], None) is not None
                self._emit({"type": "taken_back", "id": message["id"], "ok": is_unread})
            case "stop" if self._turn is not None:
                # Not before its first step: a task that never ran would never report its end.
                asyncio.get_running_loop().call_soon(self._turn.cancel)
            case "reply":
                future = self._replies.get(message["request_id"])
                if future is not None and not future.done():
                    future.set_result(message)
            case "mode":
                self._mode = message["mode"]

    # The turn ----------------------------------------------------------------------------------

    async def _run_turn(self, text: str) -> None:
        self._input_words, self._output_words = len(text.split()), 0
        self._memory.remember(text)
        result: dict[str, Any] = {"type": "finished", "stop_reason": "end_turn"}
        try:
            await self._respond(text)
            await self._read_steering()
        except asyncio.CancelledError:
            result["stop_reason"] = "stopped"
        except ProviderError as failure:
            result = {"type": "failed", **failure.fields}
        except Exception as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            result = {"type": "failed", "error": f"The demo agent failed: {error}"}
        finally:
            self._shell.kill()
        context = {"context_tokens": self._memory.words, "context_window": CONTEXT_WINDOW}
        self._emit({**result, **self._used(), **context, "mark": str(self._memory.count)})

    def _used(self) -> dict[str, Any]:
        """What the turn used so far; a word is a token."""
        usage = {"input_tokens": self._input_words, "output_tokens": self._output_words}
        return {"usage": usage, "cost_usd": PRICE * sum(usage.values())}

    async def _respond(self, text: str) -> None:
        if self._text_only:
            filled = texts.fill_form(text)
            self._emit({"type": "text", "block": self._id("block"), "text": filled})
            return
        items = directives.list_items(text)
        if found := directives.parse_directives(text, self._directives):
            for name, argument in found:
                await self._execute(name, argument)
        elif any(split_first_word(item)[0] in self._directives for item in items):
            await self._take_steps(items)  # a plan that an earlier process proposed
        elif text.startswith(texts.CONTINUES):
            await self._say(texts.CONTINUED)
        else:
            await self._tour()

    async def _read_steering(self) -> None:
        """Read what was sent into the turn, and respond to each message."""
        while self._steering:
            message_id = next(iter(self._steering))
            text = self._steering.pop(message_id)
            self._memory.remember(text)
            self._emit({"type": "taken", "id": message_id})
            if found := directives.parse_directives(text, self._directives):
                for name, argument in found:
                    await self._execute(name, argument)
            else:
                await self._say(f"Noted: {text}")

    async def _execute(self, name: str, argument: str) -> None:
        directive = self._directives.get(name, self._help)
        try:
            await directive(argument)
        except (ValueError, OSError) as error:
            await self._say(f"`/demo {name} {argument}` failed: {error}")
        self._emit({"type": "usage", **self._used()})
        await self._read_steering()

    # Output ------------------------------------------------------------------------------------

    async def _say(self, text: str, kind: str = "text") -> None:
        block = self._id("block")
        started = time.monotonic()
        for count, word in enumerate(re.findall(r"\s*\S+\s*", text) or [text], 1):
            self._emit({"type": "text", "block": block, "text": word, "kind": kind})
            self._output_words += 1
            await self._sleep_until(started + count / WORDS_A_SECOND)

    async def _think(self, text: str) -> None:
        await self._say(text, "thinking")

    async def _help(self, _argument: str) -> None:
        self._emit({"type": "text", "block": self._id("block"), "text": texts.DIRECTIVES})

    async def _markdown(self, argument: str) -> None:
        text = texts.markdown(float(argument or 4))
        block = self._id("block")
        self._output_words += len(text.split())
        for start in range(0, len(text), 256):
            self._emit({"type": "text", "block": block, "text": text[start : start + 256]})
            await self._drain()

    async def _stream(self, argument: str) -> None:
        words = argument.split()
        count = int(words[0]) if words else 100
        rate = float(words[1]) if len(words) > 1 else 50.0
        if not math.isfinite(rate) or rate <= 0:
            raise ValueError("the rate must be a number above 0")
        block = self._id("block")
        started = time.monotonic()
        sent = 0
        while sent < count:
            due = min(count, int((time.monotonic() - started) * rate) + 1)
            for number in range(sent + 1, due + 1):
                piece = f"{number}:{time.time():.6f} "
                self._emit({"type": "text", "block": block, "text": piece})
            sent = due
            self._output_words = sent
            await self._drain()
            await asyncio.sleep(max(TICK, started + sent / rate - time.monotonic()))

    async def _wait(self, argument: str) -> None:
        await asyncio.sleep(float(argument or 1))

    async def _recall(self, _argument: str) -> None:
        listed = "\n".join(
            f"- {' '.join(text.split())[:1000]}" for text in self._memory.messages[:-1]
        )
        await self._say(f"You said before:\n\n{listed}" if listed else "You said nothing before.")

    async def _report_used(self, argument: str) -> None:
        self._emit(make_window(argument))

    # Tools -------------------------------------------------------------------------------------

    async def _write(self, argument: str) -> None:
        name, colon, content = argument.partition(":")
        if not colon or not name.strip():
            raise ValueError("write it as PATH: TEXT")
        text = content.removeprefix(" ")
        await self._edit(name.strip(), lambda _before: text if text.endswith("\n") else f"{text}\n")

    async def _edit(self, name: str, change: Callable[[str], str]) -> None:
        root = Path.cwd().resolve()
        path = (root / name).resolve()
        inside = path.is_relative_to(root) and ".git" not in path.relative_to(root).parts
        before = path.read_text(errors="replace") if inside and path.is_file() else ""
        after = change(before)

        async def write() -> str:
            if self._mode == "plan":
                raise RefusedError(texts.PLAN_REFUSAL)
            if not inside:
                raise RefusedError(f"{name} is outside the worktree; I only write inside it.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(after)
            return f"Wrote {len(after.encode())} bytes to {name}."

        input_ = {"file_path": name, "old_content": before, "new_content": after}
        await self._use_tool("edit", input_, write)

    async def _run(self, command: str) -> None:
        tool = self._id("tool")

        async def run() -> str:
            if self._mode == "plan":
                raise RefusedError(texts.PLAN_REFUSAL)
            return await self._run_command(command, tool)

        await self._use_tool("bash", {"command": command}, run, tool)

    async def _permission(self, command: str) -> None:
        tool = self._id("tool")

        async def run_if_allowed() -> str:
            if self._mode != "yolo":
                fields = {"tool_name": "bash", "input": {"command": command}, "tool": tool}
                description = f"Run `{command}` in the worktree"
                reply = await self._request("permission", description=description, **fields)
                if reply["decision"] == "deny":
                    reason = f" Your reason: {reply['reason']}" if reply["reason"] else ""
                    raise RefusedError(f"You denied it, so I did not run it.{reason}")
            return await self._run_command(command, tool)

        await self._use_tool("bash", {"command": command}, run_if_allowed, tool)

    async def _use_tool(
        self,
        name: str,
        input_: dict[str, Any],
        work: Callable[[], Awaitable[str]],
        tool: str | None = None,
    ) -> None:
        tool = tool or self._id("tool")
        self._emit({"type": "tool", "id": tool, "name": name, "input": input_})
        result: dict[str, Any] = {"type": "result", "id": tool, "is_error": False}
        try:
            result["content"] = await work()
        except (RefusedError, OSError) as error:
            result |= {"content": str(error), "is_error": True}
        except asyncio.CancelledError:
            self._emit({**result, "content": "Stopped.", "is_error": True})
            raise
        self._emit(result)

    async def _run_command(self, command: str, tool: str) -> str:
        code, output = await self._shell.run(
            command, lambda text: self._emit({"type": "output", "id": tool, "text": text})
        )
        if code:
            raise RefusedError(f"{output}\nexit code {code}".strip())
        return output

    # Requests ----------------------------------------------------------------------------------

    async def _request(self, kind: str, **fields: Any) -> dict[str, Any]:
        request = self._id("request")
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._replies[request] = future
        self._emit({"type": "usage", **self._used()})
        self._emit({"type": kind, "request_id": request, **fields})
        try:
            return await future
        except asyncio.CancelledError:
            self._emit({"type": "withdrawn", "request_id": request})
            raise
        finally:
            del self._replies[request]

    async def _ask(self, argument: str) -> None:
        question, *options = (part.strip() for part in argument.split("|"))
        fields = {"question": question, "options": [{"label": option} for option in options]}
        reply = await self._request("question", questions=[fields])
        await self._say(f"You answered: {reply['answers'].get(question, 'nothing')}")

    async def _plan(self, argument: str) -> None:
        if not (steps := directives.split_steps(argument)):
            raise ValueError("write it as STEP; STEP")
        await self._take_steps(await self._get_approval(steps))

    async def _take_steps(self, steps: list[str]) -> None:
        for step in steps:
            name, rest = split_first_word(step)
            await (self._execute(name, rest) if name in self._directives else self._say(step))

    async def _get_approval(self, steps: list[str]) -> list[str]:
        """The steps that the user approved; outside plan mode the given ones."""
        while self._mode == "plan":
            listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
            reply = await self._request("plan", text=f"{listed}\n")
            if "comment" in reply:
                steps.append(f"say {reply['comment']}")
                await self._say("I added that to the plan.")
                continue
            self._enter_mode(reply["mode"])
            if reply.get("plan"):
                steps = directives.list_items(reply["plan"])
        return steps

    def _enter_mode(self, mode: str) -> None:
        self._mode = mode
        self._emit({"type": "mode", "mode": mode})

    async def _tour(self) -> None:
        await self._think(texts.TOUR_THOUGHT)
        await self._say(texts.TOUR_HELLO)
        await self._say(texts.TOUR_MODES[self._mode])
        while self._mode == "plan":
            reply = await self._request("plan", text=texts.TOUR_PLAN)
            if "comment" in reply:
                await self._say("Good point. A real agent would change its plan; I keep mine.")
            else:
                self._enter_mode(reply["mode"])
        mode = self._mode
        await self._edit(texts.TOUR_FILE, lambda before: texts.tour_file(before, mode))
        await self._say(texts.TOUR_EDITED)

    # Failures ----------------------------------------------------------------------------------

    async def _fail(self, kind: str) -> None:
        name, argument = split_first_word(kind.strip())
        match name:
            case "rate_limit":
                raise ProviderError(
                    "The demo's rate limit is reached.",
                    "rate_limit_error",
                    "usage_limit",
                    float(argument or 30),
                )
            case "overloaded":
                raise ProviderError(
                    "The demo's provider is overloaded. Try again.", "backend_error", "overloaded"
                )
            case "network":
                raise ProviderError(
                    "The demo's provider cannot be reached.", "backend_error", "network"
                )
            case "auth":
                raise ProviderError(
                    "The demo's key is not valid. Sign in again.", "authentication_error"
                )
            case "crash":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang" | "deaf" as failure:
                self._ignores_input = failure == "deaf"
                await asyncio.Event().wait()
            case "garbage":
                self._output.write(b"this is not JSON \xff\xfe {[\n" * 3)
                await asyncio.Event().wait()
            case other:
                raise ValueError(f"there is no such failure: {other or '(none)'}")

    # Helpers -----------------------------------------------------------------------------------

    def _id(self, kind: str) -> str:
        return f"{kind}-{os.getpid()}-{next(self._ids)}"

    def _emit(self, message: dict[str, Any]) -> None:
        self._output.write(json.dumps(message).encode() + b"\n")

    async def _drain(self) -> None:
        await self._output.drain()
        await asyncio.sleep(0)

    async def _sleep_until(self, moment: float) -> None:
        await self._output.drain()
        await asyncio.sleep(max(0.0, moment - time.monotonic()))


async def main() -> None:
    """Converse on stdin and stdout."""
    loop = asyncio.get_running_loop()
    input_ = asyncio.StreamReader(limit=INPUT_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(input_), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
    )
    await DemoAgent(asyncio.StreamWriter(transport, protocol, None, loop)).converse(input_)
    os._exit(0)  # remaining threads and tasks must not keep the agent running without Spinney


if __name__ == "__main__":
    asyncio.run(main())
