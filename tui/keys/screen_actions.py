"""The actions of the canvas, the diff and the log, with their keys and names."""

from tui.keys.action import Action

SCREEN_ACTIONS = (
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
    Action("diff_accept", "y", "Accept the hunk: stage it", scope="diff", hint="accept"),
    Action(
        "diff_reject", "n", "Reject the hunk: revert it, with a reason", scope="diff", hint="reject"
    ),
    Action(
        "diff_undo_verdict", "Z", "Take the last verdict back", scope="diff", hint="undo verdict"
    ),
    Action(
        "diff_send_verdicts",
        "N",
        "Send the rejected hunks and their reasons to a session",
        scope="diff",
        hint="send rejections",
    ),
    Action(
        "diff_review",
        "R",
        "Let an agent review the changes, or stop it",
        scope="diff",
        hint="agent review",
    ),
    Action("diff_next_finding", "f", "Next finding of the review", scope="diff", hint="finding"),
    Action(
        "diff_fix",
        "F",
        "Send the finding, or all open ones, to a session to be fixed",
        scope="diff",
        hint="fix",
    ),
    Action("diff_dismiss", "D", "Dismiss the finding", scope="diff"),
    Action("diff_findings", "L", "List the findings of the review", scope="diff", hint="findings"),
    Action(
        "diff_compare",
        "equals_sign",
        "Compare with another branch or worktree",
        scope="diff",
        hint="compare",
    ),
    Action("diff_stage", "s", "Stage the file or hunk", scope="diff", hint="stage"),
    Action("diff_unstage", "u", "Unstage the file or hunk", scope="diff", hint="unstage"),
    Action("diff_stage_all", "a", "Stage or unstage everything", scope="diff", hint="all"),
    Action(
        "diff_discard", "x", "Discard the file's or hunk's changes", scope="diff", hint="discard"
    ),
    Action(
        "diff_undo",
        "z",
        "Undo the last discard, removal, verdict or choice",
        scope="diff",
        hint="undo",
    ),
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
    Action(
        "diff_why",
        "i",
        "Why is this line here: its turn, prompt and plan",
        scope="diff",
        hint="why",
    ),
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
        "diff_stash", "Y", "Stash: put changes aside, bring them back", scope="diff", hint="stash"
    ),
    Action("diff_layout", "t", "Switch between one and two columns", scope="diff", hint="columns"),
    Action(
        "diff_next_hunk",
        "right_square_bracket,full_stop",
        "Next hunk or file",
        scope="diff",
        hint="next",
    ),
    Action(
        "diff_previous_hunk",
        "left_square_bracket,comma,p",
        "Previous hunk or file",
        scope="diff",
    ),
    Action("diff_refresh", "f5", "Refresh", scope="diff"),
    Action("diff_back", "escape,q", "Back", scope="diff", hint="back"),
    Action("log_amend", "A", "Amend the last commit", scope="log", hint="amend"),
    Action("log_fixup", "f", "Put the staged changes into the commit", scope="log", hint="fix up"),
    Action("log_push", "w", "Push the branch", scope="log", hint="push"),
    Action("log_message", "i", "Show the commit's whole message", scope="log", hint="message"),
    Action("log_copy", "y", "Copy the commit's hash", scope="log", hint="copy hash"),
    Action("log_back", "escape,q", "Back", scope="log", hint="back"),
)
