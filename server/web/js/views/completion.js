// @ts-check
// The list over the message box: files for `@`, commands for `/`: Spinney's own, then the agent's.

import { make } from "../dom.js";
import { ORDERS, titleOf } from "../session/orders.js";

const FILES = 8;
const FILE = /(?:^|\s)(@[^\s@"]*)$/;
const ORDER = /^\/\S*$/;

/** @typedef {{ text: string, told: string }} Choice */

let count = 0;

/** @param {import("../app.js").App} app @param {string} sessionId @param {HTMLTextAreaElement} box */
export function completion(app, sessionId, box) {
  return new Completion(app, sessionId, box);
}

class Completion {
  /** @type {Choice[]} */ #choices = [];
  /** @type {Promise<Choice[]> | null} */ #commands = null;
  #chosen = 0;
  #word = "";
  #putAway = "";
  #asked = 0;

  /** @param {import("../app.js").App} app @param {string} sessionId @param {HTMLTextAreaElement} box */
  constructor(app, sessionId, box) {
    this.app = app;
    this.sessionId = sessionId;
    this.box = box;
    this.element = make("ul.completion", { role: "listbox", id: `completion-${++count}`, hidden: true, "aria-label": "What it may become" });
    // The box keeps the focus, and with it a phone its keyboard.
    this.element.addEventListener("pointerdown", (event) => event.preventDefault());
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", this.element.id);
    box.addEventListener("blur", () => this.#hide());
  }

  /** Look at the word before the cursor. */
  async follow() {
    const word = this.#wordHere();
    if (word === this.#word && !this.element.hidden) return;
    this.#word = word;
    if (!word || (this.#putAway && word.startsWith(this.#putAway))) {
      if (!word) this.#putAway = "";
      this.#hide();
      return;
    }
    this.#putAway = "";
    const asked = ++this.#asked;
    const found = await (word.startsWith("@") ? this.#files(word.slice(1)) : this.#fitting(word));
    if (asked === this.#asked && document.activeElement === this.box) this.#show(found);
  }

  /** Whether it took the key. @param {KeyboardEvent} event */
  key(event) {
    if (this.element.hidden) return false;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.#choose(this.#chosen + steps[/** @type {"ArrowUp"} */ (event.key)]);
    else if (event.key === "Escape") this.#leave();
    else if (event.key === "Tab" && !event.shiftKey) this.#take(this.#chosen);
    else if (event.key === "Enter" && !event.shiftKey && !this.#isWhole()) this.#take(this.#chosen);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Whether the chosen word stands there already, so that enter sends it. */
  #isWhole() {
    return this.#choices[this.#chosen].text === this.#word;
  }

  #wordHere() {
    const { selectionStart, selectionEnd, value } = this.box;
    if (selectionStart !== selectionEnd) return "";
    const before = value.slice(Math.max(0, selectionStart - 300), selectionStart);
    return FILE.exec(before)?.[1] ?? (selectionStart < 300 ? ORDER.exec(before)?.[0] : "") ?? "";
  }

  /** @param {string} query @returns {Promise<Choice[]>} */
  async #files(query) {
    const worktreeId = this.app.state.sessions.get(this.sessionId)?.worktree_id;
    try {
      const found = await this.app.connection.call("list_worktree_files", { worktreeId, query, limit: FILES });
      return found.files.map((/** @type {string} */ path) => ({ text: `@${path}`, told: "" }));
    } catch {
      return []; // sending does not need the list, and says itself what is wrong
    }
  }

  /** @param {string} word */
  async #fitting(word) {
    const own = Object.entries(ORDERS).map(([name, action]) => ({ text: `/${name}`, told: titleOf(action) }));
    this.#commands ??= this.#agents();
    const all = [...own, ...(await this.#commands)];
    const sought = word.slice(1).toLowerCase();
    const begins = all.filter(({ text }) => text.slice(1).toLowerCase().startsWith(sought));
    return [...begins, ...all.filter((choice) => !begins.includes(choice) && choice.text.toLowerCase().includes(sought))];
  }

  /** @returns {Promise<Choice[]>} */
  async #agents() {
    const session = this.app.state.sessions.get(this.sessionId);
    try {
      const found = await this.app.connection.call("list_agent_commands", { worktreeId: session?.worktree_id, backend: session?.backend });
      return found.map((/** @type {any} */ { name, argument_hint: hint, description }) => ({
        // `//` is how a command of the agent is written that is called like one of Spinney's.
        text: name in ORDERS ? `//${name}` : `/${name}`,
        told: [hint, description].filter(Boolean).join(" · "),
      }));
    } catch {
      this.#commands = null;
      return [];
    }
  }

  /** @param {Choice[]} choices */
  #show(choices) {
    this.#choices = choices;
    this.element.hidden = choices.length === 0;
    this.element.replaceChildren(...choices.map(({ text, told }, place) =>
      make("li", make("b", text), told && make("small", told), {
        role: "option",
        id: `${this.element.id}-${place}`,
        onclick: () => this.#take(place),
      }),
    ));
    this.#choose(0);
  }

  /** @param {number} place */
  #choose(place) {
    const options = this.element.children;
    if (!options.length) return this.#hide();
    this.#chosen = (place + options.length) % options.length;
    for (const [at, option] of [...options].entries()) option.ariaSelected = String(at === this.#chosen);
    options[this.#chosen].scrollIntoView({ block: "nearest" });
    this.box.setAttribute("aria-activedescendant", options[this.#chosen].id);
  }

  /** @param {number} place */
  #take(place) {
    const { text } = this.#choices[place];
    const end = this.box.selectionStart;
    this.box.setRangeText(`${text} `, end - this.#word.length, end, "end");
    this.#hide();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #leave() {
    this.#putAway = this.#word;
    this.#hide();
  }

  #hide() {
    this.#asked++;
    this.#word = "";
    this.element.hidden = true;
    this.box.removeAttribute("aria-activedescendant");
  }
}
