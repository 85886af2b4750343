"""What follows a landing: the report, taking it back, pushing the base."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from model.api import landing as commands
from model.api.projects import get_git_remotes
from model.base.plural import count
from model.base.text import clean_line
from tui.desk import Desk
from tui.screens.dialog import Report
from tui.screens.go_ahead import GoAhead
from tui.screens.secrets_found import after_secrets

if TYPE_CHECKING:
    from model.domain.landing import Landing


async def report_landing(desk: Desk, landing: "Landing", names: "Mapping[str, str]") -> None:
    """Say what landed, and offer to take it back and to push the base.

    `names`: those of the worktrees by their ids; they may be deleted by now.
    """
    base = clean_line(landing.base)
    landed = [f"'{clean_line(names[key])}'" for key in landing.worktree_ids if key in names]
    what = ", ".join(landed) or count(len(landing.worktree_ids), "worktree")
    lines = [f"{what} landed in {base} ({landing.method})."]
    lines.append(f"{base} went from {landing.before[:7]} to {landing.after[:7]}.")
    lines += [clean_line(note) for note in landing.notes]
    keys = [("u", "take it back")]
    project = desk.state.projects.get(landing.project_id)
    if project is None:
        return
    remotes = await desk.client.call(get_git_remotes, repo_path=project.path)
    if remotes:
        keys.append(("p", f"push {base}"))
    match await desk.ask(Report("Landed", Content("\n".join(lines)), *keys)):
        case "u":
            await take_back(desk, landing.id)
        case "p":
            await push_base(desk, landing.project_id, landing.base)


async def take_back(desk: Desk, landing_id: str) -> None:
    """Undo a landing."""
    undone = await desk.client.call(commands.undo_landing, landing_id=landing_id)
    notes = [clean_line(note) for note in undone.notes]
    base = clean_line(undone.base)
    desk.say("\n".join([f"{base} is at {undone.before[:7]} again.", *notes]))


async def push_base(desk: Desk, project_id: str, base: str) -> None:
    """Push the base after a question: what is pushed cannot be taken back by an undo."""
    name = clean_line(base)
    sentence = f"Push {name} to its remote? A landing that was pushed can no longer be taken back."
    if await desk.ask(GoAhead(f"Push {name}", sentence, "push")):
        desk.say(f"Pushing {name} …")

        async def run(allowed: list[str] | None) -> None:
            await desk.client.call(
                commands.push_base, project_id=project_id, branch=base, allowed_secrets=allowed
            )

        await after_secrets(desk, project_id, "push", run, project_id=project_id, branch=base)
        desk.say(f"{name} was pushed.")
