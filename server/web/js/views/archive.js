// @ts-check
// What was put away: worktrees and sessions, to bring back or to delete for good.

import { confirm } from "../dialogs.js";
import { button, make, renew } from "../dom.js";
import { hashOf } from "../router.js";
import { counted } from "../words.js";
import { deleteWorktree } from "./removing.js";

/** @type {import("../app.js").MakeView} */
export function archiveView(app) {
  const list = make("div.list");
  const draw = () => {
    const worktrees = [...app.state.worktrees.values()].filter((worktree) => worktree.archived_at);
    const sessions = [...app.state.sessions.values()].filter(
      (session) => session.archived_at && !app.state.worktrees.get(session.worktree_id)?.archived_at,
    );
    const rows = [
      ...worktrees.map((worktree) => row(worktree, "worktree", app.state.projects.get(worktree.project_id)?.name)),
      ...sessions.map((session) => row(session, "session", app.state.placeOf(session).worktree?.name)),
    ];
    renew(list, rows.length ? rows : [make("p.hint", "Nothing is archived.")]);
  };
  /** @param {any} item @param {"worktree" | "session"} kind @param {string | undefined} where */
  const row = (item, kind, where) => {
    const given = { [`${kind}Id`]: item.id };
    const forGood = async () => {
      if (kind === "worktree") return deleteWorktree(app, item);
      const told = `Its ${counted(item.message_count, "message")} cannot be brought back.`;
      if (!(await confirm(`Delete ${item.name} for good?`, told, "Delete for good", { danger: true }))) return undefined;
      return app.run("delete_session", given);
    };
    const name = kind === "session" ? make("a", item.name, { href: hashOf("session", item.id) }) : item.name;
    return make(
      "section.archived",
      make("p", make("b", name), " ", make("small", `${kind} · ${where ?? ""} · ${new Date(item.archived_at * 1000).toLocaleDateString()}`)),
      make("div.choices", button("Bring back", () => app.run(`unarchive_${kind}`, given)), button("Delete", forGood, ".danger")),
    );
  };
  return { title: "Archive", element: make("div.page", list), changed: (change) => change.tree && draw() };
}
