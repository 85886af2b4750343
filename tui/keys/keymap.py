"""One table of everything that a person can do by key or by name.

Bindings, the footer, the help, the command palette and the `keybindings` preference are all made
from it. Keys that many terminals cannot tell apart (`ctrl+m`, `ctrl+i`, `ctrl+[`, `ctrl+h`) or take
for themselves (`ctrl+s`) are not in it, and `ctrl+z` does what it does everywhere; `ctrl+b`, which
tmux takes, is a second key only, and `ctrl+space`, which input methods take, has one. No letter is:
letters are for writing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

from model.base.text import clean_line

Where = Literal["everywhere", "projects", "canvas", "diff"]
"""Where an action's keys work: everywhere, in the tree of projects, on the canvas or the diff."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do."""

    id: str
    """Its name in the `keybindings` preference, and of the function that does it."""
    keys: str
    """Keys that it has by default, parted by commas; empty: only by name."""
    title: str
    """What the help and the command palette call it."""
    where: Where = "everywhere"
    hint: str = ""
    """The word in the footer; empty: not there."""
    help: str = ""
    """One more sentence, where the title does not say it all."""
    in_palette: bool = True


ACTIONS: tuple[Action, ...] = (
    Action("commands", "ctrl+p", "All commands", hint="commands", in_palette=False),
    Action(
        "new_worktree",
        "ctrl+n",
        "New worktree",
        hint="new worktree",
        help="A branch and a directory of its own, with an agent at work in it.",
    ),
    Action(
        "new_session",
        "ctrl+t",
        "New session",
        hint="new session",
        help="Another conversation in the same worktree.",
    ),
    Action("next_pane", "tab", "Go to the next pane", hint="next pane", in_palette=False),
    Action(
        "cycle_mode",
        "shift+tab",
        "Change the mode: plan, build, yolo",
        hint="mode",
        help="Plan proposes and changes nothing; build edits and asks before commands; "
        "yolo does everything without asking.",
    ),
    Action(
        "next_waiting",
        "ctrl+space,ctrl+@,f6",
        "Go to the next session that needs you",
        hint="who needs me",
    ),
    Action(
        "search",
        "ctrl+f",
        "Search all messages",
        hint="search",
        help="Everything that was said, in this project or in all; enter goes there.",
    ),
    Action("stop", "escape", "Stop the run of this session", hint="stop"),
    Action("help", "f1", "Help: keys and marks", hint="help"),
    Action("toggle_tree", "f2,ctrl+b", "Show or hide the projects", hint="projects"),
    Action("quit", "ctrl+q", "Quit", hint="quit", help="Asks first if something runs."),
    Action(
        "to_shell",
        "ctrl+z",
        "Go to the shell for a while; `fg` comes back",
        help="Agents go on meanwhile.",
    ),
    Action(
        "leave_running",
        "",
        "Leave Spinney running, without a screen",
        help="`spinney` shows it again in any terminal, `spinney stop` ends it.",
    ),
    Action("stop_spinney", "", "Stop Spinney: end all that runs", help="Asks first."),
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
        "Remove what the cursor is on",
        where="projects",
        hint="remove",
        help="A session that rests goes to the archive (`f8`) at once; all else asks first.",
        in_palette=False,
    ),
    Action(
        "stop_here",
        "ctrl+x",
        "Stop what runs where the cursor is",
        where="projects",
        hint="stop",
        help="The run of a session; the scripts of a worktree, or its creation.",
        in_palette=False,
    ),
    Action("remove_project", "", "Remove the project from the list", help="No file is deleted."),
    Action(
        "project_settings",
        "",
        "Settings of the project",
        help="Its agent, branch, directory of worktrees, instructions and MCP servers.",
    ),
    Action("new_folder", "", "New folder for projects"),
    Action("rename_folder", "", "Rename the folder"),
    Action("move_project", "", "Move the project or folder into another folder"),
    Action("move_up", "alt+up", "Move up among its neighbours", where="projects", in_palette=False),
    Action(
        "move_down",
        "alt+down",
        "Move down among its neighbours",
        where="projects",
        in_palette=False,
    ),
    Action(
        "link_pull_request",
        "",
        "Say which pull request the worktree belongs to",
        help="From a list, by its number or by its address.",
    ),
    Action("clear_pull_request", "", "Forget the worktree's pull request"),
    Action(
        "canvas",
        "ctrl+o",
        "All sessions on one screen (canvas)",
        hint="all sessions",
        help="Those that need you first; several can be stopped, archived or written to at once.",
    ),
    Action(
        "canvas_answer", "ctrl+r", "Answer what the session asks", where="canvas", hint="answer"
    ),
    Action(
        "canvas_write",
        "ctrl+e",
        "Send a message to the marked sessions",
        where="canvas",
        hint="message",
    ),
    Action("canvas_stop", "ctrl+x", "Stop the marked sessions", where="canvas", hint="stop"),
    Action(
        "canvas_archive", "delete", "Archive the marked sessions", where="canvas", hint="archive"
    ),
    Action("canvas_layout", "f2", "As a list or as a grid", where="canvas", hint="list/grid"),
    Action("canvas_scope", "f3", "This project's or all sessions", where="canvas", hint="scope"),
    Action("canvas_back", "escape", "Unfilter, unmark, or leave", where="canvas", hint="back"),
    Action(
        "open_diff",
        "ctrl+g",
        "What the worktree changes (diff)",
        hint="diff",
        help="Look at it, comment on it, stage, discard, commit.",
    ),
    Action("commit", "", "Commit", help="What is staged or everything; an agent may write why."),
    Action("push", "", "Push the branch"),
    Action("pull_base", "", "Pull what is new on the base branch"),
    Action("pull_request", "", "Pull request: propose the branch, or show where it is"),
    Action("resolve_conflicts", "", "Let a session resolve the conflicts"),
    Action("abort_merge", "", "Abort the merge or rebase that stopped", help="Asks first."),
    Action(
        "diff_resolve_conflicts",
        "o",
        "Let a session resolve the conflicts",
        where="diff",
        hint="resolve",
    ),
    Action(
        "diff_abort_merge",
        "b",
        "Abort the merge or rebase that stopped",
        where="diff",
        hint="abort",
    ),
    Action("diff_stage", "s", "Stage the file or hunk", where="diff", hint="stage"),
    Action("diff_unstage", "u", "Unstage the file or hunk", where="diff", hint="unstage"),
    Action("diff_stage_all", "a", "Stage or unstage everything", where="diff", hint="all"),
    Action(
        "diff_discard", "x", "Discard the file's or hunk's changes", where="diff", hint="discard"
    ),
    Action("diff_undo", "z", "Bring back what was discarded last", where="diff", hint="undo"),
    Action("diff_comment", "c", "Comment on the lines or the hunk", where="diff", hint="comment"),
    Action("diff_mark", "k", "Mark lines to comment on", where="diff", hint="mark"),
    Action("diff_comments", "e", "Edit and send the comments", where="diff", hint="send comments"),
    Action(
        "diff_next_side", "v", "Not staged, staged, against the base", where="diff", hint="view"
    ),
    Action("diff_commit", "m", "Commit", where="diff", hint="commit"),
    Action("diff_push", "w", "Push the branch", where="diff", hint="push"),
    Action("diff_pull_base", "l", "Pull the base branch", where="diff"),
    Action("diff_pull_request", "r", "Pull request", where="diff", hint="pull request"),
    Action("diff_layout", "t", "One or two columns", where="diff", hint="columns"),
    Action("diff_next_hunk", "n", "Go to the next hunk or file", where="diff", hint="next"),
    Action("diff_previous_hunk", "p", "Go to the hunk or file before", where="diff"),
    Action("diff_refresh", "f5", "Look anew", where="diff"),
    Action("diff_back", "escape,q", "Back", where="diff", hint="back"),
    Action(
        "find",
        "ctrl+r",
        "Find in this session",
        help="Also in what is folded, and in older messages.",
    ),
    Action("find_next", "", "Find: the next, newer one", in_palette=False),
    Action("find_previous", "", "Find: the one before, older", in_palette=False),
    Action("whole_output", "", "The whole output of the tool under the cursor"),
    Action("jump", "f10,ctrl+right_square_bracket", "Go to a pane by its letter"),
    Action(
        "mouse",
        "f12",
        "The mouse: the terminal's or Spinney's",
        help="The terminal's own selection works while the mouse is its own.",
    ),
    Action("rename_session", "f4", "Rename the session"),
    Action(
        "begin_afresh",
        "",
        "Begin afresh, with the same agent and mode",
        help="In a new session; this conversation stays as it is.",
    ),
    Action("previous_session", "alt+left", "Go to the session before", in_palette=False),
    Action("next_session", "alt+right", "Go to the session after", in_palette=False),
    Action("archive_session", "", "Archive the session", help="What runs in it is stopped."),
    Action("delete_session", "", "Delete the session for good"),
    Action("choose_model", "", "Choose the session's model"),
    Action("choose_agent", "", "Choose the session's agent"),
    Action("choose_thinking", "", "Choose how much the session thinks"),
    Action("review_plan", "", "Approve the plan that was set aside"),
    Action("take_back", "", "Take back the newest queued message"),
    Action("send_queued", "", "Send the queued messages now"),
    Action("edit_queued", "", "Change the queued message that is marked, or the newest"),
    Action("remove_queued", "", "Remove the queued message that is marked, or the newest"),
    Action(
        "external_editor",
        "ctrl+e",
        "Write the message in your editor",
        help="The one that $VISUAL or $EDITOR names; what it saves comes back into the box.",
    ),
    Action("unfold_paste", "ctrl+l", "Unfold a long paste in the message box"),
    Action(
        "open_worktree",
        "",
        "Open the worktree",
        help="In the editor, a terminal, the file manager or on its hosting page, "
        "as the preference `open_in` says.",
    ),
    Action("open_editor", "", "Open the worktree in the editor"),
    Action(
        "open_shell",
        "f7",
        "Open a shell in the worktree",
        help="On this screen, which comes back after `exit`; agents work on meanwhile.",
    ),
    Action("rename_worktree", "", "Rename the worktree and its branch"),
    Action("label_worktree", "", "Label the worktree", help="A word in a colour, by its name."),
    Action(
        "recreate_worktree",
        "",
        "Recreate the worktree",
        help="Where its directory was removed by hand: checks the branch out again.",
    ),
    Action(
        "cancel_git",
        "",
        "Cancel what git does in the worktree",
        help="Its creation, a commit, a pull or a push, with the hooks that it waits for.",
    ),
    Action(
        "show_scripts",
        "shift+f7,f19",
        "Scripts: setup, run, teardown",
        help="See, edit and trust the repository's own scripts, and follow what they print.",
    ),
    Action("run_script", "", "Run the worktree's script, and follow it"),
    Action("stop_script", "", "Stop the worktree's script"),
    Action(
        "open_base",
        "",
        "Work in the project's own directory",
        help="Sessions without a worktree of their own.",
    ),
    Action(
        "adopt_worktree",
        "",
        "Adopt a worktree that was made outside Spinney",
        help="One of the project's repository. Its folder and its branch stay as they are.",
    ),
    Action("archive_worktree", "", "Archive the worktree", help="Its files stay."),
    Action(
        "show_archive",
        "f8",
        "Archive: bring back worktrees and sessions, or delete them for good",
    ),
    Action(
        "delete_worktree",
        "",
        "Delete the worktree for good",
        help="Its directory, branch and sessions; what would be lost is named first.",
    ),
    Action(
        "remove_worktree",
        "",
        "Remove the worktree",
        help="Archives or deletes it, as the preference `removal_behavior` says; "
        "work that would be lost is named first.",
    ),
    Action("refresh_git", "f5", "Ask git anew about this project's worktrees"),
    Action("copy_path", "", "Copy the worktree's path"),
    Action(
        "show_raw_log",
        "",
        "Show the raw log",
        help="What the session's agent was sent and said, while debug mode is on.",
    ),
    Action(
        "preferences",
        "f9",
        "Preferences",
        help="Every setting, with what it does; found as you type.",
    ),
    Action("edit_keys", "", "Change the keys"),
    Action("theme_dark", "", "Theme: dark"),
    Action("theme_light", "", "Theme: light"),
    Action("theme_system", "", "Theme: as the terminal says"),
    Action(
        "server",
        "",
        "Server: address, token, QR code",
        help="For browsers, phones and other terminals.",
    ),
    Action(
        "start_server",
        "",
        "Server: start, and show its address",
        help="A browser or another Spinney can then join.",
    ),
    Action("stop_server", "", "Server: stop"),
    Action(
        "check_agents",
        "",
        "Check which agents are installed",
        help="And git and gh; each that is missing with the command that mends it.",
    ),
    Action(
        "about",
        "",
        "About Spinney: version, folders, problems",
        help="The lines of `spinney doctor`, and where the log is.",
    ),
)

FOOTER = (
    "stop", "next_waiting", "add_project", "commands", "new_worktree", "new_session", "cycle_mode",
    "open_diff", "canvas", "toggle_tree", "next_pane", "quit",
)  # fmt: skip
"""The actions in the footer, those that are wanted most first."""

_NAMED = 5
"""How many names a sentence lists."""
OF_THE_PAGE = ("write", "open_worktree_page")
"""Actions that the browser page has and the terminal has not."""

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def bindings(where: Where = "everywhere") -> list[Binding]:
    """The bindings of the main screen, or of one of its panes, each under its action's id."""
    return [
        Binding(action.keys, f"screen.do('{action.id}')", action.title, show=False, id=action.id)
        for action in ACTIONS
        if action.keys and action.where == where
    ]


def keys_of(action_id: str, overrides: Mapping[str, str]) -> str:
    """The keys that an action has here, parted by commas."""
    return overrides.get(action_id) or BY_ID[action_id].keys


def is_bound(key: str, overrides: Mapping[str, str]) -> bool:
    """Whether the key does something on any screen."""
    return any(key in keys_of(action.id, overrides).split(",") for action in ACTIONS)


def normalised(preference: Mapping[str, str]) -> dict[str, str]:
    """Own keys by action; unknown actions (those of other screens) and empty keys left out.

    `mod+k`, as a browser page would write it, is `ctrl+k` here.
    """
    return {
        action: keys.strip().lower().replace("mod+", "ctrl+").replace(" ", "")
        for action, keys in preference.items()
        if action in BY_ID and keys.strip()
    }


def strangers(preference: Mapping[str, str]) -> list[str]:
    """A sentence about the names that no action has, here or on the page; none where all are."""
    names = [name for name in preference if name not in BY_ID and name not in OF_THE_PAGE]
    listed = ", ".join(map(clean_line, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
    return [f"The preference keybindings has no effect for: {listed}."] if names else []


def clashes(overrides: Mapping[str, str]) -> list[str]:
    """A sentence for each key that two actions would share."""
    owners: dict[tuple[str, str], str] = {}
    found = []
    for action in ACTIONS:
        for key in filter(None, keys_of(action.id, overrides).split(",")):
            # The canvas and the diff are screens of their own.
            screen = action.where if action.where in ("canvas", "diff") else ""
            other = owners.setdefault((screen, key), action.id)
            if other != action.id:
                found.append(
                    f"The key {key} is given to both {other} and {action.id}; "
                    "change one of them in the preference keybindings."
                )
    return found
