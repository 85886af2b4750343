"""Keys that the panes take for themselves, as the help tells them; no preference changes them."""

TREE_KEYS = (
    ("letters", "Filter the rows; backspace edits, escape shows all again"),
    ("enter", "Open; while filtering: the first row found"),
    ("↑ ↓ ← →", "Move, fold and unfold (also space)"),
    ("esc", "Back to the conversation"),
)
DIFF_KEYS = (
    ("tab", "From the files to the difference and back; letters mean a file or a hunk"),
    ("↑ ↓ pgup pgdn", "Move the cursor; ← → read on in long lines"),
    ("shift+↑ shift+↓", "Mark lines to comment on, as the mouse does that is drawn over them"),
)
CANVAS_KEYS = (
    ("letters", "Filter; backspace takes them back"),
    ("↑ ↓ ← →", "Move"),
    ("enter", "Open the session"),
    ("tab", "Mark it and go on (also ctrl and a click); shift+tab goes back"),
)
COMPOSER_KEYS = (
    ("enter", "Send; behind a run: queue; empty, after a stop: send what is queued"),
    ("ctrl+j", "New line (also alt+enter, a trailing \\, and shift+enter where it exists)"),
    ("↑", "In an empty box: take back the newest queued message"),
    ("↑ ↓", "At the edges: earlier messages of this project"),
    (
        "@ /",
        "A file of the worktree; a command of Spinney's or the agent's (// where both have one)",
    ),
    ("ctrl+_", "Undo (ctrl+y: redo)"),
    ("ctrl+u", "Empty the box; ↑ or ctrl+_ brings the text back"),
    ("ctrl+c", "Copy what is selected; else empty the box, stop the run, or, twice, quit"),
)
REQUEST_KEYS = (
    ("↑ ↓", "Move over the choices; also from the message box, while it is empty"),
    ("enter", "Take the marked choice; also from the empty message box. Yolo: twice"),
    ("tab", "From the message box to the choices; there letters and digits choose"),
    ("pgup pgdn", "Read on in a long text"),
    ("esc", "Plan: leave it waiting, twice: set it aside. Else: stop the run"),
)
TRANSCRIPT_KEYS = (
    ("letters", "Go to the message box"),
    ("pgup pgdn", "Scroll; older messages load by themselves"),
    ("end", "Back to the newest, and follow it; also from the empty message box"),
    (
        "ctrl+↑ ctrl+↓",
        "A cursor over the parts of messages: enter opens, c copies, o goes to the "
        "file, v shows a tool's whole output, g and G lead to the oldest and the newest",
    ),
    ("n N", "After a search: the newer and the older find"),
)
