"""Actions on an agent's review in the diff screen: run, go through its findings, edit, send."""

from typing import TYPE_CHECKING

from model.api.code_reviews import (
    run_code_review,
    send_findings,
    stop_code_review,
    update_finding,
)
from model.base.plural import count
from model.base.text import clean_line
from model.domain.changes import Side
from tui.diff.finding_dialog import EditFinding, Findings, locate
from tui.diff.screen import Diff
from tui.diff.state import SIDES
from tui.screens.choose_session import session_for

if TYPE_CHECKING:
    from model.domain.code_reviews import Finding


async def review(screen: Diff) -> None:
    """Let an agent review the changes, or stop it."""
    of_it = {"worktree_id": screen.worktree.id}
    if screen.review.is_running:
        await screen.desk.client.call(stop_code_review, **of_it)
        screen.desk.say("Stopped the review.")
    else:
        started = await screen.desk.client.call(run_code_review, **of_it)
        key = screen.desk.key_of("diff_next_finding")
        screen.desk.say(
            f"{clean_line(started.agent)} reviews the changes. {key} goes to what it finds."
        )
    await screen.review.read()


async def next_finding(screen: Diff) -> None:
    """Go to the next finding, in this file, another one, or on another side."""
    if not screen.review.findings:
        screen.desk.say(_say_nothing(screen))
        return
    await screen.wait_until_read()
    here = screen.finding_here
    shown = screen.review.list_shown()
    later = shown[shown.index(here) + 1 :] if here in shown else _after_cursor(screen, shown)
    if later:
        _go_to(screen, later[0])
        return
    for side, path in _list_places(screen):
        await _open_file(screen, side, path)
        if shown := screen.review.list_shown():
            _go_to(screen, shown[0])
            return
    screen.desk.say("No diff shows the lines of the findings any more.")


async def fix(screen: Diff) -> None:
    """Send the finding under the cursor to a session, or all that are open."""
    here = screen.finding_here
    findings = [here] if here is not None else screen.review.open_findings
    if not findings:
        screen.desk.say(_say_nothing(screen))
        return
    await _send(screen, findings)


async def findings(screen: Diff) -> None:
    """List all findings, to go to one, send it, dismiss it or bring it back."""
    at = 0
    while (review := screen.review.by_agent) is not None and review.findings:
        chosen = await screen.desk.ask(Findings(review.findings, review.summary, at))
        if chosen is None:
            return
        what, at = chosen
        finding = review.findings[at]
        if what == "dismiss":
            await _set_dismissed(screen, finding, finding.state != "dismissed")
        elif what == "fix":
            await _send(screen, [finding])
            return
        else:
            await _show(screen, finding)
            return
    screen.desk.say(_say_nothing(screen))


async def _show(screen: Diff, finding: "Finding") -> None:
    """Go to a finding on the first side that shows its lines."""
    start = SIDES.index(screen.side)
    for side in (*SIDES[start:], *SIDES[:start]):
        known = screen.sides.get(side)
        if known is None or all(file.path != finding.path for file in known.files):
            continue
        await _open_file(screen, side, finding.path)
        if screen.review.place_of(finding) is not None:
            _go_to(screen, finding)
            return
    screen.desk.say(f"No diff shows {locate(finding)} any more, or the finding is dismissed.")


async def _open_file(screen: Diff, side: Side, path: str) -> None:
    if side != screen.side:
        screen.action_show_side(side)
        await screen.read()
    screen.files.go_to(path)
    await screen.read()


async def _send(screen: Diff, findings: "list[Finding]") -> None:
    session = await session_for(screen.desk, screen.worktree)
    if session is None:
        return
    await screen.desk.client.call(
        send_findings,
        worktree_id=screen.worktree.id,
        finding_ids=[finding.id for finding in findings],
        session_id=session.id,
    )
    screen.desk.say(f"Sent {count(len(findings), 'finding')} to '{clean_line(session.name)}'.")
    await screen.review.read()


async def edit(screen: Diff, finding: "Finding") -> None:
    """Change what a finding says, suggests, or how severe it is."""
    edited = await screen.desk.ask(EditFinding(finding))
    if edited is not None:
        await screen.desk.client.call(
            update_finding,
            worktree_id=screen.worktree.id,
            finding_id=finding.id,
            explanation=edited.explanation,
            suggestion=edited.suggestion,
            severity=edited.severity,
        )
        await screen.review.read()


async def dismiss(screen: Diff) -> None:
    """Dismiss the finding under the cursor; the next undo brings it back."""
    finding = screen.finding_here
    if finding is None:
        screen.desk.say("Move to a finding first, then dismiss it.")
        return
    await _set_dismissed(screen, finding, True)

    async def bring_back() -> None:
        await _set_dismissed(screen, finding, False)

    screen.undoing = bring_back
    screen.desk.say(f"Dismissed the finding. {screen.desk.key_of('diff_undo')} brings it back.")


async def _set_dismissed(screen: Diff, finding: "Finding", dismissed: bool) -> None:
    await screen.desk.client.call(
        update_finding,
        worktree_id=screen.worktree.id,
        finding_id=finding.id,
        dismissed=dismissed,
    )
    await screen.review.read()


def _go_to(screen: Diff, finding: "Finding") -> None:
    note = screen.review.place_of(finding)
    if note is not None and note in screen.view.notes:
        screen.view.focus()
        at = screen.view.notes.index(note)
        screen.view.go_to(screen.view.note_row(note), note=at)


def _after_cursor(screen: Diff, shown: "list[Finding]") -> "list[Finding]":
    """Return the findings that stand below the cursor."""
    places = {finding.id: screen.review.place_of(finding) for finding in shown}
    return [
        finding
        for finding in shown
        if (note := places[finding.id]) is not None and note.places[-1] >= screen.view.at
    ]


def _list_places(screen: Diff) -> list[tuple[Side, str]]:
    """Return the files with findings, beginning after the shown one; then those of other sides."""
    with_findings = {finding.path for finding in screen.review.findings}
    start = SIDES.index(screen.side)
    places: list[tuple[Side, str]] = []
    for side in (*SIDES[start:], *SIDES[:start]):
        known = screen.sides.get(side)
        paths = [file.path for file in known.files] if known is not None else []
        at = paths.index(screen.path) + 1 if side == screen.side and screen.path in paths else 0
        places += [(side, path) for path in paths[at:] + paths[:at] if path in with_findings]
    return places


def _say_nothing(screen: Diff) -> str:
    """Say why there is no finding, and what to do."""
    found, key = screen.review.by_agent, screen.desk.key_of("diff_review")
    if found is not None and found.status == "running":
        return f"{clean_line(found.agent)} is still reviewing. {key} stops it."
    if found is not None and found.status == "failed":
        return f"The review failed: {found.error} {key} runs it again."
    if found is not None and found.status == "completed":
        return f"The review left nothing to do. {clean_line(found.summary)}"
    return f"No agent has reviewed these changes. {key} lets one do it."
