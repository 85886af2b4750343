"""A worktree's scripts run: only what is trusted, one of each at a time, their output kept."""

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from model.backends.orphans import owner_mark
from model.base.errors import SpinneyError, worktree_not_found
from model.base.paths import Directories, write_atomically
from model.base.text import make_output_visible
from model.domain.events import TaskCompleted, WorktreeUpdated
from model.domain.resources import Project, Worktree
from model.domain.scripts import Script, ScriptName, ScriptRun
from model.scripts.config import refuse_hidden, scripts_in
from model.scripts.process import run_script
from model.store.store import Store

TIME_LIMIT: Final = 900.0
"""Seconds for a setup or a teardown; `run` may run as long as Spinney does."""

OUTPUT_SHOWN: Final = 64 * 1024
"""Bytes of a script's newest output that are handed out."""

_TOLD: Final = 2000
"""Characters of the output's end that go into `task:completed`."""


class Scripts:
    """The scripts that run, and the outcome of those that ran. Lives on the core's loop."""

    def __init__(
        self, store: Store, directories: Directories, let_go: Callable[[str], None]
    ) -> None:
        """`let_go` is called with a worktree in which first messages wait for no setup any more."""
        self._store = store
        self._let_go = let_go
        self._directories = directories
        self._running: dict[tuple[str, ScriptName], asyncio.Task[ScriptRun]] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._expected: dict[str, asyncio.Event] = {}
        """New worktrees of which it is not known yet whether a setup runs in them."""

    def runs_in(self, worktree_id: str) -> bool:
        """Whether any script of the worktree runs."""
        return any(key[0] == worktree_id for key in self._running)

    def recover(self) -> None:
        """Forget the scripts that ran when Spinney was killed. Called once, at start."""
        for worktree_id, worktree in list(self._store.state.worktrees.items()):
            self._note_running(worktree_id)
            if worktree.setup_hold == "running":
                self._hold(worktree_id, "failed")

    @contextmanager
    def expecting_setup(self, worktree_id: str) -> Iterator[None]:
        """While a worktree is being made: let `setup_known` wait until its setup begins."""
        self._expected[worktree_id] = asyncio.Event()
        try:
            yield
        finally:
            self._expected.pop(worktree_id).set()

    async def setup_known(self, worktree_id: str) -> None:
        """Wait until it is known of a new worktree whether a setup runs in it: a look at a file."""
        if (expected := self._expected.get(worktree_id)) is not None:
            await expected.wait()

    async def set_up(self, worktree_id: str) -> None:
        """Run the setup of a new worktree and tell how it went; a failure keeps the worktree."""
        await self._told(worktree_id, "setup", self.run(worktree_id, "setup"))

    async def tear_down(self, worktree_id: str) -> None:
        """Run the teardown, if there is one. Raises `conflict` with its output if it fails."""
        ran = await self.run(worktree_id, "teardown")
        if ran is not None and not ran.is_done:
            raise SpinneyError(_words(ran), "conflict")

    async def start(self, worktree_id: str, name: ScriptName) -> ScriptRun:
        """Start a script; it goes on behind. Raises `not_found` where there is none."""
        script = await self._script(worktree_id, name)
        if script is None:
            raise SpinneyError(f"There is no script '{name}' in spinney.json.", "not_found")
        task = self._begin(worktree_id, script)
        telling = asyncio.create_task(self._told(worktree_id, name, task))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
        return ScriptRun(
            worktree_id=worktree_id, script=name, status="running", started_at=time.time()
        )

    async def run(self, worktree_id: str, name: ScriptName) -> ScriptRun | None:
        """Run a script to its end; `None` where there is none.

        Raises `forbidden` for a text that is not trusted, `conflict` while it runs already.
        """
        script = await self._script(worktree_id, name)
        if script is None:
            return None
        task = self._begin(worktree_id, script)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await _cancelled(task)
            raise

    async def stop(self, worktree_id: str, name: ScriptName | None = None) -> None:
        """End what runs in a worktree; stopping what does not is no error."""
        for key, task in list(self._running.items()):
            if key[0] == worktree_id and name in (None, key[1]):
                await _cancelled(task)

    async def close(self) -> None:
        """End everything that runs."""
        await asyncio.gather(*(_cancelled(task) for task in list(self._running.values())))
        await asyncio.gather(*self._telling)

    async def outcome(self, worktree_id: str, name: ScriptName) -> ScriptRun:
        """How a script runs or ran last. Raises `not_found` if it never did."""
        return await asyncio.to_thread(self._read, worktree_id, name)

    async def forget(self, worktree_id: str) -> None:
        """Remove the outcomes of a worktree that is gone."""
        place = self._place(worktree_id)
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    # How it is done ----------------------------------------------------------------------------

    def _begin(self, worktree_id: str, script: Script) -> "asyncio.Task[ScriptRun]":
        key = worktree_id, script.name
        if key in self._running:
            raise SpinneyError(f"The script '{script.name}' runs already.", "conflict")
        worktree, project = self._found(worktree_id)
        task = asyncio.create_task(self._run(worktree, project, script))
        self._running[key] = task
        self._note_running(worktree_id)
        if script.holds_messages:
            self._hold(worktree_id, "running")
        if script.name == "setup" and (expected := self._expected.get(worktree_id)) is not None:
            expected.set()

        def ended(ran: "asyncio.Task[ScriptRun]") -> None:
            self._running.pop(key, None)
            self._note_running(worktree_id)
            if script.name == "setup":
                went_well = not ran.cancelled() and not ran.exception() and ran.result().is_done
                self._hold(worktree_id, None if went_well else "failed")

        task.add_done_callback(ended)
        return task

    def _note_running(self, worktree_id: str) -> None:
        """Let everybody see which scripts run in a worktree."""
        worktree = self._store.state.worktrees.get(worktree_id)
        names = [name for place, name in self._running if place == worktree_id]
        if worktree is not None and worktree.running_scripts != names:
            noted = worktree.model_copy(update={"running_scripts": names})
            self._store.record(WorktreeUpdated(worktree=noted))

    def _hold(self, worktree_id: str, hold: Literal["running", "failed"] | None) -> None:
        """Keep first messages for `hold`, or let them go; what was let go is not held again."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None or worktree.setup_hold == hold:
            return
        if hold == "failed" and worktree.setup_hold is None:
            return
        held = worktree.model_copy(update={"setup_hold": hold})
        self._store.record(WorktreeUpdated(worktree=held))
        if hold is None:
            self._let_go(worktree_id)

    async def _run(self, worktree: Worktree, project: Project, script: Script) -> ScriptRun:
        ran = ScriptRun(
            worktree_id=worktree.id, script=script.name, status="running", started_at=time.time()
        )
        environment = self._environment(worktree, project)
        output = self._place(worktree.id) / f"{script.name}.log"
        limit = None if script.name == "run" else TIME_LIMIT
        ended: dict[str, Any]
        kept = asyncio.ensure_future(asyncio.to_thread(self._keep, ran))
        try:
            await asyncio.shield(kept)
            code = await run_script(script.text, Path(worktree.path), environment, output, limit)
            ended = {"status": "failed" if code else "completed", "exit_code": code}
        except SpinneyError as error:
            ended = {"status": "failed", "error": error.message}
        except asyncio.CancelledError:
            ended = {"status": "stopped"}
        # A stop does not end the thread; what it writes late would stand for how it ended.
        await kept
        ran = ran.model_copy(update={**ended, "ended_at": time.time()})
        await asyncio.to_thread(self._keep, ran)
        return await asyncio.to_thread(self._read, worktree.id, script.name)

    async def _told(
        self, worktree_id: str, name: ScriptName, running: Awaitable[ScriptRun | None]
    ) -> None:
        try:
            ran = await running
        except SpinneyError as error:
            self._tell(worktree_id, name, error.message, ok=False)
            return
        if ran is not None:
            self._tell(worktree_id, name, _words(ran), ok=ran.is_done)

    def _tell(self, worktree_id: str, name: ScriptName, detail: str, *, ok: bool) -> None:
        self._store.record(TaskCompleted(task=name, ok=ok, detail=detail, worktree_id=worktree_id))

    async def _script(self, worktree_id: str, name: ScriptName) -> Script | None:
        worktree, project = self._found(worktree_id)
        found = await asyncio.to_thread(scripts_in, Path(worktree.path), project)
        script = next((script for script in found if script.name == name), None)
        if script is not None and script.hidden is not None:
            refuse_hidden(name, script.text)
        if script is not None and not script.trusted:
            raise SpinneyError(
                f"The script '{name}' in {script.file} of '{worktree.name}' is not the one that"
                " was trusted, so it did not run. Read it, and trust it if you do (“Scripts”;"
                " get_project_scripts, trust_project_scripts).",
                "forbidden",
            )
        return script

    def _found(self, worktree_id: str) -> tuple[Worktree, Project]:
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None:
            raise worktree_not_found(worktree_id)
        return worktree, self._store.state.projects[worktree.project_id]

    def _environment(self, worktree: Worktree, project: Project) -> dict[str, str]:
        facts = {
            "WORKSPACE_PATH": worktree.path,
            "ROOT_PATH": project.path,
            "BRANCH": worktree.branch,
        }
        named = {
            f"{prefix}_{name}": value
            for prefix in ("SPINNEY", "JEAN")
            for name, value in facts.items()
        }
        return {**named, "SPINNEY_OWNER": owner_mark(self._directories.data)}

    def _place(self, worktree_id: str) -> Path:
        return self._directories.scripts / worktree_id

    def _keep(self, ran: ScriptRun) -> None:
        place = self._place(ran.worktree_id)
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if ran.status == "running":
            (place / f"{ran.script}.log").write_bytes(b"")
        body = ran.model_dump_json(exclude={"output"})
        write_atomically(place / f"{ran.script}.json", body.encode())

    def _read(self, worktree_id: str, name: ScriptName) -> ScriptRun:
        place = self._place(worktree_id)
        try:
            kept = json.loads((place / f"{name}.json").read_bytes())
            ran = ScriptRun.model_validate({**kept, "output": ""})
        except (OSError, ValueError, TypeError):
            raise SpinneyError(f"The script '{name}' has not run here.", "not_found") from None
        output = ""
        with suppress(OSError), (place / f"{name}.log").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - OUTPUT_SHOWN))
            output = make_output_visible(file.read().decode(errors="replace"))
        ran = ran.model_copy(update={"output": output})
        if ran.status == "running" and (worktree_id, name) not in self._running:
            # Spinney was killed while it ran; what was left of it is ended at the next start.
            return ran.model_copy(update={"status": "stopped"})
        return ran


async def _cancelled(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _words(ran: ScriptRun) -> str:
    """How it ended, in a sentence, and the end of what it printed."""
    match ran.status:
        case "completed":
            how = f"The {ran.script} script is done."
        case "stopped":
            how = f"The {ran.script} script was stopped."
        case _:
            reason = ran.error or f"It ended with exit code {ran.exit_code}."
            how = f"The {ran.script} script failed. {reason}"
    told = ran.output.strip()[-_TOLD:]
    return f"{how}\n{told}" if told else how
