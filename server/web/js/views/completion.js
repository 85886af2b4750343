// @ts-check
// Completion in the message box: files after `@`, commands after `/`, Spinney's own before the agent's.

import { make } from "../dom.js";
import { SLASH_COMMANDS, actionTitle } from "../session/slash_commands.js";

const FILES = 8;
const FILE = /(?:^|\s)(@[^\s@"]*)$/;
const COMMAND = /^\/\S*$/;

/** @typedef {{ text: string, description: string }} Choice */

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
  #dismissedWord = "";
  #lastRequest = 0;

  /** @param {import("../app.js").App} app @param {string} sessionId @param {HTMLTextAreaElement} box */
  constructor(app, sessionId, box) {
    this.app = app;
    this.sessionId = sessionId;
    this.box = box;
    this.element = make("ul.completion", { role: "listbox", id: `completion-${++count}`, hidden: true, "aria-label": "Completions" });
    // Keep the focus in the box, and with it a phone's keyboard open.
    this.element.addEventListener("pointerdown", (event) => event.preventDefault());
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", this.element.id);
    box.addEventListener("blur", () => this.#hide());
  }

  /** Update for the word before the cursor. */
  async update() {
    const word = this.#currentWord();
    if (word === this.#word && !this.element.hidden) return;
    this.#word = word;
    if (!word || (this.#dismissedWord && word.startsWith(this.#dismissedWord))) {
      if (!word) this.#dismissedWord = "";
      this.#hide();
      return;
    }
    this.#dismissedWord = "";
    const request = ++this.#lastRequest;
    const found = await (word.startsWith("@") ? this.#files(word.slice(1)) : this.#matchingCommands(word));
    if (request === this.#lastRequest && document.activeElement === this.box) this.#show(found);
  }

  /** Handle a key; returns whether it was handled. @param {KeyboardEvent} event */
  key(event) {
    if (this.element.hidden) return false;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.#choose(this.#chosen + steps[/** @type {"ArrowUp"} */ (event.key)]);
    else if (event.key === "Escape") this.#dismiss();
    else if (event.key === "Tab" && !event.shiftKey) this.#insert(this.#chosen);
    else if (event.key === "Enter" && !event.shiftKey && !this.#isComplete()) this.#insert(this.#chosen);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Whether the chosen completion is already typed, so that Enter sends the message. */
  #isComplete() {
    return this.#choices[this.#chosen].text === this.#word;
  }

  #currentWord() {
    const { selectionStart, selectionEnd, value } = this.box;
    if (selectionStart !== selectionEnd) return "";
    const before = value.slice(Math.max(0, selectionStart - 300), selectionStart);
    return FILE.exec(before)?.[1] ?? (selectionStart < 300 ? COMMAND.exec(before)?.[0] : "") ?? "";
  }

  /** @param {string} query @returns {Promise<Choice[]>} */
  async #files(query) {
    const worktreeId = this.app.state.sessions.get(this.sessionId)?.worktree_id;
    try {
      const found = await this.app.connection.call("list_worktree_files", { worktreeId, query, limit: FILES });
      return found.files.map((/** @type {string} */ path) => ({ text: `@${path}`, description: "" }));
    } catch {
      return []; // the list is optional, and sending reports errors itself
    }
  }

  /** @param {string} word */
  async #matchingCommands(word) {
    const ownCommands = Object.entries(SLASH_COMMANDS).map(([name, action]) => ({ text: `/${name}`, description: actionTitle(action) }));
    this.#commands ??= this.#agentCommands();
    const commands = [...ownCommands, ...(await this.#commands)];
    const query = word.slice(1).toLowerCase();
    const prefixMatches = commands.filter(({ text }) => text.slice(1).toLowerCase().startsWith(query));
    return [...prefixMatches, ...commands.filter((choice) => !prefixMatches.includes(choice) && choice.text.toLowerCase().includes(query))];
  }

  /** @returns {Promise<Choice[]>} */
  async #agentCommands() {
    const session = this.app.state.sessions.get(this.sessionId);
    try {
      const found = await this.app.connection.call("list_agent_commands", { worktreeId: session?.worktree_id, backend: session?.backend });
      return found.map((/** @type {any} */ { name, argument_hint: hint, description }) => ({
        // `//` escapes an agent's command with the name of one of Spinney's.
        text: name in SLASH_COMMANDS ? `//${name}` : `/${name}`,
        description: [hint, description].filter(Boolean).join(" · "),
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
    this.element.replaceChildren(...choices.map(({ text, description }, index) =>
      make("li", make("b", text), description && make("small", description), {
        role: "option",
        id: `${this.element.id}-${index}`,
        onclick: () => this.#insert(index),
      }),
    ));
    this.#choose(0);
  }

  /** @param {number} index */
  #choose(index) {
    const options = this.element.children;
    if (!options.length) return this.#hide();
    this.#chosen = (index + options.length) % options.length;
    for (const [position, option] of [...options].entries()) option.ariaSelected = String(position === this.#chosen);
    options[this.#chosen].scrollIntoView({ block: "nearest" });
    this.box.setAttribute("aria-activedescendant", options[this.#chosen].id);
  }

  /** @param {number} index */
  #insert(index) {
    const { text } = this.#choices[index];
    const end = this.box.selectionStart;
    this.box.setRangeText(`${text} `, end - this.#word.length, end, "end");
    this.#hide();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #dismiss() {
    this.#dismissedWord = this.#word;
    this.#hide();
  }

  #hide() {
    this.#lastRequest++;
    this.#word = "";
    this.element.hidden = true;
    this.box.removeAttribute("aria-activedescendant");
  }
}
