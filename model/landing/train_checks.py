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
from model.domain.worktrees import CopiedFiles, Worktree
from model.git.trains import TrainWorktree
from model.landing.checks import MISSING, has_check, is_check_removed
from model.scripts.config import FILES, read_commit_scripts, read_trusted_script
from model.scripts.process import build_environment, run_script
from model.scripts.runner import TIME_LIMITS
from model.worktrees.included_files import copy_files, find_included


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
        self._root = Path(project.path)
        self._worktree = TrainWorktree(self._root, at)
        self._base_commit = train.base_commit
        self._has_setup = False
        self._is_prepared = False
        self._not_copied: list[str] = []
        self._missing: list[str] = []
        """Why files that other worktrees get are missing, as sentences."""
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
        try:
            if not await self._may_have_check(commit):
                return await self._note_missing()
            await self._prepare(commit)
            if await self._find("check") is None:
                return await self._note_missing()
            if not self._has_setup:
                self._has_setup = True
                problem = await self._run("setup", output)
                if problem:
                    why = " ".join([f"The setup failed. {problem}", *self._missing])
                    return Outcome("failed", why)
            problem = await self._run("check", output)
        except SpinneyError as error:
            return Outcome("failed", error.message)
        if problem:
            return Outcome("failed", " ".join([problem, *self._missing]))
        return Outcome("passed")

    async def close(self) -> None:
        """Run the teardown if the setup has run, and remove the worktree."""
        if self._has_setup:
            with suppress(SpinneyError):
                await self._run("teardown", self._worktree.folder.with_name("teardown.log"))
        if self._worktree.exists:
            await self._worktree.remove()

    async def _may_have_check(self, commit: str) -> bool:
        """Whether a worktree is needed to know: a large one takes seconds to make."""
        scripts = await read_commit_scripts(self._root, commit)
        if scripts is not None:
            return has_check(scripts)
        included = await find_included(self._root)
        return not set(FILES).isdisjoint(included.files)

    async def _note_missing(self) -> Outcome:
        is_removed = await is_check_removed(self._root, self._base_commit)
        return Outcome("failed", MISSING) if is_removed else Outcome("none")

    async def _prepare(self, commit: str) -> None:
        """Make the files those of the commit, and what each new worktree gets."""
        empty = await self._worktree.check_out(commit)
        if not self._is_prepared:
            self._is_prepared = True
            await copy_files(self._root, self._worktree.folder, self._note_copied)
        self._missing = [*self._not_copied, *filter(None, [empty])]

    def _note_copied(self, copied: CopiedFiles) -> None:
        self._not_copied = copied.problems

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
