"""Actions that let git work in a worktree: its changes, commit, push, pull, pull request."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.commands import git as commands
from model.commands.changes import abort_merge as abort_merge_command
from model.commands.changes import list_changed_files, write_commit_message
from model.commands.doctor import get_installation
from model.commands.pull_requests import OpenedPullRequest, open_pull_request
from model.commands.reviews import write_conflict_task
from model.commands.sessions import create_session
from tui.draw.status_icons import pull_request_status
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Confirm, Report

if TYPE_CHECKING:
    from model.commands.git import ExchangeResult
    from model.domain.resources import Session, Worktree
    from tui.screens.pull_request import PullRequestDraft
    from tui.screens.working import Cancel
    from tui.shell.main_screen import MainScreen


async def open_diff(screen: "MainScreen", path: str | None = None) -> None:
    """What the worktree changes, on a screen of its own."""
    worktree = _here(screen)
    if worktree is None:
        return
    from tui.diff.screen import Diff

    if not any(isinstance(known, Diff) for known in screen.app.screen_stack):
        screen.app.push_screen(Diff(screen, worktree, path))


async def commit(screen: "MainScreen") -> None:
    """Commit what is staged, or everything."""
    worktree = _here(screen)
    if worktree is None:
        return
    from tui.screens.commit import Commit, CommitDraft

    call, link = screen.client.call, screen.link
    assert link is not None
    unstaged = await call(list_changed_files, worktree_id=worktree.id)
    staged = await call(list_changed_files, worktree_id=worktree.id, side="staged")
    if not unstaged.files and not staged.files and unstaged.operation is None:
        screen.say("There is nothing to commit.")
        return

    async def made(message: str, stage_all: bool) -> str:
        link.told_here.add(("commit", worktree.id))
        done = await call(
            commands.commit_changes, worktree_id=worktree.id, message=message, stage_all=stage_all
        )
        return done.commit_sha

    async def written(stage_all: bool) -> str:
        done = await call(write_commit_message, worktree_id=worktree.id, stage_all=stage_all)
        return done.message

    draft = link.commit_drafts.setdefault(worktree.id, CommitDraft())
    draft.message = draft.message or unstaged.message
    every = {file.path for file in (*unstaged.files, *staged.files)}
    counts = len(unstaged.files), len(staged.files), len(every)
    cancel = _cancel(screen, worktree)
    sha = await screen.app.push_screen_wait(Commit(draft, counts, made, written, cancel))
    if sha:
        del link.commit_drafts[worktree.id]
        screen.say(f"Committed as {sha[:10]}.")


async def push(screen: "MainScreen") -> None:
    """Push the branch; its first push makes the remote's branch its upstream."""
    worktree = _here(screen)
    if worktree is None:
        return
    done = await _exchanged(screen, worktree, "Push", f"Pushing “{worktree.branch}” …", "push")
    if done is None:
        return
    if done.success:
        screen.say(f"Pushed.\n{done.output}"[:500])
        return
    words = Content(done.output or "Git gave no reason.")
    rejected = "[rejected]" in done.output or "fetch first" in done.output
    keys = [("p", "pull it first, then push again")] if rejected else []
    if await screen.app.push_screen_wait(Report("The push failed", words, *keys)) == "p":
        pulled = await _pull(screen, worktree, worktree.branch)
        if pulled:
            await push(screen)


async def pull_base(screen: "MainScreen") -> None:
    """Bring what is new on the base branch into the worktree."""
    worktree = _here(screen)
    if worktree is not None:
        project = screen.state.projects[worktree.project_id]
        base = worktree.base_branch or project.default_branch
        await _pull(screen, worktree, base.removeprefix("origin/"))


async def _pull(screen: "MainScreen", worktree: "Worktree", branch: str) -> bool:
    words = f"Pulling “{branch}” …"
    done = await _exchanged(screen, worktree, "Pull", words, "pull", branch)
    if done is None:
        return False
    if done.success:
        screen.say(f"Pulled “{branch}”.\n{done.output}"[:500])
        return True
    changes = await screen.client.call(list_changed_files, worktree_id=worktree.id)
    keys = []
    if changes.operation is not None:
        keys = [("r", "let a session resolve it"), ("a", f"abort the {changes.operation}")]
    conflicts = [clean_line(f.path) for f in changes.files if f.status == "conflicted"]
    title = "The pull stopped at a conflict" if keys else "The pull failed"
    said = Content(done.output or "Git gave no reason.")
    if keys and conflicts:
        number = "1 conflict" if len(conflicts) == 1 else f"{len(conflicts)} conflicts"
        files = Content("\n".join(f"  {path}" for path in conflicts))
        said = Content.assemble((f"{number}:\n", "bold"), files, "\n\n", said)
    match await screen.app.push_screen_wait(Report(title, said, *keys)):
        case "r":
            await resolve_conflicts(screen)
        case "a":
            await abort_merge(screen)
    return False


async def pull_request(screen: "MainScreen") -> None:
    """Push the branch and propose it."""
    worktree = _here(screen)
    if worktree is None:
        return
    from tui.screens.pull_request import PullRequest, PullRequestDraft

    link = screen.link
    assert link is not None
    if worktree.pr_url:
        await _show_pull_request(screen, worktree.id, worktree.pr_number or 0, worktree.pr_url)
        return
    installed = await screen.client.call(get_installation)
    if any(found.name == "gh" and not found.ok for found in installed.findings):
        screen.say(
            "Pull requests are opened by GitHub's program gh, which is not installed. Install it "
            "(https://cli.github.com), run “gh auth login” in a terminal, then try again.",
            bad=True,
        )
        return

    async def proposed(draft: "PullRequestDraft") -> OpenedPullRequest:
        return await screen.client.call(
            open_pull_request,
            worktree_id=worktree.id,
            title=draft.title or None,
            body=draft.body or None,
            draft=draft.is_draft,
        )

    project = screen.state.projects[worktree.project_id]
    branches = worktree.branch, worktree.base_branch or project.default_branch
    draft = link.pull_request_drafts.setdefault(worktree.id, PullRequestDraft())
    made = await screen.app.push_screen_wait(PullRequest(draft, branches, proposed))
    if made is not None:
        del link.pull_request_drafts[worktree.id]
        await _show_pull_request(screen, worktree.id, made.pr_number, made.pr_url)


async def _show_pull_request(screen: "MainScreen", worktree_id: str, number: int, url: str) -> None:
    keys = (("c", "copy the address"), ("o", "open it in a browser"))
    lines = [url]
    if (worktree := screen.state.worktrees.get(worktree_id)) is not None:
        status, checks = pull_request_status(worktree), worktree.cached_check_status
        lines += [f"Status: {status}"] if status else []
        lines += [f"Checks: {checks}"] if checks else []
    text = Content("\n".join(lines))
    match await screen.app.push_screen_wait(Report(f"Pull request #{number}", text, *keys)):
        case "c":
            screen.spinney.copy(url)
        case "o":
            from tui.actions.editor import open_link  # which leads to the diff in its turn

            await open_link(screen, url)


async def resolve_conflicts(screen: "MainScreen") -> None:
    """Ask a session to resolve what a merge or a rebase stopped at."""
    worktree = _here(screen)
    if worktree is None or screen.link is None:
        return
    task = await screen.client.call(write_conflict_task, worktree_id=worktree.id)
    session = await session_for(screen, worktree)
    if session is None:
        return
    await screen.link.send(session.id, task.message)
    number = "the conflict" if len(task.files) == 1 else f"the conflicts in {len(task.files)} files"
    screen.say(f"“{session.name}” is asked to resolve {number}.")


async def abort_merge(screen: "MainScreen") -> None:
    """Give up the merge or rebase that stopped; asked first, for what was solved goes with it."""
    worktree = _here(screen)
    if worktree is None:
        return
    changes = await screen.client.call(list_changed_files, worktree_id=worktree.id)
    if changes.operation is None:
        screen.say("Neither a merge nor a rebase has stopped here.")
        return
    sentence = (
        f"Give up the {changes.operation}? Branch and files become as they were before it; "
        "conflicts that were solved already are lost."
    )
    title = f"Abort the {changes.operation}"
    if await screen.app.push_screen_wait(Confirm(title, sentence, "abort")):
        try:
            done = await screen.client.call(abort_merge_command, worktree_id=worktree.id)
        except SpinneyError as error:
            title = f"The {changes.operation} was not aborted"
            await screen.app.push_screen_wait(Report(title, Content(error.message)))
        else:
            screen.say(f"The {done} is given up.")


async def session_for(screen: "MainScreen", worktree: "Worktree") -> "Session | None":
    """The worktree's session to write to: the only one, the chosen one, or a new one."""
    sessions = screen.state.sessions_of(worktree.id)
    if len(sessions) == 1:
        return sessions[0]
    if not sessions:
        session = await screen.client.call(create_session, worktree_id=worktree.id)
        await screen.mirror.until(lambda state: session.id in state.sessions)
        return session
    present = screen.session.id if screen.session is not None else ""
    choices = [Choice(session.id, session.name, session.status) for session in sessions]
    chosen = await screen.app.push_screen_wait(Choose("Send to which session?", choices, present))
    return screen.state.sessions.get(chosen or "")


async def _exchanged(
    screen: "MainScreen",
    worktree: "Worktree",
    title: str,
    words: str,
    task: str,
    branch: str = "",
) -> "ExchangeResult | None":
    from tui.screens.working import Progress

    async def exchange() -> "ExchangeResult":
        assert screen.link is not None
        screen.link.told_here.add((task, worktree.id))
        call, path = screen.client.call, worktree.path
        if task == "pull":
            return await call(commands.git_pull, worktree_path=path, base_branch=branch)
        return await call(commands.git_push, worktree_path=path)

    cancel = _cancel(screen, worktree)
    return await screen.app.push_screen_wait(Progress(title, words, exchange, cancel))


def _cancel(screen: "MainScreen", worktree: "Worktree") -> "Cancel":
    async def cancel() -> None:
        await screen.client.call(commands.cancel_git, worktree_id=worktree.id)

    return cancel


def _here(screen: "MainScreen") -> "Worktree | None":
    if screen.worktree is None:
        screen.say("Open or point at a worktree first.")
    return screen.worktree
