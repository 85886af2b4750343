// @ts-check
// The view of a project or folder: its items, and actions to create and adopt worktrees.

import { missingView } from "../app.js";
import { ask, confirm } from "../dialogs.js";
import { button, make, syncKeyed, patchChildren } from "../dom.js";
import { sessionLink } from "../links.js";
import { gitMarks } from "../marks.js";
import { hashFor } from "../router.js";

/** @type {import("../app.js").MakeView} */
export function projectView(app, route) {
  if (!app.state.projects.has(route.id)) return missingView(app, "projects", route.id);
  const project = () => app.state.projects.get(route.id);
  const path = make("p.path");
  const list = make("div.list");
  const emptyNote = make("p.hint", "No worktrees yet. A worktree is a branch with its own directory, in which an agent works.");
  const outsideList = make("div.list", { "aria-live": "polite" });
  const element = make("div.page", path, list, emptyNote, make("div.choices", actions()), outsideList);

  function actions() {
    const current = project();
    if (!current || current.is_folder) return [];
    return [
      make("a.button.primary", "New worktree", { href: hashFor("new", "", { project: current.id }) }),
      button("Session in the project directory", async () => {
        const base = await app.run("open_base_worktree", { projectId: current.id });
        if (base) app.go("worktree", base.id);
      }),
      button("Adopt a worktree", () => listOutside(current.id)),
      button("Settings", () => import("./project-settings.js").then((module) => module.projectSettings(app, current.id))),
      make("a.button", "Archive", { href: hashFor("archive") }),
      button("Refresh", () => app.run("fetch_worktrees_status", { projectId: current.id })),
      button("Remove from Spinney", () => removeProject(current), ".danger"),
    ];
  }

  /** List worktrees created outside Spinney, to adopt them. @param {string} projectId */
  async function listOutside(projectId) {
    const found = await app.run("list_outside_worktrees", { projectId });
    if (!found) return;
    const emptyHint = make("p.hint", "There are no other worktrees of this repository.");
    patchChildren(outsideList, found.length ? found.map((/** @type {any} */ worktree) => make("p", adoptRow(projectId, worktree))) : [emptyHint]);
  }

  /** @param {string} projectId @param {{ path: string, branch: string | null }} worktree */
  function adoptRow(projectId, worktree) {
    const name = button(`Adopt ${worktree.branch ?? "(no branch)"}`, async () => {
      const adopted = await app.run("adopt_worktree", { projectId, path: worktree.path });
      if (adopted) app.go("worktree", adopted.id);
    });
    return [name, " ", make("span.path", worktree.path)];
  }

  /** @param {import("../state.js").Resource} current */
  async function removeProject(current) {
    const details = "Its worktrees and sessions will not be shown any more. No files are deleted.";
    if (!(await confirm(`Remove ${current.name} from Spinney?`, details, "Remove", { danger: true }))) return;
    if ((await app.run("remove_project", { projectId: current.id })) !== undefined) app.go("needs");
  }

  const draw = () => {
    const current = project();
    if (!current) return app.showRoute();
    const worktrees = app.state.worktreesOf(current.id);
    path.hidden = current.is_folder;
    path.textContent = current.path;
    emptyNote.hidden = current.is_folder || worktrees.length > 0;
    if (current.is_folder) patchChildren(list, app.state.itemsIn(current.id).map((item) => make("p", make("a", item.name, { href: hashFor("project", item.id) }))));
    else syncKeyed(list, worktrees, (worktree) => worktree.id, worktreeElement);
  };

  /** @param {import("../state.js").Resource} worktree @param {HTMLElement | undefined} old */
  const worktreeElement = (worktree, old) => {
    const section = old ?? make("section");
    patchChildren(section, [
      make("h2", make("a", worktree.name, { href: hashFor("worktree", worktree.id) }), " ", gitMarks(worktree)),
      ...app.state.sessionsOf(worktree.id).map((session) => make("p", sessionLink(session))),
    ]);
    return section;
  };

  return {
    get title() {
      return project()?.name ?? "Spinney";
    },
    element,
    update: (change) => change.tree && draw(),
  };
}

/** Add a project by its path on the machine that runs Spinney. @param {import("../app.js").App} app */
export async function addProject(app) {
  await ask("Path of the repository", {
    label: "Add",
    hint: "On the machine that runs Spinney. ~ is its user's home directory.",
    async submit(text) {
      if (!text.trim()) throw new Error("Enter the path of a git repository.");
      const project = await app.connection.call("add_project", { path: text.trim() });
      app.go("project", project.id);
    },
  });
}
