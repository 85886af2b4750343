// @ts-check
// The preferences by section, with search over all of them. Changes are saved immediately, and changes by other clients
// are shown.

import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { notificationState, pushSubscription, setNotifications, setPush } from "../notices.js";
import { promptInstall, canInstall } from "../pwa.js";
import { hashFor } from "../router.js";
import { optionsOf } from "./form_fields.js";
import { PreferenceRow } from "./preference_row.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("preferences");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./preference_row.js").Row} Row
 */

const THIS_BROWSER = "This browser";

/** @type {import("../app.js").MakeView} */
export function preferencesView(app, route) {
  return new PreferencesView(app, route);
}

class PreferencesView {
  title = "Preferences";
  /** @type {PreferenceRow[]} */ #rows = [];
  #profiles = "";

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    this.chosen = route.id;
    this.search = make("input", { type: "search", value: route.query.get("q") ?? "", placeholder: "Search", "aria-label": "Search preferences" });
    this.status = make("p.hint", { role: "status" });
    this.list = make("div.preferences");
    this.device = makeDeviceSection(app);
    this.sections = make("nav.sections", { "aria-label": "Sections" });
    this.sectionSelect = make("select.section-select", { "aria-label": "Section" });
    this.element = make(
      "div.page.preferences-page",
      make("div.preferences-side", make("div.search-field", icon("search"), this.search), this.sectionSelect, this.sections),
      make("div.preferences-main", this.status, this.device, this.list),
    );
    this.sectionSelect.addEventListener("change", () => this.#choose(this.sectionSelect.value));
    this.search.addEventListener("input", () => this.#updateAddress());
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.search.value = "";
      this.#updateAddress();
    });
    this.close = app.onConnection((status) => status.state === "open" && !this.#rows.length && this.#load());
  }

  handleReload() {
    this.#load(); // the available choices may have changed
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (change.preferences) for (const row of this.#rows) row.show();
  }

  /** @param {string} name */
  handleEvent(name) {
    if (name === "preferences:updated") this.#readSecrets();
  }

  focus() {
    if (matchMedia("(pointer: fine)").matches) this.search.focus();
  }

  async #load() {
    /** @type {Row[] | undefined} */
    const found = await this.app.run("list_preferences");
    if (!found) return;
    this.#profiles = namesOf(this.app.state.preferences.custom_cli_profiles);
    if (this.#rows.length) {
      // Existing rows are kept, with their unsaved input.
      this.#rows.forEach((row, index) => row.updateRow(found[index]));
      return;
    }
    this.#rows = found.map((row) => new PreferenceRow(this.app, row));
    const groups = [...new Set(found.map((row) => row.group))];
    this.list.replaceChildren(
      ...groups.map((group) => make("section", make("h2", group), this.#rows.filter(({ row }) => row.group === group).map((row) => row.element), { "data-group": group })),
    );
    const names = [...groups, THIS_BROWSER];
    if (!names.includes(this.chosen)) this.chosen = names[0];
    this.sections.replaceChildren(...names.map((name) => make("a", name, { href: hashFor("preferences", name), "data-name": name, onclick: (/** @type {Event} */ event) => this.#handleLink(event, name) })));
    this.sectionSelect.replaceChildren(...optionsOf(names.map((name) => [name, name])));
    this.#show();
  }

  /** Sections change without leaving the view, so that Back leads out of it. @param {Event} event @param {string} name */
  #handleLink(event, name) {
    event.preventDefault();
    this.#choose(name);
  }

  /** @param {string} name */
  #choose(name) {
    this.chosen = name;
    this.search.value = "";
    this.#updateAddress();
    document.getElementById("content")?.scrollTo(0, 0);
  }

  #updateAddress() {
    const query = this.search.value;
    history.replaceState(history.state, "", hashFor("preferences", query ? "" : this.chosen, query ? { q: query } : {}));
    this.#show();
  }

  /** Show the chosen section, or all preferences that match the search. */
  #show() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isSearch = words.length > 0;
    for (const row of this.#rows) row.element.hidden = isSearch && !words.every((word) => row.searchText().includes(word));
    for (const group of /** @type {Iterable<HTMLElement>} */ (this.list.children)) {
      group.hidden = isSearch ? !group.querySelector(".preference:not([hidden])") : group.dataset.group !== this.chosen;
    }
    this.device.hidden = isSearch || this.chosen !== THIS_BROWSER;
    for (const link of /** @type {Iterable<HTMLElement>} */ (this.sections.children)) link.ariaCurrent = !isSearch && link.dataset.name === this.chosen ? "page" : null;
    this.sectionSelect.value = this.chosen;
    this.sectionSelect.hidden = isSearch; // results come from all sections
    const count = this.#rows.filter((row) => !row.element.hidden).length;
    this.status.textContent = !isSearch ? "" : count ? `${count} found` : "No matching preferences.";
  }

  /** Events do not contain secrets, not even whether they are set. Profiles are secret, but are chosen by name. */
  async #readSecrets() {
    Object.assign(this.app.state.preferences, await this.app.connection.call("get_preferences").catch(() => ({})));
    if (namesOf(this.app.state.preferences.custom_cli_profiles) !== this.#profiles) await this.#load();
    for (const row of this.#rows) row.show();
  }
}

/** @param {{ name: string }[]} profiles */
const namesOf = (profiles) => profiles.map((profile) => profile.name).join("\n");

/** Settings of this browser: notifications and installation. @param {App} app */
function makeDeviceSection(app) {
  const checkbox = make("input", { type: "checkbox", id: "notifies" });
  const hint = make("p.hint");
  const install = button("Install the page", async () => {
    await promptInstall();
    install.hidden = true;
  }, "", { hidden: !canInstall() });
  const show = () => {
    const state = notificationState();
    checkbox.checked = state === "on";
    checkbox.disabled = state !== "on" && state !== "off";
    hint.textContent = NOTIFICATION_HINTS[state];
    push.disabled = checkbox.disabled || !("PushManager" in window);
    pushHint.textContent = push.disabled && !checkbox.disabled ? "This browser has no Web Push." : "";
    pushSubscription().then((found) => (push.checked = found !== null && state === "on"), () => {});
  };
  checkbox.addEventListener("change", async () => {
    await setNotifications(checkbox.checked);
    show();
  });
  const push = make("input", { type: "checkbox", id: "pushes" });
  const pushHint = make("p.hint");
  const pushProblem = make("p.bad", { role: "alert" });
  push.addEventListener("change", async () => {
    pushProblem.textContent = "";
    push.disabled = true;
    try {
      if (push.checked) await setNotifications(true);
      await setPush(app, push.checked);
    } catch (error) {
      pushProblem.textContent = /** @type {Error} */ (error).message;
    }
    push.disabled = false;
    show();
  });
  show();
  return make("section.device", make("h2", THIS_BROWSER), make("label.check", checkbox, "Notify me when a session needs me or has finished"), hint, make("label.check", push, "Also while this page is closed (Web Push)"), pushHint, pushProblem, install);
}

const NOTIFICATION_HINTS = {
  on: "Only while you are not using this page. Sounds are set under Appearance and Sessions.",
  off: "The browser will ask for permission once.",
  denied: "Notifications are blocked in the browser's settings for this site.",
  insecure:
    "This page came over plain HTTP, where browsers allow neither notifications nor Web Push. Open Spinney over HTTPS; Help says how. " +
    "Until then, sounds, the tab's title and vibration work here, and the channels Command, Apprise and ntfy reach you elsewhere.",
  missing: "This browser shows no notifications of pages. On an iPhone or iPad, add the page to the Home Screen and open it there.",
};
