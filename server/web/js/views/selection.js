// @ts-check
// What is selected of a list: the checkbox for all of it, and the bar with what can be done with several at once.

import { button, make, patchChildren } from "../dom.js";

export class Selection {
  /** @type {Set<string>} */ #ids = new Set();
  /** @type {string[]} */ #listed = [];

  /**
   * @param {string} noun plural of what is listed
   * @param {() => void} onChange draws the list, and with it this
   * @param {() => (HTMLElement | false)[]} makeActions what can be done; a button that looks the same is kept, so it
   *   reads `ids` when it is pressed
   */
  constructor(noun, onChange, makeActions) {
    this.onChange = onChange;
    this.makeActions = makeActions;
    this.all = make("input", { type: "checkbox", onchange: () => this.replace(this.all.checked ? this.#listed : []) });
    this.allLabel = make("label.check", this.all, "all", { hidden: true });
    this.bar = make("div.choices.selection-actions", { role: "group", "aria-label": `Actions for selected ${noun}`, hidden: true });
  }

  /** In the order in which they were selected. */
  get ids() {
    return [...this.#ids];
  }

  /** @param {string} id */
  has(id) {
    return this.#ids.has(id);
  }

  /** @param {string} id @param {boolean} isSelected */
  select(id, isSelected) {
    if (isSelected) this.#ids.add(id);
    else this.#ids.delete(id);
    this.onChange();
  }

  /** @param {string[]} ids */
  replace(ids) {
    this.#ids = new Set(ids);
    this.onChange();
  }

  /** Forget what is not in the list any more, before its rows are drawn. @param {string[]} listed @param {string[]} [known] with those that a long list does not show yet */
  follow(listed, known = listed) {
    this.#listed = listed;
    const kept = new Set(known);
    for (const id of this.#ids) if (!kept.has(id)) this.#ids.delete(id);
    this.allLabel.hidden = listed.length < 2;
    this.all.checked = listed.length > 0 && listed.every((id) => this.#ids.has(id));
    this.all.indeterminate = this.#ids.size > 0 && !this.all.checked;
    this.bar.hidden = this.#ids.size === 0;
    const actions = this.makeActions().filter((action) => action instanceof HTMLElement);
    patchChildren(this.bar, [make("span", `${this.#ids.size} selected`), ...actions, button("Clear selection", () => this.replace([]), ".quiet")]);
  }
}
