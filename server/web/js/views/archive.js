// @ts-check
// The archive: restores and deletes archived worktrees and sessions, and recovery points of what was deleted.

import { ageElement } from "../age.js";
import { button, make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";
import { recoveryRow } from "./recovery_points.js";
import { confirmDeletion, deleteWorktree } from "./removal.js";

const PAGE_SIZE = 100;
const CHANGES = new Set(["recovery:created", "recovery:restored"]);

/** @type {import("../app.js").MakeView} */
export function archiveView(app) {
  const list = make("div.rows-list");
  /** @type {import("./recovery_points.js").RecoveryPoint[]} */ let points = [];
  const load = async () => {
    const page = await app.read("list_recovery_points", { limit: PAGE_SIZE });
    if (page) show(page, page);
    else draw();
  };
  const loadMore = async () => {
    /** @type {import("./recovery_points.js").RecoveryPoint[] | undefined} */
    const page = await app.read("list_recovery_points", { limit: PAGE_SIZE, offset: points.length });
    if (page) show([...points, ...page], page);
  };
  const more = button("Show more", loadMore, "", { hidden: true });
  /** @param {import("./recovery_points.js").RecoveryPoint[]} all @param {import("./recovery_points.js").RecoveryPoint[]} page */
  const show = (all, page) => {
    points = all;
    more.hidden = page.length < PAGE_SIZE;
    draw();
  };
  const empty = make("div.empty", icon("archive"), make("h2", "The archive is empty."), make("p", "Archived worktrees and sessions keep everything, and can be restored from here. So can what was deleted, for some time."));
  const draw = () => {
    const worktrees = [...app.state.worktrees.values()].filter((worktree) => worktree.archived_at);
    const sessions = [...app.state.sessions.values()].filter(
      (session) => session.archived_at && !app.state.worktrees.get(session.worktree_id)?.archived_at,
    );
    const rows = [
      ...worktrees.map((worktree) => row(worktree, "worktree", app.state.projects.get(worktree.project_id)?.name)),
      ...sessions.map((session) => row(session, "session", app.state.parentsOf(session).worktree?.name)),
      ...points.map((point) => recoveryRow(app, point, load)),
    ];
    list.hidden = !rows.length;
    empty.hidden = rows.length > 0;
    patchChildren(list, rows);
  };
  /** @param {any} item @param {"worktree" | "session"} kind @param {string | undefined} parentName */
  const row = (item, kind, parentName) => {
    const args = { [`${kind}Id`]: item.id };
    const deleteItem = async () => {
      if (kind === "worktree") return deleteWorktree(app, item);
      if (!(await confirmDeletion(app, item))) return undefined;
      return app.run("delete_session", args);
    };
    const name = kind === "session" ? make("a", item.name, { href: hashFor("session", item.id) }) : item.name;
    return make(
      "section.archived",
      make("p.grow", make("b", name), make("small", `${[kind, parentName].filter(Boolean).join(" · ")} · `, ageElement(item.archived_at))),
      button([icon("restore"), "Restore"], () => app.run(`unarchive_${kind}`, args)),
      button(icon("trash"), deleteItem, ".danger.quiet.icon-only", { title: "Delete", "aria-label": "Delete" }),
    );
  };
  load();
  return {
    title: "Archive",
    element: make("div.page", empty, list, more),
    update: (change) => change.tree && draw(),
    handleReload: load,
    handleEvent: (name) => CHANGES.has(name) && load(),
  };
}
