// @ts-check
// The view of a project or folder: its items, and actions to create and adopt worktrees.

import { missingView } from "../app.js";
import { avatarElement } from "../avatars.js";
import { choose } from "../dialogs.js";
import { button, make, syncKeyed, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { sessionLink } from "../links.js";
import { gitMarks } from "../marks.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { changePicture, deleteFolder, editScripts, moveBy, moveToFolder, newFolder, removeProject, renameFolder } from "./project_actions.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {() => unknown} Do
 * @typedef {{ path: string, branch: string | null, ignored: boolean }} Outside
 */

/** @type {import("../app.js").MakeView} */
export function projectView(app, route) {
  if (!app.state.projects.has(route.id)) return missingView(app, "projects", route.id);
  const project = () => app.state.projects.get(route.id);
  const head = make("div.page-head");
  const list = make("div.list");
  const emptyNote = make("p.hint");
  const outsideList = make("div.list", { "aria-live": "polite" });
  const element = make("div.page", head, list, emptyNote, outsideList);

  /** @param {Resource} current */
  const headParts = (current) => {
    const more = button(icon("more"), () => openMenu(app, current, () => showOutside(project() ?? current, { all: true })), ".icon-only", { title: "More", "aria-label": "More actions" });
    if (current.is_folder) {
      return [make("div.choices", button([icon("plus"), "Add a project"], () => performAction(app, "add_project"), ".primary"), button("New folder", () => newFolder(app, current.id))), more];
    }
    const settings = button("Settings", () => performAction(app, "project_settings"));
    const landing = make("a.button.to-landing", icon("merge"), make("span.wide-label", "Landing"), { href: hashFor("landing", current.id), "aria-label": "Landing" });
    const identity = make("div.identity", current.avatar_path && avatarElement(current), make("p.path", current.path));
    return [identity, make("a.button.primary", icon("edit"), "New task", { href: hashFor("new", "", { project: current.id }) }), landing, settings, more];
  };

  let shownOutside = "";
  /** Show the worktrees created outside Spinney: those that are offered, or with `all` the ignored ones too. @param {Resource} current */
  async function showOutside(current, { all = false } = {}) {
    const shown = JSON.stringify([current.outside_worktrees ?? 0, current.ignored_worktrees ?? []]);
    if (!all && (shown === shownOutside || current.is_folder)) return;
    shownOutside = shown;
    if (!all && !current.outside_worktrees) return outsideList.replaceChildren();
    /** @type {Outside[] | undefined} */
    const found = await (all ? app.run : app.read).call(app, "list_outside_worktrees", { projectId: current.id, includeIgnored: all });
    if (!found) return;
    const offered = found.filter(({ ignored }) => !ignored).length;
    const title = offered ? `Found ${pluralize(offered, "worktree")} created outside Spinney` : found.length ? "Worktrees created outside Spinney" : "There are no other worktrees of this repository.";
    outsideList.replaceChildren(make("section.card.outside", make("h2", title), ...found.map((worktree) => outsideRow(current.id, worktree))));
  }

  /** @param {string} projectId @param {Outside} worktree */
  function outsideRow(projectId, { path, branch, ignored }) {
    const adopt = button(`Adopt ${branch ?? "(no branch)"}`, async () => {
      const adopted = await app.run("adopt_worktree", { projectId, path });
      if (adopted) app.go("worktree", adopted.id);
    });
    const change = button(ignored ? "Offer again" : "Ignore", () => app.run("ignore_outside_worktree", { projectId, path, ignored: !ignored }), ".quiet", {
      title: ignored ? "Offer it again" : "Do not offer it again",
    });
    return make("div.outside-row", make("span.path", path), ignored && make("small", "ignored"), make("span.choices", adopt, change));
  }

  let shownHead = "";
  const draw = () => {
    const current = project();
    if (!current) return app.showRoute();
    const signature = JSON.stringify([current.path, current.avatar_path]);
    if (signature !== shownHead) head.replaceChildren(...headParts(current));
    shownHead = signature;
    showOutside(current);
    const worktrees = app.state.worktreesOf(current.id);
    const items = current.is_folder ? app.state.itemsIn(current.id) : worktrees;
    emptyNote.hidden = items.length > 0;
    emptyNote.textContent = current.is_folder ? "This folder is empty." : "No worktrees yet. A worktree is a branch with its own directory, in which an agent works.";
    list.classList.toggle("rows-list", Boolean(current.is_folder));
    if (current.is_folder) patchChildren(list, items.map((item) => make("p", icon(item.is_folder ? "folder" : "project"), make("a.grow", item.name, { href: hashFor("project", item.id) }))));
    else syncKeyed(list, worktrees, (worktree) => worktree.id, worktreeElement);
  };

  /** @param {Resource} worktree @param {HTMLElement | undefined} old */
  const worktreeElement = (worktree, old) => {
    const section = old ?? make("section.card");
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

/** Show what else can be done with a project or folder. @param {App} app @param {Resource} item @param {Do} listOutside */
async function openMenu(app, item, listOutside) {
  const siblings = app.state.itemsIn(item.parent_id ?? null);
  /** @type {(false | [string, Do, { icon: string, danger?: boolean, isApart?: boolean }])[]} */
  const order = [
    siblings[0]?.id !== item.id && ["Move up", () => moveBy(app, item, -1), { icon: "chevron-up", isApart: true }],
    siblings.at(-1)?.id !== item.id && ["Move down", () => moveBy(app, item, +1), { icon: "chevron-down" }],
    ["Move to a folder…", () => moveToFolder(app, item), { icon: "folder" }],
  ];
  /** @type {typeof order} */
  const folder = [["Rename", () => renameFolder(app, item), { icon: "edit" }], ...order, ["Delete the folder", () => deleteFolder(app, item), { icon: "trash", danger: true }]];
  /** @type {typeof order} */
  const project = [
    ["Work in the main checkout", () => openBase(app, item), { icon: "terminal" }],
    ["Adopt a worktree", listOutside, { icon: "branch" }],
    ["Open work", () => app.go("work", item.id), { icon: "label" }],
    ["Conflicts to come", () => performAction(app, "show_conflicts"), { icon: "warning" }],
    ["Sweep: sizes, archive, delete", () => app.go("sweep", item.id), { icon: "trash" }],
    ["Compare branches or worktrees", () => app.go("compare", item.id), { icon: "diff" }],
    ["Share the project…", () => performAction(app, "share_project"), { icon: "external" }],
    ["Release notes…", () => performAction(app, "release_notes"), { icon: "edit" }],
    ["Scripts…", () => editScripts(app, item), { icon: "play" }],
    ["Picture…", () => changePicture(app, item), { icon: "image" }],
    ["Refresh", () => app.run("fetch_worktrees_status", { projectId: item.id }), { icon: "refresh" }],
    ...order,
    ["Remove from Spinney", () => removeProject(app, item), { icon: "trash", danger: true }],
  ];
  const entries = (item.is_folder ? folder : project).filter((entry) => entry !== false);
  const chosen = await choose(item.name, entries);
  await chosen?.();
}

/** @param {App} app @param {Resource} project */
async function openBase(app, project) {
  const base = await app.run("open_base_worktree", { projectId: project.id });
  if (base) app.go("worktree", base.id);
}
