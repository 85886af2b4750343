"""Which sentence and which key a person sees while no conversation is open."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.text import clean_line
from tui.store.places import is_project, project_of
from tui.widgets.welcome import Step

if TYPE_CHECKING:
    from model.api.doctor import BackendReport
    from model.domain.resources import Worktree
    from model.state import State
    from tui.store.places import Place


def missing_agents(reports: "list[BackendReport]") -> tuple[str, ...]:
    """A line for each agent, of what would bring it here; nothing while there is any agent."""
    if any(report.program is not None for report in reports):
        return ()
    lacks = (f"{r.label}: {r.fix}" if r.fix else r.problem for r in reports if r.problem)
    return tuple(map(clean_line, lacks))


def next_step(
    state: "State",
    place: "Place | None",
    *,
    offered: Path | None = None,
    started_in: Path | None = None,
    agents_missing: tuple[str, ...] = (),
    is_sending: bool = False,
    key_of: Callable[[str], str],
) -> Step:
    """The step for this place.

    `is_sending`: whether a first message for it is on its way.

    `offered`: the repository that Spinney was started in; `agents_missing`: where no agent can be
    used, what each of them lacks; `key_of`: the key of an action, as people read it.
    """
    if offered is not None and is_project(state, offered) is None and not _is_deeper(place):
        return Step(
            "Welcome to Spinney",
            "Agents work here side by side, each in a worktree of its own: a directory with a "
            "branch, so that none is in another's way.",
            offer=f"Add {clean_line(str(offered))} as a project?",
            action="add_offered",
            more=((key_of("help"), "help"), (key_of("commands"), "all commands")),
        )
    if not any(not project.is_folder for project in state.projects.values()):
        where = f"{clean_line(str(started_in))} is no git repository. " if started_in else ""
        return Step(
            "Welcome to Spinney",
            f"{where}Spinney needs a git repository to make worktrees of.",
            offer="Add a project by its path",
            action="add_project",
            more=((key_of("help"), "help"), (key_of("quit"), "quit")),
        )
    if agents_missing:
        return Step(
            "No agent is installed",
            "\n".join(
                (
                    "Install one of these:",
                    *agents_missing,
                    "To try Spinney without an agent: spinney demo",
                )
            ),
            offer="Look again",
            action="check_agents",
            more=(
                (key_of("new_worktree"), "new worktree anyway"),
                (key_of("add_project"), "add a project"),
                (key_of("help"), "help"),
            ),
        )
    if place is not None and place.kind == "worktree" and place.id in state.worktrees:
        return _worktree_step(state, place.id, key_of, is_sending=is_sending)
    return _project_step(state, place, key_of)


def _is_deeper(place: "Place | None") -> bool:
    return place is not None and place.kind in ("worktree", "session", "project")


def _worktree_step(
    state: "State", worktree_id: str, key_of: Callable[[str], str], *, is_sending: bool
) -> Step:
    worktree = state.worktrees[worktree_id]
    name = clean_line(worktree.name)
    if worktree.status == "missing":
        return Step(
            name,
            f"Its directory is gone: {clean_line(worktree.path)}. Its sessions and its branch "
            f"{clean_line(worktree.branch)} are still there.",
            offer="Check the branch out again",
            action="recreate_worktree",
        )
    if worktree.status == "creating":
        return Step(
            name,
            "The worktree is being made. "
            + (
                "Your first message goes to the agent as soon as it is there."
                if is_sending
                else "Write the first message meanwhile."
            ),
            more=((key_of("stop"), "cancel"),),
        )
    stop = ((key_of("stop"), "stop the setup"), (key_of("show_scripts"), "see what it prints"))
    is_set_up = "setup" not in worktree.running_scripts
    branch = " · ".join([clean_line(worktree.branch), *_facts(state, worktree)])
    if is_sending:
        sentence = f"Your first message is on its way to an agent on branch {branch}."
    elif state.sessions_of(worktree.id):
        sentence = (
            f"Branch {branch}. Choose a session on the left, or write below what another agent "
            "should do; enter starts it."
        )
    else:
        sentence = (
            f"No session yet on branch {branch}. Write below what the agent should do; "
            "enter starts it."
        )
    return Step(
        name,
        sentence + ("" if is_set_up else "\n\nThe setup script of the repository runs meanwhile."),
        more=((key_of("new_session"), "an empty session"), *(() if is_set_up else stop)),
    )


def _facts(state: "State", worktree: "Worktree") -> Iterator[str]:
    """What it is for, what its branch has more than its base, and what nobody else has yet."""
    added, removed = worktree.cached_branch_diff_added, worktree.cached_branch_diff_removed
    if worktree.issue_number:
        yield f"for issue #{worktree.issue_number}"
    if added or removed:
        base = worktree.base_branch or state.projects[worktree.project_id].default_branch
        yield f"+{added or 0} −{removed or 0} since {clean_line(base)}"
    if count := worktree.cached_unpushed_count:
        yield f"{count} commit{'' if count == 1 else 's'} not pushed"


def _project_step(state: "State", place: "Place | None", key_of: Callable[[str], str]) -> Step:
    chosen = project_of(place, state)
    project = chosen or next(p for p in state.projects.values() if not p.is_folder)
    name = clean_line(project.name)
    if project.is_folder:
        return Step(
            name,
            "A folder holds projects: choose one in it, move one here by “Move the project” in the "
            "palette, or add one.",
            offer="Add a project by its path",
            action="add_project",
            more=((key_of("commands"), "all commands"), (key_of("toggle_tree"), "the projects")),
        )
    if not state.worktrees_of(project.id):
        return Step(
            name,
            "No worktree here yet. A worktree is a branch with a directory of its own; "
            "tell an agent there what to do. Those that you made by hand can be adopted.",
            offer="New worktree",
            action="new_worktree",
            more=(
                (key_of("new_worktree"), "the same, from anywhere"),
                (key_of("commands"), "all commands, also “Adopt a worktree”"),
                (key_of("help"), "help"),
            ),
        )
    return Step(
        name,
        "Choose a session on the left, or begin a new one.",
        offer="New worktree",
        action="new_worktree",
        more=((key_of("toggle_tree"), "show or hide the projects"), (key_of("help"), "help")),
    )
