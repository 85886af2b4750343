// @ts-check
// The dialog before an undo or a redo: what happens to each file, with a choice, and what is taken back.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./turns.js").Turn} Turn
 * @typedef {"both" | "files" | "conversation"} Scope
 * @typedef {{ path: string, action: "restore" | "merge" | "conflict" | "keep" | "submodule", others: boolean, deletes: boolean, has_markers: boolean }} UndoneFile
 *
 * @typedef {object} Task
 * @property {string} title
 * @property {string} label of the button
 * @property {Partial<Record<Scope, UndoneFile[]>>} previews what happens to the files, for each scope to choose from
 * @property {number} later how many turns go with the conversation
 * @property {string} before what that choice means
 * @property {(scope: Scope, choices: Record<string, string>) => Promise<any>} perform
 */

/** @type {Record<Scope, string>} */
const SCOPES = { both: "Files and conversation", files: "Files only", conversation: "Conversation only" };
const ACTIONS = { restore: "Restored", merge: "Merged; later changes stay", conflict: "Choose: changed since", keep: "Kept as it is", submodule: "A submodule: not undone" };

/**
 * Ask what to undo of a turn, and undo it.
 * @param {App} app @param {Turn} turn @param {Turn[]} turns all of the session @param {boolean} edits its message is to be edited and sent again
 * @returns {Promise<{ message: string } | null>} its message, if the conversation was taken back; `null` if it was canceled
 */
export async function undoDialog(app, turn, turns, edits) {
  const later = turns.filter((each) => each.number > turn.number && !each.undone);
  const previews = await readPreviews(app, turn, later);
  if (!turn.message_id) delete previews.both;
  else previews.conversation = [];
  if (edits) delete previews.files;
  if (!Object.keys(previews).length) return null;
  const title = `${edits ? "Edit and resend" : "Undo"}: turn ${turn.number}`;
  /** @param {Scope} what @param {Record<string, string>} choices */
  const perform = async (what, choices) => {
    const { message } = await app.connection.call("undo_turn", { turnId: turn.turn_id, what, choices });
    return { message: what === "files" ? "" : message };
  };
  return openDialog({ title, label: edits ? "Undo and edit" : "Undo", previews, later: later.length, before: "Take it as it was before", perform });
}

/**
 * Take back the undo of a turn; ask first if files changed since in the same places.
 * @param {App} app @param {Turn} turn @returns {Promise<object | null | undefined>} nothing if it was canceled or failed
 */
export async function redoTurn(app, turn) {
  const args = { turnId: turn.turn_id };
  const preview = await app.run("preview_redo", args);
  if (!preview) return null;
  const files = /** @type {UndoneFile[]} */ (preview.files);
  if (!files.some((file) => file.action === "conflict")) return app.run("redo_turn", args);
  /** @param {Scope} _ @param {Record<string, string>} choices */
  const perform = (_, choices) => app.connection.call("redo_turn", { ...args, choices });
  return openDialog({ title: `Redo: turn ${turn.number}`, label: "Redo", previews: { files }, later: 0, before: "Take it as before the undo", perform });
}

/** @param {Task} task @returns {Promise<any>} what it returned; `null` if it was canceled */
const openDialog = (task) => new Promise((resolve) => new UndoDialog(task, resolve));

/** What the undo of this turn alone does to the files, and that of all turns since. @param {App} app @param {Turn} turn @param {Turn[]} later @returns {Promise<Partial<Record<Scope, UndoneFile[]>>>} */
async function readPreviews(app, turn, later) {
  const turnId = turn.turn_id;
  const alone = await app.run("preview_undo", { turnId });
  if (!alone) return {};
  const last = later.at(-1);
  const all = last && (await app.run("preview_undo", { turnId, through: last.turn_id }));
  return { files: alone.files, ...(last && !all ? {} : { both: (all ?? alone).files }) };
}

class UndoDialog {
  /** @type {Map<string, HTMLSelectElement>} by path */ #selects = new Map();
  /** @type {any} */ #result = null;

  /** @param {Task} task @param {(result: any) => void} onClose */
  constructor(task, onClose) {
    this.task = task;
    const scopes = /** @type {Scope[]} */ (Object.keys(SCOPES)).filter((scope) => task.previews[scope]);
    this.scope = scopes[0];
    this.hint = make("p.hint", { role: "status" });
    this.list = make("ul.undo-files");
    this.problem = make("p.bad", { role: "alert" });
    this.submit = make("button.primary", task.label, { type: "submit" });
    /** @type {HTMLFormElement} */
    const form = make(
      "form",
      make("fieldset.undo-scope", make("legend", "What to undo"), scopes.map((scope) => this.#scopeField(scope)), { hidden: scopes.length < 2 }),
      this.hint,
      this.list,
      this.problem,
      make("div.choices", this.submit, button("Cancel", () => this.dialog.close())),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#undo();
    });
    /** @type {HTMLDialogElement} */
    this.dialog = make("dialog.undo", make("h2", task.title), form, { "aria-label": task.title });
    this.#draw();
    showDialog(this.dialog, () => onClose(this.#result));
  }

  /** @param {Scope} scope */
  #scopeField(scope) {
    const field = make("input", { type: "radio", name: "scope", value: scope, checked: scope === this.scope });
    field.addEventListener("change", () => {
      this.scope = scope;
      this.#draw();
    });
    return make("label.check", field, SCOPES[scope]);
  }

  #draw() {
    const { later, previews } = this.task;
    const files = previews[this.scope] ?? [];
    const isMore = this.scope !== "files" && later > 0;
    // The list scrolls, so its length is said.
    const facts = [files.length > 0 && pluralize(files.length, "file"), isMore && `${pluralize(later, "later turn")} will be taken back as well.`];
    this.hint.textContent = facts.filter(Boolean).join(" · ");
    this.hint.hidden = !this.hint.textContent;
    this.problem.textContent = "";
    const old = this.#selects;
    this.#selects = new Map();
    this.list.hidden = !files.length;
    this.list.replaceChildren(...files.map((file) => make("li", make("span.path", file.path, { title: file.path }), file.action === "submodule" ? make("small", describe(file)) : this.#choiceField(file, old.get(file.path)?.value))));
  }

  /** @param {UndoneFile} file @param {string} [chosen] before */
  #choiceField(file, chosen = "") {
    const select = make("select", make("option", describe(file), { value: "" }), { "aria-label": file.path });
    const choices = { keep: "Keep it as it is", before: file.deletes ? "Delete it" : this.task.before, markers: "Both, with conflict markers" };
    for (const [choice, text] of Object.entries(choices)) {
      if (choice !== "markers" || file.has_markers) select.append(make("option", text, { value: choice }));
    }
    select.value = chosen;
    select.required = file.action === "conflict" && !file.others;
    this.#selects.set(file.path, select);
    return select;
  }

  async #undo() {
    const entries = [...this.#selects].map(([path, select]) => [path, select.value]).filter(([, choice]) => choice);
    this.submit.disabled = true;
    this.problem.textContent = "";
    try {
      this.#result = await this.task.perform(this.scope, Object.fromEntries(entries));
      this.dialog.close();
    } catch (error) {
      this.problem.textContent = /** @type {Error} */ (error).message;
    } finally {
      this.submit.disabled = false;
    }
  }
}

/** What happens to a file without a choice. @param {UndoneFile} file */
function describe(file) {
  if (file.others) return "Kept: others changed it, too";
  return file.action === "restore" && file.deletes ? "Deleted" : ACTIONS[file.action];
}
