// @ts-check
// All preferences by group, with search. Changes are saved immediately, and changes by other clients are shown.

import { notificationState, playSound, setNotifications } from "../alerts.js";
import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { saveToken } from "../net.js";
import { promptInstall, canInstall } from "../pwa.js";
import { hashFor } from "../router.js";
import { describeValue, makeField, readableName } from "./preference-fields.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("preferences");

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

/** @type {import("../app.js").MakeView} */
export function preferencesView(app, route) {
  const search = make("input", { type: "search", value: route.query.get("q") ?? "", placeholder: "Search preferences", "aria-label": "Search preferences" });
  const status = make("p.hint", { role: "status" });
  const list = make("div.preferences");
  const deviceSection = makeDeviceSection();
  const element = make("div.page", search, status, deviceSection, list);
  /** @type {RowElement[]} */
  let rows = [];
  let profiles = "";

  const applySearch = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    deviceSection.hidden = words.length > 0;
    for (const row of rows) row.element.hidden = !words.every((word) => row.searchText().includes(word));
    for (const group of list.children) {
      /** @type {HTMLElement} */ (group).hidden = !group.querySelector(".preference:not([hidden])");
    }
    showCount();
  };
  const showCount = () => {
    const found = rows.filter((row) => !row.element.hidden).length;
    const changed = rows.filter((row) => row.isChanged()).length;
    status.textContent = found ? `${found} of ${rows.length}, ${changed} changed` : "No matching preferences.";
  };
  const loadRows = async () => {
    /** @type {Row[] | undefined} */
    const found = await app.run("list_preferences");
    if (!found) return;
    profiles = namesOf(app.state.preferences.custom_cli_profiles);
    if (rows.length) {
      // Existing rows are kept, with their unsaved input.
      rows.forEach((row, index) => row.updateRow(found[index]));
      return;
    }
    rows = found.map((row) => new RowElement(app, row));
    const groups = [...new Set(found.map((row) => row.group))];
    list.replaceChildren(
      ...groups.map((group) => make("section", make("h2", group), rows.filter(({ row }) => row.group === group).map((row) => row.element))),
    );
    applySearch();
  };
  // Events do not contain secrets, not even whether they are set. Profiles are secret, but are chosen by name.
  const readSecrets = async () => {
    Object.assign(app.state.preferences, await app.connection.call("get_preferences").catch(() => ({})));
    if (namesOf(app.state.preferences.custom_cli_profiles) !== profiles) await loadRows();
    for (const row of rows) row.show();
    showCount();
  };
  const updateSearch = () => {
    history.replaceState(null, "", hashFor("preferences", "", search.value ? { q: search.value } : {}));
    applySearch();
  };
  search.oninput = updateSearch;
  search.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    updateSearch();
  };
  const unsubscribe = app.onConnection((status) => status.state === "open" && !rows.length && loadRows());
  return {
    title: "Preferences",
    element,
    handleReload: loadRows, // the available choices may have changed
    update: (change) => {
      if (!change.preferences) return;
      for (const row of rows) row.show();
      showCount();
    },
    handleEvent: (name) => name === "preferences:updated" && readSecrets(),
    close: unsubscribe,
    focus: () => matchMedia("(pointer: fine)").matches && search.focus(),
  };
}

/** @param {{ name: string }[]} profiles */
const namesOf = (profiles) => profiles.map((profile) => profile.name).join("\n");

/** The row of a preference: name, description, control and error message. */
class RowElement {
  /** @param {App} app @param {Row} row */
  constructor(app, row) {
    this.app = app;
    this.row = row;
    const id = `preference-${row.key}`;
    const name = readableName(row.key);
    this.field = makeField(row, (value) => this.#change(value));
    this.mark = make("span.changed", "●", { title: "changed", role: "img", "aria-label": "changed" });
    this.problem = make("p.bad", { role: "alert" });
    this.playButton = this.#createPlayButton();
    this.resetButton = button("Default", () => this.#reset(), ".quiet", { "aria-label": `Reset ${name} to the default` });
    this.field.control.id = id;
    this.field.control.setAttribute("aria-describedby", `${id}-help`);
    const nameElement = "labels" in this.field.control ? make("label", name, { htmlFor: id }) : make("b", name);
    const requirement = !row.choices.length && ["number", "whole", "text"].includes(row.kind) && ` Must ${row.requirement}.`;
    this.element = make(
      "div.preference",
      make("p.name", this.mark, nameElement),
      make("p.hint", `${row.help}.`, row.more && ` ${row.more}`, requirement, { id: `${id}-help` }),
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
    return `${key} ${key.replaceAll("_", " ")} ${group} ${help} ${more} ${describeValue(this.row, this.value)}`.toLowerCase();
  }

  /** A button to play a sound, which also makes the browser allow sounds. */
  #createPlayButton() {
    if (!this.row.key.endsWith("_sound")) return null;
    return button("Play", () => playSound(this.value), "", { "aria-label": `Play ${readableName(this.row.key)}` });
  }

  /** @param {any} value @returns {Promise<boolean>} whether it was accepted */
  async #change(value) {
    const { key } = this.row;
    this.problem.textContent = "";
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
      this.problem.textContent = /** @type {Error} */ (error).message;
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

/** Settings of this browser: notifications and installation. */
function makeDeviceSection() {
  const checkbox = make("input", { type: "checkbox", id: "notifies" });
  const hint = make("p.hint");
  const install = button("Install the page", async () => {
    await promptInstall();
    install.hidden = true;
  }, "", { hidden: !canInstall() });
  const show = () => {
    const state = notificationState();
    checkbox.checked = state === "on";
    checkbox.disabled = state === "denied" || state === "impossible";
    hint.textContent = NOTIFICATION_HINTS[state];
  };
  checkbox.onchange = async () => {
    await setNotifications(checkbox.checked);
    show();
  };
  show();
  return make("section.device", make("h2", "This browser"), make("label.check", checkbox, "Notify me when a session needs me or has finished"), hint, install);
}

const NOTIFICATION_HINTS = {
  on: "Only while you are not using this page. Sounds are set below.",
  off: "The browser will ask for permission once.",
  denied: "Notifications are blocked in the browser's settings for this site.",
  impossible: "Notifications need HTTPS; see Help. Sounds, the tab's title and vibration work without it.",
};
