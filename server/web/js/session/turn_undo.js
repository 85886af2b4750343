// @ts-check
// The dialog before an undo: what happens to each file, with a choice, and what is taken back.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./turns.js").Turn} Turn
 * @typedef {"both" | "files" | "conversation"} Scope
 * @typedef {{ path: string, action: "restore" | "merge" | "conflict" | "keep", others: boolean, has_markers: boolean }} UndoneFile
 */

/** @type {Record<Scope, string>} */
const SCOPES = { both: "Files and conversation", files: "Files only", conversation: "Conversation only" };
const ACTIONS = { restore: "Restored", merge: "Merged; later changes stay", conflict: "Choose: changed since", keep: "Kept as it is" };
const CHOICES = { keep: "Keep it as it is", before: "Take it as it was before", markers: "Both, with conflict markers" };

/**
 * Ask what to undo of a turn, and undo it.
 * @param {App} app @param {Turn} turn @param {Turn[]} turns all of the session @param {boolean} edits its message is to be edited and sent again
 * @returns {Promise<{ message: string } | null>} `null` if it was canceled
 */
export async function undoDialog(app, turn, turns, edits) {
  const later = turns.filter((each) => each.number > turn.number && !each.undone);
  const previews = await readPreviews(app, turn, later);
  if (!turn.message_id) delete previews.both;
  else previews.conversation = [];
  if (edits) delete previews.files;
  if (!Object.keys(previews).length) return null;
  return new Promise((resolve) => new UndoDialog(app, turn, previews, later.length, edits, resolve));
}

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
  /** @type {{ message: string } | null} */ #result = null;

  /** @param {App} app @param {Turn} turn @param {Partial<Record<Scope, UndoneFile[]>>} previews @param {number} later how many turns go with the conversation @param {boolean} edits @param {(result: { message: string } | null) => void} onClose */
  constructor(app, turn, previews, later, edits, onClose) {
    this.app = app;
    this.turn = turn;
    this.previews = previews;
    this.later = later;
    const title = `${edits ? "Edit and resend" : "Undo"}: turn ${turn.number}`;
    const scopes = /** @type {Scope[]} */ (Object.keys(SCOPES)).filter((scope) => previews[scope]);
    this.scope = scopes[0];
    this.hint = make("p.hint", { role: "status" });
    this.list = make("ul.undo-files");
    this.problem = make("p.bad", { role: "alert" });
    this.submit = make("button.primary", edits ? "Undo and edit" : "Undo", { type: "submit" });
    /** @type {HTMLFormElement} */
    const form = make(
      "form",
      make("fieldset.undo-scope", make("legend", "What to undo"), scopes.map((scope) => this.#scopeField(scope)), { hidden: scopes.length < 2 }),
      this.hint,
      this.list,
      this.problem,
      make("div.choices", this.submit, button("Cancel", () => this.dialog.close())),
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#undo();
    };
    /** @type {HTMLDialogElement} */
    this.dialog = make("dialog.undo", make("h2", title), form, { "aria-label": title });
    this.#draw();
    showDialog(this.dialog, () => onClose(this.#result));
  }

  /** @param {Scope} scope */
  #scopeField(scope) {
    const field = make("input", { type: "radio", name: "scope", value: scope, checked: scope === this.scope });
    field.onchange = () => {
      this.scope = scope;
      this.#draw();
    };
    return make("label.check", field, SCOPES[scope]);
  }

  #draw() {
    const isMore = this.scope !== "files" && this.later > 0;
    this.hint.textContent = isMore ? `${pluralize(this.later, "later turn")} will be taken back as well.` : "";
    this.hint.hidden = !isMore;
    this.problem.textContent = "";
    const old = this.#selects;
    this.#selects = new Map();
    const files = this.previews[this.scope] ?? [];
    this.list.hidden = !files.length;
    this.list.replaceChildren(...files.map((file) => make("li", make("span.path", file.path, { title: file.path }), this.#choiceField(file, old.get(file.path)?.value))));
  }

  /** @param {UndoneFile} file @param {string} [chosen] before */
  #choiceField(file, chosen = "") {
    const byItself = file.others ? "Kept: others changed it, too" : ACTIONS[file.action];
    const select = make("select", make("option", byItself, { value: "" }), { "aria-label": file.path });
    for (const [choice, text] of Object.entries(CHOICES)) {
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
      const choices = Object.fromEntries(entries);
      const result = await this.app.connection.call("undo_turn", { turnId: this.turn.turn_id, what: this.scope, choices });
      this.#result = { message: this.scope === "files" ? "" : result.message };
      this.dialog.close();
    } catch (error) {
      this.problem.textContent = /** @type {Error} */ (error).message;
    } finally {
      this.submit.disabled = false;
    }
  }
}
