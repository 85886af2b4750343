"""Fixed keys of the panes, as shown in the help; they cannot be changed by a preference."""

MAIN_KEYS = (
    (
        "alt+1 … alt+9",
        "Open the session with this number in the projects; only in terminals with the kitty "
        "keyboard protocol, which show the numbers",
    ),
)
TREE_KEYS = (
    ("letters", "Filter; backspace deletes a letter, escape clears the filter"),
    ("/ ?", "Begin a filter; this help"),
    ("enter", "Open; while filtering: open the first match"),
    ("↑ ↓ ← →", "Move, collapse and expand (also space)"),
    ("esc", "Back to the conversation"),
)
DIFF_KEYS = (
    ("tab", "Switch between diff and files; letters act on the hunk, or on the selected file"),
    ("↑ ↓ pgup pgdn", "Move the cursor (also j k g G); ← → scroll long lines"),
    ("space", "Files: mark as viewed. Diff: read on, at the end with the next file"),
    ("shift+↑ shift+↓", "Select lines to comment on (also by dragging with the mouse)"),
    ("enter del", "On a comment: edit or remove it"),
)
LOG_KEYS = (
    ("enter", "Show the changes of the commit"),
    ("↑ ↓ pgup pgdn", "Move (also j k g G); older commits follow at the end"),
)
WORK_KEYS = (
    ("letters", "Filter; where more is there than was read, the hosting service searches"),
    ("↑ ↓", "Move; more items are read at the end of the list"),
    ("enter", "Go to the session that works on it; without one, begin"),
    ("space", "Mark it and move on (also ctrl+click)"),
)
PULL_REQUEST_KEYS = (
    ("enter", "Show the log of a check, or the whole of a comment or the description"),
    ("↑ ↓ pgup pgdn", "Move (also j k g G)"),
)
LANDING_KEYS = (
    ("enter", "Do what is next for the worktree, or for all that are marked"),
    ("space", "Mark it and move on (also ctrl+click); most keys act on all that are marked"),
    ("↑ ↓ pgup pgdn", "Move (also j k g G)"),
)
SWEEP_KEYS = (
    ("space", "Mark it and move on (also ctrl+click)"),
    ("↑ ↓ pgup pgdn", "Move (also j k g G)"),
)
CANVAS_KEYS = (
    ("letters", "Filter; backspace deletes a letter"),
    ("↑ ↓ ← →", "Move"),
    ("enter", "Open the session"),
    ("tab", "Select it and move on (also ctrl+click); shift+tab moves back"),
)
COMPOSER_KEYS = (
    ("enter", "Send; while running: queue; if empty and stopped: send queued messages"),
    ("alt+s", "While running: send it into the turn; in an empty box, the next queued message"),
    ("ctrl+j", "New line (also alt+enter, a trailing \\, and shift+enter if supported)"),
    ("↑", "In an empty box: take back the newest queued message"),
    ("↑ ↓", "On the first or last line: earlier messages of this project"),
    (
        "@ /",
        "Insert a file of the worktree; run a command of Spinney or the agent (// if both have it)",
    ),
    ("!", "At the beginning: run the text as a command in the worktree (\\! sends it)"),
    ("?", "In an empty box, with nothing after it: this help"),
    ("ctrl+_", "Undo (ctrl+y: redo)"),
    ("ctrl+u", "Clear the box; ↑ or ctrl+_ restores the text"),
    ("ctrl+c", "Copy the selection; otherwise clear the box, stop the run, or, twice, quit"),
)
REQUEST_KEYS = (
    ("↑ ↓", "Move between the choices; also from the empty message box"),
    (
        "enter",
        "Take the selected choice; also from the empty message box. Yolo: after its warning",
    ),
    ("tab", "From the message box to the choices; letters and digits choose there"),
    ("pgup pgdn", "Scroll a long text"),
    ("esc", "Plan: keep it waiting; twice: set it aside. Otherwise: stop the run"),
)
TRANSCRIPT_KEYS = (
    ("j k", "Scroll by a line; with the cursor, move it"),
    ("ctrl+d ctrl+u", "Scroll by half a page"),
    ("space b", "Scroll by a page (also pgdn pgup); older messages load automatically"),
    ("{ }", "Previous and next message"),
    ("g G", "Oldest and newest message (also home end)"),
    ("/", "Find in this session"),
    ("letters", "All others are written in the message box, and so is what arrives at once"),
    ("end", "Go to the newest message and follow it; also from the empty message box"),
    (
        "ctrl+↑ ctrl+↓",
        "Move a cursor over the parts of messages (enter shows it): enter opens, y or c copies, "
        "o opens the file, v shows a tool's full output",
    ),
    ("n N", "After a search: next (newer) and previous (older) match"),
)
