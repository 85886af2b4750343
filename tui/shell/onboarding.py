"""The next step, with its keys, that the main screen shows while no conversation is open."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.amounts import format_age
from model.base.plural import count
from model.base.text import clean_line
from tui.draw.status_icons import session_icon, waiting_reason
from tui.store.places import find_project_id, get_project, list_shown_sessions
from tui.widgets.welcome import Step

_MAX_RECENT = 5
"""Recent sessions that are listed."""

if TYPE_CHECKING:
    from model.api.doctor import BackendReport
    from model.domain.worktrees import Worktree
    from model.state import State
    from tui.store.places import Place


def missing_agents(reports: "list[BackendReport]") -> tuple[str, ...]:
    """Return how to install each agent, one line each; nothing if any agent is installed."""
    if any(report.program is not None for report in reports):
        return ()
    fixes = (f"{r.label}: {r.fix}" if r.fix else r.problem for r in reports if r.problem)
    return tuple(map(clean_line, fixes))


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
    """Return the step for this place.

    `offered`: the repository that Spinney was started in; `agents_missing`: if no agent can be
    used, how to install each; `is_sending`: whether a first message for the place is being sent;
    `key_of`: returns the key of an action, as displayed.
    """
    if (
        offered is not None
        and find_project_id(state, offered) is None
        and not _is_in_project(place)
    ):
        return Step(
            "A new repository",
            "It is not one of your projects yet. Agents work in worktrees of projects, each in a "
            "directory and on a branch of its own.",
            offer=f"Add {clean_line(str(offered))} as a project?",
            action="add_offered",
            more=((key_of("help"), "help"), (key_of("commands"), "all commands")),
        )
    if not any(not project.is_folder for project in state.projects.values()):
        where = f"{clean_line(str(started_in))} is not a git repository. " if started_in else ""
        return Step(
            "No projects yet",
            f"{where}Add a git repository to create worktrees in.",
            offer="Add a project by path",
            action="add_project",
            letters=(("d", "try the demo", "try_demo"),),
            more=((key_of("help"), "help"), (key_of("quit"), "quit")),
        )
    if agents_missing:
        return Step(
            "No agent is installed",
            "\n".join(
                (
                    "Install one of these:",
                    *agents_missing,
                )
            ),
            letters=(
                ("d", "try the demo: it needs no account and changes nothing here", "try_demo"),
            ),
            offer="Check again",
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


def _is_in_project(place: "Place | None") -> bool:
    return place is not None and place.kind in ("worktree", "session", "project")


def _worktree_step(
    state: "State", worktree_id: str, key_of: Callable[[str], str], *, is_sending: bool
) -> Step:
    worktree = state.worktrees[worktree_id]
    name = clean_line(worktree.name)
    if worktree.status == "missing":
        return Step(
            name,
            f"The directory {clean_line(worktree.path)} no longer exists. The sessions and the "
            f"branch {clean_line(worktree.branch)} are still there.",
            offer="Check the branch out again",
            action="recreate_worktree",
        )
    if worktree.status == "creating":
        return Step(
            name,
            f"{_describe_creation(worktree)} "
            + (
                "Your first message will be sent when it is ready."
                if is_sending
                else "You can write your first message now."
            ),
            more=((key_of("stop"), "cancel"),),
        )
    stop = ((key_of("stop"), "stop setup"), (key_of("show_scripts"), "show output"))
    is_set_up = "setup" not in worktree.running_scripts
    branch = " · ".join([clean_line(worktree.branch), *_branch_facts(state, worktree)])
    if is_sending:
        text = f"Sending your first message to an agent on branch {branch}."
    elif state.sessions_of(worktree.id):
        text = (
            f"Branch {branch}. Choose a session on the left, or describe a task below and press "
            "enter to start a new one."
        )
    else:
        text = (
            f"No sessions yet on branch {branch}. Describe a task below and press enter to start "
            "an agent."
        )
    return Step(
        name,
        "\n\n".join(
            [
                text,
                *([] if is_set_up else ["The repository's setup script is running."]),
                *(worktree.copied_files.problems if worktree.copied_files else ()),
            ]
        ),
        more=((key_of("new_session"), "empty session"), *(() if is_set_up else stop)),
    )


def _describe_creation(worktree: "Worktree") -> str:
    copied = worktree.copied_files
    if copied is None:
        return "Creating the worktree."
    return f"Copying ignored files: {copied.count:,} of {copied.total:,}."


def _branch_facts(state: "State", worktree: "Worktree") -> Iterator[str]:
    """The worktree's issue, its diff against the base branch, and its unpushed commits."""
    added, removed = worktree.cached_branch_diff_added, worktree.cached_branch_diff_removed
    if worktree.issue_number:
        yield f"for issue #{worktree.issue_number}"
    if added or removed:
        base = worktree.base_branch or state.projects[worktree.project_id].default_branch
        yield f"+{added or 0} −{removed or 0} since {clean_line(base)}"
    if worktree.cached_unpushed_count:
        yield count(worktree.cached_unpushed_count, "unpushed commit")
    if worktree.copied_files is not None and worktree.copied_files.count:
        yield count(worktree.copied_files.count, "ignored file") + " copied"


def _project_step(state: "State", place: "Place | None", key_of: Callable[[str], str]) -> Step:
    chosen = get_project(place, state)
    project = chosen or next(p for p in state.projects.values() if not p.is_folder)
    name = clean_line(project.name)
    if project.is_folder:
        return Step(
            name,
            "Choose a project in this folder, move one here with 'Move the project' in the command "
            "palette, or add one.",
            offer="Add a project by path",
            action="add_project",
            more=((key_of("commands"), "all commands"), (key_of("toggle_tree"), "projects")),
        )
    found = project.outside_worktrees
    if found and not state.worktrees_of(project.id):
        return Step(
            name,
            f"No worktrees yet, but {count(found, 'worktree')} of this repository "
            f"{'was' if found == 1 else 'were'} created outside Spinney.",
            offer=f"Adopt {'it' if found == 1 else 'one of them'}",
            action="adopt_worktree",
            more=((key_of("new_worktree"), "new worktree"), (key_of("help"), "help")),
        )
    if not state.worktrees_of(project.id):
        return Step(
            name,
            "No worktrees yet. A worktree is a branch checked out in its own directory, where an "
            "agent can work. You can also adopt worktrees that you created yourself.",
            offer="New worktree",
            action="new_worktree",
            more=(
                (key_of("new_worktree"), "the same, from anywhere"),
                (key_of("commands"), "all commands, including 'Adopt a worktree'"),
                (key_of("help"), "help"),
            ),
        )
    return Step(
        name,
        "Choose a session on the left, or start a new one.",
        recent=tuple(_recent_sessions(state, project.id)),
        offer="New worktree",
        action="new_worktree",
        more=((key_of("toggle_tree"), "show or hide the projects"), (key_of("help"), "help")),
    )


def _recent_sessions(state: "State", project_id: str) -> Iterator[tuple[str, str, str]]:
    """The sessions of a project that were active last: id, worktree and name, state or age."""
    for session in list_shown_sessions(state, project_id)[:_MAX_RECENT]:
        worktree = state.worktrees[session.worktree_id]
        name = f"{session_icon(session).symbol} {worktree.name}  {session.name}"
        age = format_age(session.updated_at, time.time())
        yield session.id, clean_line(name), waiting_reason(session) or age
