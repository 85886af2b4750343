// @ts-check
// Release notes of a project, written by an agent, to be read and copied.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { copyText } from "../session/blocks.js";
import { labeled } from "./form_fields.js";
import { loadStylesheet } from "./stylesheet.js";

/** @param {import("../app.js").App} app @param {string} projectId */
export async function releaseNotes(app, projectId) {
  const project = app.state.projects.get(projectId);
  if (!project || project.is_folder) return app.toast("Open a project first.");
  await loadStylesheet("forms");
  const title = `Release notes of ${project.name}`;
  const since = make("input", { placeholder: "The newest tag", autocomplete: "off", spellcheck: false });
  const text = make("textarea.release-notes", { rows: 14, "aria-label": "Release notes", hidden: true });
  const status = make("p.hint", "An agent writes about the commits of the default branch after this tag or commit.", { role: "status" });
  const write = make("button.primary", "Write");
  const copyLabel = make("span", "Copy");
  const copy = button([icon("copy"), copyLabel], () => copyText(text.value, copyLabel), "", { hidden: true });
  const form = make("form.fields", labeled("Since", since), status, text, make("div.choices", write, copy, button("Close", () => dialog.close())));
  /** @type {HTMLDialogElement} */
  const dialog = make("dialog", make("h2", title), form, { "aria-label": title });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (write.disabled) return;
    write.disabled = true;
    status.classList.remove("bad");
    status.textContent = "Writing the release notes …";
    try {
      const notes = await app.connection.call("write_release_notes", { projectId, ...(since.value.trim() ? { since: since.value.trim() } : {}) });
      text.value = notes.text;
      text.hidden = copy.hidden = false;
      status.textContent = notes.since ? `Since ${notes.since}.` : "Of all commits.";
      write.textContent = "Write again";
      text.focus();
    } catch (error) {
      status.textContent = /** @type {Error} */ (error).message;
      status.classList.add("bad");
    }
    write.disabled = false;
  });
  showDialog(dialog);
  return undefined;
}
