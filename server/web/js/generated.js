// @ts-check
// Generated from the code by `make docs`.

/** Titles of the actions that the terminal has too, by id. */
export const TITLES = {
  commands: "All commands",
  next_waiting: "Go to the next session that needs you",
  canvas: "All sessions on one screen (canvas)",
  new_worktree: "New worktree",
  new_session: "New session",
  cycle_mode: "Change the mode: plan, build, yolo",
  stop: "Stop the run of this session",
  previous_session: "Go to the session before",
  next_session: "Go to the session after",
  open_diff: "What the worktree changes (diff)",
  commit: "Commit",
  pull_request: "Pull request: propose the branch, or show where it is",
  search: "Search all messages",
  toggle_tree: "Show or hide the projects",
  rename_session: "Rename the session",
  begin_afresh: "Begin afresh, with the same agent and mode",
  choose_model: "Choose the session's model",
  choose_agent: "Choose the session's agent",
  choose_thinking: "Choose how much the session thinks",
  show_raw_log: "Show the raw log",
  archive_session: "Archive the session",
  delete_session: "Delete the session for good",
  archive_worktree: "Archive the worktree",
  add_project: "Add a project",
  project_settings: "Settings of the project",
  show_archive: "Archive: bring back worktrees and sessions, or delete them for good",
  preferences: "Preferences",
  server: "Server: address, token, QR code",
  help: "Help: keys and marks",
};

/** Fields of `git:status-update` that have another name in worktrees. */
export const GIT_STATUS_FIELDS = {
  ahead: "cached_ahead_count",
  behind: "cached_behind_count",
  uncommitted_added: "cached_uncommitted_added",
  uncommitted_removed: "cached_uncommitted_removed",
  branch_diff_added: "cached_branch_diff_added",
  branch_diff_removed: "cached_branch_diff_removed",
  unpushed: "cached_unpushed_count",
  conflicts: "cached_conflict_count",
  checked_at: "cached_status_at",
};
