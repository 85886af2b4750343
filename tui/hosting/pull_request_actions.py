"""Actions of the pull request screen."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from model.api import pull_request_acts as commands
from model.api import pull_request_messages as messages
from model.base.plural import count
from model.base.text import clean_line
from tui.hosting.automatic import find_automatic
from tui.hosting.merge_dialog import Merge
from tui.hosting.pull_request_rows import place_of
from tui.hosting.pull_request_screen import PullRequestScreen
from tui.hosting.reviewers_dialog import AskReviewers
from tui.hosting.text_dialogs import EditPullRequest, ReplyDraft, ReplyToThread
from tui.screens.choose import Choice
from tui.screens.choose_session import session_for
from tui.screens.dialog import AskText, Confirm
from tui.screens.go_ahead import GoAhead
from tui.screens.secrets_found import after_secrets
from tui.screens.text_reader import ReaderText, TextReader
from tui.transcript.targets import Target

if TYPE_CHECKING:
    from model.api.command import Command
    from model.domain.hosting import Check, PullRequestDetails, ReviewThread
    from tui.hosting.pull_request_screen import PullRequestActionFunction

_DEFAULT_LIMIT = 3
_MAX_LIMIT = 20


async def show(screen: PullRequestScreen) -> None:
    """Show what is under the cursor: a check's log, a thread, the description, or the page."""
    check, thread, details = screen.check, screen.thread, screen.details
    if check is not None and check.has_log:
        await _show_log(screen, check)
    elif thread is not None:
        await _show_thread(screen, thread)
    elif screen.here.part == "body" and details is not None:
        await _read(screen, "Description", details.body or "It has none.")
    else:
        await open_page(screen)


async def _show_log(screen: PullRequestScreen, check: "Check") -> None:
    desk, worktree_id = screen.desk, screen.worktree.id

    async def read() -> ReaderText:
        log = await desk.client.call(
            commands.get_check_log, worktree_id=worktree_id, check_id=check.id
        )
        left_out = f"{log.left_out:,} lines before these are left out." if log.left_out else ""
        return ReaderText(log.text, left_out, at_end=True)

    keys = [("f", "let a session fix the checks")] if check.state == "failed" else []
    keys += [("o", "page")] if check.url else []
    reader = TextReader(check.name, lambda: desk.palette, read, desk.host.copy, *keys)
    match await desk.ask(reader):
        case "f":
            await fix(screen)
        case "o":
            await desk.open_targets([Target(href=check.url)])


async def _show_thread(screen: PullRequestScreen, thread: "ReviewThread") -> None:
    text = "\n\n".join(f"{comment.author}:\n{comment.body}" for comment in thread.comments)
    can_resolve = not thread.is_resolved and not thread.resolve_note
    keys = [("r", "reply"), *([("x", "resolve")] if can_resolve else [])]
    match await _read(screen, place_of(thread), text, *keys):
        case "r":
            await _reply_to(screen, thread)
        case "x":
            await _resolve(screen, thread)


async def _read(
    screen: PullRequestScreen, title: str, text: str, *keys: tuple[str, str]
) -> str | None:
    async def read() -> ReaderText:
        return ReaderText(text)

    desk = screen.desk
    return await desk.ask(TextReader(title, lambda: desk.palette, read, desk.host.copy, *keys))


def _address(screen: PullRequestScreen) -> str:
    """Return the address of what is under the cursor."""
    check, thread, details = screen.check, screen.thread, screen.details
    of_check = check.url if check is not None else ""
    of_thread = thread.comments[0].url if thread is not None and thread.comments else ""
    return of_check or of_thread or (details.url if details is not None else "")


async def open_page(screen: PullRequestScreen) -> None:
    """Open the page of the check or comment under the cursor, or of the pull request."""
    await screen.desk.open_targets([Target(href=_address(screen))])


async def copy(screen: PullRequestScreen) -> None:
    """Copy the address of the check or comment under the cursor, or of the pull request."""
    screen.desk.host.copy(_address(screen))


async def _act(
    screen: PullRequestScreen,
    sentence: str,
    command: "Command[..., PullRequestDetails]",
    **given: Any,
) -> None:
    """Run a command that returns the pull request, and show it."""
    screen.say(sentence)
    details = await screen.desk.client.call(command, worktree_id=screen.worktree.id, **given)
    screen.say("")
    screen.show_details(details)


# To a session ------------------------------------------------------------------------------------


async def fix(screen: PullRequestScreen) -> None:
    """Send the failed checks with their logs to a session, and go there."""
    await _send(screen, messages.fix_checks, "Reading the logs of the failed checks …")


async def answer(screen: PullRequestScreen) -> None:
    """Send the open comments to a session, and go there."""
    await _send(screen, messages.answer_comments, "Sending the comments to the session …")


async def _send(screen: PullRequestScreen, command: "Command[..., Any]", sentence: str) -> None:
    desk, worktree = screen.desk, screen.worktree
    session_id = None
    if len(desk.state.sessions_of(worktree.id)) > 1:
        session = await session_for(desk, worktree)
        if session is None:
            return
        session_id = session.id
    screen.say(sentence)
    sent = await desk.client.call(command, worktree_id=worktree.id, session_id=session_id)
    await desk.mirror.wait_for(lambda state: sent.session_id in state.sessions)
    screen.dismiss(None)
    desk.open_session(sent.session_id)
    desk.focus_chat()


async def automatic(screen: PullRequestScreen) -> None:
    """Let a session fix checks and answer comments by itself, or end that."""
    desk, worktree = screen.desk, screen.worktree
    present = find_automatic(desk.state, worktree.id)
    if present is not None:
        await desk.client.call(messages.set_pull_request_loop, session_id=present.id, enabled=False)
        desk.say(f"'{present.name}' does nothing by itself any more.")
        return
    session = await session_for(desk, worktree)
    if session is None:
        return
    sentence = (
        f"After each push '{clean_line(session.name)}' will fix red checks and answer new comments "
        f"by itself. How often at most, before it waits for you? (1 to {_MAX_LIMIT})"
    )
    value, problem = str(_DEFAULT_LIMIT), ""
    while True:
        dialog = AskText(
            "Fix and answer automatically", value, sentence=problem or sentence, verb="switch on"
        )
        given = await desk.ask(dialog)
        if given is None:
            return
        if given.isdecimal() and 1 <= int(given[:9]) <= _MAX_LIMIT:
            break
        value, problem = given, f"'{given}' is not a number from 1 to {_MAX_LIMIT}."
    await desk.client.call(
        messages.set_pull_request_loop, session_id=session.id, enabled=True, limit=int(given)
    )
    screen.draw()


# At the service ----------------------------------------------------------------------------------


async def merge(screen: PullRequestScreen) -> None:
    """Merge, or merge automatically; or take that back."""
    details = screen.details
    if details is None:
        return
    if details.auto_merge is not None or details.phase == "queued":
        await _cancel_merge(screen, details)
        return
    state = screen.desk.state
    project = state.projects.get(screen.worktree.project_id)
    own = project.landing_method if project is not None else None
    choice = await screen.desk.ask(Merge(details, own or state.preferences.landing_method))
    if choice is None:
        return
    await _act(
        screen,
        "Switching automatic merging on …" if choice.auto else "Merging …",
        commands.merge_pull_request,
        method=choice.method,
        auto=choice.auto,
        head_commit=details.head_commit,
    )


async def _cancel_merge(screen: PullRequestScreen, details: "PullRequestDetails") -> None:
    is_queued = details.phase == "queued"
    sentence = (
        "Take it out of the merge queue?"
        if is_queued
        else "Switch automatic merging off? It can be switched on again."
    )
    title = "Merge queue" if is_queued else "Automatic merging"
    word = "take it out" if is_queued else "switch off"
    if await screen.desk.ask(GoAhead(title, sentence, word)):
        await _act(screen, "Asking the hosting service …", commands.cancel_auto_merge)


async def update(screen: PullRequestScreen) -> None:
    """Bring the head up to date with its base, at the service."""
    details = screen.details
    if details is None:
        return
    behind = f", which is {count(details.behind, 'commit')} ahead" if details.behind else ""
    base, head = clean_line(details.base), clean_line(details.head)
    sentence = (
        f"Rebase {head} on {base}{behind}, at the hosting service? That rewrites the branch there: "
        "fetch it and reset the worktree's branch to it, as a pull would merge both."
        if details.must_rebase
        else f"Merge {base}{behind}, into {head} at the hosting service? The branch of the "
        "worktree follows with the next pull."
    )
    if await screen.desk.ask(GoAhead("Update the branch", sentence, "update")):
        await _act(
            screen,
            "Updating the branch …",
            commands.update_pull_request_branch,
            rebase=details.must_rebase,
        )


async def draft(screen: PullRequestScreen) -> None:
    """Mark a draft as ready for review, anything else as a draft."""
    details = screen.details
    if details is None:
        return
    is_draft = details.phase == "draft"
    if is_draft:
        sentence = "Mark it as ready? Its reviewers are notified."
        agreed = await screen.desk.ask(GoAhead("Ready for review", sentence, "mark as ready"))
        if not agreed:
            return
    saying = "Marking it as ready …" if is_draft else "Marking it as a draft …"
    await _act(screen, saying, commands.set_pull_request_draft, draft=not is_draft)


async def edit(screen: PullRequestScreen) -> None:
    """Change title and description."""
    desk, details = screen.desk, screen.details
    if details is None:
        return

    async def save(title: str | None, body: str | None) -> "PullRequestDetails":
        async def run(allowed: list[str] | None) -> "PullRequestDetails":
            return await desk.client.call(
                commands.edit_pull_request,
                worktree_id=screen.worktree.id,
                title=title,
                body=body,
                allowed_secrets=allowed,
            )

        return await _after_secrets(screen, run, title=title, body=body)

    if (saved := await desk.ask(EditPullRequest(details, save))) is not None:
        screen.show_details(saved)


async def _after_secrets(
    screen: PullRequestScreen,
    run: "Callable[[list[str] | None], Coroutine[Any, Any, PullRequestDetails]]",
    **texts: str | None,
) -> "PullRequestDetails":
    worktree = screen.worktree
    searched = {"worktree_id": worktree.id, **texts}
    return await after_secrets(screen.desk, worktree.project_id, "text", run, **searched)


async def reviewers(screen: PullRequestScreen) -> None:
    """Ask people or teams for a review."""
    desk, details = screen.desk, screen.details
    if details is None:
        return
    asked = {each.name for each in details.reviewers if each.state == "requested"}

    async def load() -> Sequence[Choice]:
        names = await desk.client.call(
            commands.list_possible_reviewers, worktree_id=screen.worktree.id
        )
        return [Choice(name, name) for name in names if name not in asked | {details.author}]

    dialog = AskReviewers(load)
    await desk.ask(dialog)
    if dialog.chosen:
        names = list(dialog.chosen)
        await _act(screen, "Requesting the review …", commands.request_review, reviewers=names)


async def reply(screen: PullRequestScreen) -> None:
    """Reply to the thread under the cursor."""
    if screen.thread is not None:
        await _reply_to(screen, screen.thread)


async def _reply_to(screen: PullRequestScreen, thread: "ReviewThread") -> None:
    desk = screen.desk

    async def send(text: str, resolve: bool) -> "PullRequestDetails":
        async def run(allowed: list[str] | None) -> "PullRequestDetails":
            return await desk.client.call(
                commands.reply_to_thread,
                worktree_id=screen.worktree.id,
                thread_id=thread.id,
                text=text,
                resolve=resolve,
                allowed_secrets=allowed,
            )

        return await _after_secrets(screen, run, body=text)

    written = desk.drafts.get(ReplyDraft, thread.id)
    if (details := await desk.ask(ReplyToThread(thread, written, send))) is not None:
        desk.drafts.drop(ReplyDraft, thread.id)
        screen.show_details(details)


async def resolve(screen: PullRequestScreen) -> None:
    """Mark the thread under the cursor as resolved."""
    if screen.thread is not None and not screen.thread.is_resolved:
        await _resolve(screen, screen.thread)


async def _resolve(screen: PullRequestScreen, thread: "ReviewThread") -> None:
    sentence = f"Mark the comments at {place_of(thread)} as resolved?"
    if await screen.desk.ask(Confirm("Resolve", sentence, "resolve", harmless=True)):
        await _act(
            screen, "Resolving …", commands.reply_to_thread, thread_id=thread.id, resolve=True
        )


PULL_REQUEST: "Mapping[str, PullRequestActionFunction]" = {
    "pr_show": show,
    "pr_fix": fix,
    "pr_answer": answer,
    "pr_reply": reply,
    "pr_resolve": resolve,
    "pr_merge": merge,
    "pr_update": update,
    "pr_draft": draft,
    "pr_open": open_page,
    "pr_reviewers": reviewers,
    "pr_edit": edit,
    "pr_automatic": automatic,
    "pr_copy": copy,
}
"""The actions of the pull request screen by their ids."""
