"""Run a repository's scripts on the commits of a train, in a worktree of its own."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.domain.landing import Train
from model.domain.projects import Project
from model.domain.scripts import ScriptName
from model.domain.worktrees import Worktree
from model.git.trains import TrainWorktree
from model.landing.checks import MISSING, is_check_removed
from model.scripts.config import read_trusted_script
from model.scripts.process import build_environment, run_script
from model.scripts.runner import TIME_LIMITS


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a check."""

    check: Literal["none", "passed", "failed"]
    """`none`: there is no such script in this commit."""
    error: str = ""


class TrainChecks:
    """Checks commits one after the other, after the repository's `setup` has run once."""

    def __init__(
        self,
        directories: Directories,
        project: Project,
        train: Train,
        at: Path,
        port: int | None = None,
    ) -> None:
        """`at` is the path of the worktree, `port` the first of its ten ports."""
        self._directories = directories
        self._project = project
        self._worktree = TrainWorktree(Path(project.path), at)
        self._base_commit = train.base_commit
        self._has_setup = False
        # Scripts get the same variables as in a worktree of a person.
        self._place = Worktree(
            id=train.id,
            project_id=project.id,
            name="train",
            path=str(at),
            branch=train.base,
            created_at=train.started_at,
            port=port,
        )

    async def check(self, commit: str, output: Path) -> Outcome:
        """Run `check` on a commit, and write what it prints to a file.

        Raises `SpinneyError` if the files cannot be written.
        """
        await self._worktree.check_out(commit)
        try:
            if await self._find("check") is None:
                is_removed = await is_check_removed(Path(self._project.path), self._base_commit)
                return Outcome("failed", MISSING) if is_removed else Outcome("none")
            if not self._has_setup:
                self._has_setup = True
                problem = await self._run("setup", output)
                if problem:
                    return Outcome("failed", f"The setup failed. {problem}")
            problem = await self._run("check", output)
        except SpinneyError as error:
            return Outcome("failed", error.message)
        return Outcome("failed", problem) if problem else Outcome("passed")

    async def close(self) -> None:
        """Run the teardown if the setup has run, and remove the worktree."""
        if self._has_setup:
            with suppress(SpinneyError):
                await self._run("teardown", self._worktree.folder.with_name("teardown.log"))
        await self._worktree.remove()

    async def _find(self, name: ScriptName) -> str | None:
        place = "the commit that the train made"
        script = await asyncio.to_thread(
            read_trusted_script, self._worktree.folder, self._project, name, place
        )
        return None if script is None else script.text

    async def _run(self, name: ScriptName, output: Path) -> str:
        """Run a script, if there is one; return why it failed, as a sentence."""
        text = await self._find(name)
        if text is None:
            return ""
        environment = build_environment(self._place, self._project, self._directories.data)
        code = await run_script(text, self._worktree.folder, environment, output, TIME_LIMITS[name])
        return f"It ended with exit code {code}." if code else ""
