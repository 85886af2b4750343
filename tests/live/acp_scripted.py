"""An ACP agent without a provider: it runs the commands of `scripted` itself. Built with the
protocol's own package. It stores its conversations in `$HOME/acp`.
"""

import asyncio
import json
import os
import re
import signal
import uuid
from pathlib import Path
from typing import Any

from tests.live import scripted
from tests.live.scripted import Step
from tests.model.backends.quick_acp import acp, say, schema

OPTIONS = [
    schema.PermissionOption(option_id="once", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="always", name="Always", kind="allow_always"),
    schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]
MODES = schema.SessionModeState(
    current_mode_id="build",
    available_modes=[
        schema.SessionMode(id=mode, name=mode.title()) for mode in ("build", "plan", "yolo")
    ],
)


class ScriptedAgent:
    """The agent; Spinney starts a process for each session."""

    def __init__(self) -> None:
        self._client: Any = None
        self._conversation = ""
        self._mode = "build"
        self._plan = ""
        """The last proposed plan that was not carried out yet."""
        self._cancelled = asyncio.Event()
        self._calls = 0

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        resume = schema.SessionResumeCapabilities()
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_info=schema.Implementation(name="scripted", version="1.0.0"),
            agent_capabilities=schema.AgentCapabilities(
                session_capabilities=schema.SessionCapabilities(resume=resume)
            ),
        )

    async def new_session(self, **_: Any) -> schema.NewSessionResponse:
        self._conversation = uuid.uuid4().hex
        return schema.NewSessionResponse(session_id=self._conversation, modes=MODES)

    async def resume_session(self, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        self._conversation = session_id
        return schema.ResumeSessionResponse(modes=MODES)

    async def set_session_mode(self, mode_id: str, **_: Any) -> None:
        self._mode = mode_id

    async def cancel(self, **_: Any) -> None:
        self._cancelled.set()

    async def prompt(self, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        self._cancelled.clear()
        texts = [part.text for part in prompt if part.type == "text"]
        # Instructions added by Spinney are in parentheses.
        text = next((text for text in reversed(texts) if not text.startswith("(")), "")
        earlier = self._remember(text)
        if self._plan and not re.match(r"\w+[:?]", text):
            steps = scripted.revision_steps(self._plan)
        else:
            steps = scripted.steps(text, earlier)
        for step in steps:
            await self._follow(step)
            if self._cancelled.is_set():
                break
        words = sum(len(step.text.split()) for step in steps)
        usage = schema.Usage(input_tokens=10, output_tokens=words + 1, total_tokens=words + 11)
        reason = "cancelled" if self._cancelled.is_set() else "end_turn"
        return schema.PromptResponse(stop_reason=reason, usage=usage)

    def _remember(self, text: str) -> list[str]:
        """Store `text` and return the earlier messages."""
        file = Path(os.environ["HOME"]) / "acp" / f"{self._conversation}.json"
        file.parent.mkdir(exist_ok=True)
        earlier: list[str] = json.loads(file.read_text()) if file.exists() else []
        file.write_text(json.dumps([*earlier, text]))
        return earlier

    async def _follow(self, step: Step) -> None:
        if step.status == 401:
            raise acp.RequestError.auth_required()
        if step.thinking:
            await self._update(say.update_agent_thought_text(step.thinking))
        for word in re.findall(r"\S+\s*", step.text):
            if self._cancelled.is_set():
                return
            await self._update(say.update_agent_message_text(word))
            await asyncio.sleep(step.pause)
        match step.act:
            case scripted.Write(path, content):
                await self._write(path, content)
            case scripted.Run(command):
                await self._run(command)
            case scripted.Propose(plan):
                await self._propose(plan)

    async def _write(self, path: str, content: str) -> None:
        where = Path.cwd() / path
        call = self._next_call_id()
        await self._update(say.start_tool_call(call, "Write", kind="edit", status="pending"))
        diff = say.tool_diff_content(str(where), content)
        if await self._ask_permission(
            say.update_tool_call(call, content=[diff], title=f"Write {path}")
        ):
            where.write_text(content)
            await self._update(say.update_tool_call(call, status="completed"))
        else:
            await self._update(say.update_tool_call(call, status="failed"))

    async def _run(self, command: str) -> None:
        call, given = self._next_call_id(), {"command": command}
        await self._update(
            say.start_tool_call(call, "bash", kind="execute", status="pending", raw_input=given)
        )
        if not await self._ask_permission(say.update_tool_call(call, title=f"Run {command}")):
            await self._update(say.update_tool_call(call, status="failed"))
            return
        process = await asyncio.create_subprocess_shell(
            command, stdout=asyncio.subprocess.PIPE, start_new_session=True
        )
        output = bytearray()
        done = asyncio.create_task(self._read(call, process, output))
        stopped = asyncio.create_task(self._cancelled.wait())
        await asyncio.wait((done, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not done.done():
            os.killpg(process.pid, signal.SIGKILL)
        await done
        content = [say.tool_content(say.text_block(output.decode()))]
        status = "completed" if process.returncode == 0 else "failed"
        await self._update(say.update_tool_call(call, status=status, content=content))

    async def _read(
        self, call: str, process: asyncio.subprocess.Process, output: bytearray
    ) -> None:
        assert process.stdout is not None
        while piece := await process.stdout.read(4096):
            output += piece
            content = [say.tool_content(say.text_block(output.decode()))]
            await self._update(say.update_tool_call(call, status="in_progress", content=content))
        await process.wait()

    async def _propose(self, plan: str) -> None:
        content = [say.tool_content(say.text_block(plan))]
        call = say.update_tool_call(
            self._next_call_id(), title="Ready", kind="switch_mode", content=content
        )
        self._plan = plan
        if await self._ask_permission(call):
            self._plan, self._mode = "", "build"
            await self._update(say.update_current_mode("build"))
            for step in scripted.approval_steps(plan):
                await self._follow(step)

    async def _ask_permission(self, call: Any) -> bool:
        answer = await self._client.request_permission(
            session_id=self._conversation, tool_call=call, options=OPTIONS
        )
        return answer.outcome.outcome == "selected" and answer.outcome.option_id != "no"

    async def _update(self, update: Any) -> None:
        await self._client.session_update(session_id=self._conversation, update=update)

    def _next_call_id(self) -> str:
        self._calls += 1
        return f"call-{self._calls}"


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ScriptedAgent(), use_unstable_protocol=True))
