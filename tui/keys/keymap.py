"""The table of all actions, with their keys and names.

It is the source of the bindings, the footer, the help, the command palette and the `keybindings`
preference. It avoids keys that many terminals cannot distinguish (`ctrl+m`, `ctrl+i`, `ctrl+[`,
`ctrl+h`) or reserve (`ctrl+s`). `ctrl+z` suspends, as everywhere. `ctrl+b`, which tmux reserves, is
only an alternative key; `ctrl+space`, which input methods reserve, has an alternative. Outside the
diff and the log no letter is bound: letters are for typing.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

Scope = Literal["everywhere", "message box", "projects", "canvas", "diff", "log"]
"""Where the keys of an action work: everywhere, or in one pane or screen."""


@dataclass(frozen=True, slots=True)
class Action:
    """A user action."""

    id: str
    """Its name in the `keybindings` preference, and the name of the function that performs it."""
    keys: str
    """Default keys, separated by commas; empty if it is only in the command palette."""
    title: str
    """Its title in the help and the command palette."""
    scope: Scope = "everywhere"
    hint: str = ""
    """Its label in the footer; empty if it is not shown there."""
    help: str = ""
    """An optional sentence that explains the title."""
    in_palette: bool = True


ACTIONS: tuple[Action, ...] = (
    Action("commands", "ctrl+p", "Command palette", hint="commands", in_palette=False),
    Action(
        "new_worktree",
        "ctrl+n",
        "New worktree",
        hint="new worktree",
        help="Its own branch and directory, with an agent working in it.",
    ),
    Action(
        "new_session",
        "ctrl+t",
        "New session",
        hint="new session",
        help="Another conversation in the same worktree, with the same agent, model and mode.",
    ),
    Action("next_pane", "tab", "Next pane", hint="next pane", in_palette=False),
    Action(
        "cycle_mode",
        "shift+tab",
        "Change mode: plan, build, yolo",
        hint="mode",
        help="Plan proposes and changes nothing; build edits and asks before running commands; "
        "yolo does everything without asking.",
    ),
    Action(
        "next_waiting",
        "ctrl+space,ctrl+@,f6",
        "Go to the next session that needs you",
        hint="next waiting",
    ),
    Action(
        "search",
        "ctrl+f",
        "Search all messages",
        hint="search",
        help="In this project or in all projects; enter opens the message.",
    ),
    Action("stop", "escape", "Stop the session", hint="stop"),
    Action("help", "f1", "Help: keyboard shortcuts and status icons", hint="help"),
    Action("toggle_tree", "f2,ctrl+b", "Show or hide projects", hint="projects"),
    Action(
        "toggle_side",
        "shift+f2,f14",
        "Side pane: changes, a second session, or nothing",
        help="The agent's steps and the worktree's changes as they happen, or the session that was "
        "open last; on terminals of at least 150 columns.",
    ),
    Action(
        "quit", "ctrl+q", "Quit", hint="quit", help="Asks for confirmation if something is running."
    ),
    Action(
        "to_shell",
        "ctrl+z",
        "Suspend to the shell; `fg` resumes",
        help="Agents keep running.",
    ),
    Action(
        "leave_running",
        "",
        "Detach: keep Spinney running in the background",
        help="`spinney` attaches to it from any terminal, `spinney stop` ends it.",
    ),
    Action(
        "stop_spinney", "", "Stop Spinney and everything it runs", help="Asks for confirmation."
    ),
    Action(
        "add_project",
        "f3",
        "Add a project",
        hint="add project",
        help="A git repository on this machine, by its path.",
    ),
    Action(
        "remove_here",
        "delete",
        "Remove the selected item",
        scope="projects",
        hint="remove",
        help="Archives an idle session (`f8`) immediately; asks for confirmation otherwise.",
        in_palette=False,
    ),
    Action(
        "stop_here",
        "ctrl+x",
        "Stop the selected item",
        scope="projects",
        hint="stop",
        help="A session, the scripts of a worktree, or its creation.",
        in_palette=False,
    ),
    Action("remove_project", "", "Remove the project from the list", help="No files are deleted."),
    Action(
        "project_settings",
        "",
        "Project settings",
        help="Agent, branch, worktree directory, instructions and MCP servers.",
    ),
    Action("new_folder", "", "New project folder"),
    Action("rename_folder", "", "Rename the folder"),
    Action("move_project", "", "Move the project or folder to another folder"),
    Action("move_up", "alt+up", "Move up", scope="projects", in_palette=False),
    Action(
        "move_down",
        "alt+down",
        "Move down",
        scope="projects",
        in_palette=False,
    ),
    Action(
        "link_pull_request",
        "",
        "Link a pull request to the worktree",
        help="From a list, by number or by URL.",
    ),
    Action("clear_pull_request", "", "Unlink the worktree's pull request"),
    Action(
        "canvas",
        "ctrl+o",
        "All sessions (canvas)",
        hint="all sessions",
        help="Those that need you first; stop, archive or message several at once.",
    ),
    Action(
        "canvas_answer", "ctrl+r", "Answer the session's request", scope="canvas", hint="answer"
    ),
    Action(
        "canvas_write",
        "ctrl+e",
        "Send a message to the selected sessions",
        scope="canvas",
        hint="message",
    ),
    Action("canvas_stop", "ctrl+x", "Stop the selected sessions", scope="canvas", hint="stop"),
    Action(
        "canvas_archive", "delete", "Archive the selected sessions", scope="canvas", hint="archive"
    ),
    Action("canvas_layout", "f2", "Switch between list and grid", scope="canvas", hint="list/grid"),
    Action(
        "canvas_scope",
        "f3",
        "Switch between this project and all projects",
        scope="canvas",
        hint="scope",
    ),
    Action(
        "canvas_back",
        "escape",
        "Clear filter, clear selection, or close",
        scope="canvas",
        hint="back",
    ),
    Action(
        "open_diff",
        "ctrl+g",
        "Show the worktree's changes (diff)",
        hint="diff",
        help="View, comment, stage, discard, commit.",
    ),
    Action(
        "commit",
        "f4",
        "Commit",
        help="What is staged, or everything; an agent can write the message.",
    ),
    Action("push", "", "Push the branch"),
    Action("pull_base", "", "Pull the base branch"),
    Action("pull_request", "", "Pull request: create or show"),
    Action(
        "log",
        "shift+f5,f17",
        "Commits of the branch (log)",
        help="Show, amend or fix up commits; copy a hash.",
    ),
    Action(
        "stash",
        "shift+f6,f18",
        "Stash: put changes aside, bring them back",
        help="All uncommitted changes, new files included.",
    ),
    Action("resolve_conflicts", "", "Resolve conflicts with an agent"),
    Action("abort_merge", "", "Abort the merge or rebase", help="Asks for confirmation."),
    Action(
        "diff_resolve_conflicts",
        "o",
        "Let a session resolve the conflicts",
        scope="diff",
        hint="agent",
    ),
    Action(
        "diff_abort_merge",
        "b",
        "Abort the merge or rebase",
        scope="diff",
        hint="abort",
    ),
    Action("diff_ours", "1", "Resolve the file's conflict: take ours", scope="diff", hint="ours"),
    Action(
        "diff_theirs", "2", "Resolve the file's conflict: take theirs", scope="diff", hint="theirs"
    ),
    Action("diff_both", "3", "Resolve the file's conflict: take both", scope="diff", hint="both"),
    Action("diff_continue", "C", "Continue the merge or rebase", scope="diff", hint="continue"),
    Action("diff_stage", "s", "Stage the file or hunk", scope="diff", hint="stage"),
    Action("diff_unstage", "u", "Unstage the file or hunk", scope="diff", hint="unstage"),
    Action("diff_stage_all", "a", "Stage or unstage everything", scope="diff", hint="all"),
    Action(
        "diff_discard", "x", "Discard the file's or hunk's changes", scope="diff", hint="discard"
    ),
    Action("diff_undo", "z", "Undo the last discard, removal or choice", scope="diff", hint="undo"),
    Action(
        "diff_comment",
        "c",
        "Comment on the line, the selected lines or the hunk",
        scope="diff",
        hint="comment",
    ),
    Action("diff_mark", "V", "Select lines to comment on", scope="diff", hint="lines"),
    Action("diff_send", "S", "Send all comments to a session", scope="diff", hint="send comments"),
    Action("diff_comments", "E", "List the comments", scope="diff", hint="comments"),
    Action("diff_edit", "e", "Open the editor at the line", scope="diff", hint="editor"),
    Action(
        "diff_next_side",
        "v",
        "Switch between unstaged, staged and base comparison",
        scope="diff",
        hint="view",
    ),
    Action("diff_commit", "m,f4", "Commit", scope="diff", hint="commit"),
    Action("diff_push", "w", "Push the branch", scope="diff", hint="push"),
    Action("diff_pull_base", "l", "Pull the base branch", scope="diff"),
    Action("diff_pull_request", "r", "Pull request", scope="diff", hint="pull request"),
    Action("diff_log", "h", "Commits (log): amend, fix up", scope="diff", hint="log"),
    Action(
        "diff_stash", "y", "Stash: put changes aside, bring them back", scope="diff", hint="stash"
    ),
    Action("diff_layout", "t", "Switch between one and two columns", scope="diff", hint="columns"),
    Action("diff_next_hunk", "n", "Next hunk or file", scope="diff", hint="next"),
    Action("diff_previous_hunk", "p", "Previous hunk or file", scope="diff"),
    Action("diff_refresh", "f5", "Refresh", scope="diff"),
    Action("diff_back", "escape,q", "Back", scope="diff", hint="back"),
    Action("log_amend", "A", "Amend the last commit", scope="log", hint="amend"),
    Action("log_fixup", "f", "Put the staged changes into the commit", scope="log", hint="fix up"),
    Action("log_push", "w", "Push the branch", scope="log", hint="push"),
    Action("log_message", "i", "Show the commit's whole message", scope="log", hint="message"),
    Action("log_copy", "y", "Copy the commit's hash", scope="log", hint="copy hash"),
    Action("log_back", "escape,q", "Back", scope="log", hint="back"),
    Action(
        "find",
        "ctrl+r,shift+f3,f15",
        "Find in this session",
        help="Includes collapsed parts and older messages. In the message box, ctrl+r searches "
        "what you wrote before instead.",
    ),
    Action(
        "search_history",
        "ctrl+r",
        "Search what you wrote before",
        scope="message box",
        help="The earlier messages of this project, newest first; enter puts one into the box.",
    ),
    Action(
        "paste_image",
        "ctrl+v",
        "Paste an image from the clipboard",
        scope="message box",
        help="Where the terminal passes the key on; /paste does the same. "
        "The path of a file is attached, too, when it is pasted or dropped.",
    ),
    Action("find_next", "", "Find next (newer)", in_palette=False),
    Action("find_previous", "", "Find previous (older)", in_palette=False),
    Action("whole_output", "", "Show the full output of the selected tool"),
    Action("jump", "f10,ctrl+right_square_bracket", "Jump to a pane by its letter"),
    Action(
        "mouse",
        "f12",
        "Toggle mouse capture",
        help="The terminal's own text selection works while capture is off.",
    ),
    Action("rename_session", "shift+f4,f16", "Rename the session"),
    Action(
        "begin_afresh",
        "",
        "Start over with the same agent and mode",
        help="In a new session; this conversation is kept.",
    ),
    Action(
        "resume_session",
        "",
        "Resume a session",
        help="Of this worktree or project, archived ones included.",
    ),
    Action(
        "compact",
        "",
        "Compact the conversation",
        help="The agent replaces what it remembers by a summary, which makes room.",
    ),
    Action("show_usage", "", "Tokens and context of the session"),
    Action(
        "previous_session",
        "alt+left,ctrl+pageup",
        "Previous session",
        help="In the order of the tree, in all worktrees.",
        in_palette=False,
    ),
    Action(
        "next_session",
        "alt+right,ctrl+pagedown",
        "Next session",
        help="In the order of the tree, in all worktrees.",
        in_palette=False,
    ),
    Action(
        "last_session",
        "ctrl+6,ctrl+circumflex_accent",
        "Last session",
        help="The one that was open before; again to come back.",
    ),
    Action(
        "go_to_session",
        "",
        "Go to a session by its name",
        help="Those used last come first; also ctrl+p in the command palette.",
    ),
    Action("widen_tree", "alt+shift+right", "Widen the project tree", in_palette=False),
    Action("narrow_tree", "alt+shift+left", "Narrow the project tree", in_palette=False),
    Action("archive_session", "", "Archive the session", help="Stops it first if it is running."),
    Action("delete_session", "", "Delete the session permanently"),
    Action("choose_model", "", "Choose the session's model"),
    Action("choose_agent", "", "Choose the session's agent"),
    Action("choose_thinking", "", "Choose the session's thinking level"),
    Action("review_plan", "", "Review the plan that was set aside"),
    Action("take_back", "", "Take back the newest queued message"),
    Action("send_queued", "", "Send the queued messages now"),
    Action("edit_queued", "", "Edit the selected or newest queued message"),
    Action("remove_queued", "", "Remove the selected or newest queued message"),
    Action(
        "external_editor",
        "ctrl+e",
        "Edit the message in your editor",
        help="Opens $VISUAL or $EDITOR; the saved text replaces the message.",
    ),
    Action("unfold_paste", "ctrl+l", "Expand a long paste in the message box"),
    Action(
        "open_worktree",
        "",
        "Open the worktree",
        help="In the editor, a terminal, the file manager or on its hosting page, "
        "depending on the preferences.",
    ),
    Action("open_editor", "", "Open the worktree in the editor"),
    Action(
        "open_shell",
        "f7",
        "Open a shell in the worktree",
        help="On this screen, until `exit`; agents keep running.",
    ),
    Action("rename_worktree", "", "Rename the worktree and its branch"),
    Action(
        "label_worktree", "", "Label the worktree", help="A short colored text beside its name."
    ),
    Action(
        "recreate_worktree",
        "",
        "Recreate the worktree",
        help="Checks its branch out again if its directory was deleted.",
    ),
    Action(
        "cancel_git",
        "",
        "Cancel the running git operation",
        help="The worktree's creation, a commit, pull or push, including their hooks.",
    ),
    Action(
        "show_scripts",
        "shift+f7,f19",
        "Scripts: setup, run, teardown",
        help="View, edit and trust the repository's scripts, and follow their output.",
    ),
    Action("run_script", "", "Run the worktree's script and follow its output"),
    Action("stop_script", "", "Stop the worktree's script"),
    Action(
        "open_base",
        "",
        "Work in the project's own directory",
        help="Sessions without a separate worktree.",
    ),
    Action(
        "adopt_worktree",
        "",
        "Adopt a worktree created outside Spinney",
        help="A worktree of the project's repository; its directory and branch are not changed.",
    ),
    Action("archive_worktree", "", "Archive the worktree", help="Its files are kept."),
    Action(
        "archive_here",
        "shift+f8,f20",
        "Archive the worktree, and go on to the next",
        help="Asks only if something runs in it. Its files are kept; the archive brings it back.",
    ),
    Action(
        "show_archive",
        "f8",
        "Archive: restore or delete worktrees and sessions",
    ),
    Action(
        "delete_worktree",
        "",
        "Delete the worktree permanently",
        help="Deletes its directory, branch and sessions; lists what would be lost first.",
    ),
    Action(
        "remove_worktree",
        "",
        "Remove the worktree",
        help="Archives or deletes it, depending on the preferences; "
        "lists what would be lost first.",
    ),
    Action("refresh_git", "f5", "Refresh the git status of this project's worktrees"),
    Action("copy_path", "", "Copy the worktree's path"),
    Action(
        "show_raw_log",
        "",
        "Show the raw log",
        help="Messages between Spinney and the session's agent, recorded in debug mode.",
    ),
    Action(
        "preferences",
        "f9",
        "Preferences",
        help="All settings and what they do; type to search.",
    ),
    Action("edit_keys", "", "Change keyboard shortcuts"),
    Action("theme", "", "Theme", help="Light or dark, and the colors of code, with a preview."),
    Action("theme_dark", "", "Theme: dark"),
    Action("theme_light", "", "Theme: light"),
    Action("theme_system", "", "Theme: same as the terminal"),
    Action(
        "server",
        "",
        "Server: address, token, QR code",
        help="For browsers, phones and other terminals.",
    ),
    Action(
        "start_server",
        "",
        "Server: start and show its address",
        help="Lets browsers and other terminals connect.",
    ),
    Action("stop_server", "", "Server: stop"),
    Action(
        "check_agents",
        "",
        "Check which agents are installed",
        help="Also git and gh; shows the command that installs what is missing.",
    ),
    Action(
        "try_demo",
        "",
        "Try the demo",
        help="A throw-away repository and an agent that needs no account; quit it to come back.",
    ),
    Action(
        "about",
        "",
        "About Spinney: version, folders, problems",
        help="The output of `spinney doctor`, and the path of the log.",
    ),
)

FOOTER = (
    "stop", "next_waiting", "add_project", "commands", "new_worktree", "new_session", "cycle_mode",
    "open_diff", "canvas", "toggle_tree", "next_pane", "quit",
)  # fmt: skip
"""The actions in the footer, most important first."""

PAGE_ACTIONS = ("write", "open_worktree_page", "clone_project")
"""Actions that only the browser page has."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def make_bindings(scope: Scope = "everywhere", only: Container[str] | None = None) -> list[Binding]:
    """The bindings of the main screen, of a pane or another screen; each has its action's id.

    `only`: the actions to include, if not all.
    """
    return [
        Binding(action.keys, f"screen.do('{action.id}')", action.title, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.scope == scope and (only is None or action.id in only)
    ]
