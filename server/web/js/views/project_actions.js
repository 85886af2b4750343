// @ts-check
// What can be done with a project or folder: picture, order, folders, scripts, removal.

import { ask, choose, confirm, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { labeled } from "./form_fields.js";
import { describeRecovery, restoreSessions } from "./recovery_points.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const MAX_PICTURE = 2 * 1024 * 1024; // bytes

/** Move a project or folder up or down among its siblings. @param {App} app @param {Resource} item @param {number} offset */
export function moveBy(app, item, offset) {
  const parentId = item.parent_id ?? null;
  const siblings = app.state.itemsIn(parentId);
  const index = siblings.findIndex(({ id }) => id === item.id) + offset;
  if (index < 0 || index >= siblings.length) return undefined;
  return app.run("move_item", { itemId: item.id, newParentId: parentId, targetIndex: index });
}

/** Choose the folder of a project or folder. @param {App} app @param {Resource} item */
export async function moveToFolder(app, item) {
  const folders = [...app.state.projects.values()].filter((folder) => folder.is_folder && !isWithin(app, folder, item.id));
  const target = await choose(`Move ${item.name} to`, [
    ["No folder", "", { icon: "home" }],
    ...folders.map((folder) => /** @type {import("../dialogs.js").MenuEntry<string>} */ ([pathOf(app, folder), folder.id, { icon: "folder" }])),
    ["New folder…", "\0new", { icon: "plus", isApart: true }],
  ]);
  if (target === null) return;
  const parentId = target === "\0new" ? await newFolder(app, null) : target || null;
  if (parentId !== undefined) await app.run("move_item", { itemId: item.id, newParentId: parentId });
}

/** @param {App} app @param {Resource} folder @param {string} id whether the folder is this item, or is in it */
function isWithin(app, folder, id) {
  for (let each = /** @type {Resource | undefined} */ (folder); each; each = app.state.projects.get(each.parent_id ?? "")) if (each.id === id) return true;
  return false;
}

/** @param {App} app @param {Resource} folder */
function pathOf(app, folder) {
  const names = [];
  for (let each = /** @type {Resource | undefined} */ (folder); each; each = app.state.projects.get(each.parent_id ?? "")) names.unshift(each.name);
  return names.join(" ▸ ");
}

/** Ask for a name and create a folder; returns its id, or `undefined`. @param {App} app @param {string | null} parentId @returns {Promise<string | undefined>} */
export async function newFolder(app, parentId) {
  /** @type {string | undefined} */ let id;
  await ask("New folder", {
    label: "Create",
    submit: async (name) => {
      const parent = parentId ? { parentId } : {};
      id = (await app.connection.call("create_folder", { name: name.trim(), ...parent })).id;
    },
  });
  return id;
}

/** @param {App} app @param {Resource} folder */
export function renameFolder(app, folder) {
  return ask("Name of the folder", {
    value: folder.name,
    label: "Rename",
    submit: (name) => app.connection.call("rename_folder", { folderId: folder.id, name: name.trim() }),
  });
}

/** @param {App} app @param {Resource} folder */
export async function deleteFolder(app, folder) {
  if ((await app.run("delete_folder", { folderId: folder.id })) !== undefined) app.go("needs");
}

/** @param {App} app @param {Resource} project */
export async function removeProject(app, project) {
  const worktrees = [...app.state.worktrees.values()].filter((worktree) => worktree.project_id === project.id);
  const hasSessions = worktrees.some(({ id }) => [...app.state.sessions.values()].some((session) => session.worktree_id === id));
  const details = `Its files and branches are kept. ${hasSessions ? describeRecovery(app, "Its worktrees and sessions") : ""}`;
  if (!(await confirm(`Remove ${project.name} from Spinney?`, details, "Remove", { danger: true }))) return;
  if ((await app.run("remove_project", { projectId: project.id })) !== undefined) app.go("needs");
}

/** Offer the sessions that a project had when it was removed from Spinney. @param {App} app @param {Resource} project */
export async function offerSessions(app, project) {
  /** @type {import("./recovery_points.js").RecoveryPoint[] | undefined} */
  const points = await app.read("list_recovery_points", { projectId: project.id });
  const point = points?.find(({ kind }) => kind === "remove project");
  if (!point) return;
  const details = `Its worktrees and ${pluralize(point.sessions, "session")} can be restored.`;
  if (await confirm(`${project.name} was in Spinney before`, details, "Restore")) await restoreSessions(app, point);
}

/** Choose, find or remove the picture of a project. @param {App} app @param {Resource} project */
export async function changePicture(app, project) {
  const args = { projectId: project.id };
  const source = await choose(`Picture of ${project.name}`, [
    ["Choose a file…", "file", { icon: "image" }],
    ["Use the logo of the repository", "logo", { icon: "search" }],
    ...(project.avatar_path ? [/** @type {import("../dialogs.js").MenuEntry<string>} */ (["Remove the picture", "remove", { icon: "trash", danger: true }])] : []),
  ]);
  if (source === "logo") await app.run("set_project_avatar", args);
  else if (source === "remove") await app.run("remove_project_avatar", args);
  else if (source === "file") {
    const file = await pickFile();
    if (!file) return;
    if (file.size > MAX_PICTURE) return app.toast("The picture is larger than 2 MiB. Choose a smaller one.", { bad: true });
    await app.run("set_project_avatar", { ...args, data: await readBase64(file) });
  }
}

/** @returns {Promise<File | undefined>} */
function pickFile() {
  return new Promise((resolve) => {
    const input = make("input", { type: "file", accept: "image/png,image/jpeg,image/webp,image/gif" });
    input.addEventListener("change", () => resolve(input.files?.[0]));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}

/** @param {File} file @returns {Promise<string>} */
function readBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^.*?,/, "")));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

/** @type {[string, string, string][]} */
const SCRIPTS = [
  ["setup", "Setup", "Runs in each new worktree before its first message is sent."],
  ["run", "Run", "Starts the program. You start and stop it."],
  ["teardown", "Teardown", "Runs before a worktree is deleted."],
  ["check", "Check", "Checks the files of a worktree before its branch lands. You start it."],
];

/** Edit the scripts of a repository. @param {App} app @param {Resource} project */
export async function editScripts(app, project) {
  const known = await app.run("get_project_scripts", { projectId: project.id });
  if (!known) return;
  const title = `Scripts of ${project.name}`;
  const dialog = make("dialog.scripts", make("h2", title), { "aria-label": title });
  const problem = make("p.bad", { role: "alert" });
  const save = make("button.primary", "Save and trust");
  const textOf = (/** @type {string} */ name) => {
    const script = known.find((/** @type {any} */ each) => each.name === name);
    return script ? (script.hidden ? script.shown : script.text) : "";
  };
  const fields = SCRIPTS.map(([name, label, help]) => ({ name, label, help, before: textOf(name), field: make("textarea.script-text", { rows: 2, value: textOf(name), spellcheck: false, "aria-label": label }) }));
  const form = make(
    "form.fields",
    make("p.hint", "Saved in spinney.json in the repository. Commit the file, so that new worktrees have it."),
    fields.map(({ label, help, field }) => make("div.field", labeled(label, field), make("small", help))),
    problem,
    make("div.choices", save, button("Cancel", () => dialog.close())),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    save.disabled = true;
    const changed = fields.filter(({ field, before }) => field.value !== before).map(({ name, field }) => [name, field.value.trim() || null]);
    try {
      if (changed.length) await app.connection.call("save_project_scripts", { projectId: project.id, scripts: Object.fromEntries(changed) });
      dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
      save.disabled = false;
    }
  });
  dialog.append(form);
  showDialog(dialog, undefined, () => editScripts(app, project));
}
