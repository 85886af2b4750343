// @ts-check
// A project or a folder: what is in it, and what can begin there.

import { gone } from "../app.js";
import { ask, confirm } from "../dialogs.js";
import { button, make, placeKeyed, renew } from "../dom.js";
import { sessionHere } from "../links.js";
import { gitMarks } from "../marks.js";
import { hashOf } from "../router.js";

/** @type {import("../app.js").MakeView} */
export function projectView(app, route) {
  if (!app.state.projects.has(route.id)) return gone(app, "projects", route.id);
  const project = () => app.state.projects.get(route.id);
  const path = make("p.path");
  const list = make("div.list");
  const hint = make("p.hint", "No worktree here yet: a branch with a directory of its own, where an agent works.");
  const outside = make("div.list", { "aria-live": "polite" });
  const element = make("div.page", path, list, hint, make("div.choices", actions()), outside);

  function actions() {
    const known = project();
    if (!known || known.is_folder) return [];
    return [
      make("a.button.primary", "New worktree", { href: hashOf("new", "", { project: known.id }) }),
      button("Session in its own directory", async () => {
        const base = await app.run("open_base_worktree", { projectId: known.id });
        if (base) app.go("worktree", base.id);
      }),
      button("Adopt a worktree", () => offerOutside(known.id)),
      button("Settings", () => import("./project-settings.js").then((made) => made.projectSettings(app, known.id))),
      make("a.button", "Archive", { href: hashOf("archive") }),
      button("Refresh", () => app.run("fetch_worktrees_status", { projectId: known.id })),
      button("Remove from Spinney", () => takeOut(known), ".danger"),
    ];
  }

  /** Those that were made by hand, each to be taken up. @param {string} projectId */
  async function offerOutside(projectId) {
    const found = await app.run("list_outside_worktrees", { projectId });
    if (!found) return;
    const none = make("p.hint", "Every worktree of this repository is here already.");
    renew(outside, found.length ? found.map((/** @type {any} */ one) => make("p", adoptable(projectId, one))) : [none]);
  }

  /** @param {string} projectId @param {{ path: string, branch: string | null }} one */
  function adoptable(projectId, one) {
    const name = button(`Adopt ${one.branch ?? "(no branch)"}`, async () => {
      const adopted = await app.run("adopt_worktree", { projectId, path: one.path });
      if (adopted) app.go("worktree", adopted.id);
    });
    return [name, " ", make("span.path", one.path)];
  }

  /** @param {import("../state.js").Resource} known */
  async function takeOut(known) {
    const told = "Its worktrees and sessions are not shown any more. No file is deleted.";
    if (!(await confirm(`Remove ${known.name} from Spinney?`, told, "Remove", { danger: true }))) return;
    if ((await app.run("remove_project", { projectId: known.id })) !== undefined) app.go("needs");
  }

  const draw = () => {
    const known = project();
    if (!known) return app.show();
    const worktrees = app.state.worktreesOf(known.id);
    path.hidden = known.is_folder;
    path.textContent = known.path;
    hint.hidden = known.is_folder || worktrees.length > 0;
    if (known.is_folder) renew(list, app.state.itemsIn(known.id).map((item) => make("p", make("a", item.name, { href: hashOf("project", item.id) }))));
    else placeKeyed(list, worktrees, (worktree) => worktree.id, worktreeElement);
  };

  /** @param {import("../state.js").Resource} worktree @param {HTMLElement | undefined} old */
  const worktreeElement = (worktree, old) => {
    const section = old ?? make("section");
    renew(section, [
      make("h2", make("a", worktree.name, { href: hashOf("worktree", worktree.id) }), " ", gitMarks(worktree)),
      ...app.state.sessionsOf(worktree.id).map((session) => make("p", sessionHere(session))),
    ]);
    return section;
  };

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
  await ask("Path of the repository", {
    yes: "Add",
    hint: "On the machine that Spinney runs on; ~ is its user's home.",
    async take(given) {
      if (!given.trim()) throw new Error("Write the path of a git repository.");
      const made = await app.connection.call("add_project", { path: given.trim() });
      app.go("project", made.id);
    },
  });
}
