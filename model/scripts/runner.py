"""Run the scripts of worktrees: only trusted ones, one of each at a time, with saved output."""

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from model.base.errors import SpinneyError, worktree_not_found
from model.base.paths import Directories, create_private_folders, write_atomically
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.projects import Project
from model.domain.scripts import Script, ScriptName, ScriptRun
from model.domain.worktrees import Worktree
from model.scripts.config import read_trusted_script
from model.scripts.process import build_environment, read_end, run_script
from model.store.store import Store

TIME_LIMITS: Final[dict[ScriptName, float]] = {"setup": 900.0, "teardown": 900.0, "check": 3600.0}
"""Seconds; `run` has no limit."""

_DETAIL_LIMIT: Final = 2000
"""Characters at the end of the output that are part of `task:completed`."""


class ScriptRunner:
    """Runs scripts and stores the outcome of each. Must be used on the core's event loop."""

    def __init__(
        self, store: Store, directories: Directories, release_messages: Callable[[str], None]
    ) -> None:
        """`release_messages` is called with a worktree whose first messages no longer wait."""
        self._store = store
        self._release_messages = release_messages
        self._directories = directories
        self._running: dict[tuple[str, ScriptName], asyncio.Task[ScriptRun]] = {}
        self._reports: set[asyncio.Task[None]] = set()
        self._expected: dict[str, asyncio.Event] = {}
        """New worktrees for which it is not yet known whether they have a setup."""

    def is_running(self, worktree_id: str, name: ScriptName | None = None) -> bool:
        """Whether this script of the worktree, or any, is running."""
        return any(key[0] == worktree_id and name in (None, key[1]) for key in self._running)

    def recover(self) -> None:
        """Reset scripts that were running when Spinney was killed. Called once, at start."""
        for worktree_id, worktree in list(self._store.state.worktrees.items()):
            self._publish_running(worktree_id)
            if worktree.setup_hold == "running":
                self._set_hold(worktree_id, "failed")

    @contextmanager
    def expecting_setup(self, worktree_id: str) -> Iterator[None]:
        """Make `wait_until_setup_known` wait while a worktree is being created."""
        self._expected[worktree_id] = asyncio.Event()
        try:
            yield
        finally:
            self._expected.pop(worktree_id).set()

    async def wait_until_setup_known(self, worktree_id: str) -> None:
        """Wait until it is known whether a setup runs in a new worktree, which reads one file."""
        if (expected := self._expected.get(worktree_id)) is not None:
            await expected.wait()

    async def run_setup(self, worktree_id: str) -> None:
        """Run the setup of a new worktree and report the outcome; a failure keeps the worktree."""
        await self._report_outcome(worktree_id, "setup", self.run(worktree_id, "setup"))
        if not self.is_running(worktree_id, "setup"):
            self._release_after_creation(worktree_id)

    async def run_teardown(self, worktree_id: str) -> None:
        """Run the teardown, if there is one. Raises `conflict` with its output if it fails."""
        result = await self.run(worktree_id, "teardown")
        if result is not None and not result.has_succeeded:
            raise SpinneyError(_summarize(result), "conflict")

    async def start(
        self,
        worktree_id: str,
        name: ScriptName,
        read_tree: Callable[[], Awaitable[str]] | None = None,
    ) -> ScriptRun:
        """Start a script in the background. Raises `not_found` if it does not exist.

        What `read_tree` returns is kept with the run.
        """
        script = await self._find_script(worktree_id, name)
        if script is None:
            raise SpinneyError(f"There is no script '{name}' in spinney.json.", "not_found")
        tree = "" if read_tree is None else await read_tree()
        task = self._begin(worktree_id, script, tree)
        report = asyncio.create_task(self._report_outcome(worktree_id, name, task))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)
        return ScriptRun(
            worktree_id=worktree_id,
            script=name,
            status="running",
            started_at=time.time(),
            tree=tree,
        )

    async def run(self, worktree_id: str, name: ScriptName) -> ScriptRun | None:
        """Run a script to its end; returns `None` if it does not exist.

        Raises `forbidden` if it is not trusted, `conflict` if it is already running.
        """
        script = await self._find_script(worktree_id, name)
        if script is None:
            if name == "setup":
                self._set_hold(worktree_id, None)
            return None
        task = self._begin(worktree_id, script)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await _cancel(task)
            raise

    async def stop(self, worktree_id: str, name: ScriptName | None = None) -> None:
        """Stop the scripts of a worktree; does nothing if none is running."""
        for key, task in list(self._running.items()):
            if key[0] == worktree_id and name in (None, key[1]):
                await _cancel(task)

    async def close(self) -> None:
        """Stop all scripts and wait for their reports."""
        await asyncio.gather(*(_cancel(task) for task in list(self._running.values())))
        await asyncio.gather(*self._reports)

    async def outcome(self, worktree_id: str, name: ScriptName) -> ScriptRun:
        """Return the current or latest run of a script. Raises `not_found` if there is none."""
        return await asyncio.to_thread(self._load, worktree_id, name)

    async def forget(self, worktree_id: str) -> None:
        """Delete the outcomes of a removed worktree."""
        await asyncio.to_thread(shutil.rmtree, self._folder(worktree_id), ignore_errors=True)

    # Internals ---------------------------------------------------------------------------------

    def _begin(self, worktree_id: str, script: Script, tree: str = "") -> "asyncio.Task[ScriptRun]":
        key = worktree_id, script.name
        if key in self._running:
            raise SpinneyError(f"The script '{script.name}' is already running.", "conflict")
        worktree, project = self._get_worktree_and_project(worktree_id)
        task = asyncio.create_task(self._run(worktree, project, script, tree))
        self._running[key] = task
        self._publish_running(worktree_id)
        if script.holds_messages:
            self._set_hold(worktree_id, "running")
        elif script.name == "setup":
            self._set_hold(worktree_id, None)
        if script.name == "setup" and (expected := self._expected.get(worktree_id)) is not None:
            expected.set()

        def handle_end(finished: "asyncio.Task[ScriptRun]") -> None:
            self._running.pop(key, None)
            self._publish_running(worktree_id)
            if script.name == "setup":
                has_succeeded = (
                    not finished.cancelled()
                    and not finished.exception()
                    and finished.result().has_succeeded
                )
                self._set_hold(worktree_id, None if has_succeeded else "failed")

        task.add_done_callback(handle_end)
        return task

    def _publish_running(self, worktree_id: str) -> None:
        """Publish which scripts are running in a worktree."""
        worktree = self._store.state.worktrees.get(worktree_id)
        names = [name for key, name in self._running if key == worktree_id]
        if worktree is not None and worktree.running_scripts != names:
            updated = worktree.model_copy(update={"running_scripts": names})
            self._store.record(WorktreeUpdated(worktree=updated))

    def _release_after_creation(self, worktree_id: str) -> None:
        """Clear a hold that no setup is the reason of: messages waited for the creation."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is not None and worktree.setup_hold == "running":
            self._set_hold(worktree_id, None)

    def _set_hold(self, worktree_id: str, hold: Literal["running", "failed"] | None) -> None:
        """Set or clear the hold on first messages; a cleared hold is not set again by a failure."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None or worktree.setup_hold == hold:
            return
        if hold == "failed" and worktree.setup_hold is None:
            return
        updated = worktree.model_copy(update={"setup_hold": hold})
        self._store.record(WorktreeUpdated(worktree=updated))
        if hold is None:
            self._release_messages(worktree_id)

    async def _run(
        self, worktree: Worktree, project: Project, script: Script, tree: str
    ) -> ScriptRun:
        run = ScriptRun(
            worktree_id=worktree.id,
            script=script.name,
            status="running",
            started_at=time.time(),
            tree=tree,
        )
        environment = build_environment(worktree, project, self._directories.data)
        output = self._folder(worktree.id) / f"{script.name}.log"
        limit = TIME_LIMITS.get(script.name)
        outcome: dict[str, Any]
        saving = asyncio.ensure_future(asyncio.to_thread(self._save, run))
        try:
            await asyncio.shield(saving)
            code = await run_script(script.text, Path(worktree.path), environment, output, limit)
            outcome = {"status": "failed" if code else "completed", "exit_code": code}
        except SpinneyError as error:
            outcome = {"status": "failed", "error": error.message}
        except asyncio.CancelledError:
            outcome = {"status": "stopped"}
        # Canceling does not stop the thread; its late write would overwrite the outcome.
        await saving
        run = run.model_copy(update={**outcome, "ended_at": time.time()})
        await asyncio.to_thread(self._save, run)
        return await asyncio.to_thread(self._load, worktree.id, script.name)

    async def _report_outcome(
        self, worktree_id: str, name: ScriptName, running: Awaitable[ScriptRun | None]
    ) -> None:
        try:
            result = await running
        except SpinneyError as error:
            self._report(worktree_id, name, error.message, ok=False)
            return
        if result is not None:
            self._report(worktree_id, name, _summarize(result), ok=result.has_succeeded)

    def _report(self, worktree_id: str, name: ScriptName, detail: str, *, ok: bool) -> None:
        self._store.record(TaskCompleted(task=name, ok=ok, detail=detail, worktree_id=worktree_id))

    async def _find_script(self, worktree_id: str, name: ScriptName) -> Script | None:
        worktree, project = self._get_worktree_and_project(worktree_id)
        return await asyncio.to_thread(
            read_trusted_script, Path(worktree.path), project, name, f"'{worktree.name}'"
        )

    def _get_worktree_and_project(self, worktree_id: str) -> tuple[Worktree, Project]:
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None:
            raise worktree_not_found(worktree_id)
        return worktree, self._store.state.projects[worktree.project_id]

    def _folder(self, worktree_id: str) -> Path:
        return self._directories.scripts / worktree_id

    def _save(self, run: ScriptRun) -> None:
        folder = self._folder(run.worktree_id)
        create_private_folders(folder)
        if run.status == "running":
            (folder / f"{run.script}.log").write_bytes(b"")
        body = run.model_dump_json(exclude={"output"})
        write_atomically(folder / f"{run.script}.json", body.encode())

    def _load(self, worktree_id: str, name: ScriptName) -> ScriptRun:
        folder = self._folder(worktree_id)
        try:
            saved = json.loads((folder / f"{name}.json").read_bytes())
            run = ScriptRun.model_validate({**saved, "output": ""})
        except (OSError, ValueError, TypeError):
            raise SpinneyError(f"The script '{name}' has not run here.", "not_found") from None
        run = run.model_copy(update={"output": read_end(folder / f"{name}.log")})
        if run.status == "running" and (worktree_id, name) not in self._running:
            # Spinney was killed during the run; remaining processes are stopped at the next start.
            return run.model_copy(update={"status": "stopped"})
        return run


async def _cancel(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _summarize(run: ScriptRun) -> str:
    """Return a sentence about the outcome, followed by the end of the output."""
    match run.status:
        case "completed":
            summary = f"The {run.script} script completed."
        case "stopped":
            summary = f"The {run.script} script was stopped."
        case _:
            reason = run.error or f"It ended with exit code {run.exit_code}."
            summary = f"The {run.script} script failed. {reason}"
    output = run.output.strip()[-_DETAIL_LIMIT:]
    return f"{summary}\n{output}" if output else summary
