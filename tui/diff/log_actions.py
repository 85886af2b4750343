"""Actions of the log: amend, fix up, copy."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.api.changes import list_changed_files
from model.api.git import cancel_git
from model.api.history import amend_commit, fixup_commit
from model.base.plural import count
from model.base.text import clean_line
from tui.diff.amend import Amend
from tui.diff.commit_actions import copy_hash, show_message
from tui.diff.log_screen import Log
from tui.screens.commit import CommitDraft
from tui.screens.dialog import Confirm
from tui.screens.go_ahead import GoAhead
from tui.screens.secrets_found import after_secrets

if TYPE_CHECKING:
    from model.api.history import Commit
    from tui.desk import Desk
    from tui.diff.log_screen import LogActionFunction
    from tui.screens.working import Cancel


async def _count_files(screen: Log) -> tuple[int, int, int] | None:
    """Return the numbers of unstaged files, staged files, and files in either.

    Says so and returns `None` if a merge or rebase is in progress.
    """
    call, worktree_id = screen.desk.client.call, screen.worktree.id
    unstaged = await call(list_changed_files, worktree_id=worktree_id)
    if unstaged.operation is not None:
        screen.desk.say(f"A {unstaged.operation} is in progress. Continue or abort it first.")
        return None
    staged = await call(list_changed_files, worktree_id=worktree_id, side="staged")
    paths = {file.path for file in (*unstaged.files, *staged.files)}
    return len(unstaged.files), len(staged.files), len(paths)


async def amend(screen: Log) -> None:
    """Change the message of the last commit, and add changes to it."""
    desk, worktree = screen.desk, screen.worktree
    last = screen.commits.items[0] if screen.commits.items else None
    counts = await _count_files(screen) if last is not None else None
    if last is None or counts is None:
        return
    is_forced = last.is_pushed or last.is_in_base
    if is_forced and not await _is_rewriting_meant(desk, last):
        return
    message = f"{last.subject}\n\n{last.body}".strip()

    async def make_commit(text: str, stage_all: bool) -> str:
        new_text = text if text != message else None

        async def run(allowed: list[str] | None) -> str:
            desk.pending.reported.add(("commit", worktree.id))
            result = await desk.client.call(
                amend_commit,
                worktree_id=worktree.id,
                message=new_text,
                stage_all=stage_all,
                force=is_forced,
                allowed_secrets=allowed,
            )
            return result.commit_sha

        searched = {"worktree_id": worktree.id, "stage_all": stage_all, "body": new_text}
        return await after_secrets(desk, worktree.project_id, "commit", run, **searched)

    draft = desk.drafts.get(CommitDraft, last.sha)
    draft.message = draft.message or message
    sha = await desk.ask(Amend(draft, counts, make_commit, None, _cancel(screen)))
    if sha:
        desk.drafts.drop(CommitDraft, last.sha)
        screen.load()
        desk.say(f"Amended: the commit is now {sha[:10]}.")


async def _is_rewriting_meant(desk: "Desk", commit: "Commit") -> bool:
    is_meant = await desk.ask(
        Confirm(
            "Amend a pushed commit",
            f"{clean_line(commit.short_sha)} was pushed or belongs to the base branch. Amending "
            "it makes another commit, which can then only be pushed by force. Amend it anyway?",
            "amend anyway",
        )
    )
    return bool(is_meant)


async def fixup(screen: Log) -> None:
    """Put the staged changes, or all if none are staged, into the commit under the cursor."""
    desk, commit = screen.desk, screen.commit
    if commit is None or commit.is_pushed or commit.is_in_base:
        desk.say("Only a commit that was not pushed can be fixed up: choose one with ↑.")
        return
    newer = screen.commits.items[: screen.commits.here + 1]
    if any(each.is_merge for each in newer):
        desk.say("There is a merge after that commit. Fix it up with git rebase in a shell.")
        return
    counts = await _count_files(screen)
    if counts is None:
        return
    _, staged, every = counts
    if not every:
        desk.say("There are no changes to put into the commit.")
        return
    what = count(staged, "staged file") if staged else f"all changes ({count(every, 'file')})"
    sentence = (
        f"Put {what} into {clean_line(commit.short_sha)} '{clean_line(commit.subject)}'? "
        "It and the commits after it are written again."
    )
    if await desk.ask(GoAhead("Fix up", sentence, "fix up")):
        last = await _fix_up(screen, commit.sha, stage_all=not staged)
        screen.load()
        desk.say(f"Fixed up '{clean_line(commit.subject)}'. The last commit is now {last[:10]}.")


async def _fix_up(screen: Log, sha: str, *, stage_all: bool) -> str:
    desk, worktree = screen.desk, screen.worktree

    async def run(allowed: list[str] | None) -> str:
        result = await desk.client.call(
            fixup_commit,
            worktree_id=worktree.id,
            sha=sha,
            stage_all=stage_all,
            allowed_secrets=allowed,
        )
        return result.commit_sha

    searched = {"worktree_id": worktree.id, "stage_all": stage_all}
    return await after_secrets(desk, worktree.project_id, "commit", run, **searched)


async def message(screen: Log) -> None:
    """Show the whole message of the commit under the cursor."""
    if screen.commit is not None:
        await show_message(screen.desk, screen.commit)


async def copy(screen: Log) -> None:
    """Copy the hash of the commit under the cursor."""
    if screen.commit is not None:
        await copy_hash(screen.desk, screen.commit)


def _cancel(screen: Log) -> "Cancel":
    async def cancel() -> None:
        await screen.desk.client.call(cancel_git, worktree_id=screen.worktree.id)

    return cancel


LOG: "Mapping[str, LogActionFunction]" = {
    "log_amend": amend,
    "log_fixup": fixup,
    "log_message": message,
    "log_copy": copy,
}
"""The actions of the log by their ids."""
