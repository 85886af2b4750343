"""Actions that use git in a worktree: changes, commit, push, pull, pull request."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.api import git as commands
from model.api.changes import abort_merge as abort_merge_command
from model.api.changes import list_changed_files, write_commit_message
from model.api.projects import get_git_remotes
from model.api.reviews import write_conflict_task
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.actions.recovery import describe_recovery
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.choose_session import session_for
from tui.screens.dialog import Confirm, Report
from tui.screens.go_ahead import GoAhead
from tui.screens.secrets_found import after_secrets

if TYPE_CHECKING:
    from model.api.git import ExchangeResult
    from model.domain.worktrees import Worktree
    from tui.screens.working import Cancel


async def commit(desk: Desk) -> None:
    """Commit the staged changes, or all."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    from tui.screens.commit import Commit, CommitDraft

    call = desk.client.call
    unstaged = await call(list_changed_files, worktree_id=worktree.id)
    staged = await call(list_changed_files, worktree_id=worktree.id, side="staged")
    if not unstaged.files and not staged.files and unstaged.operation is None:
        desk.say("There is nothing to commit.")
        return

    async def make_commit(message: str, stage_all: bool) -> str:
        async def run(allowed: list[str] | None) -> str:
            desk.pending.reported.add(("commit", worktree.id))
            result = await call(
                commands.commit_changes,
                worktree_id=worktree.id,
                message=message,
                stage_all=stage_all,
                allowed_secrets=allowed,
            )
            return result.commit_sha

        searched = {"worktree_id": worktree.id, "stage_all": stage_all, "body": message}
        return await after_secrets(desk, worktree.project_id, "commit", run, **searched)

    async def write_message(stage_all: bool) -> str:
        result = await call(write_commit_message, worktree_id=worktree.id, stage_all=stage_all)
        return result.message

    draft = desk.drafts.get(CommitDraft, worktree.id)
    draft.message = draft.message or unstaged.message
    paths = {file.path for file in (*unstaged.files, *staged.files)}
    counts = len(unstaged.files), len(staged.files), len(paths)
    cancel = _cancel(desk, worktree)
    sha = await desk.ask(Commit(draft, counts, make_commit, write_message, cancel))
    if not sha:
        return
    desk.drafts.drop(CommitDraft, worktree.id)
    if not await call(get_git_remotes, repo_path=worktree.path):
        desk.say(f"Committed as {sha[:10]}.")
        return
    sentence = f"Committed as {sha[:10]}. Push '{clean_line(worktree.branch)}' now?"
    if await desk.ask(GoAhead("Push", sentence, "push")):
        await _push(desk, worktree)


async def push(desk: Desk) -> None:
    """Push the branch; the first push sets its upstream."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await _push(desk, worktree)


async def offer_push(desk: Desk) -> None:
    """Say what would be pushed; push on enter."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    number = worktree.cached_unpushed_count
    what = "the commits" if number is None else count(number, "commit") if number else "nothing new"
    sentence = f"Push {what} of '{clean_line(worktree.branch)}' to origin?"
    if await desk.ask(GoAhead("Push", sentence, "push")):
        await _push(desk, worktree)


async def _push(desk: Desk, worktree: "Worktree") -> None:
    result = await _exchange(desk, worktree, "Push", f"Pushing '{worktree.branch}' …", "push")
    if result is None:
        return
    if result.success:
        desk.say(_describe_push(result.output)[:500])
        return
    output = Content(result.output or "Git printed no reason.")
    is_rejected = "[rejected]" in result.output or "fetch first" in result.output
    if is_rejected:
        lines = (line for line in result.output.splitlines() if not line.startswith("hint:"))
        reason = "The branch at the remote has commits that are not here.\n\n"
        output = Content.assemble((reason, "bold"), "\n".join(lines))
    keys = [("p", "pull, then push again")] if is_rejected else []
    if await desk.ask(Report("Push failed", output, *keys)) == "p":
        pulled = await _pull(desk, worktree, worktree.branch)
        if pulled:
            await _push(desk, worktree)


async def pull_base(desk: Desk) -> None:
    """Say what of the base is missing in the worktree; bring it in on enter."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        await update_worktree(desk, worktree)


async def update_worktree(desk: Desk, worktree: "Worktree") -> None:
    """Say what of the base is missing in a worktree, here and at the remote; merge it on enter."""
    base = worktree.base_branch or desk.state.projects[worktree.project_id].default_branch
    behind = worktree.cached_behind_count
    what = count(behind, "commit") if behind else "what is new"
    sentence = f"Bring {what} of '{clean_line(base)}' into '{clean_line(worktree.branch)}'?"
    if await desk.ask(GoAhead("Update from the base", sentence, "update")):
        await _pull(desk, worktree, base, "update")


async def _pull(desk: Desk, worktree: "Worktree", branch: str, task: str = "pull") -> bool:
    message = f"Pulling '{branch}' …"
    result = await _exchange(desk, worktree, "Pull", message, task, branch)
    if result is None:
        return False
    if result.success:
        desk.say(_describe_pull(branch, result.output))
        return True
    changes = await desk.client.call(list_changed_files, worktree_id=worktree.id)
    keys = []
    if changes.operation is not None:
        keys = [("r", "resolve with a session"), ("a", f"abort the {changes.operation}")]
    conflicts = [clean_line(f.path) for f in changes.files if f.status == "conflicted"]
    title = "Pull stopped with conflicts" if keys else "Pull failed"
    output = Content(result.output or "Git printed no reason.")
    if keys and conflicts:
        files = Content("\n".join(f"  {path}" for path in conflicts))
        output = Content.assemble(
            (f"{count(len(conflicts), 'conflict')}:\n", "bold"),
            files,
            f"\n\n{_how_to_resolve(desk)}",
        )
    match await desk.ask(Report(title, output, *keys)):
        case "r":
            await resolve_conflicts(desk)
        case "a":
            await abort_merge(desk)
    return False


def _describe_pull(branch: str, output: str) -> str:
    """Return that it was pulled, with git's count of what changed."""
    if "Already up to date" in output:
        return f"'{branch}' has nothing new."
    lines = (line.strip() for line in output.splitlines())
    changed = next((line for line in lines if " changed, " in line), "")
    _, _, note = output.rpartition("\n\n")
    left = note if "submodule update" in note else ""
    parts = [f"Pulled '{branch}'.", f"{changed}." if changed else "", left]
    return "\n".join(filter(None, parts))


def _describe_push(output: str) -> str:
    """Return that it was pushed, with what the server said, such as where to open a request."""
    if "Everything up-to-date" in output:
        return "Nothing to push: the remote has all commits."
    lines = output.splitlines()
    said = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:")]
    return "\n".join(["Pushed.", *filter(None, said)])


def _how_to_resolve(desk: Desk) -> str:
    actions = ("diff_ours", "diff_theirs", "diff_both", "diff_edit")
    keys = [desk.key_of(action) for action in actions]
    return "In the changes, {} takes ours, {} theirs, {} both, and {} opens the editor.".format(
        *keys
    )


async def resolve_conflicts(desk: Desk) -> None:
    """Ask a session to resolve the conflicts of a merge or rebase."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    task = await desk.client.call(write_conflict_task, worktree_id=worktree.id)
    session = await session_for(desk, worktree, "resolve_conflicts")
    if session is None:
        return
    await desk.outbox.send(session.id, task.message)
    number = "the conflict" if len(task.files) == 1 else f"the conflicts in {len(task.files)} files"
    desk.say(f"Asked '{session.name}' to resolve {number}.")


async def abort_merge(desk: Desk) -> None:
    """Abort the stopped merge or rebase after confirmation; the archive keeps what was resolved."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    changes = await desk.client.call(list_changed_files, worktree_id=worktree.id)
    if changes.operation is None:
        desk.say("No merge or rebase is in progress.")
        return
    sentence = (
        f"Abort the {changes.operation}? This restores the branch and files as they were before "
        "it.\n" + describe_recovery(desk, "what was resolved")
    )
    title = f"Abort the {changes.operation}"
    if await desk.ask(Confirm(title, sentence, "abort")):
        try:
            result = await desk.client.call(abort_merge_command, worktree_id=worktree.id)
        except SpinneyError as error:
            title = f"The {changes.operation} was not aborted"
            await desk.ask(Report(title, Content(error.message)))
        else:
            desk.say(f"The {result} was aborted.")


async def _exchange(
    desk: Desk,
    worktree: "Worktree",
    title: str,
    message: str,
    task: str,
    branch: str = "",
) -> "ExchangeResult | None":
    from tui.screens.working import Progress

    async def transfer() -> "ExchangeResult":
        call, path = desk.client.call, worktree.path
        if task in ("pull", "update"):
            desk.pending.reported.add(("pull", worktree.id))
            if task == "update":
                return await call(commands.update_from_base, worktree_id=worktree.id)
            return await call(commands.git_pull, worktree_path=path, base_branch=branch)

        async def push(allowed: list[str] | None) -> "ExchangeResult":
            desk.pending.reported.add((task, worktree.id))
            return await call(commands.git_push, worktree_path=path, allowed_secrets=allowed)

        return await after_secrets(desk, worktree.project_id, "push", push, worktree_id=worktree.id)

    cancel = _cancel(desk, worktree)
    return await desk.ask(Progress(title, message, transfer, cancel))


def _cancel(desk: Desk, worktree: "Worktree") -> "Cancel":
    async def cancel() -> None:
        await desk.client.call(commands.cancel_git, worktree_id=worktree.id)

    return cancel
