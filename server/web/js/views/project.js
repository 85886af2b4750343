// @ts-check
// A project or a folder: what is in it, and what can begin there.

import { gone } from "../app.js";
import { ask, confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { gitMarks } from "../marks.js";
import { sessionHere } from "../needs.js";
import { hashOf } from "../router.js";

/** @type {import("../app.js").MakeView} */
export function projectView(app, route) {
  if (!app.state.projects.has(route.id)) return gone(app, "projects", route.id);
  const project = () => app.state.projects.get(route.id);
  const list = make("div.list");
  const element = make("div.page", list, make("div.choices", actions()));

  function actions() {
    const known = project();
    if (!known || known.is_folder) return [];
    return [
      make("a.button.primary", "New worktree", { href: hashOf("new", "", { project: known.id }) }),
      button("Session in its own directory", async () => {
        const base = await app.run("open_base_worktree", { projectId: known.id });
        if (base) app.go("worktree", base.id);
      }),
      make("a.button", "Archive", { href: hashOf("archive") }),
      button("Ask git anew", () => app.run("fetch_worktrees_status", { projectId: known.id })),
      button("Take out of Spinney", () => takeOut(known), ".danger"),
    ];
  }

  /** @param {import("../state.js").Resource} known */
  async function takeOut(known) {
    const told = "Its worktrees and sessions are not shown any more. No file is deleted.";
    if (!(await confirm(`Take ${known.name} out of Spinney?`, told, "Take it out", { danger: true }))) return;
    if ((await app.run("remove_project", { projectId: known.id })) !== undefined) app.go("needs");
  }

  const draw = () => {
    const known = project();
    if (!known) return app.show();
    if (known.is_folder) list.replaceChildren(...app.state.itemsIn(known.id).map((item) => make("p", make("a", item.name, { href: hashOf("project", item.id) }))));
    else list.replaceChildren(make("p.path", known.path), ...app.state.worktreesOf(known.id).map(worktreeElement));
    if (!known.is_folder && !app.state.worktreesOf(known.id).length) {
      list.append(make("p.hint", "No worktree yet: a branch with a directory of its own, where an agent works."));
    }
  };

  /** @param {import("../state.js").Resource} worktree */
  const worktreeElement = (worktree) =>
    make(
      "section",
      make("h2", make("a", worktree.name, { href: hashOf("worktree", worktree.id) }), " ", gitMarks(worktree)),
      app.state.sessionsOf(worktree.id).map((session) => make("p", sessionHere(session))),
    );

  return {
    get title() {
      return project()?.name ?? "Spinney";
    },
    element,
    changed: (change) => change.tree && draw(),
  };
}

/** Add a project by its path on Spinney's machine. @param {import("../app.js").App} app */
export async function addProject(app) {
  const path = await ask("Path of the repository", { yes: "Add", hint: "On the machine that Spinney runs on; ~ is its user's home." });
  if (!path?.trim()) return;
  const made = await app.run("add_project", { path: path.trim() });
  if (made) app.go("project", made.id);
}
