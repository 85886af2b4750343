// @ts-check
// Every preference in its group, found as one types, changed in its row, followed from all clients.

import { notifications, play, useNotifications } from "../alerts.js";
import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { keepToken } from "../net.js";
import { askToInstall, canInstall } from "../pwa.js";
import { hashOf } from "../router.js";
import { fieldOf, inWords } from "./preference-fields.js";

/**
 * @typedef {import("../app.js").App} App
 *
 * @typedef {object} Row what `list_preferences` says of one
 * @property {string} key
 * @property {string} group
 * @property {string} help
 * @property {string} more
 * @property {"switch" | "choice" | "number" | "whole" | "text" | "list" | "object"} kind
 * @property {any} default
 * @property {string[]} entries
 * @property {{ value: string, label: string }[]} choices
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} nullable
 * @property {boolean} secret
 * @property {string} requirement
 */

/** What this page itself stands on: asked about before it is changed. @type {Record<string, string>} */
const OWN_GROUND = {
  http_server_enabled: "This page comes from that server. Off stops it, unless it is `spinney serve`, and only at that machine it is started again.",
  http_server_port: "This page comes from that port. Open it at the new one afterwards.",
  http_server_localhost_only: "From another machine this page cannot be reached any more while this is on.",
  http_server_token: "Everybody who is connected with the old token must sign in again.",
};

/** @type {import("../app.js").MakeView} */
export function preferencesView(app, route) {
  const words = make("input", { type: "search", value: route.query.get("q") ?? "", placeholder: "a word of a preference", "aria-label": "Find a preference" });
  const told = make("p.hint", { role: "status" });
  const list = make("div.preferences");
  const here = device();
  const element = make("div.page", words, told, here, list);
  /** @type {RowElement[]} */
  let rows = [];
  let profiles = "";

  const find = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    here.hidden = wanted.length > 0;
    for (const row of rows) row.element.hidden = !wanted.every((word) => row.text().includes(word));
    for (const group of list.children) {
      /** @type {HTMLElement} */ (group).hidden = !group.querySelector(".preference:not([hidden])");
    }
    tellCount();
  };
  const tellCount = () => {
    const found = rows.filter((row) => !row.element.hidden).length;
    const changed = rows.filter((row) => row.isChanged()).length;
    told.textContent = found ? `${found} of ${rows.length}, ${changed} changed` : "No preference has these words.";
  };
  const read = async () => {
    /** @type {Row[] | undefined} */
    const found = await app.run("list_preferences");
    if (!found) return;
    profiles = namesOf(app.state.preferences.custom_cli_profiles);
    if (rows.length) {
      // Rows that are there stay, with what is being written in them.
      rows.forEach((row, index) => row.renew(found[index]));
      return;
    }
    rows = found.map((row) => new RowElement(app, row));
    const groups = [...new Set(found.map((row) => row.group))];
    list.replaceChildren(
      ...groups.map((group) => make("section", make("h2", group), rows.filter(({ row }) => row.group === group).map((row) => row.element))),
    );
    find();
  };
  // Events say nothing of secrets, not even that there is one now; profiles are such, and can be chosen by name.
  const readSecrets = async () => {
    Object.assign(app.state.preferences, await app.connection.call("get_preferences").catch(() => ({})));
    if (namesOf(app.state.preferences.custom_cli_profiles) !== profiles) await read();
    for (const row of rows) row.show();
    tellCount();
  };
  const findAnew = () => {
    history.replaceState(null, "", hashOf("preferences", "", words.value ? { q: words.value } : {}));
    find();
  };
  words.oninput = findAnew;
  words.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    words.value = "";
    findAnew();
  };
  const unwatch = app.watch((link) => link.state === "open" && !rows.length && read());
  return {
    title: "Preferences",
    element,
    loaded: read, // what can be chosen may be another by now
    changed: (change) => {
      if (!change.preferences) return;
      for (const row of rows) row.show();
      tellCount();
    },
    event: (name) => name === "preferences:updated" && readSecrets(),
    close: unwatch,
    focus: () => matchMedia("(pointer: fine)").matches && words.focus(),
  };
}

/** @param {{ name: string }[]} profiles */
const namesOf = (profiles) => profiles.map((profile) => profile.name).join("\n");

/** One preference: what it is, what it does, its value, and what was wrong with a new one. */
class RowElement {
  /** @param {App} app @param {Row} row */
  constructor(app, row) {
    this.app = app;
    this.row = row;
    const id = `preference-${row.key}`;
    this.field = fieldOf(row, (value) => this.#change(value));
    this.mark = make("span.changed", "●", { title: "changed", role: "img", "aria-label": "changed" });
    this.problem = make("p.bad", { role: "alert" });
    this.test = this.#test();
    this.back = button("Default", () => this.#reset(), ".quiet", { "aria-label": `${row.key}: back to the default` });
    this.field.control.id = id;
    this.field.control.setAttribute("aria-describedby", `${id}-help`);
    const named = "labels" in this.field.control ? make("label", row.key, { htmlFor: id }) : make("b", row.key);
    const must = !row.choices.length && ["number", "whole", "text"].includes(row.kind) && ` Must ${row.requirement}.`;
    this.element = make(
      "div.preference",
      make("p.name", this.mark, named),
      make("p.hint", `${row.help}.`, row.more && ` ${row.more}`, must, { id: `${id}-help` }),
      make("div.choices", this.field.element, this.test, this.back),
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

  /** Something else can be chosen now. @param {Row} row */
  renew(row) {
    Object.assign(this.row, row);
    this.show();
  }

  show() {
    this.field.show(this.value);
    this.mark.hidden = this.back.hidden = !this.isChanged();
    if (this.test) this.test.hidden = this.value === "none";
  }

  /** All that it is found by, in small letters. */
  text() {
    const { key, group, help, more } = this.row;
    return `${key} ${key.replaceAll("_", " ")} ${group} ${help} ${more} ${inWords(this.row, this.value)}`.toLowerCase();
  }

  /** A sound is heard by a press, which also tells the browser that sounds are wanted. */
  #test() {
    if (!this.row.key.endsWith("_sound")) return null;
    return button("Play", () => play(this.value), "", { "aria-label": `Play ${this.row.key}` });
  }

  /** @param {any} value @returns {Promise<boolean>} whether it was taken */
  async #change(value) {
    const { key } = this.row;
    this.problem.textContent = "";
    if (OWN_GROUND[key] && !(await confirm(`Change ${key}?`, OWN_GROUND[key], "Change it"))) {
      this.field.show(this.value, { anew: true });
      return false;
    }
    try {
      const now = await this.app.connection.call("update_preferences", { changes: { [key]: value } });
      this.#stay(value);
      this.app.state.preferences[key] = now[key];
      this.field.show(now[key], { anew: true });
      this.show();
      return true;
    } catch (error) {
      // A new token ends this connection, at times before the answer came.
      if (!this.app.connection.isOpen) this.#stay(value);
      this.problem.textContent = /** @type {Error} */ (error).message;
      return false;
    }
  }

  /** Stay signed in, where it is the token that has changed. @param {any} value */
  #stay(value) {
    if (this.row.key === "http_server_token" && value) keepToken(value, Boolean(localStorage.getItem("spinney-token")));
  }

  async #reset() {
    const { key, kind, secret } = this.row;
    const isMuch = kind === "list" || kind === "object" || secret;
    if (isMuch && !(await confirm("Back to the default", `Give up what is set in ${key}? It cannot be brought back.`, "Reset", { danger: true }))) return;
    await this.#change(this.row.default);
  }
}

/** What is kept in this browser alone: whether it notifies, and the page as an app. */
function device() {
  const box = make("input", { type: "checkbox", id: "notifies" });
  const why = make("p.hint");
  const install = button("Install the page", async () => {
    await askToInstall();
    install.hidden = true;
  }, "", { hidden: !canInstall() });
  const show = () => {
    const now = notifications();
    box.checked = now === "on";
    box.disabled = now === "denied" || now === "impossible";
    why.textContent = WHY[now];
  };
  box.onchange = async () => {
    await useNotifications(box.checked);
    show();
  };
  show();
  return make("section.device", make("h2", "This browser"), make("label.check", box, "Notify me when a session needs me or has ended"), why, install);
}

const WHY = {
  on: "Not while you look at this page; and by sound, as waiting_sound and review_sound say.",
  off: "The browser asks once whether it may.",
  denied: "The browser was told not to let this page notify. Its settings of this address change that.",
  impossible: "This address has no encryption, so the browser allows no notifications; Help says how to get them. Sounds, the tab's title and vibration work.",
};
