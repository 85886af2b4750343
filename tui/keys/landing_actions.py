"""The actions that bring worktrees into the base, and those of the screens for that."""

from tui.keys.action import Action

LANDING_ACTIONS = (
    Action(
        "show_landing",
        "shift+f11,f23",
        "Landing: what is next for each worktree",
        help="From finished work to the base branch: review, check, land, take back.",
    ),
    Action(
        "land",
        "",
        "Land the worktree: bring it into the base branch",
        help="Merge, squash or rebase, beside all checkouts; shown before, and can be taken back.",
    ),
    Action(
        "show_train",
        "",
        "Train: land several worktrees together",
        help="Each on top of the one before, with the check after each; lands only on request.",
    ),
    Action(
        "show_sweep",
        "",
        "Sweep: all worktrees with their sizes",
        help="Archive or delete many at once; says first what would be lost.",
    ),
    Action(
        "landing_land", "l", "Land the worktree; a train of several", scope="landing", hint="land"
    ),
    Action("landing_diff", "d", "Show its changes (diff)", scope="landing", hint="changes"),
    Action("landing_check", "c", "Run the check script", scope="landing", hint="check"),
    Action(
        "landing_send",
        "f",
        "Send what keeps it from landing to its session",
        scope="landing",
        hint="send to session",
    ),
    Action(
        "landing_train",
        "t",
        "Train: show it, or begin one with the marked worktrees",
        scope="landing",
        hint="train",
    ),
    Action("landing_undo", "u", "Take the newest landing back", scope="landing", hint="take back"),
    Action("landing_update", "b", "Update it from the base", scope="landing", hint="update"),
    Action("landing_commit", "m,f4", "Commit", scope="landing", hint="commit"),
    Action("landing_pull_request", "p", "Pull request", scope="landing", hint="pull request"),
    Action("landing_push", "w", "Push the base branch", scope="landing", hint="push base"),
    Action("landing_open", "o", "Go to its session", scope="landing", hint="session"),
    Action("landing_sweep", "s", "Sweep: all worktrees with sizes", scope="landing", hint="sweep"),
    Action("landing_refresh", "f5", "Refresh", scope="landing"),
    Action("landing_back", "escape,q", "Clear the marks, or close", scope="landing", hint="back"),
    Action("sweep_archive", "a", "Archive the marked worktrees", scope="sweep", hint="archive"),
    Action(
        "sweep_delete",
        "delete,x",
        "Delete the marked worktrees",
        scope="sweep",
        hint="delete",
        help="Asks first, and says what would be lost and what comes back.",
    ),
    Action(
        "sweep_mark_safe",
        "m",
        "Mark those that can go without a loss",
        scope="sweep",
        hint="mark all safe",
    ),
    Action(
        "sweep_scope",
        "f3",
        "Switch between this project and all projects",
        scope="sweep",
        hint="scope",
    ),
    Action("sweep_refresh", "f5", "Refresh", scope="sweep"),
    Action("sweep_back", "escape,q", "Clear the marks, or close", scope="sweep", hint="back"),
)
