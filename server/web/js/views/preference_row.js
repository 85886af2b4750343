// @ts-check
// The row of a preference: title, help, control and error message. A change is saved immediately.

import { playSound } from "../session/alerts.js";
import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { plainText } from "../format.js";
import { icon } from "../icons.js";
import { saveToken } from "../net.js";
import { describeValue, makeField, readableName } from "./preference_fields.js";

/**
 * @typedef {import("../app.js").App} App
 *
 * @typedef {object} Row an item of `list_preferences`
 * @property {string} key
 * @property {string} group
 * @property {string} help
 * @property {string} more
 * @property {"switch" | "choice" | "number" | "whole" | "searchText" | "list" | "object"} kind
 * @property {any} default
 * @property {string[]} entries
 * @property {{ value: string, label: string }[]} choices
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} nullable
 * @property {boolean} secret
 * @property {string} requirement
 */

/** Preferences that affect the connection of this page, with the question to confirm a change. @type {Record<string, string>} */
const CONFIRMATIONS = {
  http_server_enabled: "This page is served by that server. Turning it off stops it, unless it runs as 'spinney serve', and you can only start it again on that machine.",
  http_server_port: "This page is served on that port. Open it on the new port afterward.",
  http_server_localhost_only: "While this is on, other machines cannot open this page.",
  http_server_token: "Everyone who is signed in with the old token must sign in again.",
};

export class PreferenceRow {
  /** @param {App} app @param {Row} row */
  constructor(app, row) {
    this.app = app;
    this.row = row;
    const id = `preference-${row.key}`;
    const name = readableName(row.key);
    this.field = makeField(app, row, (value, problem) => this.#change(value, problem));
    this.mark = make("span.badge.changed", "changed");
    this.problem = make("p.bad", { role: "alert" });
    this.playButton = this.#createPlayButton();
    // Below a list of several values an icon alone would seem to belong to the last one.
    const isLong = row.kind === "list" || row.kind === "object";
    this.resetButton = button([icon("undo"), isLong && "Reset all"], () => this.#reset(), isLong ? ".quiet" : ".quiet.icon-only", { title: "Default", "aria-label": `Reset ${name} to the default` });
    this.field.control.id = id;
    this.field.control.setAttribute("aria-describedby", `${id}-help`);
    const nameElement = "labels" in this.field.control ? make("label", name, { htmlFor: id }) : make("b", name);
    const requirement = !row.choices.length && ["number", "whole", "text"].includes(row.kind) && ` ${describeRequirement(row)}`;
    this.element = make(
      "div.preference",
      make("p.name", nameElement, this.mark),
      make("p.hint", plainText(`${row.help}.${row.more && ` ${row.more}`}`), requirement, { id: `${id}-help` }),
      make("div.choices", this.field.element, this.playButton, this.resetButton),
      this.problem,
      { "data-key": row.key },
    );
    this.show();
  }

  get value() {
    return this.app.state.preferences[this.row.key];
  }

  isChanged() {
    return JSON.stringify(this.value) !== JSON.stringify(this.row.default);
  }

  /** Update the available choices. @param {Row} row */
  updateRow(row) {
    Object.assign(this.row, row);
    this.show();
  }

  show() {
    this.field.show(this.value);
    this.mark.hidden = this.resetButton.hidden = !this.isChanged();
    if (this.playButton) this.playButton.hidden = this.value === "none";
  }

  /** The text for searching, in lower case. */
  searchText() {
    const { key, group, help, more } = this.row;
    return `${readableName(key)} ${key} ${key.replaceAll("_", " ")} ${group} ${help} ${more} ${describeValue(this.row, this.value)}`.toLowerCase();
  }

  /** A button to play a sound, which also makes the browser allow sounds. */
  #createPlayButton() {
    if (!this.row.key.endsWith("_sound")) return null;
    return button("Play", () => playSound(this.value), "", { "aria-label": `Play ${readableName(this.row.key)}` });
  }

  /** @param {any} value @param {HTMLElement} [problem] shows why it was refused @returns {Promise<boolean>} whether it was accepted */
  async #change(value, problem = this.problem) {
    const { key } = this.row;
    problem.textContent = "";
    if (CONFIRMATIONS[key] && !(await confirm(`Change ${readableName(key)}?`, CONFIRMATIONS[key], "Change"))) {
      this.field.show(this.value, { reset: true });
      return false;
    }
    try {
      const updated = await this.app.connection.call("update_preferences", { changes: { [key]: value } });
      this.#saveToken(value);
      this.app.state.preferences[key] = updated[key];
      this.field.show(updated[key], { reset: true });
      this.show();
      return true;
    } catch (error) {
      // A new token closes this connection, sometimes before the result arrives.
      if (!this.app.connection.isOpen) this.#saveToken(value);
      problem.textContent = /** @type {Error} */ (error).message;
      return false;
    }
  }

  /** Save a changed token, to stay signed in. @param {any} value */
  #saveToken(value) {
    if (this.row.key === "http_server_token" && value) saveToken(value, Boolean(localStorage.getItem("spinney-token")));
  }

  async #reset() {
    const { key, kind, secret } = this.row;
    const needsConfirmation = kind === "list" || kind === "object" || secret;
    if (needsConfirmation && !(await confirm("Reset to the default", `Reset ${readableName(key)}? The current value will be lost.`, "Reset", { danger: true }))) return;
    await this.#change(this.row.default);
  }
}

/** `From 12 to 24.` @param {Row} row */
function describeRequirement(row) {
  const text = row.requirement.replace(/^be an? (whole )?(number|text) ?/, "");
  return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "";
}
