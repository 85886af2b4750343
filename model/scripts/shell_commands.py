"""Run shell commands that a user types, one at a time in each worktree."""

import asyncio
import time
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError, worktree_directory_missing, worktree_not_found
from model.base.paths import Directories
from model.domain.projects import Project
from model.domain.scripts import CommandRun
from model.domain.worktrees import Worktree
from model.scripts.process import build_environment, read_end, run_script
from model.store.store import Store


class ShellCommands:
    """Runs commands and keeps the newest of each worktree. Used on the core's event loop."""

    def __init__(self, store: Store, directories: Directories) -> None:
        self._store = store
        self._directories = directories
        self._newest: dict[str, CommandRun] = {}
        self._running: dict[str, asyncio.Task[CommandRun]] = {}

    async def run(self, worktree_id: str, command: str) -> CommandRun:
        """Run a command with `sh -c` to its end, which it reaches even if the caller goes away.

        Raises `SpinneyError` if another one is running, or the directory is missing.
        """
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None:
            raise worktree_not_found(worktree_id)
        if not command.strip():
            raise SpinneyError("There is no command to run.")
        if "\0" in command or _has_lone_surrogate(command):
            raise SpinneyError("The command contains characters that no program accepts.")
        if not await asyncio.to_thread(Path(worktree.path).is_dir):
            raise worktree_directory_missing(worktree.path)
        if worktree_id in self._running:
            running = self._newest[worktree_id].command
            raise SpinneyError(f"A command is still running here: {running}", "conflict")
        project = self._store.state.projects[worktree.project_id]
        started = CommandRun(
            worktree_id=worktree_id, command=command, status="running", started_at=time.time()
        )
        self._newest[worktree_id] = started
        task = asyncio.create_task(self._run(worktree, project, started))
        self._running[worktree_id] = task
        task.add_done_callback(lambda _: self._running.pop(worktree_id, None))
        return await asyncio.shield(task)

    async def read(self, worktree_id: str) -> CommandRun:
        """Return the current or latest command. Raises `not_found` if there was none."""
        run = self._newest.get(worktree_id)
        if run is None:
            raise SpinneyError("No command has run here.", "not_found")
        if run.status != "running":
            return run
        output = await asyncio.to_thread(read_end, self._output(worktree_id))
        return run.model_copy(update={"output": output})

    async def stop(self, worktree_id: str) -> None:
        """Stop the running command and all that it started; does nothing if there is none."""
        if (task := self._running.get(worktree_id)) is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Stop all commands."""
        await asyncio.gather(*map(self.stop, list(self._running)))

    async def _run(self, worktree: Worktree, project: Project, run: CommandRun) -> CommandRun:
        environment = build_environment(worktree, project, self._directories.data)
        output = self._output(worktree.id)
        outcome: dict[str, Any]
        try:
            code = await run_script(run.command, Path(worktree.path), environment, output, None)
            outcome = {"status": "failed" if code else "completed", "exit_code": code}
        except SpinneyError as error:
            outcome = {"status": "failed", "error": error.message}
        except asyncio.CancelledError:
            outcome = {"status": "stopped"}
        outcome |= {"ended_at": time.time(), "output": await asyncio.to_thread(read_end, output)}
        ended = self._newest[worktree.id] = run.model_copy(update=outcome)
        return ended

    def _output(self, worktree_id: str) -> Path:
        return self._directories.scripts / worktree_id / "command.log"


def _has_lone_surrogate(text: str) -> bool:
    """Whether the text has half of a character, which JSON can express and UTF-8 cannot."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)
