"""A small agent that uses the protocol's own package, which validates both sides by the schema.

The text of a message names what to do: `command: argument`. The capabilities are JSON in
`ACP_AGENT`. Each request is written as a line to the file `ACP_REQUEST_LOG`; conversations are
stored beside it.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from quick_acp import acp, say, schema

CAN: dict[str, Any] = json.loads(os.environ.get("ACP_AGENT", "{}"))
REQUEST_LOG = Path(os.environ["ACP_REQUEST_LOG"]) if "ACP_REQUEST_LOG" in os.environ else None

OPTIONS = [
    schema.PermissionOption(option_id="once", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="always", name="Always", kind="allow_always"),
    schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]


def log_request(method: str, **params: Any) -> None:
    if REQUEST_LOG is not None:
        with REQUEST_LOG.open("a") as file:
            file.write(json.dumps({"method": method, **params}, default=_dump) + "\n")


def _dump(value: Any) -> Any:
    return value.model_dump(by_alias=True, exclude_none=True, mode="json")


async def write_raw(text: str) -> None:
    """Write a line without the package, to the pipe that it made non-blocking."""
    left = text.encode() + b"\n"
    while left:
        try:
            left = left[os.write(1, left) :]
        except BlockingIOError:
            await asyncio.sleep(0.001)


class SmallAgent:
    def __init__(self) -> None:
        self.modes: list[str] = CAN.get("mode_names", ["build", "plan", "yolo"])
        self.mode = self.modes[0]
        self.model = "small"
        self.cancelled = asyncio.Event()
        self.mode_was_set = asyncio.Event()
        self.client: Any = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    # Startup

    async def initialize(self, protocol_version: int, **params: Any) -> schema.InitializeResponse:
        log_request("initialize", protocol_version=protocol_version, **params)
        if CAN.get("dies"):
            sys.stderr.write("No such option: --acp\n")
            sys.stderr.flush()
            os._exit(2)
        if CAN.get("silent"):
            await asyncio.Event().wait()
        resume = schema.SessionResumeCapabilities() if CAN.get("resume") else None
        return schema.InitializeResponse(
            protocol_version=CAN.get("protocol", protocol_version),
            agent_info=schema.Implementation(name="small", version="1.2.3"),
            agent_capabilities=schema.AgentCapabilities(
                load_session=bool(CAN.get("load")),
                prompt_capabilities=schema.PromptCapabilities(image=bool(CAN.get("images"))),
                mcp_capabilities=schema.McpCapabilities(http=bool(CAN.get("http"))),
                session_capabilities=schema.SessionCapabilities(resume=resume),
            ),
            auth_methods=[
                schema.AuthMethodAgent(id="web", name="In the browser", description="small login"),
                schema.TerminalAuthMethod(id="t", name="By hand", type="terminal", args=["login"]),
            ],
        )

    def _choices(self) -> dict[str, Any]:
        modes, models = tuple(self.modes), ("small", "large")
        choices: dict[str, Any] = {}
        if CAN.get("modes"):
            available = [schema.SessionMode(id=mode, name=mode.title()) for mode in modes]
            choices["modes"] = schema.SessionModeState(
                current_mode_id=self.mode, available_modes=available
            )
        if CAN.get("options"):
            choices["config_options"] = [
                _select("m", "mode", self.mode, modes),
                _select("the-model", "model", self.model, models),
            ]
        return choices

    async def new_session(self, **params: Any) -> schema.NewSessionResponse:
        log_request("session/new", **params)
        if CAN.get("signed_out"):
            raise acp.RequestError.auth_required()
        if CAN.get("nameless"):
            return schema.NewSessionResponse(session_id="")
        session_id = uuid.uuid4().hex
        if CAN.get("commands"):  # before the client knows the session id
            await self._commands(session_id, CAN["commands"])
        return schema.NewSessionResponse(session_id=session_id, **self._choices())

    async def load_session(self, session_id: str, **params: Any) -> schema.LoadSessionResponse:
        log_request("session/load", session_id=session_id, **params)
        for text in self._memory(session_id):
            await self.send_update(session_id, say.update_user_message_text(text))
            await self.send_update(session_id, say.update_agent_message_text(f"replayed {text}"))
            await self.send_update(session_id, say.start_tool_call("old", "Old call", kind="read"))
        return schema.LoadSessionResponse(**self._choices())

    async def resume_session(self, session_id: str, **params: Any) -> schema.ResumeSessionResponse:
        log_request("session/resume", session_id=session_id, **params)
        self._memory(session_id)
        return schema.ResumeSessionResponse(**self._choices())

    def _memory(self, session_id: str) -> list[str]:
        assert REQUEST_LOG is not None
        file = REQUEST_LOG.with_name(f"{session_id}.json")
        if not file.exists():
            raise acp.RequestError.resource_not_found(session_id)
        texts: list[str] = json.loads(file.read_text())
        return texts

    async def set_session_mode(self, mode_id: str, **params: Any) -> None:
        log_request("session/set_mode", mode_id=mode_id, **params)
        if CAN.get("keeps_mode"):
            raise acp.RequestError.internal_error()
        self.mode = mode_id
        self.mode_was_set.set()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str, **params: Any
    ) -> schema.SetSessionConfigOptionResponse:
        log_request("session/set_config_option", config_id=config_id, value=value)
        if config_id == "m":
            self.mode = value
            self.mode_was_set.set()
        else:
            self.model = value
        options = self._choices()["config_options"]
        return schema.SetSessionConfigOptionResponse(config_options=options)

    # Turns

    async def cancel(self, session_id: str, **params: Any) -> None:
        log_request("session/cancel", session_id=session_id)
        self.cancelled.set()
        self.mode_was_set.set()

    async def prompt(
        self, session_id: str, prompt: list[Any], **params: Any
    ) -> schema.PromptResponse:
        log_request("session/prompt", session_id=session_id, prompt=prompt)
        self.cancelled.clear()
        text = next(
            (p.text for p in reversed(prompt) if p.type == "text" and not p.text.startswith("(")),
            "",
        )
        if REQUEST_LOG is not None:
            file = REQUEST_LOG.with_name(f"{session_id}.json")
            before = json.loads(file.read_text()) if file.exists() else []
            file.write_text(json.dumps([*before, text]))
        command, _, rest = text.partition(": ")
        does = getattr(self, f"_{command.strip('?')}", None)
        reason = await does(session_id, rest) if does else await self._say(session_id, f"<{text}>")
        usage = schema.Usage(
            input_tokens=10,
            output_tokens=4,
            total_tokens=14,
            cached_read_tokens=3,
            cached_write_tokens=2,
        )
        return schema.PromptResponse(stop_reason=reason or "end_turn", usage=usage)

    async def send_update(self, session_id: str, update: Any) -> None:
        await self.client.session_update(session_id=session_id, update=update)

    async def ask(self, session_id: str, call: Any, options: Any = OPTIONS) -> str:
        answer = await self.client.request_permission(
            session_id=session_id, tool_call=call, options=options
        )
        outcome = answer.outcome
        log_request("permission", outcome=outcome)
        return outcome.option_id if outcome.outcome == "selected" else "cancelled"

    async def _say(self, session_id: str, rest: str) -> None:
        for word in rest.split(" "):
            await self.send_update(session_id, say.update_agent_message_text(f"{word} "))

    async def _think(self, session_id: str, rest: str) -> None:
        await self.send_update(session_id, say.update_agent_thought_text(rest))
        await self._say(session_id, "thought")

    async def _remember(self, session_id: str, rest: str) -> None:
        await self._say(session_id, "; ".join(self._memory(session_id)[:-1]))

    async def _commands(self, session_id: str, rest: str) -> None:
        """Each has a hint, except those in parentheses."""
        hint = schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint="what"))
        commands = [
            schema.AvailableCommand(
                name=name.strip("()"),
                description=f"To {name.strip('()')}",
                input=None if name.startswith("(") else hint,
            )
            for name in rest.split(" ")
        ]
        await self.send_update(session_id, say.update_available_commands(commands))

    async def _mode(self, session_id: str, rest: str) -> None:
        await self._say(session_id, f"{self.mode} {self.model}")

    async def _switch(self, session_id: str, rest: str) -> None:
        self.mode = rest
        await self.send_update(session_id, say.update_current_mode(rest))

    async def _drift(self, session_id: str, rest: str) -> str | None:
        """`drift: MODE COUNT` switches as often, each time until it is set back."""
        mode, count = rest.split(" ")
        for _ in range(int(count)):
            self.mode_was_set.clear()
            if CAN.get("options"):
                self.mode = mode
                options = self._choices()["config_options"]
                update = schema.ConfigOptionUpdate(
                    session_update="config_option_update", config_options=options
                )
                await self.send_update(session_id, update)
            else:
                await self._switch(session_id, mode)
            await self.mode_was_set.wait()
            if self.cancelled.is_set():
                return "cancelled"
        await self._mode(session_id, "")
        return None

    async def _later(self, session_id: str, rest: str) -> None:
        """`later: COMMAND` asks for permission when the process gets a signal."""

        def ask() -> None:
            self.late = asyncio.create_task(self._bash(session_id, rest))

        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, ask)
        await self._say(session_id, str(os.getpid()))

    async def _edit(self, session_id: str, rest: str) -> str | None:
        """`edit: PATH old new` asks for permission; only the request has the diff."""
        path, old, new = rest.split(" ")
        where = Path.cwd() / path
        await self.send_update(
            session_id, say.start_tool_call("e", "edit", kind="edit", status="pending")
        )
        diff = say.tool_diff_content(str(where), new, old if old != "-" else None)
        place = schema.ToolCallLocation(path=str(where))
        call = say.update_tool_call("e", content=[diff], locations=[place], title=f"Edit {path}")
        if await self.ask(session_id, call) not in ("once", "always"):
            await self.send_update(session_id, say.update_tool_call("e", status="failed"))
            return None
        before = where.read_text() if where.exists() else ""
        where.write_text(before.replace(old, new) if before else new)
        done = [say.tool_content(say.text_block("written"))] if CAN.get("forgets_diffs") else None
        await self.send_update(
            session_id, say.update_tool_call("e", status="completed", content=done)
        )
        return None

    async def _many(self, session_id: str, rest: str) -> None:
        diffs = [say.tool_diff_content(str(Path.cwd() / name), name) for name in rest.split(" ")]
        call = say.start_tool_call("m", "write", kind="edit", status="completed", content=diffs)
        await self.send_update(session_id, call)

    async def _bash(self, session_id: str, rest: str) -> str | None:
        given = {"command": rest}
        call = say.start_tool_call("b", "bash", kind="execute", status="pending", raw_input=given)
        await self.send_update(session_id, call)
        if await self.ask(session_id, say.update_tool_call("b", title=f"Run {rest}")) not in (
            "once",
            "always",
        ):
            failed = [say.tool_content(say.text_block("denied"))]
            await self.send_update(
                session_id, say.update_tool_call("b", status="failed", content=failed)
            )
            return "cancelled" if CAN.get("gives_up") else None
        done = subprocess.run(rest, shell=True, capture_output=True, text=True, check=False)
        content = [say.tool_content(say.text_block(done.stdout))]
        await self.send_update(
            session_id, say.update_tool_call("b", status="completed", content=content)
        )
        return None

    async def _plan(self, session_id: str, rest: str) -> None:
        content = [say.tool_content(say.text_block(rest))]
        call = say.update_tool_call("p", title="Ready", kind="switch_mode", content=content)
        if await self.ask(session_id, call) == "once":
            self.mode = "build"
            await self.send_update(session_id, say.update_current_mode("build"))
            (Path.cwd() / "planned.txt").write_text(rest)

    async def _todo(self, session_id: str, rest: str) -> None:
        names = rest.split(" ")
        for done in range(len(names) + 1):
            entries = [
                say.plan_entry(name, status="completed" if at < done else "pending")
                for at, name in enumerate(names)
            ]
            await self.send_update(session_id, say.update_plan(entries))

    async def _context(self, session_id: str, rest: str) -> None:
        used, size, *cost = rest.split(" ")
        update = schema.UsageUpdate(
            session_update="usage_update",
            used=int(used),
            size=int(size),
            cost=schema.Cost(amount=float(cost[0]), currency=cost[1]) if cost else None,
        )
        await self.send_update(session_id, update)

    async def _other(self, session_id: str, rest: str) -> None:
        await self.send_update("another-session", say.update_agent_message_text(rest))

    async def _slow(self, session_id: str, rest: str) -> str:
        await self._say(session_id, "working")
        await self.cancelled.wait()
        return "cancelled"

    async def _deaf(self, session_id: str, rest: str) -> str:
        child = subprocess.Popen(["sleep", "600"])
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        await self._say(session_id, str(child.pid))
        while True:
            time.sleep(600)

    async def _stop(self, session_id: str, rest: str) -> str:
        return rest

    async def _error(self, session_id: str, rest: str) -> None:
        code, _, message = rest.partition(" ")
        raise acp.RequestError(int(code), "It failed", {"message": message})

    async def _die(self, session_id: str, rest: str) -> None:
        await self._say(session_id, "half")
        sys.stderr.write("the loom is broken\n")
        sys.stderr.flush()
        os._exit(3)

    async def _raw(self, session_id: str, rest: str) -> None:
        await write_raw(rest.replace("SESSION", session_id))

    async def _long(self, session_id: str, rest: str) -> None:
        await write_raw(json.dumps({"method": "x", "text": "x" * (int(rest) * 1024 * 1024)}))

    async def _file(self, session_id: str, rest: str) -> None:
        try:
            await self.client.read_text_file(session_id=session_id, path=rest)
        except acp.RequestError as error:
            await self._say(session_id, f"{error.code}")


def _select(
    key: str, category: str, current: str, values: tuple[str, ...]
) -> schema.SessionConfigOptionSelect:
    options = [schema.SessionConfigSelectOption(value=value, name=value) for value in values]
    return schema.SessionConfigOptionSelect(
        id=key, name=key, type="select", category=category, current_value=current, options=options
    )


if __name__ == "__main__":
    asyncio.run(acp.run_agent(SmallAgent(), use_unstable_protocol=True))
