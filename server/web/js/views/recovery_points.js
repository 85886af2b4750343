// @ts-check
// Recovery points in the archive: what was kept of deleted or changed worktrees and of deleted sessions. Restores and
// deletes them.

import { confirm, choose } from "../dialogs.js";
import { ageElement } from "../age.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { pluralize } from "../format.js";

const MAX_FILES = 200; // files to choose from in the menu
const KILOBYTE = 1e3;
const MEGABYTE = 1e6;

/**
 * @typedef {object} RecoveryPoint
 * @property {string} recovery_id
 * @property {string} kind
 * @property {string} name of the worktree, session or project
 * @property {string} branch
 * @property {number} created_at
 * @property {string} reason
 * @property {number} size_bytes
 * @property {number} files
 * @property {number} sessions
 * @property {boolean} sessions_only
 * @property {number} left_out
 * @property {string} project_id
 */

/** Restore the sessions of a point without files. @param {import("../app.js").App} app @param {RecoveryPoint} point */
export async function restoreSessions(app, point) {
  const sessions = await app.run("restore_sessions", { recoveryId: point.recovery_id });
  if (!sessions) return;
  if (point.kind === "remove project") app.go("project", point.project_id);
  else app.go("session", sessions[0].id);
  app.toast(`Restored ${point.name}.`, { isValid: () => true });
}

/** Where deleted things can be restored, and for how long. @param {import("../app.js").App} app @param {string} [what] */
export function describeRecovery(app, what = "It") {
  const days = app.state.preferences.recovery_keep_days;
  return `${what} can be restored from the archive${days ? ` for ${pluralize(days, "day")}` : ""}.`;
}

/** A row of the archive. @param {import("../app.js").App} app @param {RecoveryPoint} point @param {() => unknown} reload */
export function recoveryRow(app, point, reload) {
  const args = { recoveryId: point.recovery_id };
  const project = app.state.projects.get(point.project_id)?.name;
  const size = point.size_bytes < 0.1 * MEGABYTE ? `${Math.ceil(point.size_bytes / KILOBYTE)} KB` : `${(point.size_bytes / MEGABYTE).toFixed(1)} MB`;
  const facts = [
    point.reason,
    project,
    point.branch !== point.name && point.branch,
    !point.sessions_only && pluralize(point.files, "file"),
    size,
    point.sessions > 0 && point.kind !== "delete session" && pluralize(point.sessions, "session"),
    point.left_out > 0 && `${point.left_out} not kept`,
  ];
  const restoreWorktree = async () => {
    const worktree = await app.run("restore_worktree", args);
    if (worktree) app.go("worktree", worktree.id);
  };
  const restore = async () => {
    if (point.sessions_only) return restoreSessions(app, point);
    if (point.kind === "delete") return restoreWorktree();
    const files = await app.read("list_recovery_files", args);
    if (!files) return undefined;
    const present = files.filter((/** @type {{ status: string }} */ file) => file.status !== "deleted").slice(0, MAX_FILES);
    /** @type {import("../dialogs.js").MenuEntry<() => unknown>[]} */
    const entries = [
      ["Everything, as a new worktree", restoreWorktree, { icon: "restore" }],
      ...present.map((/** @type {{ path: string }} */ { path }) => /** @type {import("../dialogs.js").MenuEntry<() => unknown>} */ ([path, () => restoreFile(path), { icon: "file" }])),
    ];
    return (await choose(`Restore from ${point.name}`, entries))?.();
  };
  /** @param {string} path */
  const restoreFile = async (path) => {
    if ((await app.run("restore_files", { ...args, paths: [path] })) !== undefined) app.toast(`Restored ${path} in ${point.name}.`);
  };
  const deletePoint = async () => {
    const question = `Delete the recovery point of ${point.name}?`;
    if (!(await confirm(question, "What it keeps cannot be restored then.", "Delete permanently", { danger: true }))) return;
    if ((await app.run("delete_recovery_point", args)) !== undefined) reload();
  };
  return make(
    "section.archived",
    make("p.grow", make("b", point.name), make("small", `${facts.filter(Boolean).join(" · ")} · `, ageElement(point.created_at))),
    button([icon("restore"), "Restore"], restore),
    button(icon("trash"), deletePoint, ".danger.quiet.icon-only", { title: "Delete", "aria-label": "Delete" }),
  );
}
