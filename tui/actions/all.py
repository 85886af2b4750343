"""Every action by its id. Imported after the first frame: it brings in the model's commands."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from tui.actions import (
    archive,
    canvas,
    compose,
    editor,
    git,
    preferences,
    projects,
    scripts,
    search,
    server,
    sessions,
    view,
    worktrees,
)

if TYPE_CHECKING:
    from tui.screens.main import MainScreen

DO: "Mapping[str, Callable[[MainScreen], Awaitable[None]]]" = {
    function.__name__: function
    for function in (
        view.next_waiting,
        canvas.canvas,
        search.search,
        view.theme_dark,
        view.theme_light,
        view.theme_system,
        preferences.preferences,
        preferences.edit_keys,
        projects.add_project,
        projects.add_offered,
        projects.remove_project,
        projects.check_agents,
        worktrees.new_worktree,
        worktrees.cancel_git,
        worktrees.open_base,
        worktrees.rename_worktree,
        worktrees.label_worktree,
        worktrees.recreate_worktree,
        scripts.show_scripts,
        scripts.run_script,
        scripts.stop_script,
        archive.archive_worktree,
        archive.remove_worktree,
        archive.delete_worktree,
        archive.show_archive,
        worktrees.refresh_git,
        worktrees.copy_path,
        git.open_diff,
        git.commit,
        git.push,
        git.pull_base,
        git.pull_request,
        git.resolve_conflicts,
        git.abort_merge,
        sessions.new_session,
        sessions.cycle_mode,
        sessions.stop,
        sessions.rename_session,
        sessions.previous_session,
        sessions.next_session,
        sessions.archive_session,
        sessions.delete_session,
        sessions.choose_model,
        sessions.choose_agent,
        sessions.choose_thinking,
        compose.take_back,
        compose.edit_queued,
        compose.remove_queued,
        compose.external_editor,
        editor.open_worktree,
        editor.open_editor,
        editor.open_shell,
        server.start_server,
        server.stop_server,
    )
}
