"""The actions of the pull request screen and of open work, with their keys and names."""

from tui.keys.action import Action

HOSTING_ACTIONS = (
    Action(
        "pr_fix",
        "f",
        "Let a session fix the failed checks",
        scope="pull request",
        hint="fix checks",
        help="Sends it their names and the ends of their logs.",
    ),
    Action(
        "pr_answer",
        "c",
        "Let a session deal with the review comments",
        scope="pull request",
        hint="answer comments",
        help="Sends it all that are not resolved.",
    ),
    Action("pr_reply", "r", "Reply to the comments", scope="pull request", hint="reply"),
    Action("pr_resolve", "x", "Resolve the comments", scope="pull request", hint="resolve"),
    Action(
        "pr_merge",
        "m",
        "Merge, merge automatically, or take that back",
        scope="pull request",
        hint="merge",
        help="As the repository allows; with a merge queue, put it there.",
    ),
    Action(
        "pr_update",
        "u",
        "Update the branch from its base",
        scope="pull request",
        hint="update",
        help="At the hosting service; the worktree follows with the next pull.",
    ),
    Action("pr_draft", "d", "Mark as ready or as a draft", scope="pull request", hint="draft"),
    Action("pr_edit", "e", "Edit title and description", scope="pull request", hint="edit"),
    Action("pr_reviewers", "v", "Request a review", scope="pull request", hint="reviewers"),
    Action(
        "pr_automatic",
        "a",
        "Let a session fix checks and answer comments by itself",
        scope="pull request",
        hint="automatic",
        help="After each push, a limited number of times; again to switch it off.",
    ),
    Action(
        "pr_open",
        "o",
        "Open in the browser",
        scope="pull request",
        hint="browser",
        help="The check or comment under the cursor, or the pull request.",
    ),
    Action("pr_copy", "y", "Copy the address", scope="pull request", hint="copy"),
    Action("pr_next_part", "tab", "Next part of the page", scope="pull request"),
    Action("pr_previous_part", "shift+tab", "Previous part of the page", scope="pull request"),
    Action(
        "pr_refresh", "f5", "Ask the hosting service again", scope="pull request", hint="refresh"
    ),
    Action("pr_back", "escape,q", "Back", scope="pull request", hint="back"),
)
