// @ts-check
// The dialog to add a project: a repository of the machine that runs Spinney, or a clone.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { directoryField } from "./directory_field.js";
import { labeled, segmented } from "./form_fields.js";
import { offerSessions } from "./project_actions.js";
import { loadStylesheet } from "./stylesheet.js";

const PROGRESS_INTERVAL = 500; // ms
const DEFAULT_DIRECTORY = "~/";

/** @param {import("../app.js").App} app @param {{ kind?: "path" | "clone", parentId?: string | null }} [options] */
export async function addProject(app, { kind = "path", parentId = null } = {}) {
  await loadStylesheet("forms");
  const title = "Add a project";
  const dialog = make("dialog.add-project", make("h2", title), { "aria-label": title });
  const parent = parentId ? { parentId } : {};
  const parts = { path: pathForm(app, dialog, parent), clone: cloneForm(app, dialog, parent) };
  const tabs = segmented("Where it is", [["path", "Existing directory"], ["clone", "Clone"]], kind, (chosen) => show(chosen));
  /** @param {string} chosen */
  const show = (chosen) => {
    parts.path.hidden = chosen !== "path";
    parts.clone.hidden = chosen !== "clone";
    parts[/** @type {"path"} */ (chosen)].querySelector("input")?.focus();
  };
  dialog.append(make("div", tabs.element, parts.path, parts.clone));
  showDialog(dialog, undefined, () => addProject(app, { kind, parentId }));
  show(kind);
}

/** @param {import("../app.js").App} app @param {HTMLDialogElement} dialog @param {object} parent */
function pathForm(app, dialog, parent) {
  const { input, element } = directoryField(app, "Path of the repository");
  const problem = make("p.bad", { role: "alert" });
  const submit = make("button.primary", "Add");
  const form = make("form", element, problem, make("div.choices", submit, button("Cancel", () => dialog.close())));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.textContent = "";
    try {
      const project = await app.connection.call("add_project", { path: input.value.trim(), ...parent });
      dialog.close();
      app.go("project", project.id);
      offerSessions(app, project);
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
      input.focus();
    }
    submit.disabled = false;
  });
  return form;
}

/** @param {import("../app.js").App} app @param {HTMLDialogElement} dialog @param {object} parent */
function cloneForm(app, dialog, parent) {
  const url = make("input", { placeholder: "https://… or git@…", "aria-label": "Address of the repository", autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  const directory = make("input", { value: DEFAULT_DIRECTORY, "aria-label": "Directory", autocomplete: "off", spellcheck: false, autocapitalize: "off" });
  const problem = make("p.bad", { role: "alert" });
  const submit = make("button.primary", "Clone");
  const bar = make("progress", { max: 100 });
  const words = make("p.hint", { role: "status" });
  const progress = make("div.field", bar, words, { hidden: true });
  let cloning = ""; // the directory of the clone that is in progress
  const cancel = button("Cancel", async () => {
    if (cloning) await app.connection.call("cancel_clone", { path: cloning }).catch(() => {});
    else dialog.close();
  });
  // The directory follows the address until it is changed by hand.
  let isSuggested = true;
  directory.addEventListener("input", () => (isSuggested = false));
  url.addEventListener("input", () => {
    const name = url.value.trim().replace(/\/+$/, "").replace(/\.git$/, "").split(/[/:]/).at(-1);
    if (isSuggested) directory.value = `${DEFAULT_DIRECTORY}${name ?? ""}`;
  });
  const follow = async () => {
    while (cloning) {
      const now = await app.connection.call("get_clone_progress", { path: cloning }).catch(() => null);
      if (!cloning) break;
      words.textContent = now?.words || "Cloning…";
      const percent = now?.words.match(/(\d+)%/)?.[1];
      if (percent) bar.value = Number(percent);
      else bar.removeAttribute("value");
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_INTERVAL));
    }
  };
  const form = make("form", labeled("Address", url), labeled("Directory", directory), progress, problem, make("div.choices", submit, cancel), { className: "fields" });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.textContent = "";
    cloning = directory.value.trim();
    progress.hidden = false;
    follow();
    try {
      const project = await app.connection.call("clone_project", { url: url.value.trim(), path: cloning, ...parent });
      if (dialog.open) app.go("project", project.id);
      else app.toast(`Cloned ${project.name}.`, { isValid: () => true, action: ["Show", () => app.go("project", project.id)] });
      dialog.close();
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      problem.textContent = message;
      if (!dialog.open) app.toast(message, { bad: true });
    }
    cloning = "";
    progress.hidden = true;
    submit.disabled = false;
  });
  return form;
}
