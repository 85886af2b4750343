"""Land a worktree: bring its branch into its base branch, beside all checkouts."""

import asyncio
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.paths import Directories
from model.base.plural import count
from model.base.text import clean_line, make_visible
from model.domain.hosting import MergeMethod
from model.domain.landing import AfterLanding, CheckResult, Landing, LandingPreview
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git import base_branch
from model.git.base_branch import BaseBranch
from model.git.brought_in import find_brought_in
from model.git.changes import to_display_name
from model.git.conflict_markers import compare_markers
from model.git.diff import explain_no_common_commit
from model.git.history import find_own_address, list_commits_between
from model.git.integrating import Integration, integrate
from model.git.run import git
from model.git.secret_gate import make_gate
from model.git.snapshots.scratch import ScratchObjects
from model.git.status import count_changes
from model.git.three_way import Place, remove_detached_worktree, wants_signatures
from model.landing.base_moves import BaseMoves, Move
from model.landing.branches import Branch, find_branch
from model.landing.checks import Checks, describe_check
from model.landing.messages import suggest_message
from model.landing.stacks import Stacks, describe_landed_base
from model.store.store import Store
from model.worktrees import require_project, require_worktree

_MAX_FILES = 100
"""Conflicted files that are listed."""


class Lander:
    """Previews and makes landings."""

    def __init__(
        self,
        store: Store,
        directories: Directories,
        checks: Checks,
        moves: BaseMoves,
        stacks: Stacks,
    ) -> None:
        self._store = store
        self._stacks = stacks
        self._directories = directories
        self._checks = checks
        self._moves = moves

    def choose_method(self, project: Project, method: MergeMethod | None) -> MergeMethod:
        """Return the given method; else the project's, or the person's."""
        return method or project.landing_method or self._store.state.preferences.landing_method

    def choose_fate(self, fate: AfterLanding | None) -> AfterLanding:
        """Return what becomes of a worktree: as given, or as the person prefers."""
        return fate or self._store.state.preferences.after_landing

    async def preview(self, worktree_id: str, method: MergeMethod | None) -> LandingPreview:
        """Return what landing a worktree would do. Raises `SpinneyError` if it cannot be read."""
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        chosen = self.choose_method(project, method)
        check = await self._checks.read(worktree_id)
        preview = LandingPreview(
            worktree_id=worktree_id,
            base=worktree.base_branch or project.default_branch,
            base_commit="",
            head_commit="",
            method=chosen,
            commits=0,
            files=0,
            added=0,
            removed=0,
            check=check,
            after=self.choose_fate(None),
        )
        try:
            await self._moves.complete(project, preview.base)
            base = await base_branch.read_base(Path(project.path), preview.base)
            checkout = clean_line(str(base.checkout)) if base.checkout else None
            preview = preview.model_copy(
                update={"base_commit": base.commit, "checked_out_in": checkout}
            )
            new_base = await self._stacks.find_new_base(worktree, base.commits)
            if new_base:
                preview = preview.model_copy(update={"new_base": new_base})
                raise SpinneyError(describe_landed_base(base.name, new_base), "conflict")
            branch = await find_branch(self._store.state, worktree, preview.base)
            preview = preview.model_copy(update=await self._describe(branch, base, project, chosen))
            async with self._try(project, branch, base, chosen) as (result, place):
                files = [to_display_name(path) for path in result.conflicts[:_MAX_FILES]]
                check = await self._checks.read(worktree_id, branch.head)
                preview = preview.model_copy(update={"conflicts": files, "check": check})
                _refuse_conflicts(branch, base, result)
                preview = preview.model_copy(update=await self._warn(branch, base, check))
                await base_branch.check_can_follow(
                    base, result.commit, place.environment, looks_only=True
                )
        except base_branch.DirtyCheckoutError as error:
            return preview.model_copy(update={"problem": error.message, "offers_stash": True})
        except SpinneyError as error:
            return preview.model_copy(update={"problem": error.message})
        problem = describe_check(check)
        return preview.model_copy(update={"problem": problem, "held_by_check": bool(problem)})

    async def land(
        self,
        worktree_id: str,
        base_commit: str,
        method: MergeMethod | None,
        message: str | None,
        fate: AfterLanding | None,
        *,
        delete_remote_branch: bool,
        ignore_check: bool,
        stash_base: bool,
    ) -> Landing:
        """Land a worktree. Raises `SpinneyError`, and changes nothing, if that is not possible."""
        worktree = require_worktree(self._store.state, worktree_id)
        project = require_project(self._store.state, worktree.project_id)
        chosen = self.choose_method(project, method)
        name = worktree.base_branch or project.default_branch
        root = Path(project.path)
        async with self._moves.lock(project.id):
            base = await base_branch.read_base(root, name)
            if base.commit != base_commit:
                raise SpinneyError(
                    f"'{name}' has moved since you looked at it. Look at it again, then land.",
                    "conflict",
                )
            await self._stacks.refuse_landed_base(worktree, project)
            branch = await find_branch(self._store.state, worktree, name)
            apart = ""
            if not ignore_check:
                check = await self._checks.read(worktree_id, branch.head)
                _refuse_check(check)
                apart = await self._describe_apart(branch, base, check)
            text = await self._check_message(branch, base, project, chosen, message)
            place = await self.make_place(project)
            result = await integrate(place, base.commit, branch.head, chosen, text)
            _refuse_conflicts(branch, base, result)
            move = Move(
                project=project,
                base=base,
                to=result.commit,
                heads={worktree.id: branch.head},
                branches={worktree.id: branch.worktree.branch},
                method=chosen,
                fate=self.choose_fate(fate),
                delete_remote_branch=delete_remote_branch,
                why=f"land {worktree.branch} ({chosen})",
                stash_place=place if stash_base else None,
                notes=[apart] if apart else [],
            )
            return await self._moves.move(move)

    async def find_conflicts(self, worktree: Worktree) -> list[str]:
        """Return the files in which a worktree's commits are in conflict with its base."""
        project = require_project(self._store.state, worktree.project_id)
        name = worktree.base_branch or project.default_branch
        base = await base_branch.read_base(Path(project.path), name)
        head = await git(Path(worktree.path), "rev-parse", "--verify", "HEAD^{commit}")
        async with self._try(project, Branch(worktree, head.stdout), base, "merge") as (result, _):
            return [to_display_name(path) for path in result.conflicts]

    async def make_place(self, project: Project) -> Place:
        """Return where commits of a project are merged."""
        place = self._find_place(project)
        return replace(place, sign=await wants_signatures(place.root))

    def _find_place(self, project: Project) -> Place:
        return Place(Path(project.path), self._find_scratch(project.id) / uuid.uuid4().hex)

    async def recover(self) -> None:
        """Remove the worktrees that a kill has left. Called once, at start."""
        for project in list(self._store.state.projects.values()):
            folder = self._find_scratch(project.id)
            for left in await asyncio.to_thread(_list_folder, folder):
                with suppress(SpinneyError):
                    await remove_detached_worktree(Path(project.path), left)

    def _find_scratch(self, project_id: str) -> Path:
        return self._directories.landing / "scratch" / project_id

    async def _describe(
        self, branch: Branch, base: BaseBranch, project: Project, method: MergeMethod
    ) -> dict[str, object]:
        path = Path(branch.worktree.path)
        counted = await git(path, "rev-list", "--count", branch.head, "--not", base.commit, "--")
        since = f"{base.commit}...{branch.head}"  # Since the commit that both have last.
        try:
            added, removed, files = await count_changes(path, since)
        except SpinneyError as error:
            if "no merge base" not in error.message:
                raise
            unrelated = SpinneyError(
                f"'{branch.worktree.branch}' and '{base.name}' have no common history, so one "
                "cannot land in the other.",
                "conflict",
            )
            raise await asyncio.to_thread(explain_no_common_commit, path, unrelated) from None
        marked = await compare_markers(path, since)
        message = "" if method == "rebase" else await self.suggest(branch, base, project, method)
        return {
            "head_commit": branch.head,
            "commits": int(counted.stdout),
            "files": files,
            "added": added,
            "removed": removed,
            "marked_files": marked[:_MAX_FILES],
            "message": message,
        }

    async def _warn(
        self, branch: Branch, base: BaseBranch, check: CheckResult
    ) -> dict[str, object]:
        """Return what a person should know before it lands, as fields of the preview."""
        apart = await self._describe_apart(branch, base, check)
        brought_in = await self._list_brought_in(branch, base)
        return {
            "warnings": [apart, *brought_in] if apart else brought_in,
            "offers_train": bool(apart or describe_check(check)),
        }

    async def _describe_apart(self, branch: Branch, base: BaseBranch, check: CheckResult) -> str:
        """Return what a check that passed has not seen of the base, as a sentence."""
        if not check.has_script or describe_check(check):
            return ""
        path = Path(branch.worktree.path)
        counted = await git(path, "rev-list", "--count", base.commit, "--not", branch.head, "--")
        if not (number := int(counted.stdout)):
            return ""
        return (
            f"The check passed on the branch, not on {count(number, 'new commit')} of "
            f"'{clean_line(base.name)}'."
        )

    async def _list_brought_in(self, branch: Branch, base: BaseBranch) -> list[str]:
        """Return which branches that have not landed it would bring in, each as a sentence."""
        others = self._stacks.list_beside(branch.worktree)
        found = await find_brought_in(
            Path(branch.worktree.path),
            branch.head,
            base.commits,
            {other.branch: other.created_at < branch.worktree.created_at for other in others},
        )
        return [
            f"It brings in {count(number, 'commit')} of '{clean_line(name)}', which has not landed."
            for name, number in found.items()
        ]

    @asynccontextmanager
    async def _try(
        self, project: Project, branch: Branch, base: BaseBranch, method: MergeMethod
    ) -> AsyncIterator[tuple[Integration, Place]]:
        """Integrate with objects that are deleted afterwards."""
        root = Path(project.path)
        directories = await asyncio.to_thread(find_git_directories, root)
        if directories is None:
            raise SpinneyError(f"{root} is not a repository any more.", "not_found")
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="spinney-"))
        try:
            scratch = ScratchObjects(folder / "objects")
            await scratch.prepare(directories.common_dir)
            place = replace(self._find_place(project), environment=scratch.environment)
            yield await integrate(place, base.commit, branch.head, method, "Preview\n"), place
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _check_message(
        self,
        branch: Branch,
        base: BaseBranch,
        project: Project,
        method: MergeMethod,
        message: str | None,
    ) -> str:
        """Return the message of the landing's commit, in which no secret was found."""
        if method == "rebase":
            return ""  # It makes no commit that has a message of its own.
        if message is None or not message.strip():
            message = await self.suggest(branch, base, project, method)
        gate = make_gate(self._store.state, project)
        return gate.check_text("message", clean_message(message), "commit")

    async def suggest(
        self,
        branch: Branch,
        base: BaseBranch,
        project: Project,
        method: MergeMethod,
        since: str = "",
    ) -> str:
        """Return a message for the commit with which a branch lands, of what came after `since`."""
        path, known = Path(branch.worktree.path), [*base.commits, *filter(None, [since])]
        commits = await list_commits_between(path, known, branch.head)
        into = "" if base.name == project.default_branch else base.name
        person = await find_own_address(path) if method == "squash" else ""
        return suggest_message(branch.worktree.branch, into, method, commits, person)


def clean_message(text: str) -> str:
    """Return a commit message with visible text only, ending with one line break."""
    lines = (line.rstrip() for line in make_visible(text).split("\n"))
    return "\n".join(lines).strip("\n") + "\n"


def _refuse_check(check: CheckResult) -> None:
    problem = describe_check(check)
    if problem:
        raise SpinneyError(f"{problem} Run it until it passes, or land without it.", "conflict")


def _refuse_conflicts(branch: Branch, base: BaseBranch, result: Integration) -> None:
    name = clean_line(branch.worktree.branch)
    if result.conflicts:
        shown = ", ".join(to_display_name(path) for path in result.conflicts[:5])
        more = ", …" if len(result.conflicts) > 5 else ""
        raise SpinneyError(
            f"'{name}' is in conflict with '{base.name}' in {shown}{more}. Merge '{base.name}' "
            "into it and resolve that first.",
            "conflict",
        )
    if result.commit == base.commit:
        raise SpinneyError(f"'{name}' has nothing that '{base.name}' lacks.", "conflict")


def _list_folder(folder: Path) -> list[Path]:
    return list(folder.glob("*"))
